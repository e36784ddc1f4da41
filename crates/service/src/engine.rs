//! The machines of a node, made from the catalogue: one detector, one election, and a lock per
//! name.

use crate::{Chosen, Config};
use conclave_algorithms::catalog::detection::{Rhythm, detector};
use conclave_algorithms::catalog::{
    self, Cluster, Entry, Family, LedVisitor, Rejoin, Setting, Visitor, find, shared_election,
    visit_led,
};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{NodeId, Oracle, Process, Ticks};
use conclave_net::{
    Automaton, Input, Key, Machine, Spoken, Survival, heard_by_oracle, heard_from_election,
};
use std::hash::{BuildHasher, RandomState};
use thiserror::Error;

/// The name of the failure detector's machine.
pub const DETECTOR: &str = "detector";
/// The name of the election's machine.
pub const ELECTION: &str = "election";
/// What the names of locks' machines begin with.
pub const LOCK: &str = "lock/";

/// What a network needs other than a simulation, in which a message takes one unit, a millisecond.
const RHYTHM: [(&str, &str); 5] = [
    ("period", "100"),
    ("timeout", "1000"),
    ("lease", "3000"),
    ("retransmit", "500"),
    ("hold", "5"),
];

/// What a machine hears of others on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// Nothing: it stands on nothing.
    Nothing,
    /// Whom the detector suspects and trusts.
    Detector,
    /// All that the election tells.
    Election,
}

/// A choice of algorithms that no node can be made of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct EngineError(String);

/// Makes machines.
pub struct Engine {
    me: NodeId,
    locks: Setting,
    lock: Kind,
    election: Kind,
    detector: Kind,
    text: String,
}

/// One kind of machine.
struct Kind {
    make: Box<dyn Fn(NodeId, u64) -> Box<dyn Automaton> + Send + Sync>,
    hears: Hears,
    silent: bool,
}

impl Engine {
    /// The machines that this node is to have.
    pub fn new(config: &Config) -> Result<Self, EngineError> {
        let n = config.nodes.len() as u32;
        let locks = locks(config, n)?;
        let lock = match visit_led(&locks, Build::of(locks.entry)).map_err(text)? {
            Some(kind) => kind,
            None => catalog::visit(&locks, Build::of(locks.entry)).map_err(text)?,
        };
        let (election, rhythm, elects) = elects(config, &locks)?;
        let (detector, detects) = detects(config, n, rhythm)?;
        let text = format!("{n} nodes; {}; {elects}; {detects}", described(&locks));
        Ok(Self { me: NodeId(config.id - 1), locks, lock, election, detector, text })
    }

    /// The machine of that name and the first thing that happens to it. One that is made late, when
    /// the first leader has been replaced or this node has come back, must not take itself for one
    /// that was there from the start: it would be the first coordinator, or have the first token.
    pub fn machine(&self, key: &Key, late: bool) -> Option<(Box<dyn Automaton>, Input)> {
        let kind = self.kind(key)?;
        let led = kind.hears == Hears::Election;
        let first = if led && late { Input::Restart } else { Input::Start };
        // A seed that nobody can foresee: choices are back-offs and draws.
        let seed = RandomState::new().hash_one(key);
        Some(((kind.make)(self.me, seed), first))
    }

    /// What this machine hears of others.
    pub fn hears(&self, key: &Key) -> Hears {
        self.kind(key).map_or(Hears::Nothing, |kind| kind.hears)
    }

    /// Whether a lock works only if all nodes have its machine from the start, asked or not.
    pub fn must_be_everywhere(&self) -> bool {
        !self.lock.silent
    }

    /// The lock algorithm with its parameters.
    pub fn locks(&self) -> &Setting {
        &self.locks
    }

    /// All that the nodes of a cluster must agree on, in words.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn kind(&self, key: &Key) -> Option<&Kind> {
        match &**key {
            DETECTOR => Some(&self.detector),
            ELECTION => Some(&self.election),
            name => name.starts_with(LOCK).then_some(&self.lock),
        }
    }
}

fn text(error: conclave_algorithms::Error) -> EngineError {
    EngineError(error.to_string())
}

