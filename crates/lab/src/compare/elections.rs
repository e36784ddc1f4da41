//! Measures elections over the number of nodes: best, mean and worst over the orders of the ids
//! and over those who begin.

pub mod orders;

use super::{Conditions, Estimate, Omitted, Why};
use crate::parallel::{self, Progress};
use crate::{Error, People};
use conclave_algorithms::catalog::{ElectionCost, Entry, Formula, Setting};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Options, Plan};
use orders::{Order, Orders};

/// An election with more messages than this is left out.
const MESSAGES_MAX: f64 = 3e6;
/// A run that does not come to an end is cut here.
const UNTIL: Ticks = Ticks::units(1_000_000);
/// A mean over some orders may be off the mean over all by this part of it.
const SAMPLING_ERROR: f64 = 0.1;
const ROUNDING_ERROR: f64 = 1e-6;

/// All that was measured, and what was not.
pub struct Measured {
    /// Every election with every number of nodes.
    pub points: Vec<Point>,
    /// But for these.
    pub omitted: Vec<Omitted>,
    /// Under how many seeds.
    pub seeds: u64,
    /// Under which conditions, as flags; none for those that formulas speak of.
    pub under: String,
}

/// One election with so many nodes.
pub struct Point {
    /// The algorithm and its size, the ids in order.
    pub setting: Setting,
    /// One node begins.
    pub one: Sample,
    /// All begin at the same time.
    pub all: Sample,
    /// What its formulas come to, over all orders that were tried.
    pub ranges: Ranges,
    /// Whether every order of the ids was tried.
    pub every_order: bool,
    /// Whether the conditions are those that its formulas speak of.
    pub judged: bool,
}

/// The least and the most of each formula.
#[derive(Clone, Copy, Debug)]
pub struct Ranges {
    /// Messages, one node beginning.
    pub one: (f64, f64),
    /// Messages, all beginning.
    pub all: (f64, f64),
    /// Units of time, one node beginning.
    pub time: (f64, f64),
}

impl Ranges {
    fn of(setting: &Setting) -> Self {
        let cost = cost_of(setting.entry);
        let range = |formula: &Formula| (formula.range)(setting);
        Self { one: range(&cost.one), all: range(&cost.all), time: range(&cost.time) }
    }

    fn widen(self, other: Self) -> Self {
        let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            one: both(self.one, other.one),
            all: both(self.all, other.all),
            time: both(self.time, other.time),
        }
    }
}

/// What several runs came to.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// How many messages.
    pub messages: Spread,
    /// How many units of time until everybody knew the leader.
    pub time: Spread,
    /// How many runs.
    pub runs: u32,
    /// In how many of them not everybody came to know the same leader.
    pub failed: u32,
    /// Half of the 95 % interval of the mean number of messages, over the seeds.
    pub messages_half: Option<f64>,
    /// The same of the mean time.
    pub time_half: Option<f64>,
}

/// The least, the mean and the most.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The least.
    pub best: f64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub worst: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        Self {
            best: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            worst: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Whether some of it lies outside what a formula allows.
    pub fn is_outside(&self, (low, high): (f64, f64)) -> bool {
        let slack = |bound: f64| (bound.abs() * ROUNDING_ERROR).max(ROUNDING_ERROR);
        self.best < low - slack(low) || self.worst > high + slack(high)
    }
}

impl Point {
    /// What its formulas are.
    pub fn cost(&self) -> &'static ElectionCost {
        cost_of(self.setting.entry)
    }

    /// The mean when all begin, as far as a formula gives it.
    pub fn all_mean(&self) -> Option<f64> {
        self.cost().all_mean.as_ref().map(|formula| (formula.range)(&self.setting).0)
    }

    /// Whether something was measured that a formula rules out.
    pub fn is_outside(&self) -> bool {
        let messages = self.one_is_outside() || self.all_is_outside();
        messages || self.judged && self.one.time.is_outside(self.ranges.time)
    }

    /// Whether the messages are, one node beginning.
    pub fn one_is_outside(&self) -> bool {
        self.judged && self.one.messages.is_outside(self.ranges.one)
    }

    /// Whether the messages are, or their mean, all beginning.
    pub fn all_is_outside(&self) -> bool {
        self.judged && self.all.messages.is_outside(self.ranges.all) || self.mean_is_off()
    }

    /// Whether the mean of many orders is off the mean that the formula gives.
    pub fn mean_is_off(&self) -> bool {
        let Some(mean) = self.all_mean().filter(|_| self.judged) else { return false };
        let part = if self.every_order { ROUNDING_ERROR } else { SAMPLING_ERROR };
        (self.all.messages.mean - mean).abs() > mean * part
    }
}

