//! Measures algorithms over the number of nodes, each in the runs that its formulas speak of.

mod runs;

use super::{Conditions, Estimate, Omitted, Why};
use crate::parallel::{self, Progress};
use crate::{Error, Experiment, People};
use conclave_algorithms::catalog::{Entry, MutexCost, Setting};
use runs::{Found, HeavyRun, Job, LightRun, clients};

/// Runs in which more messages than this are expected are left out.
const MESSAGES_MAX: f64 = 1e7;
/// Up to so many clients enter alone, each in its turn; of more, a few speak for all.
const CLIENTS_ALL: u32 = 256;
const CLIENTS_SAMPLED: u32 = 32;
/// How often each node enters where fairness is measured.
const ROUNDS: u32 = 20;
/// A mean over few clients may be off the mean over all by this part of it.
const SAMPLING_ERROR: f64 = 0.05;
const ROUNDING_ERROR: f64 = 1e-6;

/// Quorums of more nodes than this take too long to lay out.
const QUORUM_NODES_MAX: u32 = 20_000;

/// All that was measured, and what was not.
pub struct Measured {
    /// Every algorithm with every number of nodes.
    pub points: Vec<Point>,
    /// But for these.
    pub omitted: Vec<Omitted>,
    /// Under how many seeds.
    pub seeds: u64,
    /// Under which conditions, as flags; none for those that formulas speak of.
    pub under: String,
}

/// One algorithm with so many nodes.
pub struct Point {
    /// The algorithm and its size.
    pub experiment: Experiment,
    /// What its formulas come to.
    ranges: Ranges,
    /// Whether the conditions are those that its formulas speak of.
    judged: bool,
    /// One client alone.
    pub light: Option<Light>,
    /// All at once, one time.
    pub heavy: Option<Heavy>,
    /// All at once, many times.
    pub saturated: Option<Saturated>,
    /// What was not measured, or not as usual, and why.
    pub notes: Vec<Note>,
}

/// Something to be known about the figures of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Messages of these kinds are upkeep, and not counted.
    Upkeep(&'static [&'static str]),
    /// Light load was left out: about so many messages would have been sent.
    NoLightLoad(u64),
    /// Fairness was measured over fewer rounds than usual.
    FewRounds {
        /// Over so many.
        rounds: u32,
        /// Instead of so many.
        usual: u32,
    },
    /// Light load is the mean over so many clients, not over all.
    Sampled(u32),
    /// Not all got in before time was up, or ever.
    NotAllGotIn {
        /// In so many runs.
        runs: u64,
        /// Of so many.
        of: u64,
    },
}

/// The least and the most of each formula. Some take long to work out.
struct Ranges {
    light: (f64, f64),
    heavy: (f64, f64),
    delay: (f64, f64),
    delay_serial: (f64, f64),
    sync_delay: (f64, f64),
}

impl Ranges {
    fn of(setting: &Setting) -> Self {
        let cost = cost_of(setting.entry);
        Self {
            light: (cost.light.range)(setting),
            heavy: (cost.heavy.range)(setting),
            delay: (cost.client_delay.range)(setting),
            delay_serial: (cost.client_delay_serial.range)(setting),
            sync_delay: (cost.sync_delay.range)(setting),
        }
    }
}

/// When one client of a fresh cluster enters alone: means over all clients.
#[derive(Clone, Copy, Debug)]
pub struct Light {
    /// Messages per entry and exit.
    pub messages: Estimate,
    /// From request to entry.
    pub delay: Estimate,
    /// The same, counting messages one after the other.
    pub delay_serial: Estimate,
    /// Whether only some clients were asked.
    pub sampled: bool,
}

/// When all ask at the same time, once.
#[derive(Clone, Copy, Debug)]
pub struct Heavy {
    /// Messages per entry and exit.
    pub messages: Estimate,
    /// From one exit to the next entry, if anybody ever followed another.
    pub sync_delay: Option<Estimate>,
    /// From request to entry.
    pub wait: Estimate,
}

/// When all ask again as soon as they have left.
#[derive(Clone, Copy, Debug)]
pub struct Saturated {
    /// Jain's index.
    pub jain: Estimate,
    /// The most that passed a registered request.
    pub bypass: u64,
}

/// A measured number beside its formula.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// What was measured, if anything.
    pub measured: Option<Estimate>,
    /// Whether the formula speaks of what was measured.
    pub judged: bool,
    /// The formula's least and most.
    pub range: (f64, f64),
    /// By how much the two may differ.
    pub slack: f64,
    /// The formula as textbooks write it.
    pub text: &'static str,
}