/// The algorithm of that id, if it answers this question.
fn of_family(id: &str, family: Family, what: &str) -> Result<&'static Entry, EngineError> {
    let entry = find(id).map_err(|error| EngineError(format!("{what}: {error}")))?;
    if entry.family != family {
        let reason = format!("{what} {id}: it says {}", entry.family.question());
        return Err(EngineError(format!("{reason}, not {}", family.question())));
    }
    Ok(entry)
}

/// A setting of what was chosen, with defaults for what was not set and the algorithm takes.
fn setting(
    entry: &'static Entry,
    n: u32,
    chosen: &Chosen,
    defaults: &[(&str, String)],
) -> Result<Setting, EngineError> {
    let takes = |name: &str| entry.parameters.iter().any(|parameter| parameter.name == name);
    let open = |name: &str| takes(name) && !chosen.set.iter().any(|(set, _)| set == name);
    let usual =
        defaults.iter().filter(|(name, _)| open(name)).map(|(name, value)| (*name, &**value));
    let set = chosen.set.iter().map(|(name, value)| (&**name, &**value));
    entry.setting(n, &usual.chain(set).collect::<Vec<_>>()).map_err(text)
}

/// The locks. Coordinators live on nodes, a parked token wakes nobody up, and who stands on an
/// election stands on the cluster's.
fn locks(config: &Config, n: u32) -> Result<Setting, EngineError> {
    let entry = of_family(&config.engine.id, Family::Mutex, "engine")?;
    let mut defaults: Vec<(&str, String)> =
        RHYTHM.iter().map(|(name, value)| (*name, value.to_string())).collect();
    defaults.push(("coordinator", "colocated".to_string()));
    defaults.push(("coordinators", n.min(5).to_string()));
    defaults.push(("election", config.election.id.clone()));
    defaults.push(("detector", config.detector.id.clone()));
    let set = |name: &str| config.engine.set.iter().find(|(set, _)| set == name);
    if entry.id == "token-ring" {
        defaults.retain(|(name, _)| *name != "hold");
        if set("hold").is_none() && set("loss_detection").is_none() && set("text").is_none() {
            defaults.push(("idle", "park".to_string()));
        }
    }
    let setting = setting(entry, n, &config.engine, &defaults)?;
    let is = |name, word| set(name).is_some_and(|(_, value)| value == word);
    if is("coordinator", "separate") {
        let reason = "on a network coordinators live on the nodes: coordinator=colocated";
        return Err(EngineError(format!("--set coordinator=separate: {reason}")));
    }
    for (name, chosen) in [("election", &config.election.id), ("detector", &config.detector.id)] {
        if set(name).is_some_and(|(_, value)| value != chosen) {
            return Err(EngineError(format!(
                "--set {name}: it is the cluster's, --{name} {chosen}"
            )));
        }
    }
    Ok(setting)
}

/// The election: one that locks can stand on knows its first leader from the start.
fn elects(config: &Config, locks: &Setting) -> Result<(Kind, Rhythm, String), EngineError> {
    let (n, chosen) = (locks.n, &config.election);
    let entry = of_family(&chosen.id, Family::Election, "election")?;
    let led = locks.entry.parameters.iter().any(|parameter| parameter.name == "election");
    let sharable = ["majority", "bully", "ring"].contains(&entry.id);
    let shared = if led {
        if let Some((name, _)) = chosen.set.first() {
            let reason = format!("{} sets the rhythm of its election", locks.entry.id);
            return Err(EngineError(format!("--set election.{name}: {reason}: --set {name}")));
        }
        locks.clone()
    } else {
        let frame = find("central-failover").map_err(text)?;
        let set = if sharable { chosen.set.clone() } else { Vec::new() };
        let usual = RHYTHM.map(|(name, value)| (name, value.to_string()));
        let id = if sharable { entry.id } else { "majority" }.to_string();
        let defaults: Vec<_> = usual.into_iter().chain([("election", id)]).collect();
        setting(frame, n, &Chosen { id: String::new(), set }, &defaults)?
    };
    let ticks = |name| shared.params.ticks(name).unwrap_or(Ticks::units(1_000));
    let rhythm = Rhythm { period: ticks("period"), timeout: ticks("timeout") };
    let text = format!("election {} every {} ms, {} ms", entry.id, rhythm.period, rhythm.timeout);
    if sharable {
        let fresh = shared_election(&shared).map_err(self::text)?;
        let cluster = Cluster::of_equals(n, fresh);
        return Ok((of_oracle(cluster, Survival::Returns), rhythm, text));
    }
    let setting = setting(entry, n, chosen, &[])?;
    let kind = catalog::visit(&setting, Build::of(entry)).map_err(self::text)?;
    Ok((kind, rhythm, described(&setting)))
}

