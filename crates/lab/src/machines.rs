//! Which algorithms a real node runs: its state machines, made from the catalogue; one detector,
//! one election, and a lock per name.

mod build;
mod made;
mod settings;

pub use build::{Kind, Played, Player};
pub use made::Hears;
pub use settings::{Chosen, Settings};

use crate::Usage;
use build::Build;
use conclave_algorithms::catalog::detection::{Rhythm, detector};
use conclave_algorithms::catalog::{
    self, Cluster, ENTRIES, Entry, Family, Setting, find, shared_election,
};
use conclave_core::{NodeId, Ticks};
use conclave_net::{Automaton, Input, Key, Survival};
use made::{MachineVisitor, OnNetwork};
use std::hash::{BuildHasher, RandomState};

/// The name of the failure detector's machine.
pub const DETECTOR: &str = "detector";
/// The name of the election's machine.
pub const ELECTION: &str = "election";
/// What the names of locks' machines begin with.
pub const LOCK: &str = "lock/";

/// What a network needs other than a simulation, in which a message takes one unit, a millisecond.
/// A parameter of one of these names means the same in every row of the catalogue; what a single
/// algorithm needs besides, or other than this, is in its row.
const RHYTHM: [(&str, &str); 6] = [
    ("round", "1000"),
    ("period", "100"),
    ("timeout", "1000"),
    ("lease", "8000"),
    ("retransmit", "500"),
    ("hold", "5"),
];

/// A shorter life of a session is refused.
const TTL_MIN: Ticks = Ticks::units(1_000);

/// A link that is dead is noticed after this long, however rarely messages came before, and what
/// depends on it a little later.
pub const SILENCE_MAX: Ticks = Ticks::units(3_500);

/// Makes machines.
pub struct Machines {
    me: NodeId,
    locks: Setting,
    lock: Kind,
    election: Kind,
    detector: Kind,
    notice: Ticks,
    first_leader: Option<(NodeId, u64)>,
    text: String,
}

impl Machines {
    /// The machines that node `me` of such a cluster is to have; an error if no node can be made of
    /// this choice of algorithms.
    pub fn new(chosen: &Settings, me: NodeId) -> Result<Self, Usage> {
        let locks = locks(chosen)?;
        let lock = visit_lock(&locks, Build)?;
        let elects = elects(chosen, &locks, Build)?;
        let (detector, detects) = detects(chosen, elects.rhythm, Build)?;
        let election = elects.output;
        let first_leader = elects.first_leader;
        let engine = resolved(&locks);
        let settings =
            Settings { nodes: chosen.nodes, engine, election: elects.chosen, detector: detects };
        let text = settings.to_string();
        let notice = elects.rhythm.timeout;
        let machines = Self { me, locks, lock, election, detector, notice, first_leader, text };
        machines.check_lease()?;
        Ok(machines)
    }

    /// Whether who holds a lock at a node that is cut off is out before others are let in.
    fn check_lease(&self) -> Result<(), Usage> {
        let (Some(longest), Some(lease)) = (self.ttl_max(), self.lease()) else { return Ok(()) };
        let reason = if longest < TTL_MIN {
            "it must be at least twice the timeout and two seconds"
        } else if SILENCE_MAX + longest > lease {
            "it is too short: a link may be dead for 3 s before anybody knows; 5s will do"
        } else {
            return Ok(());
        };
        Err(Usage(format!("--set lease: {reason}")))
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
        let machine: Box<dyn Automaton> = (kind.make)(self.me, seed);
        Some((machine, first))
    }

    /// What this machine hears of others.
    pub fn hears(&self, key: &Key) -> Hears {
        self.kind(key).map_or(Hears::Nothing, |kind| kind.hears)
    }

    /// Whether a lock works only if all nodes have its machine from the start, asked or not.
    pub fn must_be_everywhere(&self) -> bool {
        !self.lock.silent
    }

    /// The node that leads from the start and its term, where the election has such a one: it
    /// tells nobody.
    pub fn first_leader(&self) -> Option<(NodeId, u64)> {
        self.first_leader
    }

    /// How soon a node notices that it is cut off.
    pub fn notice(&self) -> Ticks {
        self.notice
    }

