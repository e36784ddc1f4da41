//! "Break it": asks the checker for the shortest way to break a promise, without some of the
//! algorithm's assumptions; what it finds is a story that can be played.

use super::Refused;
use super::played::no_files;
use crate::{Experiment, People, SimFlags, rows};
use conclave_algorithms::catalog::{Assumption, Claim, Entry, Family, Runs, Setting};
use conclave_check::{INITIATORS_MAX, Interrupt, Limits, Progress, Report, Stop};
use conclave_core::{Bounds, Network, Property, Story, Verdict};
use conclave_sim::quoted;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// More nodes than this have too many states for somebody who waits.
const NODES_MAX: u32 = 6;
/// How many are looked at if nobody says how many.
const NODES_USUAL: u32 = 3;
/// Nobody waits longer than this.
const SECONDS_MAX: u64 = 60;
const SECONDS_USUAL: u64 = 20;
/// And no search takes more than this, in bytes and in states.
const MEMORY_MAX: u64 = 1 << 30;
const STATES_MAX: u64 = 10_000_000;

/// What is to be broken, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct CheckQuestion {
    pub algorithm: String,
    #[serde(default)]
    pub flags: String,
    #[serde(default)]
    pub without: Vec<String>,
    #[serde(default)]
    pub again: bool,
    #[serde(default)]
    pub seconds: Option<u64>,
    #[serde(default)]
    pub lang: Option<String>,
}

/// One line of the answer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub enum Line {
    Progress { states: u64, depth: u32 },
    Found(Box<Found>),
    Holds { states: u64, bounds: String },
    Unknown { states: u64, why: String, bounds: String },
}

/// A story that was found.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Found {
    pub property: &'static str,
    pub what: String,
    pub story: String,
    pub flags: String,
    pub steps: usize,
    pub loop_from: Option<usize>,
    pub states: u64,
    pub bounds: String,
}

/// A search that is ready to begin.
pub struct Search {
    experiment: Experiment,
    bounds: Bounds,
    limits: Limits,
    time: Duration,
}

impl Search {
    /// Reads the question.
    pub fn new(question: &CheckQuestion) -> Result<Self, Refused> {
        let entry = rows::find(&question.algorithm).map_err(Refused::of("algorithm"))?;
        let line = SimFlags::of_line(&question.algorithm, &question.flags);
        let flags = line.map_err(Refused::of("flags"))?;
        let dropped = question.without.iter().map(|tag| runs(entry, tag));
        let dropped = dropped.collect::<Result<Vec<Runs>, _>>()?;
        let (experiment, known) = chosen(question, &flags, &dropped)?;
        experiment.vet_check().map_err(Refused::of("algorithm"))?;
        let mut bounds = (entry.bounds)(&experiment.setting.params);
        dropped.iter().for_each(|runs| runs.allow(&mut bounds));
        if question.again {
            (bounds.requests, bounds.timeouts) = (None, None);
        }
        let limits = Limits {
            states_max: STATES_MAX,
            memory_max: MEMORY_MAX,
            threads: NonZeroUsize::new(1),
            properties: match question.again {
                true => lasting(entry)?,
                false => looked_at(&experiment, known),
            },
            ..Limits::default()
        };
        let seconds = question.seconds.unwrap_or(SECONDS_USUAL).clamp(1, SECONDS_MAX);
        Ok(Self { experiment, bounds, limits, time: Duration::from_secs(seconds) })
    }

    /// Looks at every run, and says from time to time how far it is. `goes_on` says whether
    /// anybody still wants to know.
    pub fn run(&self, goes_on: &(dyn Fn(Line) -> bool + Sync)) -> Result<Line, Refused> {
        let interrupt = Interrupt::default();
        let limits = Limits { interrupt: interrupt.clone(), ..self.limits.clone() };
        let begun = Instant::now();
        let progress = |Progress { unique_states, depth, .. }: Progress| {
            let wanted = goes_on(Line::Progress { states: unique_states, depth });
            if !wanted || begun.elapsed() > self.time {
                interrupt.raise();
            }
        };
        let report = self.experiment.check(&self.bounds, &limits, &progress);
        self.tell(&report.map_err(Refused::of("algorithm"))?)
    }

