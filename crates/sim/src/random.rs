//! Pseudo-random numbers from a seed, the same on every machine.
//!
//! What is drawn for a message, or by a node, is drawn under a key of its own. So what happens to
//! one message changes nothing of what is drawn for another, and "what if only this one had been
//! late" has an answer.

use crate::sparse::Sparse;
use conclave_core::{Delay, Hasher, NodeId, Ticks};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// One of the independent streams of a seed.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Stream `number` of a seed; streams of one seed never overlap.
    pub fn new(seed: u64, number: u32) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..number {
            generator.jump();
        }
        Self(generator)
    }

    /// The stream of a seed under a key: another key, another stream.
    pub(crate) fn keyed(seed: u64, purpose: Purpose, key: &[u64]) -> Self {
        let mut hasher = Hasher::default();
        hasher.write_u64(seed);
        hasher.write_u64(purpose as u64);
        key.iter().for_each(|&part| hasher.write_u64(part));
        Self(Xoshiro256PlusPlus::seed_from_u64(hasher.finish()))
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1).
    pub fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability; draws nothing when it is 0.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.fraction() < probability
    }

    /// A moment within the delay, both ends included.
    pub fn delay(&mut self, delay: Delay) -> Ticks {
        let width = delay.max.since(delay.min).0;
        if width == 0 { delay.min } else { Ticks(delay.min.0 + self.below(width + 1)) }
    }

    /// From an exponential distribution. `libm`'s logarithm is the same on every machine.
    pub fn exponential(&mut self, mean: Ticks) -> Ticks {
        Ticks((-libm::log(1.0 - self.fraction()) * mean.0 as f64).round() as u64)
    }

    /// From a normal distribution; what would be no time is one tick.
    pub(crate) fn normal(&mut self, mean: Ticks, deviation: Ticks) -> Ticks {
        some_time(mean.0 as f64 + deviation.0 as f64 * self.deviations())
    }

    /// From a log-normal distribution.
    pub(crate) fn log_normal(&mut self, median: Ticks, sigma: f64) -> Ticks {
        some_time(median.0 as f64 * libm::exp(sigma * self.deviations()))
    }

    /// From Pareto's distribution.
    pub(crate) fn pareto(&mut self, min: Ticks, shape: f64) -> Ticks {
        some_time(min.0 as f64 * libm::pow(1.0 - self.fraction(), -1.0 / shape))
    }

    /// How far from the mean of a normal distribution, as Box and Muller draw it.
    fn deviations(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.fraction()));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.fraction())
    }
}

/// The longest that is ever drawn: nobody can type more.
const LONGEST: f64 = 1e15;

/// At least one tick, so that time cannot stand still.
fn some_time(ticks: f64) -> Ticks {
    Ticks(ticks.round().clamp(1.0, LONGEST) as u64)
}

/// What chance is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The way of a message.
    Network,
    /// When the application of a node asks and withdraws.
    Workload,
    /// What a process chooses.
    Choices,
    /// How long a timer takes between its bounds.
    Timers,
}

/// A stream for each node that draws.
pub(crate) struct PerNode {
    seed: u64,
    purpose: Purpose,
    streams: Sparse<Option<Stream>>,
}

impl PerNode {
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Self { seed, purpose, streams: Sparse::new() }
    }

    /// The stream of this node.
    pub fn of(&mut self, node: NodeId) -> &mut Stream {
        let (seed, purpose) = (self.seed, self.purpose);
        let fresh = || Stream::keyed(seed, purpose, &[u64::from(node.0)]);
        self.streams.entry(node).get_or_insert_with(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_node_draws_changes_nothing_for_another() {
        let draws = |before: u32| {
            let mut streams = PerNode::new(3, Purpose::Workload);
            for _ in 0..before {
                streams.of(NodeId(0)).below(9);
            }
            [(); 4].map(|()| streams.of(NodeId(1)).below(u64::MAX))
        };
        assert_eq!(draws(0), draws(5));
        let [first, second] = [Purpose::Workload, Purpose::Choices]
            .map(|purpose| PerNode::new(3, purpose).of(NodeId(1)).below(u64::MAX));
        assert_ne!(first, second);
    }

    #[test]
    fn streams_are_fixed_and_differ() {
        let mut first = Stream::new(1, 0);
        let mut second = Stream::new(1, 1);
        assert_eq!([first.below(1_000), first.below(1_000)], [811, 747]);
        assert_ne!(first.below(u64::MAX), second.below(u64::MAX));
    }

    #[test]
    fn the_exponential_has_its_mean() {
        let mut stream = Stream::new(7, 0);
        let total: u64 = (0..10_000).map(|_| stream.exponential(Ticks(1_000)).0).sum();
        assert!((9_700_000..10_300_000).contains(&total), "{total}");
    }

    #[test]
    fn half_of_all_that_is_drawn_is_beyond_the_median() {
        let mut stream = Stream::new(7, 0);
        let mut beyond = [0_u32; 3];
        for _ in 0..10_000 {
            beyond[0] += u32::from(stream.normal(Ticks(5_000), Ticks(800)).0 > 5_000);
            beyond[1] += u32::from(stream.log_normal(Ticks(5_000), 0.7).0 > 5_000);
            beyond[2] += u32::from(stream.pareto(Ticks(5_000), 1.0).0 > 10_000);
        }
        assert!(beyond.iter().all(|count| (4_800..5_200).contains(count)), "{beyond:?}");
        assert!((0..1_000).all(|_| stream.normal(Ticks(1), Ticks(9)).0 >= 1));
        assert!((0..1_000).all(|_| stream.pareto(Ticks(1), 0.001).0 <= LONGEST as u64));
    }
}