impl Beside {
    /// Whether the measured number is not what the formula says.
    pub fn is_outside(&self) -> bool {
        let (low, high) = self.range;
        self.measured.is_some_and(|Estimate { mean, .. }| {
            self.judged
                && (mean < low - self.slack * low.max(1.0)
                    || mean > high + self.slack * high.max(1.0))
        })
    }
}

impl Point {
    /// Messages when one enters alone.
    pub fn light_messages(&self) -> Beside {
        let measured = self.light.map(|light| light.messages);
        self.beside(self.cost().light.text, self.ranges.light, measured)
    }

    /// Messages when all ask at once.
    pub fn heavy_messages(&self) -> Beside {
        let measured = self.heavy.map(|heavy| heavy.messages);
        self.beside(self.cost().heavy.text, self.ranges.heavy, measured)
    }

    /// The delay before an entry alone.
    pub fn delay(&self) -> Beside {
        let measured = self.light.map(|light| light.delay);
        self.beside(self.cost().client_delay.text, self.ranges.delay, measured)
    }

    /// The same, counting messages one after the other.
    pub fn delay_serial(&self) -> Beside {
        let measured = self.light.map(|light| light.delay_serial);
        self.beside(self.cost().client_delay_serial.text, self.ranges.delay_serial, measured)
    }

    /// The delay from one exit to the next entry.
    pub fn sync_delay(&self) -> Beside {
        let measured = self.heavy.and_then(|heavy| heavy.sync_delay);
        self.beside(self.cost().sync_delay.text, self.ranges.sync_delay, measured)
    }

    /// How many may pass a registered request, if a bound is claimed.
    pub fn bypass_bound(&self) -> Option<u64> {
        self.experiment.options(false).bypass_bound
    }

    fn cost(&self) -> &'static MutexCost {
        cost_of(self.experiment.setting.entry)
    }

    fn beside(&self, text: &'static str, range: (f64, f64), measured: Option<Estimate>) -> Beside {
        let sampled = self.light.is_some_and(|light| light.sampled);
        let slack = if sampled { SAMPLING_ERROR } else { ROUNDING_ERROR };
        Beside { measured, judged: self.judged, range, slack, text }
    }
}