    /// How long a session may live unheard, where a lock is taken from who is cut off. Its client
    /// must have noticed within half a lease: first the node that it is cut off, from when on it
    /// answers no more, and then the client that it is not answered.
    pub fn ttl_max(&self) -> Option<Ticks> {
        let Setting { entry, params, .. } = &self.locks;
        let leased = entry.is_led() && params.is("mode", "lease");
        let lease = leased.then(|| params.ticks("lease")).flatten()?;
        Some(Ticks(lease.0 / 2).since(self.notice))
    }

    /// After how long without a sign of life others may go on without whoever holds a lock.
    pub fn lease(&self) -> Option<Ticks> {
        let led = self.lock.hears == Hears::Election;
        let params = &self.locks.params;
        let lends = led && !params.is("mode", "strict"); // Which waits for everybody.
        lends.then(|| params.ticks("lease")).flatten()
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

fn usual() -> Vec<(&'static str, String)> {
    RHYTHM.iter().map(|(name, value)| (*name, value.to_string())).collect()
}

fn text(error: conclave_algorithms::Error) -> Usage {
    Usage(error.to_string())
}

/// The algorithm of that id, if it answers this question.
fn of_family(id: &str, family: Family, what: &str) -> Result<&'static Entry, Usage> {
    let entry = find(id).map_err(|error| Usage(format!("{what}: {error}")))?;
    if entry.family != family {
        let reason = format!("{what} {id}: it says {}", entry.family.question());
        return Err(Usage(format!("{reason}, not {}", family.question())));
    }
    Ok(entry)
}

/// A setting of what was chosen, with defaults for what was not set and the algorithm takes: those
/// of its row before those of all.
fn setting(
    entry: &'static Entry,
    n: u32,
    chosen: &Chosen,
    defaults: &[(&str, String)],
) -> Result<Setting, Usage> {
    let takes = |name: &str| entry.parameters.iter().any(|parameter| parameter.name == name);
    let is_set = |name: &str| chosen.set.iter().any(|(set, _)| set == name);
    let own = entry.lock().map_or(&[][..], |lock| (lock.defaults)(&is_set));
    let is_own = |name: &str| own.iter().any(|(known, _)| *known == name);
    let all = defaults.iter().map(|(name, value)| (*name, &**value));
    let usual = all.filter(|(name, _)| !is_own(name)).chain(own.iter().copied());
    let open = usual.filter(|(name, _)| takes(name) && !is_set(name));
    let set = chosen.set.iter().map(|(name, value)| (&**name, &**value));
    entry.setting(n, &open.chain(set).collect::<Vec<_>>()).map_err(text)
}

/// The kind of machine of that name, as all nodes of a cluster have it.
pub fn kind(settings: &Settings, key: &str) -> Result<Kind, Usage> {
    let locks = locks(settings)?;
    match key {
        ELECTION => elects(settings, &locks, Build).map(|elects| elects.output),
        DETECTOR => {
            let rhythm = elects(settings, &locks, Build)?.rhythm;
            detects(settings, rhythm, Build).map(|(output, _)| output)
        }
        name if name.starts_with(LOCK) => visit_lock(&locks, Build),
        name => Err(Usage(format!("no machine of a node is called '{name}'"))),
    }
}

fn visit_lock<V: MachineVisitor>(locks: &Setting, visitor: V) -> Result<V::Output, Usage> {
    catalog::visit(locks, OnNetwork::of(locks.entry, visitor)).map_err(text)
}

/// The locks. Coordinators live on nodes, and who stands on an election stands on the cluster's.
fn locks(config: &Settings) -> Result<Setting, Usage> {
    let n = config.nodes;
    let entry = of_family(&config.engine.id, Family::Mutex, "engine")?;
    let mut defaults = usual();
    defaults.push(("coordinator", "colocated".to_string()));
    defaults.push(("coordinators", n.min(5).to_string()));
    defaults.push(("election", config.election.id.clone()));
    defaults.push(("detector", config.detector.id.clone()));
    let setting = setting(entry, n, &config.engine, &defaults)?;
    let set = |name: &str| config.engine.set.iter().find(|(set, _)| set == name);
    let is = |name, word| set(name).is_some_and(|(_, value)| value == word);
    if is("coordinator", "separate") {
        let reason = "on a network coordinators live on the nodes: coordinator=colocated";
        return Err(Usage(format!("--set coordinator=separate: {reason}")));
    }
    for (name, chosen) in [("election", &config.election.id), ("detector", &config.detector.id)] {
        if set(name).is_some_and(|(_, value)| value != chosen) {
            return Err(Usage(format!("--set {name}: it is the cluster's, --{name} {chosen}")));
        }
    }
    Ok(setting)
}

/// An election, and what others have to know of it.
struct Elects<T> {
    output: T,
    rhythm: Rhythm,
    chosen: Chosen,
    first_leader: Option<(NodeId, u64)>,
}

/// The election: one that locks can stand on knows its first leader from the start.
fn elects<V: MachineVisitor>(
    config: &Settings,
    locks: &Setting,
    visitor: V,
) -> Result<Elects<V::Output>, Usage> {
    let n = locks.n;
    let chosen = &config.election;
    let entry = of_family(&chosen.id, Family::Election, "election")?;
    let sharable = entry.carries_locks();
    let shared = shared(chosen, locks, sharable.map(|_| entry.id))?;
    let ticks = |name| shared.params.ticks(name).unwrap_or(Ticks::units(1_000));
    let rhythm = Rhythm { period: ticks("period"), timeout: ticks("timeout") };
    let on_network = OnNetwork::of(entry, visitor);
    if let Some(parameters) = sharable {
        let fresh = shared_election(&shared).map_err(text)?;
        let first_leader = fresh(NodeId(0)).leader();
        let made = on_network.made(Cluster::of_equals(n, fresh), Survival::Returns);
        // Those of locks that stand on it say it already.
        let shown = if locks.entry.is_led() { &[] } else { parameters };
        let value = |name: &&str| (name.to_string(), shared.params.text(name).to_string());
        let set = shown.iter().map(value).collect();
        let chosen = Chosen { id: entry.id.to_string(), set };
        let output = on_network.visitor.election(made);
        return Ok(Elects { output, rhythm, chosen, first_leader });
    }
    let setting = setting(entry, n, chosen, &usual())?;
    let output = catalog::visit(&setting, on_network).map_err(text)?;
    Ok(Elects { output, rhythm, chosen: resolved(&setting), first_leader: None })
}

/// The setting that says in which rhythm is elected: that of the locks, if they stand on the
/// election, or else one as locks that do would have it.
fn shared(
    chosen: &Chosen,
    locks: &Setting,
    sharable: Option<&'static str>,
) -> Result<Setting, Usage> {
    if locks.entry.is_led() {
        if let Some((name, _)) = chosen.set.first() {
            let reason = format!("{} sets the rhythm of its election", locks.entry.id);
            return Err(Usage(format!("--set election.{name}: {reason}: --set {name}")));
        }
        return Ok(locks.clone());
    }
    let mut led = ENTRIES.iter().copied().filter(|entry| entry.is_led());
    let frame = led.next().expect("the catalogue has a lock that stands on an election");
    let set = if sharable.is_some() { chosen.set.clone() } else { Vec::new() };
    let election = sharable.map(|id| ("election", id.to_string()));
    let defaults: Vec<_> = usual().into_iter().chain(election).collect();
    setting(frame, locks.n, &Chosen { id: String::new(), set }, &defaults)
}

/// The detector, in the rhythm of the election unless it has parameters of its own.
fn detects<V: MachineVisitor>(
    config: &Settings,
    rhythm: Rhythm,
    visitor: V,
) -> Result<(V::Output, Chosen), Usage> {
    let n = config.nodes;
    let chosen = &config.detector;
    let entry = of_family(&chosen.id, Family::Detector, "detector")?;
    let on_network = OnNetwork::of(entry, visitor);
    if chosen.set.is_empty() {
        let cluster = Cluster::of_equals(n, detector(entry.id, n, rhythm).map_err(text)?);
        let made = on_network.made(cluster, Survival::Forgets);
        return Ok((on_network.visitor.detector(made), chosen.clone()));
    }
    let units = |ticks: Ticks| ticks.as_units().to_string();
    let grace = units(rhythm.timeout + rhythm.timeout);
    let usual =
        [("period", units(rhythm.period)), ("timeout", units(rhythm.timeout)), ("grace", grace)];
    let setting = setting(entry, n, chosen, &usual)?;
    Ok((catalog::visit(&setting, on_network).map_err(text)?, resolved(&setting)))
}

/// An algorithm with all its parameters, those at their defaults included.
fn resolved(setting: &Setting) -> Chosen {
    let parameters = setting.entry.parameters.iter();
    let set = parameters.map(|one| (one.name.to_string(), setting.params.text(one.name).into()));
    Chosen { id: setting.entry.id.to_string(), set: set.collect() }
}