    fn tell(&self, report: &Report) -> Result<Line, Refused> {
        let states = report.unique_states;
        let bounds = self.in_words();
        let shortest = report.stories.iter().min_by_key(|story| story.moments.len());
        if let Some(story) = shortest {
            return self.found(story, states, bounds);
        }
        let open = |verdict: &Verdict| *verdict == Verdict::Unknown;
        let unknown = report.verdicts.iter().any(|(_, verdict)| open(verdict));
        Ok(match report.stop {
            None if !unknown => Line::Holds { states, bounds },
            stop => Line::Unknown { states, why: why(stop).to_string(), bounds },
        })
    }

    fn found(&self, story: &Story, states: u64, bounds: String) -> Result<Line, Refused> {
        let retold = self.experiment.follow(story).map_err(Refused::of("story"))?;
        let what = retold.violation(story.property).map(|broken| broken.what.clone());
        let text = serde_json::to_string(story).map_err(Refused::of("story"))?;
        Ok(Line::Found(Box::new(Found {
            property: story.property.tag(),
            what: self.experiment.names.tell(&what.unwrap_or_default()),
            story: text,
            flags: self.flags(),
            steps: story.moments.len(),
            loop_from: story.stem,
            states,
            bounds,
        })))
    }

    /// The flags with which the story is played.
    fn flags(&self) -> String {
        let mut words = vec![format!("--nodes {}", self.experiment.setting.n)];
        words.extend(self.experiment.set().iter().map(|set| format!("--set {}", quoted(set))));
        words.join(" ")
    }

    /// What was looked at: clauses of a few words each, parted by semicolons.
    fn in_words(&self) -> String {
        let bounds = &self.bounds;
        let mut words = vec![format!("{} nodes", self.experiment.setting.n)];
        words.push(match bounds.requests {
            Some(1) => "each asks once".to_string(),
            Some(times) => format!("each asks {times} times"),
            None => "each asks again and again".to_string(),
        });
        words.push(match bounds.network {
            Network::Fifo => "messages of one link arrive in order".to_string(),
            Network::Bag => "messages arrive in any order".to_string(),
        });
        let counted = [
            (bounds.losses, "messages lost"),
            (bounds.duplicates, "messages twice"),
            (bounds.crashes, "crashes"),
            (bounds.restarts, "returns with the disk"),
            (bounds.amnesia, "returns without the disk"),
            (bounds.suspicions, "wrong suspicions"),
            (bounds.cancels, "withdrawals"),
        ];
        let some = counted.iter().filter(|(count, _)| *count > 0);
        words.extend(some.map(|(count, what)| format!("{what}: {count}")));
        words.join("; ")
    }
}

/// The promises that are looked at: those that the algorithm makes, and those that it is known to
/// break as it is set. To look at the order of requests, too, would multiply the states.
fn looked_at(experiment: &Experiment, known: Option<&Claim>) -> Vec<Property> {
    let Setting { entry, params, .. } = &experiment.setting;
    let mut properties = (entry.has)(params);
    properties.retain(|property| !matches!(property, Property::HB | Property::BW));
    for (property, _) in known.into_iter().flat_map(violations) {
        if !properties.contains(property) {
            properties.push(*property);
        }
    }
    properties
}

/// What the catalogue says is broken by parameters alone, as they are set here: with how many nodes
/// it is seen, and what is broken then.
fn known_to_break(experiment: &Experiment) -> Option<&'static Claim> {
    let Setting { entry, params, .. } = &experiment.setting;
    let usual = (entry.bounds)(params);
    let is_usual = |claim: &Claim| {
        let mut bounds = usual.clone();
        (claim.bounds)(&mut bounds);
        bounds == usual
    };
    let is_set = |claim: &Claim| claim.set.iter().all(|(name, value)| params.is(name, value));
    let claims: &'static [Claim] = entry.evidence.claims.yes().copied().unwrap_or_default();
    claims.iter().find(|claim| {
        let shown = !claim.large && claim.nodes <= NODES_MAX && violations(claim).next().is_some();
        shown && !claim.set.is_empty() && is_set(claim) && is_usual(claim)
    })
}