/// The detector, in the rhythm of the election unless it has parameters of its own.
fn detects(config: &Config, n: u32, rhythm: Rhythm) -> Result<(Kind, String), EngineError> {
    let chosen = &config.detector;
    let entry = of_family(&chosen.id, Family::Detector, "detector")?;
    if chosen.set.is_empty() {
        let cluster = Cluster::of_equals(n, detector(entry.id, n, rhythm).map_err(text)?);
        let text = format!("detector {}", entry.id);
        return Ok((of_oracle(cluster, Survival::Forgets), text));
    }
    let units = |ticks: Ticks| ticks.as_units().to_string();
    let grace = units(rhythm.timeout + rhythm.timeout);
    let usual =
        [("period", units(rhythm.period)), ("timeout", units(rhythm.timeout)), ("grace", grace)];
    let setting = setting(entry, n, chosen, &usual)?;
    Ok((catalog::visit(&setting, Build::of(entry)).map_err(text)?, described(&setting)))
}

/// An algorithm with all its parameters in words; of a file only what tells two apart.
fn described(setting: &Setting) -> String {
    let shown = |value: &str| match value {
        short if short.len() <= 40 && !short.contains('\n') => short.to_string(),
        long => format!("file of {} bytes, {:x}", long.len(), conclave_core::hash(long)),
    };
    let parameters = setting.entry.parameters.iter();
    let parameters =
        parameters.map(|one| format!(" {}={}", one.name, shown(setting.params.text(one.name))));
    format!("{}{}", setting.entry.id, parameters.collect::<String>())
}

/// Makes a kind of machine out of any algorithm.
struct Build {
    election: Survival,
}

impl Build {
    /// An election with a rule for nodes that come back knows how to lose messages; one without
    /// must never notice that a node was away.
    fn of(entry: &Entry) -> Self {
        let election = match entry.rejoin_without_disk {
            Rejoin::ByProtocol => Survival::Returns,
            Rejoin::AfterAskingAll | Rejoin::AfterLease | Rejoin::Never => Survival::Whole,
        };
        Self { election }
    }
}

impl Visitor for Build {
    type Output = Kind;

    fn mutex<P>(self, cluster: Cluster<P>) -> Kind
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        of_oracle(cluster, Survival::Whole)
    }

    fn election<P>(self, cluster: Cluster<P>) -> Kind
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        of_oracle(cluster, self.election)
    }

    fn detector<P>(self, cluster: Cluster<P>) -> Kind
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        of_oracle(cluster, Survival::Forgets)
    }

    fn clock<P>(self, _: Cluster<P>) -> Kind
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        unreachable!("its family was looked at: a clock is neither lock, election nor detector")
    }
}

impl LedVisitor for Build {
    type Output = Kind;

    fn led<P>(self, cluster: Cluster<P>) -> Kind
    where
        P: Process<Provides = Mutex, Uses = Election>,
    {
        let Cluster { fresh, silent, .. } = cluster;
        let make = move |me, seed| -> Box<dyn Automaton> {
            Box::new(Machine::new(me, fresh(me), Survival::Returns, heard_from_election, seed))
        };
        Kind { make: Box::new(make), hears: Hears::Election, silent }
    }
}

fn of_oracle<P>(cluster: Cluster<P>, survival: Survival) -> Kind
where
    P: Process<Provides: Spoken, Uses: Oracle>,
{
    let Cluster { fresh, silent, .. } = cluster;
    let suspects = <P::Uses as Oracle>::suspect(NodeId(0)).is_some();
    let make = move |me, seed| -> Box<dyn Automaton> {
        Box::new(Machine::new(me, fresh(me), survival, heard_by_oracle::<P::Uses>, seed))
    };
    let hears = if suspects { Hears::Detector } else { Hears::Nothing };
    Kind { make: Box::new(make), hears, silent }
}

#[cfg(test)]
mod tests;
