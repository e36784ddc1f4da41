//! An experiment: an algorithm of the catalogue with its size and parameters and the names of its
//! nodes, ready for simulator, checker and replay.

use crate::drivers::{self, Drivers};
use crate::{Error, Usage, files, recordings, rows};
use conclave_algorithms::catalog::{Entry, Family, Setting};
use conclave_check::{Checkable, Limits, Progress, Report};
use conclave_core::{Bounds, NodeId, NodeSet, Play, Property, Story};
use conclave_sim::trace::{self, Explained, Focus, Header, Question, Survey, Trace};
use conclave_sim::{
    Names, Options, Outcome, Patience, Plan, Prepared, Retold, Scenario, Sweep, parse, quoted,
};
use std::time::{Duration, Instant};

/// More nodes than this would not fit into an ordinary machine.
pub const NODES_MAX: u32 = 10_000_000;
/// Up to so many clients the order of requests is judged without being asked for.
const ORDER_MAX: u32 = 64;
/// So many runs are spent on making a violating run small, at most.
const SHRINK_RUNS: u32 = 5_000;

/// An algorithm as it was asked for: can be run, and typed again.
pub struct Experiment {
    /// The algorithm, its size and its parameters.
    pub setting: Setting,
    /// How people call its nodes.
    pub names: Names,
    drivers: Drivers,
    /// The parameters as they were typed, `name=value`.
    set: Vec<String>,
}

/// Whom an algorithm is about, beyond how many.
#[derive(Default)]
pub struct People<'a> {
    /// What the nodes are called, `a,b,c`.
    pub ids: Option<&'a str>,
    /// Who may be elected, `1,3`.
    pub candidates: Option<&'a str>,
}

impl Experiment {
    /// Finds the algorithm and reads its parameters; files that they name are read too.
    pub fn new(id: &str, nodes: u32, set: &[String], people: &People<'_>) -> Result<Self, Error> {
        Self::with_files(id, nodes, set, people, &files::read)
    }

    /// The same, where files are read like this.
    pub fn with_files(
        id: &str,
        nodes: u32,
        set: &[String],
        people: &People<'_>,
        read: parse::Read<'_>,
    ) -> Result<Self, Error> {
        let entry = rows::find(id)?;
        let values = set.iter().map(|text| value(entry, text, read));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Self::build(entry, nodes, &values, set.to_vec(), people)
    }

    /// The algorithm of a scenario. It names no files: it has their texts.
    pub fn of_scenario(scenario: &Scenario) -> Result<Self, Error> {
        if scenario.nodes > NODES_MAX {
            return Err(Usage(format!("nodes = {}: at most {NODES_MAX}", scenario.nodes)).into());
        }
        let people =
            People { ids: scenario.ids.as_deref(), candidates: scenario.candidates.as_deref() };
        Self::of_texts(&scenario.algorithm, scenario.nodes, &scenario.set, &people)
    }

    /// The algorithm of a recording, which has the texts of its files.
    pub fn of_recording(header: &Header) -> Result<Self, Error> {
        if header.nodes as usize > header.names.len() {
            return Err(Usage("the recording names fewer nodes than it has".to_string()).into());
        }
        let people =
            People { ids: header.ids.as_deref(), candidates: header.candidates.as_deref() };
        let experiment = Self::of_texts(&header.algorithm, header.nodes, &header.set, &people)?;
        let mut again = experiment.header(header.command.clone());
        again.machine.clone_from(&header.machine);
        if again != *header {
            let reason = "the recording's first line does not fit its algorithm";
            return Err(Usage(reason.to_string()).into());
        }
        Ok(experiment)
    }

    /// An algorithm of which all is known as text: where a parameter takes a file, its text.
    pub fn of_texts(
        id: &str,
        nodes: u32,
        values: &[(String, String)],
        people: &People<'_>,
    ) -> Result<Self, Error> {
        let set = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self::build(rows::find(id)?, nodes, values, set, people)
    }

    /// What the first line of a recording says.
    pub fn header(&self, command: String) -> Header {
        let Setting { entry, params, n, candidates, .. } = &self.setting;
        let Names { clients, coordinators, labels, .. } = &self.names;
        let parameters = entry.parameters.iter().map(|p| (p.name, params.text(p.name), p.default));
        let changed = parameters.filter(|(_, value, default)| value != default);
        let elected: Vec<String> = candidates.iter().map(|node| self.names.name(node)).collect();
        let nodes = (0..clients + coordinators).map(NodeId);
        Header {
            format: trace::FORMAT.to_string(),
            version: trace::VERSION,
            algorithm: entry.id.to_string(),
            family: entry.family.name().to_string(),
            nodes: *n,
            set: changed.map(|(name, value, _)| (name.to_string(), value.to_string())).collect(),
            ids: (!labels.is_empty()).then(|| labels.join(",")),
            candidates: (!elected.is_empty()).then(|| elected.join(",")),
            names: nodes.map(|node| self.names.name(node)).collect(),
            links: Some(self.drivers.simulator.links().clone()),
            upkeep: self.drivers.simulator.upkeep().iter().map(ToString::to_string).collect(),
            machine: None,
            command,
        }
    }

