//! From flags to bounds and limits.

use super::Check;
use crate::failure::Usage;
use conclave_algorithms::catalog::{Assumption, Entry, Family, Finding, Runs, Setting};
use conclave_check::{INITIATORS_MAX, Limits};
use conclave_core::{Bounds, Property, Start};
use conclave_lab::{Experiment, People};

/// How many nodes are looked at if nothing says how many.
const NODES_USUAL: u32 = 3;

impl Check {
    /// What may happen: what the catalogue says, without the assumption that is dropped, but as was
    /// typed.
    pub fn bounds(&self, experiment: &Experiment) -> anyhow::Result<Bounds> {
        self.vet(&experiment.setting)?;
        let Setting { entry, params, n, .. } = &experiment.setting;
        let mut bounds = (entry.bounds)(params);
        if let Some(runs) = self.runs(entry)? {
            runs.allow(&mut bounds);
        }
        set(&mut bounds.requests, self.requests.map(|times| times.0));
        if bounds.requests.is_none() {
            bounds.timeouts = None; // Or whoever has used up its timeouts would wait for ever.
        }
        set(&mut bounds.timeouts, self.timeouts.map(|times| times.0));
        set(&mut bounds.cancels, self.cancels);
        bounds.stays |= self.stays;
        set(&mut bounds.network, self.network);
        bounds.in_flight = self.in_flight.or(bounds.in_flight);
        set(&mut bounds.timing, self.timers);
        set(&mut bounds.crashes, self.crashes);
        set(&mut bounds.restarts, self.restarts);
        set(&mut bounds.amnesia, self.amnesia);
        set(&mut bounds.losses, self.losses);
        set(&mut bounds.duplicates, self.duplicates);
        set(&mut bounds.suspicions, self.suspicions);
        bounds.lasting |= self.lasting;
        if let Some(text) = &self.start {
            bounds.start = initiators(text, experiment)?;
        }
        let named = matches!(bounds.start, Start::These(_));
        if entry.family == Family::Election && !named && *n > INITIATORS_MAX {
            let accepted = format!(
                "every set of initiators is looked at, of at most {INITIATORS_MAX} nodes; \
                 --start ID,… names them"
            );
            return Err(Usage::flag("--nodes", *n, accepted).into());
        }
        Ok(bounds)
    }

    /// How far to look, how, and for what.
    pub fn limits(&self, experiment: &Experiment) -> anyhow::Result<Limits> {
        let usual = Limits::default();
        let properties = self.properties.as_deref();
        Ok(Limits {
            depth: self.depth,
            states_max: self.max_states.unwrap_or(usual.states_max),
            memory_max: self.memory.unwrap_or(usual.memory_max),
            threads: self.threads,
            partial_order: !self.no_partial_order && !self.no_reduction,
            symmetry: !self.no_symmetry && !self.no_reduction,
            interrupt: usual.interrupt,
            properties: properties.map_or(Ok(Vec::new()), |list| {
                let entry = experiment.setting.entry;
                list.split(',').map(|tag| property(tag.trim(), entry)).collect()
            })?,
        })
    }

    /// The algorithm with its size and parameters: as typed; else as it takes to see what comes of
    /// the assumption that is dropped; else as usual.
    pub fn experiment(&self) -> anyhow::Result<Experiment> {
        let runs = self.runs(conclave_lab::find(&self.id)?)?;
        let nodes = self.nodes.or(runs.map(|runs| runs.nodes)).unwrap_or(NODES_USUAL);
        let is_typed = |name: &str| {
            self.set.iter().any(|typed| typed.split('=').next().is_some_and(|typed| typed == name))
        };
        let shown = runs.map_or(&[][..], |runs| runs.set).iter();
        let mut set: Vec<String> = shown
            .filter(|(name, _)| !is_typed(name))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        set.extend(self.set.iter().cloned());
        let people = People { ids: self.ids.as_deref(), candidates: None };
        let build = |set: &[String]| Experiment::new(&self.id, nodes, set, &people);
        // What is typed counts, even where it does not go together with what the row sets.
        let experiment = match build(&set) {
            Err(_) if !self.set.is_empty() => build(&self.set)?,
            built => built?,
        };
        experiment.vet_check()?;
        Ok(experiment)
    }

