//! What is run: an algorithm with its size and parameters, and the names of its nodes.

use crate::failure::Usage;
use crate::files;
use conclave_algorithms::catalog::{self, Cluster, Entry, Setting, Visitor};
use conclave_core::mutex::Mutex;
use conclave_core::{Oracle, Process, Property};
use conclave_sim::{Error, Names, Options, Outcome, Plan, Scenario, Sweep, quoted};
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
    /// The parameters as they were typed, `name=value`.
    set: Vec<String>,
}

impl Subject {
    /// Finds the algorithm and reads its parameters; files that they name are read too.
    pub fn new(id: &str, nodes: u32, set: &[String], labels: Vec<String>) -> anyhow::Result<Self> {
        let entry = catalog::find(id)?;
        let values = set.iter().map(|text| value(entry, text)).collect::<Result<Vec<_>, _>>()?;
        Self::build(entry, nodes, &values, labels, set.to_vec())
    }

    /// The algorithm of a scenario. It names no files: it has their texts.
    pub fn of_scenario(scenario: &Scenario) -> anyhow::Result<Self> {
        if scenario.nodes > NODES_MAX {
            return Err(Usage(format!("nodes = {}: at most {NODES_MAX}", scenario.nodes)).into());
        }
        let entry = catalog::find(&scenario.algorithm)?;
        let labels = scenario.names(scenario.nodes, 0)?.labels;
        let set = scenario.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self::build(entry, scenario.nodes, &scenario.set, labels, set)
    }

    fn build(
        entry: &'static Entry,
        nodes: u32,
        values: &[(String, String)],
        labels: Vec<String>,
        set: Vec<String>,
    ) -> anyhow::Result<Self> {
        let pairs: Vec<(&str, &str)> = values.iter().map(|(k, v)| (k.as_str(), &**v)).collect();
        let setting = entry.setting(nodes, &pairs)?;
        let (clients, coordinators) = catalog::visit(&setting, Size)?;
        let names = Names { clients, coordinators, labels };
        Ok(Self { setting, names, set })
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

    /// One run.
    pub fn run(&self, plan: &Plan, options: &Options) -> anyhow::Result<Outcome> {
        Ok(catalog::visit(&self.setting, Run { plan, options })??)
    }

    /// Many runs, under the seeds from the plan's own on.
    pub fn sweep(
        &self,
        plan: &Plan,
        runs: u64,
        options: &Options,
        progress: &(dyn Fn() + Sync),
    ) -> anyhow::Result<Sweep> {
        Ok(catalog::visit(&self.setting, Sweeper { plan, runs, options, progress })??)
    }

    /// A small plan that breaks the same promise, as far as it can be found in this time.
    pub fn shrink(&self, plan: &Plan, broken: Property, time: Duration) -> anyhow::Result<Plan> {
        let options = Options { hash: false, ..self.options(broken == Property::HB) };
        let deadline = Instant::now() + time;
        Ok(catalog::visit(&self.setting, Shrinker { plan, options, broken, deadline })?)
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

/// How many clients and coordinators there are.
struct Size;

impl Visitor for Size {
    type Output = (u32, u32);
    fn visit<P>(self, cluster: Cluster<P>) -> (u32, u32)
    where
        P: Process<Provides = Mutex>,
        P::Uses: Oracle,
    {
        (cluster.clients, cluster.coordinators)
    }
}

struct Run<'a> {
    plan: &'a Plan,
    options: &'a Options,
}

impl Visitor for Run<'_> {
    type Output = Result<Outcome, Error>;
    fn visit<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Mutex>,
        P::Uses: Oracle,
    {
        conclave_sim::run(&cluster, self.plan, self.options)
    }
}

struct Sweeper<'a> {
    plan: &'a Plan,
    runs: u64,
    options: &'a Options,
    progress: &'a (dyn Fn() + Sync),
}

impl Visitor for Sweeper<'_> {
    type Output = Result<Sweep, Error>;
    fn visit<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Mutex>,
        P::Uses: Oracle,
    {
        let run = |seed| {
            let plan = Plan { seed, ..self.plan.clone() };
            conclave_sim::run(&cluster, &plan, self.options)
        };
        conclave_sim::sweep(self.plan.seed, self.runs, None, run, self.progress)
    }
}

struct Shrinker<'a> {
    plan: &'a Plan,
    options: Options,
    broken: Property,
    deadline: Instant,
}

impl Visitor for Shrinker<'_> {
    type Output = Plan;
    fn visit<P>(self, cluster: Cluster<P>) -> Plan
    where
        P: Process<Provides = Mutex>,
        P::Uses: Oracle,
    {
        let run = |plan: &Plan, decisions| {
            if Instant::now() > self.deadline {
                return Err(Error::BadScenario("time is up".to_string())); // Ends the search.
            }
            let options = Options { decisions, ..self.options.clone() };
            conclave_sim::run(&cluster, plan, &options)
        };
        conclave_sim::shrink(self.plan, self.broken, SHRINK_RUNS, run).plan
    }
}