fn violations(claim: &Claim) -> impl Iterator<Item = &'static (Property, Verdict)> {
    claim.verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Violated)
}

/// What can be told of runs without end. Fences grow for ever there, and nobody's first request is
/// the last: whether anybody is passed over again and again is looked at even where the algorithm
/// does not promise that nobody is.
fn lasting(entry: &Entry) -> Result<Vec<Property>, Refused> {
    match entry.family {
        Family::Mutex => Ok(vec![Property::S1, Property::V1, Property::V2]),
        Family::Election | Family::Detector | Family::Clock => {
            Err(Refused::new("again", "only locks are asked for again and again"))
        }
    }
}

fn why(stop: Option<Stop>) -> &'static str {
    match stop {
        Some(Stop::Depth) => "runs were cut short",
        Some(Stop::States) => "there are too many states",
        Some(Stop::Memory) => "there was no more memory to be had",
        Some(Stop::Interrupted) => "time was up",
        Some(Stop::Found) | None => "not everything could be told",
    }
}

/// The algorithm with as many nodes as are asked for, or else as it takes to see something; and
/// what is known to break as it is set.
fn chosen(
    question: &CheckQuestion,
    flags: &SimFlags,
    dropped: &[Runs],
) -> Result<(Experiment, Option<&'static Claim>), Refused> {
    let shown = dropped.iter().map(|runs| runs.nodes).max();
    let nodes = flags.nodes.or(shown).unwrap_or(NODES_USUAL);
    if nodes > NODES_MAX {
        let words = format!("--nodes {nodes}: at most {NODES_MAX} can be searched here");
        return Err(Refused::new("flags", words));
    }
    debug_assert!(nodes <= INITIATORS_MAX, "every set of initiators is looked at");
    let usual = experiment(flags, nodes, dropped)?;
    if question.again || !dropped.is_empty() {
        return Ok((usual, None));
    }
    match known_to_break(&usual) {
        Some(claim) if flags.nodes.is_none() => {
            Ok((experiment(flags, claim.nodes, dropped)?, Some(claim)))
        }
        known => Ok((usual, known)),
    }
}

/// The algorithm as it takes to see what comes of the assumptions that are dropped.
fn experiment(flags: &SimFlags, nodes: u32, dropped: &[Runs]) -> Result<Experiment, Refused> {
    let is_typed = |name: &str| flags.set.iter().any(|set| set.split('=').next() == Some(name));
    let shown = dropped.iter().flat_map(|runs| runs.set.iter());
    let mut set: Vec<String> = shown
        .filter(|(name, _)| !is_typed(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    set.extend(flags.set.iter().cloned());
    let ids = flags.ids.as_deref().filter(|_| flags.nodes.is_some());
    let people = People { ids, candidates: None };
    let build = |set: &[String]| Experiment::with_files(&flags.id, nodes, set, &people, &no_files);
    // What is typed counts, even where it does not go together with what the row sets.
    match build(&set) {
        Err(_) if !flags.set.is_empty() => build(&flags.set),
        built => built,
    }
    .map_err(Refused::of("flags"))
}

/// The runs that show what comes of doing without an assumption.
fn runs(entry: &Entry, tag: &str) -> Result<Runs, Refused> {
    let known = entry.assumptions.iter().find(|assumption| assumption.tag == tag);
    let Some(Assumption { dropped, text, .. }) = known else {
        let tags: Vec<&str> = entry.assumptions.iter().map(|known| known.tag).collect();
        let words = format!("--without {tag}: {} assumes {}", entry.id, tags.join(", "));
        return Err(Refused::new("without", words));
    };
    dropped.runs.ok_or_else(|| {
        Refused::new("without", format!("--without {tag}: no bounds drop it ({text})"))
    })
}