    /// The assumption to do without.
    pub fn dropped(&self, entry: &Entry) -> Result<Option<&'static Assumption>, Usage> {
        let Some(tag) = &self.without else { return Ok(None) };
        let known = entry.assumptions;
        match known.iter().find(|assumption| assumption.tag == tag) {
            Some(assumption) => Ok(Some(assumption)),
            None => {
                let tags: Vec<&str> = known.iter().map(|assumption| assumption.tag).collect();
                let id = entry.id;
                let accepted = match tags.as_slice() {
                    [] => format!("{id} assumes nothing"),
                    tags => format!("{id} assumes {}", tags.join(", ")),
                };
                Err(Usage::flag("--without", tag, accepted))
            }
        }
    }

    /// The runs that show what comes of doing without it. Refuses what no bounds can drop.
    fn runs(&self, entry: &Entry) -> Result<Option<Runs>, Usage> {
        let Some(Assumption { tag, text, dropped }) = self.dropped(entry)? else { return Ok(None) };
        match (dropped.runs, dropped.finding) {
            (Some(runs), _) => Ok(Some(runs)),
            (None, Finding::OutOfReach(why) | Finding::Harmless(why)) => {
                Err(Usage::flag("--without", tag, format!("no bounds drop it ({text}): {why}")))
            }
            (None, Finding::Breaks(_)) => {
                Err(Usage::flag("--without", tag, format!("no bounds drop it ({text})")))
            }
        }
    }

    /// Refuses what makes no sense for this algorithm.
    fn vet(&self, setting: &Setting) -> Result<(), Usage> {
        let id = setting.entry.id;
        let family = setting.entry.family;
        if self.in_flight == Some(0) {
            return Err(Usage::flag("--in-flight", 0, "at least 1, or nothing is ever sent"));
        }
        match family {
            Family::Election if self.cancels.is_some_and(|cancels| cancels > 0) => {
                Err(Usage(format!("--cancels: only a mutex has waiters; {id} is an election")))
            }
            Family::Election if self.stays => {
                Err(Usage(format!("--stays: only a mutex has an inside; {id} is an election")))
            }
            Family::Mutex => match &self.start {
                Some(start) => {
                    let accepted = format!("only elections have initiators; {id} is a mutex");
                    Err(Usage::flag("--start", start, accepted))
                }
                None => Ok(()),
            },
            Family::Election | Family::Clock | Family::Detector => Ok(()),
        }
    }
}

/// Who calls for an election.
fn initiators(text: &str, experiment: &Experiment) -> anyhow::Result<Start> {
    Ok(match text {
        "any" => Start::Any,
        "together" => Start::Together,
        list => Start::These(experiment.names.nodes("--start", list)?.into_iter().collect()),
    })
}

/// A promise that can be looked at, by its tag.
fn property(tag: &str, entry: &Entry) -> Result<Property, Usage> {
    // Only the lock table has an invariant that judges it.
    let bounded = entry.id == conclave_lab::lock_table::ENTRY.id;
    let judged = |property: &Property| *property != Property::BW || bounded;
    let known: Vec<Property> = match entry.family {
        Family::Mutex => Property::MUTEX.into_iter().filter(judged).collect(),
        Family::Election => Property::ELECTION.to_vec(),
        Family::Clock | Family::Detector => Vec::new(),
    };
    known.iter().copied().find(|property| property.tag() == tag).ok_or_else(|| {
        let tags: Vec<&str> = known.iter().map(|property| property.tag()).collect();
        Usage::flag("--properties", tag, format!("takes some of {}", tags.join(",")))
    })
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