    fn build(
        entry: &'static Entry,
        nodes: u32,
        values: &[(String, String)],
        set: Vec<String>,
        people: &People<'_>,
    ) -> Result<Self, Error> {
        let pairs: Vec<(&str, &str)> = values.iter().map(|(k, v)| (k.as_str(), &**v)).collect();
        let labels = people.ids.map(|ids| parse::ids(ids, nodes)).transpose()?.unwrap_or_default();
        let mut setting = entry.setting(nodes, &pairs)?;
        if entry.family == Family::Election {
            let numbers = Names { labels: labels.clone(), ..Names::new(nodes, 0) };
            setting = elective(setting, &numbers, people)?;
        } else if let Some(value) = people.candidates {
            let id = entry.id;
            let family = entry.family.name();
            let accepted = format!("only elections have candidates; {id} is a {family}");
            return Err(Usage::flag("--candidates", value, accepted).into());
        }
        let drivers = drivers::build(&setting)?;
        let cluster = &drivers.simulator;
        let application = cluster.play().is_some_and(|play| play.application);
        let numbers = Names::new(cluster.clients(), cluster.coordinators());
        let names = Names { labels, application, ..numbers };
        Ok(Self { setting, names, drivers, set })
    }

    /// The parameters as they were typed, `name=value`.
    pub fn set(&self) -> &[String] {
        &self.set
    }

    /// Whether a parameter has the text of a file, so that flags alone cannot say it.
    pub fn needs_file(&self) -> bool {
        let Setting { entry, params, .. } = &self.setting;
        entry.parameters.iter().any(|parameter| parameter.wants_file(params.text(parameter.name)))
    }

    /// What to look at in a run of it.
    pub fn options(&self, order: bool) -> Options {
        let Setting { entry, params, .. } = &self.setting;
        let bounded = entry.promises(Property::BW, params);
        Options {
            order: order || self.names.clients <= ORDER_MAX,
            bypass_bound: entry.bypass.filter(|_| bounded).map(|bound| bound(&self.setting)),
            hash: true,
            ..Options::default()
        }
    }

    /// The worked example that its nodes play by themselves, if they play one.
    pub fn play(&self) -> Option<Play> {
        self.drivers.simulator.play()
    }

    /// How large an event of it is in memory.
    pub fn event_size(&self) -> usize {
        self.drivers.simulator.event_size()
    }

    /// Everything up to the first event of a run.
    pub fn prepare<'a>(&'a self, plan: &'a Plan, options: &Options) -> Result<Prepared<'a>, Error> {
        Ok(self.drivers.simulator.prepare(plan, options)?)
    }

    /// All that is wrong with a plan for it.
    pub fn vet(&self, plan: &Plan) -> Vec<conclave_sim::Error> {
        self.drivers.simulator.vet(plan)
    }

    /// One run.
    pub fn run(&self, plan: &Plan, options: &Options) -> Result<Outcome, Error> {
        Ok(self.drivers.simulator.run(plan, options)?)
    }

