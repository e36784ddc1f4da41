//! Metrics of a run: messages, waiting times, percentiles.

use conclave_core::{NodeId, Ticks};
use serde::Serialize;

/// Up to so many samples are kept as they are; beyond, quantiles are right to three digits.
const EXACT_MAX: usize = 1 << 16;

/// Samples of a time, in bounded memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    exact: Vec<u64>,
    rough: Option<Histogram>,
    pub count: u64,
    total: u128,
    max: u64,
}

/// A time over all its samples, in units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// Half are at most this.
    pub p50: f64,
    /// All but one in a hundred are at most this.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Samples {
    #[inline(always)]
    pub fn add(&mut self, sample: Ticks) {
        self.count += 1;
        self.total += u128::from(sample.0);
        self.max = self.max.max(sample.0);
        match &mut self.rough {
            Some(rough) => rough.add(sample.0, 1),
            None if self.exact.len() < EXACT_MAX => self.exact.push(sample.0),
            None => self.round_off(sample.0),
        }
    }

    #[cold]
    fn round_off(&mut self, sample: u64) {
        let mut rough = Histogram::default();
        for kept in std::mem::take(&mut self.exact).into_iter().chain([sample]) {
            rough.add(kept, 1);
        }
        self.rough = Some(rough);
    }

    /// `None` when there is no sample.
    pub fn summary(&self) -> Option<Summary> {
        let mut sorted = self.exact.clone();
        sorted.sort_unstable();
        let quantile = |q: f64| match &self.rough {
            Some(rough) => rough.quantile((q * self.count as f64).ceil() as u64).min(self.max),
            None => sorted[((q * self.count as f64).ceil() as usize).clamp(1, sorted.len()) - 1],
        };
        (self.count > 0).then(|| Summary {
            mean: self.total as f64 / self.count as f64 / Ticks::UNIT.0 as f64,
            p50: Ticks(quantile(0.5)).as_units(),
            p99: Ticks(quantile(0.99)).as_units(),
            max: Ticks(self.max).as_units(),
        })
    }

    pub fn merge(&mut self, other: &Self) {
        for &sample in &other.exact {
            self.add(Ticks(sample));
        }
        let Some(theirs) = &other.rough else { return };
        self.count += other.count;
        self.total += other.total;
        self.max = self.max.max(other.max);
        let kept = std::mem::take(&mut self.exact);
        let mine = self.rough.get_or_insert_default();
        kept.into_iter().for_each(|sample| mine.add(sample, 1));
        theirs.each(|sample, count| mine.add(sample, count));
    }
}

/// Counts by size, right to one part in a thousand: a bucket is an exponent and ten more bits.
#[derive(Clone, Debug, Default)]
struct Histogram(Vec<u64>);

const BITS: u32 = 10;

impl Histogram {
    #[inline]
    fn add(&mut self, value: u64, count: u64) {
        let bucket = Self::bucket(value);
        match self.0.get_mut(bucket) {
            Some(counted) => *counted += count,
            None => self.grow(bucket, count),
        }
    }

    #[cold]
    fn grow(&mut self, bucket: usize, count: u64) {
        self.0.resize((bucket + 1).next_power_of_two(), 0);
        self.0[bucket] = count;
    }

    /// The value that so many are at most.
    fn quantile(&self, rank: u64) -> u64 {
        let mut seen = 0;
        let reached = self.0.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        reached.map_or(0, Self::largest)
    }

    fn each(&self, mut take: impl FnMut(u64, u64)) {
        for (bucket, &count) in self.0.iter().enumerate().filter(|(_, count)| **count > 0) {
            take(Self::largest(bucket), count);
        }
    }

    fn bucket(value: u64) -> usize {
        let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
        ((u64::from(shift) << BITS) + (value >> shift)) as usize
    }

    /// The largest value of a bucket.
    fn largest(bucket: usize) -> u64 {
        let bucket = bucket as u64;
        let step = 1 << BITS;
        if bucket < 2 * step {
            return bucket;
        }
        let shift = bucket / step - 1;
        ((bucket - shift * step + 1) << shift) - 1
    }
}

/// Jain's index of fairness over the entries of each node: 1 when all have the same, 1/n when one
/// has them all.
pub(crate) fn jain(nodes: u32, entries: impl Iterator<Item = u64>) -> Option<f64> {
    let add = |(total, squares), count| (total + count, squares + count * count);
    let (total, squares) = entries.fold((0, 0), add);
    let index = || (total as f64).powi(2) / (f64::from(nodes) * squares as f64);
    (squares > 0 && nodes > 0).then(index)
}

