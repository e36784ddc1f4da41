//! Scenarios by their names: those in the binary, or one in a file; and what comes of each.

mod changes;
mod vet;

pub use changes::Changes;

use crate::{Error, Experiment, Usage, experiment, files};
use conclave_algorithms::catalog;
use conclave_core::Property;
use conclave_sim::{Check, Options, Outcome, Plan, Scenario, Text};
use std::path::Path;

/// Name and text of every scenario in the binary, in the order of their names.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// A scenario and its name.
pub struct ScenarioFile {
    /// What people call it.
    pub name: String,
    /// What was typed to get it.
    pub typed: String,
    /// The runs that it tells of, at least one; title and text are those of the first.
    pub runs: Vec<Scenario>,
}

/// What came of one run of a scenario.
pub struct Ran {
    /// Which one, where there are several.
    pub part: Option<Text>,
    /// The algorithm, as the scenario has it.
    pub experiment: Experiment,
    /// The run it tells of.
    pub plan: Plan,
    /// The bound that `BW` was judged by.
    pub bypass_bound: Option<u64>,
    /// What was seen.
    pub outcome: Outcome,
    /// What was seen beside what was expected.
    pub checks: Vec<Check>,
    /// Whether the file was run as it is, so that what it expects can be judged.
    pub judged: bool,
}

impl ScenarioFile {
    /// Every scenario in the binary.
    pub fn all() -> Result<Vec<Self>, Error> {
        EMBEDDED.iter().map(|(name, text)| Self::read(name, name, text)).collect()
    }

    /// The scenario of that name, or the one in that file.
    pub fn find(typed: &str) -> Result<Self, Error> {
        if let Some((name, text)) = EMBEDDED.iter().find(|(name, _)| *name == typed) {
            return Self::read(name, name, text);
        }
        if let Some(file) = Self::numbered(typed)? {
            return Ok(file);
        }
        if !typed.ends_with(".toml") && !typed.contains(std::path::MAIN_SEPARATOR) {
            return Err(unknown(typed).into());
        }
        let text = files::read(typed).map_err(|reason| Usage(format!("{typed}: {reason}")))?;
        let stem = Path::new(typed).file_stem().unwrap_or_default();
        let runs = vet::runs(&text).map_err(|error| Error::from(error).within(typed))?;
        Ok(Self { name: stem.to_string_lossy().into_owned(), typed: typed.to_string(), runs })
    }

    /// The scenario that is called by its algorithm and a number, such as `quorum-3`.
    fn numbered(typed: &str) -> Result<Option<Self>, Error> {
        let Some((id, number)) = typed.rsplit_once('-') else { return Ok(None) };
        let Some(number) = number.parse::<usize>().ok().filter(|_| catalog::find(id).is_ok())
        else {
            return Ok(None);
        };
        let mut of_id = Self::all()?.into_iter().filter(|file| file.head().algorithm == id);
        Ok(of_id.nth(number.wrapping_sub(1)).map(|file| Self { typed: typed.to_string(), ..file }))
    }

    /// Its algorithm, and its number among those of that algorithm in the order of their names.
    pub fn number_among(&self, all: &[Self]) -> String {
        let id = &self.head().algorithm;
        let of_id = all.iter().filter(|file| file.head().algorithm == *id);
        let number = of_id.take_while(|file| file.name != self.name).count() + 1;
        format!("{id}-{number}")
    }

    fn read(name: &str, typed: &str, text: &str) -> Result<Self, Error> {
        let runs = Scenario::parse_runs(text).map_err(|error| Error::from(error).within(typed))?;
        Ok(Self { name: name.to_string(), typed: typed.to_string(), runs })
    }

    /// What it is called and tells.
    pub fn head(&self) -> &Scenario {
        &self.runs[0]
    }

    /// Why it cannot be run here, if its algorithm is not in the catalogue.
    pub fn skipped(&self) -> Option<String> {
        let missing = |run: &Scenario| catalog::find(&run.algorithm).err();
        self.runs.iter().find_map(missing).map(|error| error.to_string())
    }

    /// What each run is about: the algorithm, and what is to happen to it.
    pub fn set_up(&self) -> Result<Vec<(Experiment, Plan)>, Error> {
        self.runs.iter().map(|run| self.set_up_run(run, &Changes::default())).collect()
    }

    fn set_up_run(&self, run: &Scenario, changes: &Changes) -> Result<(Experiment, Plan), Error> {
        let in_file = |error: Error| error.within(&self.typed);
        let changed = changed(run, changes).map_err(in_file)?;
        let experiment = Experiment::of_scenario(&changed).map_err(in_file)?;
        let plan = run.plan(&experiment.names).map_err(|error| in_file(error.into()))?;
        let plan = changes.apply(plan, &experiment.names)?;
        Ok((experiment, plan))
    }

    /// Runs it, and holds each run against what was expected.
    pub fn run(&self, story: bool) -> Result<Vec<Ran>, Error> {
        self.run_changed(story, &Changes::default())
    }

    /// Runs it with some things changed. What the file expects is then not judged.
    pub fn run_changed(&self, story: bool, changes: &Changes) -> Result<Vec<Ran>, Error> {
        let judged = changes.are_none();
        let ran = |run: &Scenario| {
            let (experiment, plan) = self.set_up_run(run, changes)?;
            let options = Options { story, ..experiment.options(run.watches(Property::HB)) };
            let outcome =
                experiment.run(&plan, &options).map_err(|error| error.within(&self.typed))?;
            let checks = run.judge(&outcome, &experiment.names);
            let part = run.part.clone();
            let bypass_bound = options.bypass_bound;
            Ok(Ran { part, experiment, plan, bypass_bound, outcome, checks, judged })
        };
        self.runs.iter().map(ran).collect()
    }
}

impl Ran {
    /// Whether everything came out as expected, if that is judged.
    pub fn ok(&self) -> bool {
        !self.judged || self.checks.iter().all(|check| check.ok)
    }

    /// How many things did.
    pub fn right(&self) -> usize {
        self.checks.iter().filter(|check| check.ok).count()
    }
}

/// The scenario with other parameters.
fn changed(run: &Scenario, changes: &Changes) -> Result<Scenario, Error> {
    let mut changed = run.clone();
    for text in &changes.set {
        let (name, value) = experiment::value(catalog::find(&run.algorithm)?, text, &files::read)?;
        changed.set.retain(|(known, _)| *known != name);
        changed.set.push((name, value));
    }
    Ok(changed)
}

fn unknown(typed: &str) -> Usage {
    let names = EMBEDDED.iter().map(|(name, _)| *name);
    let hint = match catalog::alike(typed, names).as_slice() {
        [] => "'conclave scenario list' lists them".to_string(),
        alike => format!("did you mean {}?", alike.join(" or ")),
    };
    Usage(format!("no scenario is called '{typed}'; {hint}"))
}