/// Measures every algorithm with every number of nodes, on all cores.
pub fn all(
    entries: &[&'static Entry],
    nodes: &[u32],
    conditions: &Conditions,
    progress: Progress<'_>,
) -> Result<Measured, Error> {
    let mut points = Vec::new();
    let mut omitted = Vec::new();
    for entry in entries {
        for &n in nodes {
            match point(entry, n, conditions) {
                Ok(point) => points.push(point),
                Err(why) => omitted.push(Omitted { entry, nodes: n, why }),
            }
        }
    }
    let mut jobs = Vec::new();
    for (index, point) in points.iter_mut().enumerate() {
        for job in affordable(point) {
            jobs.extend(conditions.seeds().map(|seed| (index, job, seed)));
        }
    }
    let found = parallel::each(&jobs, progress, |(index, job, seed)| {
        job.run(&points[*index].experiment, conditions, *seed)
    });
    let mut gathered: Vec<Gathered> = points.iter().map(|_| Gathered::default()).collect();
    for ((index, _, _), found) in jobs.into_iter().zip(found) {
        gathered[index].take(found?);
    }
    for (point, gathered) in points.iter_mut().zip(gathered) {
        point.take(&gathered);
    }
    Ok(Measured { points, omitted, seeds: *conditions.seeds().end(), under: conditions.flags() })
}

/// An algorithm ready to be run with so many nodes, or why it is not.
fn point(entry: &'static Entry, n: u32, conditions: &Conditions) -> Result<Point, Why> {
    let has = |name| entry.parameters.iter().any(|parameter| parameter.name == name);
    if has("quorums") && n > QUORUM_NODES_MAX {
        return Err(Why::Quorums);
    }
    let unfit = |error: &dyn std::fmt::Display| Why::Unfit(error.to_string());
    let setting = conditions.setting(entry, n).map_err(|error| unfit(&error))?;
    let ranges = Ranges::of(&setting);
    let messages = expected(ranges.heavy, f64::from(n)) * f64::from(n) + upkeep(entry, n);
    if messages > MESSAGES_MAX {
        return Err(Why::MessagesAbout(messages as u64));
    }
    let experiment =
        conditions.experiment(entry, n, &People::default()).map_err(|error| unfit(&error))?;
    let ranges = match conditions.set.is_empty() {
        true => ranges,
        false => Ranges::of(&experiment.setting), // With the files that its parameters name.
    };
    let notes = match entry.upkeep() {
        [] => Vec::new(),
        upkeep => vec![Note::Upkeep(upkeep)],
    };
    let judged = conditions.are_the_formulas();
    Ok(Point { experiment, ranges, judged, light: None, heavy: None, saturated: None, notes })
}

/// How many heartbeats are about to be sent while all enter once: each to each, every other unit.
fn upkeep(entry: &Entry, n: u32) -> f64 {
    if entry.upkeep().is_empty() { 0.0 } else { 6.0 * f64::from(n).powi(3) }
}

/// The runs that end within a reasonable time; of the others it is noted that they are missing.
fn affordable(point: &mut Point) -> Vec<Job> {
    let n = point.experiment.setting.n();
    let setting = &point.experiment.setting;
    let heavy = expected(point.ranges.heavy, n) * n + upkeep(setting.entry, setting.n);
    let mut jobs = vec![Job::Heavy];
    let alone = point.ranges.light.0 * f64::from(clients(point.experiment.setting.n).1);
    if alone > MESSAGES_MAX {
        point.notes.push(Note::NoLightLoad(alone as u64));
    } else {
        jobs.push(Job::Light);
    }
    let rounds = ((MESSAGES_MAX / heavy.max(1.0)) as u32).clamp(1, ROUNDS);
    if rounds < ROUNDS {
        point.notes.push(Note::FewRounds { rounds, usual: ROUNDS });
    }
    jobs.push(Job::Saturated(rounds));
    jobs
}

/// Messages per entry; where there is no bound, they grow with those who try in vain.
fn expected((low, high): (f64, f64), n: f64) -> f64 {
    if high.is_finite() { high } else { low * (1.0 + n / 50.0) }
}

/// What all seeds came to.
#[derive(Default)]
struct Gathered {
    light: Vec<LightRun>,
    heavy: Vec<HeavyRun>,
    saturated: Vec<(f64, u64)>,
}

impl Gathered {
    fn take(&mut self, found: Found) {
        match found {
            Found::Light(light) => self.light.push(light),
            Found::Heavy(heavy) => self.heavy.push(heavy),
            Found::Saturated(saturated) => self.saturated.extend(saturated),
        }
    }

    fn light(&self, sampled: bool) -> Option<Light> {
        let of = |value: fn(&LightRun) -> f64| {
            Estimate::of(&self.light.iter().map(value).collect::<Vec<_>>())
        };
        Some(Light {
            messages: of(|run| run.messages)?,
            delay: of(|run| run.delay)?,
            delay_serial: of(|run| run.delay_serial)?,
            sampled,
        })
    }

    fn heavy(&self) -> Option<Heavy> {
        let of = |value: fn(&HeavyRun) -> Option<f64>| {
            Estimate::of(&self.heavy.iter().filter_map(value).collect::<Vec<_>>())
        };
        Some(Heavy {
            messages: of(|run| run.messages)?,
            sync_delay: of(|run| run.sync_delay),
            wait: of(|run| run.wait)?,
        })
    }

    fn saturated(&self) -> Option<Saturated> {
        let jain: Vec<f64> = self.saturated.iter().map(|(jain, _)| *jain).collect();
        let bypass = self.saturated.iter().map(|(_, bypass)| *bypass).max()?;
        Some(Saturated { jain: Estimate::of(&jain)?, bypass })
    }
}

impl Point {
    fn take(&mut self, gathered: &Gathered) {
        let (sampled, _) = clients(self.experiment.setting.n);
        self.light = gathered.light(sampled);
        if sampled && self.light.is_some() {
            self.notes.push(Note::Sampled(CLIENTS_SAMPLED));
        }
        self.heavy = gathered.heavy();
        self.saturated = gathered.saturated();
        let out = gathered.heavy.iter().filter(|run| !run.all_got_in).count() as u64;
        if out > 0 {
            let of = gathered.heavy.len() as u64;
            self.notes.push(Note::NotAllGotIn { runs: out, of });
        }
    }
}

/// What an entry costs, of an algorithm that is known to be for mutual exclusion.
pub fn cost_of(entry: &'static Entry) -> &'static MutexCost {
    entry.cost.mutex().expect("only mutual exclusion is measured here")
}
