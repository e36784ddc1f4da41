//! What is run: an algorithm with its size and parameters, and the names of its nodes.

use crate::failure::Usage;
use crate::files;
use conclave_algorithms::catalog::{self, Cluster, Entry, Family, Setting, Visitor};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{NodeId, NodeSet, Oracle, Process, Property};
use conclave_sim::trace::{self, Header};
use conclave_sim::{
    Error, Names, Options, Outcome, Plan, Runnable, Scenario, Sweep, parse, quoted,
};
use std::time::{Duration, Instant};

/// More nodes than this would not fit into an ordinary machine.
pub const NODES_MAX: u32 = 10_000_000;
/// Up to so many clients the order of requests is judged without being asked for.
const ORDER_MAX: u32 = 64;
/// So many runs are spent on making a violating run small, at most.
const SHRINK_RUNS: u32 = 5_000;

/// An algorithm as it was asked for: can be run, and typed again.
pub struct Subject {
    /// The algorithm, its size and its parameters.
    pub setting: Setting,
    /// How people call its nodes.
    pub names: Names,
    /// Its nodes.
    cluster: Box<dyn Runnable>,
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

impl Subject {
    /// Finds the algorithm and reads its parameters; files that they name are read too.
    pub fn new(id: &str, nodes: u32, set: &[String], people: &People<'_>) -> anyhow::Result<Self> {
        let entry = catalog::find(id)?;
        let values = set.iter().map(|text| value(entry, text)).collect::<Result<Vec<_>, _>>()?;
        Self::build(entry, nodes, &values, set.to_vec(), people)
    }

    /// The algorithm of a scenario. It names no files: it has their texts.
    pub fn of_scenario(scenario: &Scenario) -> anyhow::Result<Self> {
        if scenario.nodes > NODES_MAX {
            return Err(Usage(format!("nodes = {}: at most {NODES_MAX}", scenario.nodes)).into());
        }
        let people =
            People { ids: scenario.ids.as_deref(), candidates: scenario.candidates.as_deref() };
        Self::of_texts(&scenario.algorithm, scenario.nodes, &scenario.set, &people)
    }

    /// The algorithm of a recording, which has the texts of its files.
    pub fn of_recording(header: &Header) -> anyhow::Result<Self> {
        if header.nodes as usize > header.names.len() {
            return Err(Usage("the recording names fewer nodes than it has".to_string()).into());
        }
        let people =
            People { ids: header.ids.as_deref(), candidates: header.candidates.as_deref() };
        let subject = Self::of_texts(&header.algorithm, header.nodes, &header.set, &people)?;
        let mut again = subject.header(header.command.clone());
        again.machine.clone_from(&header.machine);
        if again != *header {
            let reason = "the recording's first line does not fit its algorithm";
            return Err(Usage(reason.to_string()).into());
        }
        Ok(subject)
    }

    /// An algorithm of which all is known as text: where a parameter takes a file, its text.
    pub fn of_texts(
        id: &str,
        nodes: u32,
        values: &[(String, String)],
        people: &People<'_>,
    ) -> anyhow::Result<Self> {
        let set = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self::build(catalog::find(id)?, nodes, values, set, people)
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
            links: Some(self.cluster.links().clone()),
            upkeep: self.cluster.upkeep().iter().map(ToString::to_string).collect(),
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
    ) -> anyhow::Result<Self> {
        let pairs: Vec<(&str, &str)> = values.iter().map(|(k, v)| (k.as_str(), &**v)).collect();
        let labels = people.ids.map(|ids| parse::ids(ids, nodes)).transpose()?.unwrap_or_default();
        let mut setting = entry.setting(nodes, &pairs)?;
        if entry.family == Family::Election {
            let numbers = Names { labels: labels.clone(), ..Names::new(nodes, 0) };
            setting = elective(setting, &numbers, people)?;
        } else if let Some(value) = people.candidates {
            let (id, family) = (entry.id, entry.family.name());
            let accepted = format!("only elections have candidates; {id} is a {family}");
            return Err(Usage::flag("--candidates", value, accepted).into());
        }
        let cluster = catalog::visit(&setting, Boxed)?;
        let application = cluster.play().is_some_and(|play| play.application);
        let numbers = Names::new(cluster.clients(), cluster.coordinators());
        let names = Names { labels, application, ..numbers };
        Ok(Self { setting, names, cluster, set })
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

    /// Its nodes, to be run in some other way.
    pub fn cluster(&self) -> &dyn Runnable {
        &*self.cluster
    }

    /// One run.
    pub fn run(&self, plan: &Plan, options: &Options) -> anyhow::Result<Outcome> {
        Ok(self.cluster.run(plan, options)?)
    }

    /// Many runs, under the seeds from the plan's own on.
    pub fn sweep(
        &self,
        plan: &Plan,
        runs: u64,
        options: &Options,
        progress: &(dyn Fn() + Sync),
    ) -> anyhow::Result<Sweep> {
        let run = |seed| self.cluster.run(&Plan { seed, ..plan.clone() }, options);
        Ok(conclave_sim::sweep(plan.seed, runs, None, run, progress)?)
    }

    /// A small plan that breaks the same promise, as far as it can be found in this time.
    pub fn shrink(&self, plan: &Plan, broken: Property, time: Duration) -> Plan {
        let options = Options { hash: false, ..self.options(broken == Property::HB) };
        let deadline = Instant::now() + time;
        let run = |plan: &Plan, decisions| {
            if Instant::now() > deadline {
                return Err(Error::BadScenario("time is up".to_string())); // Ends the search.
            }
            self.cluster.run(plan, &Options { decisions, ..options.clone() })
        };
        conclave_sim::shrink(plan, broken, SHRINK_RUNS, run).plan
    }

    /// The command that runs this plan.
    pub fn command(&self, plan: &Plan) -> String {
        let mut words = vec![format!("conclave sim {}", self.setting.entry.id)];
        words.push(format!("--nodes {}", self.setting.n));
        words.extend(self.set.iter().map(|set| format!("--set {}", quoted(set))));
        words.extend(conclave_sim::flags(plan, &self.names));
        words.join(" ")
    }
}

/// In an election the labels are the ids that the nodes compare, and some may be no candidates.
fn elective(setting: Setting, names: &Names, people: &People<'_>) -> anyhow::Result<Setting> {
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

/// One `--set`: its name, and its value or the text of the file that it names.
fn value(entry: &'static Entry, text: &str) -> anyhow::Result<(String, String)> {
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
            files::read(value).map_err(explained)?
        }
        Some(_) | None => value.to_string(),
    };
    Ok((name.to_string(), value))
}

/// Any cluster, whatever its types.
struct Boxed;

impl Visitor for Boxed {
    type Output = Box<dyn Runnable>;

    fn mutex<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        Box::new(cluster)
    }

    fn election<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        Box::new(cluster)
    }

    fn detector<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        Box::new(cluster)
    }

    fn clock<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        Box::new(cluster)
    }
}
