//! Measures algorithms over the number of nodes, each in the runs that its formulas speak of.

use super::{Omitted, Why};
use crate::parallel::{self, Progress};
use crate::{Error, Experiment, People};
use conclave_algorithms::catalog::{Entry, MutexCost, Setting};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Ending, Options, Outcome, Plan, Workload};

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
}

/// One algorithm with so many nodes.
pub struct Point {
    /// The algorithm and its size.
    pub experiment: Experiment,
    /// What its formulas come to.
    ranges: Ranges,
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
    /// Not all got in before time was up.
    OutOfTime,
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
    pub messages: f64,
    /// From request to entry.
    pub delay: f64,
    /// The same, counting messages one after the other.
    pub delay_serial: f64,
    /// Whether only some clients were asked.
    pub sampled: bool,
}

/// When all ask at the same time, once.
#[derive(Clone, Copy, Debug)]
pub struct Heavy {
    /// Messages per entry and exit.
    pub messages: f64,
    /// From one exit to the next entry, if anybody ever followed another.
    pub sync_delay: Option<f64>,
    /// From request to entry.
    pub wait: f64,
}

/// When all ask again as soon as they have left.
#[derive(Clone, Copy, Debug)]
pub struct Saturated {
    /// Jain's index.
    pub jain: f64,
    /// The most that passed a registered request.
    pub bypass: u64,
}