    /// Many runs, under the seeds from the plan's own on.
    pub fn sweep(
        &self,
        plan: &Plan,
        runs: u64,
        options: &Options,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Sweep, Error> {
        let run = |seed| self.drivers.simulator.run(&Plan { seed, ..plan.clone() }, options);
        Ok(conclave_sim::sweep(plan.seed, runs, None, run, progress)?)
    }

    /// A small plan that breaks the same promise, as far as it can be found in this time.
    pub fn shrink(&self, plan: &Plan, broken: Property, time: Duration) -> Plan {
        let options = Options { hash: false, ..self.options(broken == Property::HB) };
        let deadline = Instant::now() + time;
        let run = |plan: &Plan, decisions| {
            if Instant::now() > deadline {
                // Ends the search.
                return Err(conclave_sim::Error::BadScenario("time is up".to_string()));
            }
            self.drivers.simulator.run(plan, &Options { decisions, ..options.clone() })
        };
        conclave_sim::shrink(plan, broken, SHRINK_RUNS, run).plan
    }

    /// Runs the nodes of a recording again, also of one of real machines, as long as somebody waits
    /// for it: how many steps were as recorded, or the first that is not.
    pub fn verify(&self, patience: Patience, trace: &Trace) -> Result<u64, String> {
        match &trace.header.machine {
            Some(machine) => recordings::verify(patience, machine, trace),
            None => {
                let verified = self.drivers.simulator.verify_within(patience, trace);
                verified.map_err(|difference| difference.to_string())
            }
        }
    }

    /// Runs the nodes of a recording again, and asks them why they do what they do and what they
    /// know; also of a recording of real machines. Says why not, if it cannot have happened so.
    pub fn explain(&self, trace: &Trace, question: &Question) -> Result<Explained, String> {
        Ok(self.survey(trace, &question.focus(trace))?.into())
    }

    /// The same, for several moments.
    pub fn survey(&self, trace: &Trace, focus: &Focus) -> Result<Survey, String> {
        match &trace.header.machine {
            Some(machine) => recordings::survey(machine, trace, focus),
            None => {
                let told = self.drivers.simulator.survey(trace, focus);
                told.map_err(|difference| difference.to_string())
            }
        }
    }

    /// Goes through a story of the checker as a run in simulated time.
    pub fn follow(&self, story: &Story) -> Result<Retold, Error> {
        Ok(self.drivers.simulator.follow(story)?)
    }

    /// The same, as long as somebody waits for it.
    pub fn follow_within(&self, patience: Patience, story: &Story) -> Result<Retold, Error> {
        Ok(self.drivers.simulator.follow_within(patience, story)?)
    }

    /// Model checking: looks at every run within the bounds, as far as the limits let it.
    pub fn check(
        &self,
        bounds: &Bounds,
        limits: &Limits,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Report, Error> {
        Ok(self.checkable()?.check(bounds, limits, progress))
    }

    /// Refuses what cannot be checked: there must be a law by which all runs can be judged.
    pub fn vet_check(&self) -> Result<(), Error> {
        self.checkable().map(|_| ())
    }

    fn checkable(&self) -> Result<&dyn Checkable, Error> {
        let Entry { id, family, .. } = self.setting.entry;
        let all = self.names.clients + self.names.coordinators;
        let most = conclave_check::NODES_MAX;
        if all > most {
            let reason = format!("{id}: {all} nodes with its coordinators; at most {most}");
            return Err(Usage(reason).into());
        }
        self.drivers.checker.as_deref().ok_or_else(|| {
            let family = family.name();
            let only = format!("{id}: only mutex and election can be checked; this is a {family}");
            Usage(only).into()
        })
    }

    /// The command that runs this plan.
    pub fn command(&self, plan: &Plan) -> String {
        let mut words = vec![format!("conclave sim {}", self.setting.entry.id)];
        words.push(format!("--nodes {}", self.setting.n));
        words.extend(self.set.iter().map(|set| format!("--set {}", quoted(&on_one_line(set)))));
        let elected: Vec<String> =
            self.setting.candidates.iter().map(|node| self.names.name(node)).collect();
        if !elected.is_empty() {
            words.push(format!("--candidates {}", elected.join(",")));
        }
        words.extend(conclave_sim::flags(plan, &self.names));
        words.join(" ")
    }
}

/// In an election the labels are the ids that the nodes compare, and some may be no candidates.
fn elective(setting: Setting, names: &Names, people: &People<'_>) -> Result<Setting, Error> {
    let mut setting = setting;
    if let Some(ids) = people.ids {
        let number = |label: &String| {
            let number = label.parse::<u64>();
            let accepted = "in an election ids are whole numbers; the greater one wins";
            number.map_err(|_| Usage::flag("--ids", ids, accepted.to_string()))
        };
        let numbers = names.labels.iter().map(number).collect::<Result<Vec<u64>, _>>()?;
        setting = setting.with_ids(numbers)?;
    }
    if let Some(candidates) = people.candidates {
        let candidates: NodeSet = names.nodes("--candidates", candidates)?.into_iter().collect();
        setting = setting.with_candidates(candidates);
    }
    Ok(setting)
}

/// A parameter as it can be typed: where it has the text of a file, with `=` in front of its
/// lines.
fn on_one_line(set: &str) -> String {
    match set.split_once('=') {
        Some((name, text)) if text.contains('\n') => {
            format!("{name}=={}", text.trim_end().replace('\n', ";"))
        }
        Some(_) | None => set.to_string(),
    }
}

/// One `--set`: its name, and its value or the text of the file that it names; or, after another
/// `=`, that text itself, where `;` ends a line.
pub(crate) fn value(
    entry: &'static Entry,
    text: &str,
    read: parse::Read<'_>,
) -> Result<(String, String), Error> {
    let Some((name, value)) = text.split_once('=') else {
        let accepted = format!("takes name=value; 'conclave algorithms {}' lists them", entry.id);
        return Err(Usage::flag("--set", text, accepted).into());
    };
    let parameter = entry.parameters.iter().find(|parameter| parameter.name == name);
    let value = match parameter {
        Some(parameter) if parameter.wants_file(value) => {
            let explained = |reason| {
                let accepted = parameter.accepted();
                Usage::flag("--set", text, format!("{reason}; takes {name}={accepted}"))
            };
            match value.strip_prefix('=') {
                Some(text) => text.replace(';', "\n"),
                None => read(value).map_err(explained)?,
            }
        }
        Some(_) | None => value.to_string(),
    };
    Ok((name.to_string(), value))
}