/// Runs every election with every number of nodes.
pub fn all(
    entries: &[&'static Entry],
    nodes: &[u32],
    conditions: &Conditions,
    progress: Progress<'_>,
) -> Result<Measured, Error> {
    let pieces: Vec<(&'static Entry, u32)> =
        entries.iter().flat_map(|&entry| nodes.iter().map(move |&n| (entry, n))).collect();
    let found = parallel::each(&pieces, progress, |&(entry, n)| point(entry, n, conditions));
    let seeds = *conditions.seeds().end();
    let mut measured =
        Measured { points: Vec::new(), omitted: Vec::new(), seeds, under: conditions.flags() };
    for ((entry, n), found) in pieces.into_iter().zip(found) {
        match found {
            Ok(point) => measured.points.push(point?),
            Err(why) => measured.omitted.push(Omitted { entry, nodes: n, why }),
        }
    }
    Ok(measured)
}

/// One election with so many nodes, or why it is not run.
fn point(
    entry: &'static Entry,
    n: u32,
    conditions: &Conditions,
) -> Result<Result<Point, Error>, Why> {
    let unfit = |error: Error| Why::Unfit(error.to_string());
    let setting = conditions.setting(entry, n).map_err(unfit)?;
    let dead = u32::from(cost_of(entry).without_last);
    if n <= dead {
        return Err(Why::NobodyLeft);
    }
    let messages = (cost_of(entry).all.range)(&setting).0;
    if messages > MESSAGES_MAX {
        return Err(Why::MessagesAtLeast(messages as u64));
    }
    let orders = orders::of(n, messages.max(f64::from(n)));
    Ok(over_orders(setting, &orders, conditions))
}

/// All orders under all seeds.
fn over_orders(setting: Setting, orders: &Orders, conditions: &Conditions) -> Result<Point, Error> {
    let mut one = Vec::new();
    let mut all = Vec::new();
    let mut ranges = None::<Ranges>;
    for seed in conditions.seeds() {
        let mut alone_by_seed = Vec::new();
        let mut together_by_seed = Vec::new();
        for order in &orders.list {
            let (alone, together, range) = elections(&setting, order, conditions, seed)?;
            alone_by_seed.extend(alone);
            together_by_seed.push(together);
            ranges = Some(ranges.map_or(range, |ranges| ranges.widen(range)));
        }
        one.push(alone_by_seed);
        all.push(together_by_seed);
    }
    let ranges = ranges.expect("there is at least one order");
    let every_order = orders.complete;
    let judged = conditions.are_the_formulas();
    Ok(Point { setting, one: sample(&one), all: sample(&all), ranges, every_order, judged })
}

/// What one run came to: messages, and when all knew, if they did.
type Ran = (u64, Option<f64>);

/// The elections of one order of the ids: begun by single nodes, and by all.
fn elections(
    setting: &Setting,
    order: &Order,
    conditions: &Conditions,
    seed: u64,
) -> Result<(Vec<Ran>, Ran, Ranges), Error> {
    let Setting { entry, n, .. } = *setting;
    let ids = order.ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let people = People { ids: Some(&ids), ..People::default() };
    let experiment = conditions.experiment(entry, n, &people)?;
    let greatest = order.ids.iter().position(|&id| id == n).map(|index| NodeId(index as u32));
    let dead: Vec<NodeId> = greatest.filter(|_| cost_of(entry).without_last).into_iter().collect();
    let run = |start: Vec<NodeId>| {
        let usual = Plan { start, dead: dead.clone(), until: UNTIL, ..Plan::default() };
        let plan = conditions.plan(&experiment, seed, usual)?;
        let outcome = experiment.run(&plan, &Options::default())?;
        let time = outcome.election().time_to_leader.summary().map(|times| times.max);
        Ok::<_, Error>((outcome.messages, time.filter(|_| outcome.election().agreed)))
    };
    let live = |node: &NodeId| !dead.contains(node);
    let starters = order.starters.iter().copied().filter(live);
    let alone = starters.map(|node| run(vec![node])).collect::<Result<_, Error>>()?;
    let together = run((0..n).map(NodeId).filter(live).collect())?;
    Ok((alone, together, Ranges::of(&experiment.setting)))
}

/// Of the runs under each seed.
fn sample(by_seed: &[Vec<Ran>]) -> Sample {
    let messages =
        |runs: &[Ran]| -> Vec<f64> { runs.iter().map(|(messages, _)| *messages as f64).collect() };
    let times = |runs: &[Ran]| -> Vec<f64> { runs.iter().filter_map(|(_, time)| *time).collect() };
    let runs = by_seed.concat();
    let all_times = times(&runs);
    Sample {
        messages: Spread::of(&messages(&runs)),
        time: Spread::of(&all_times),
        runs: runs.len() as u32,
        failed: (runs.len() - all_times.len()) as u32,
        messages_half: half(by_seed.iter().map(|runs| messages(runs))),
        time_half: half(by_seed.iter().map(|runs| times(runs))),
    }
}

/// How far off the mean of means may be.
fn half(by_seed: impl Iterator<Item = Vec<f64>>) -> Option<f64> {
    let known = by_seed.filter(|values| !values.is_empty());
    let means: Vec<f64> = known.map(|values| Spread::of(&values).mean).collect();
    Estimate::of(&means)?.half
}

/// What an election costs, of an algorithm that is known to be one.
fn cost_of(entry: &'static Entry) -> &'static ElectionCost {
    entry.cost.election().expect("only elections are measured here")
}