/// A measured number beside its formula.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// What was measured, if anything.
    pub measured: Option<f64>,
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
        self.measured.is_some_and(|measured| {
            measured < low - self.slack * low.max(1.0)
                || measured > high + self.slack * high.max(1.0)
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

    fn beside(&self, text: &'static str, range: (f64, f64), measured: Option<f64>) -> Beside {
        let sampled = self.light.is_some_and(|light| light.sampled);
        let slack = if sampled { SAMPLING_ERROR } else { ROUNDING_ERROR };
        Beside { measured, range, slack, text }
    }
}

/// Measures every algorithm with every number of nodes, on all cores.
pub fn all(
    entries: &[&'static Entry],
    nodes: &[u32],
    progress: Progress<'_>,
) -> Result<Measured, Error> {
    let mut points = Vec::new();
    let mut omitted = Vec::new();
    for entry in entries {
        for &n in nodes {
            match point(entry, n) {
                Ok(point) => points.push(point),
                Err(why) => omitted.push(Omitted { entry, nodes: n, why }),
            }
        }
    }
    let mut jobs = Vec::new();
    for (index, point) in points.iter_mut().enumerate() {
        jobs.extend(affordable(point).into_iter().map(|job| (index, job)));
    }
    let found = parallel::each(&jobs, progress, |(index, job)| job.run(&points[*index].experiment));
    for ((index, _), found) in jobs.into_iter().zip(found) {
        points[index].take(found?);
    }
    Ok(Measured { points, omitted })
}

/// An algorithm ready to be run with so many nodes, or why it is not.
fn point(entry: &'static Entry, n: u32) -> Result<Point, Why> {
    let has = |name| entry.parameters.iter().any(|parameter| parameter.name == name);
    if has("quorums") && n > QUORUM_NODES_MAX {
        return Err(Why::Quorums);
    }
    let setting = entry.setting(n, &[]).map_err(|error| Why::Unfit(error.to_string()))?;
    let ranges = Ranges::of(&setting);
    let messages = expected(ranges.heavy, f64::from(n)) * f64::from(n) + upkeep(entry, n);
    if messages > MESSAGES_MAX {
        return Err(Why::MessagesAbout(messages as u64));
    }
    let experiment = Experiment::new(entry.id, n, &[], &People::default())
        .map_err(|error| Why::Unfit(error.to_string()))?;
    let notes = match entry.upkeep() {
        [] => Vec::new(),
        upkeep => vec![Note::Upkeep(upkeep)],
    };
    Ok(Point { experiment, ranges, light: None, heavy: None, saturated: None, notes })
}

/// How many heartbeats are about to be sent while all enter once: each to each, every other unit.
fn upkeep(entry: &Entry, n: u32) -> f64 {
    if entry.upkeep().is_empty() { 0.0 } else { 6.0 * f64::from(n).powi(3) }
}

/// A kind of run.
#[derive(Clone, Copy, Debug)]
enum Job {
    Light,
    Heavy,
    Saturated(u32),
}

/// What one job found.
enum Found {
    Light(Light),
    Heavy(Option<Heavy>),
    Saturated(Option<Saturated>),
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

impl Point {
    fn take(&mut self, found: Found) {
        match found {
            Found::Light(light) => {
                if light.sampled {
                    self.notes.push(Note::Sampled(CLIENTS_SAMPLED));
                }
                self.light = Some(light);
            }
            Found::Heavy(heavy) => {
                if heavy.is_none() {
                    self.notes.push(Note::OutOfTime);
                }
                self.heavy = heavy;
            }
            Found::Saturated(saturated) => self.saturated = saturated,
        }
    }
}

impl Job {
    fn run(self, experiment: &Experiment) -> Result<Found, Error> {
        match self {
            Self::Light => light(experiment).map(Found::Light),
            Self::Heavy => heavy(experiment).map(Found::Heavy),
            Self::Saturated(rounds) => saturated(experiment, rounds).map(Found::Saturated),
        }
    }
}

/// Whether some must speak for all, and how many clients enter alone.
fn clients(n: u32) -> (bool, u32) {
    if n <= CLIENTS_ALL { (false, n) } else { (true, CLIENTS_SAMPLED) }
}

fn light(experiment: &Experiment) -> Result<Light, Error> {
    let n = experiment.setting.n;
    let (sampled, asked) = clients(n);
    let mut sum = Light { messages: 0.0, delay: 0.0, delay_serial: 0.0, sampled };
    for turn in 0..asked {
        // The first node is the coordinator or has the token: it speaks for itself only.
        let (client, speaks_for) = match turn {
            0 => (0, 1.0),
            _ => {
                let others = u64::from(n - 2) * u64::from(turn - 1);
                let client = 1 + others / u64::from((asked - 2).max(1));
                (client as u32, f64::from(n - 1) / f64::from(asked - 1))
            }
        };
        let workload = Workload::Single(NodeId(client));
        let outcome = experiment.run(&patient(n, 1, workload), &Options::default())?;
        let of = |times: &conclave_sim::Times| times.summary().map_or(0.0, |s| s.mean);
        sum.messages += speaks_for * outcome.messages_per_entry().unwrap_or(0.0);
        sum.delay += speaks_for * of(&outcome.mutex().client_delay);
        sum.delay_serial += speaks_for * of(&outcome.mutex().client_delay_serial);
    }
    let mean = |sum| sum / f64::from(n);
    Ok(Light {
        messages: mean(sum.messages),
        delay: mean(sum.delay),
        delay_serial: mean(sum.delay_serial),
        sampled,
    })
}

fn heavy(experiment: &Experiment) -> Result<Option<Heavy>, Error> {
    let outcome = at_once(experiment, 1)?;
    let messages = outcome.messages_per_entry().filter(|_| outcome.ending != Ending::CutShort);
    Ok(messages.map(|messages| Heavy {
        messages,
        sync_delay: outcome.mutex().sync_delay.summary().map(|summary| summary.mean),
        wait: outcome.mutex().wait.summary().map_or(0.0, |summary| summary.mean),
    }))
}

fn saturated(experiment: &Experiment, rounds: u32) -> Result<Option<Saturated>, Error> {
    let outcome = at_once(experiment, rounds)?;
    let entering = outcome.mutex();
    Ok(entering.jain.map(|jain| Saturated { jain, bypass: entering.bypass_max }))
}

fn at_once(experiment: &Experiment, rounds: u32) -> Result<Outcome, Error> {
    let plan = patient(experiment.setting.n, rounds, Workload::AllAtOnce);
    // A bound is all it takes to have it counted who passes whom.
    experiment.run(&plan, &Options { bypass_bound: Some(u64::MAX), ..Options::default() })
}

/// A plan with time enough for everybody.
fn patient(n: u32, rounds: u32, workload: Workload) -> Plan {
    let until = Plan::default().until + Ticks::units(200 * u64::from(n) * u64::from(rounds));
    Plan { workload, rounds, until, ..Plan::default() }
}

/// What an entry costs, of an algorithm that is known to be for mutual exclusion.
pub fn cost_of(entry: &'static Entry) -> &'static MutexCost {
    entry.cost.mutex().expect("only mutual exclusion is measured here")
}