/// Message counts by kind, in the order in which the kinds were first sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds(pub Vec<(&'static str, u64)>);

impl Kinds {
    #[inline]
    pub fn count(&mut self, kind: &'static str) {
        for (known, count) in &mut self.0 {
            if std::ptr::eq(*known, kind) {
                *count += 1;
                return;
            }
        }
        self.count_by_name(kind);
    }

    #[cold]
    #[inline(never)]
    fn count_by_name(&mut self, kind: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.0.push((kind, 1)),
        }
    }

    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// How many were of these kinds.
    pub fn of(&self, kinds: &[&str]) -> u64 {
        let known = self.0.iter().filter(|(kind, _)| kinds.contains(kind));
        known.map(|(_, count)| count).sum()
    }
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who entered.
    pub node: NodeId,
    /// When.
    pub at: Ticks,
    /// With which fence.
    pub fence: u64,
}

/// All entries in order, as long as the list stays readable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries(Vec<Entry>, bool);

const ENTRIES_MAX: usize = 10_000;

impl Entries {
    pub fn push(&mut self, entry: Entry) {
        let Self(list, full) = self;
        if *full {
            return;
        }
        list.push(entry);
        if list.len() > ENTRIES_MAX {
            *full = true;
            *list = Vec::new();
        }
    }

    /// `None` when there were too many to keep.
    pub fn take(self) -> Option<Vec<Entry>> {
        (!self.1).then_some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_for_few_samples_and_close_for_many() {
        let mut samples = Samples::default();
        assert_eq!(samples.summary(), None);
        for unit in 1..=100 {
            samples.add(Ticks::units(unit));
        }
        let summary = samples.summary().expect("there are samples");
        assert_eq!((summary.p50, summary.p99, summary.max), (50.0, 99.0, 100.0));
        assert_eq!(summary.mean, 50.5);
        for unit in 1..=100_000 {
            samples.add(Ticks::units(unit));
        }
        let p50 = samples.summary().expect("there are samples").p50;
        assert!((49_800.0..50_100.0).contains(&p50), "{p50}");
    }

    #[test]
    fn a_histogram_bucket_knows_its_own_values() {
        for value in [0, 1, 1_023, 1_024, 2_047, 2_048, 2_049, 5_000, 1 << 40, u64::MAX >> 1] {
            let bucket = Histogram::bucket(value);
            let largest = Histogram::largest(bucket);
            assert!(largest >= value && largest - value <= value / 1_000, "{value} {largest}");
            assert_eq!(Histogram::bucket(largest), bucket, "{value}");
            assert_eq!(Histogram::bucket(largest + 1), bucket + 1, "{value}");
        }
    }

    #[test]
    fn merged_samples_are_the_samples_of_both() {
        let mut few = Samples::default();
        let mut many = Samples::default();
        few.add(Ticks(5));
        (0..100_000).for_each(|sample| many.add(Ticks(sample)));
        few.merge(&many);
        assert_eq!((few.count, few.max), (100_001, 99_999));
        let p50 = few.summary().expect("there are samples").p50;
        assert!((49.9..50.1).contains(&p50), "{p50}");
    }

    #[test]
    fn fairness_is_one_when_all_have_the_same_and_less_otherwise() {
        assert_eq!(jain(4, [1; 4].into_iter()), Some(1.0));
        assert_eq!(jain(8, [1, 1, 1, 1].into_iter()), Some(0.5));
        assert_eq!(jain(4, [8, 0, 0, 0].into_iter()), Some(0.25));
        assert_eq!(jain(4, [0; 4].into_iter()), None, "nobody entered");
    }

    #[test]
    fn a_list_of_entries_that_grows_too_long_is_dropped() {
        let entry = Entry { node: NodeId(0), at: Ticks(0), fence: 1 };
        let mut entries = Entries::default();
        (0..ENTRIES_MAX).for_each(|_| entries.push(entry));
        assert_eq!(entries.clone().take().map(|list| list.len()), Some(ENTRIES_MAX));
        entries.push(entry);
        assert!(entries.0.is_empty(), "it takes no room any more");
        assert_eq!(entries.take(), None);
    }
}
