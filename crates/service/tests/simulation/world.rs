//! The world: nodes and clients on one thread, moved step by step, and what befalls them.

use crate::chance::Chance;
use crate::checker::check;
use crate::client::live;
use crate::faults::{Crowd, Faults};
use crate::history::{History, Recording};
use crate::network::{Presence, SimNetwork};
use crate::node::{Common, SimNode};
use crate::operator::Operator;
use crate::person::{Doors, Person};
use std::path::PathBuf;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// So long is a step, in milliseconds. No message is quicker.
const STEP: u64 = 2;
/// After trouble a leader needs a moment to catch up.
const RECOVERY: u64 = 500;
/// By then all who wait have been answered, once all is well.
const LIVENESS: u64 = 30_000;

/// What a run is made of.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub nodes: usize,
    /// For how long things go wrong, in milliseconds.
    pub trouble_ms: u64,
    pub faults: Faults,
}

pub struct World {
    pub now: u64,
    pub nodes: Vec<SimNode>,
    pub people: Vec<Person>,
    pub network: SimNetwork,
    pub doors: Doors,
    pub recording: Recording,
    /// When a node that is down starts again.
    pub returning: Vec<Option<u64>>,
    /// The node that is removed, until it is added again.
    pub replaced: Option<usize>,
    seed: u64,
    starts: u64,
    runtime: Runtime,
    began: Instant,
    lives: Vec<JoinHandle<()>>,
    troubled: u64,
    well_since: Option<u64>,
    data: PathBuf,
}

impl Drop for World {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            node.crash(Presence::Refuses);
        }
        let _ = std::fs::remove_dir_all(&self.data); // It is only temporary.
    }
}

/// Runs a plan to its end: its history, and what is wrong with it.
pub fn run(plan: Plan) -> (History, Vec<String>) {
    conclave_net::random::seed_this_thread(plan.seed);
    let mut world = World::new(&plan);
    let mut faults = plan.faults.begin(plan.seed);
    let mut operator = Operator::new(plan.seed);
    while world.now < plan.trouble_ms {
        world.step();
        faults.step(&mut world);
        if plan.faults == Faults::Members {
            operator.step(&mut world);
        }
    }
    faults.heal(&mut world);
    let mut wrong = world.settle(&mut operator);
    let history = std::mem::take(&mut *world.recording.lock());
    wrong.extend(check(&history));
    (history, wrong)
}

impl World {
    fn new(plan: &Plan) -> Self {
        let Plan { seed, nodes, .. } = *plan;
        let crowd = plan.faults.crowd(seed);
        let mut chance = Chance::new(seed, 1);
        let common = common(seed, nodes, &mut chance);
        let node = |me| SimNode::new(me, common.clone(), &mut chance);
        let all: Vec<SimNode> = (0..nodes).map(node).collect();
        let Common { network, doors, recording, data, .. } = common;
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
        let began = runtime.block_on(async { Instant::now() });
        let mut world = Self {
            now: 0,
            nodes: all,
            people: Vec::new(),
            network,
            doors,
            recording,
            returning: vec![None; nodes],
            replaced: None,
            seed,
            starts: 0,
            runtime,
            began,
            lives: Vec::new(),
            troubled: 0,
            well_since: None,
            data,
        };
        (0..nodes).for_each(|node| world.start(node));
        (0..crowd.clients).for_each(|me| world.add_client(me, crowd));
        world
    }

    fn add_client(&mut self, me: usize, crowd: Crowd) {
        let chance = Chance::new(self.seed, 1_000 + me as u64);
        let (doors, recording) = (self.doors.clone(), self.recording.clone());
        let person = async { Person::new(me, doors, recording, chance, crowd) };
        let person = self.runtime.block_on(person);
        self.lives.push(self.runtime.spawn(live(person.clone())));
        self.people.push(person);
    }

    /// A node starts.
    pub fn start(&mut self, node: usize) {
        self.starts += 1;
        let chance = Chance::new(self.seed, 10_000 + self.starts);
        self.nodes[node].start(self.now, chance);
        self.returning[node] = None;
    }

    /// A node crashes, and starts again after so long.
    pub fn crash(&mut self, node: usize, presence: Presence, back_after: u64) {
        self.nodes[node].crash(presence);
        self.returning[node] = Some(self.now + back_after);
    }

    /// A client reaches no node from now on.
    pub fn strand(&self, client: usize) {
        self.doors.lock().cut.extend((0..self.nodes.len()).map(|node| (client, node)));
    }

    /// All clocks move on a little.
    pub fn step(&mut self) {
        self.now += STEP;
        let now = self.now;
        self.recording.lock().now = now;
        self.network.lock().advance(now);
        for node in 0..self.nodes.len() {
            if let Some(why) = self.nodes[node].run_until(now) {
                self.ended(node, &why);
            }
            if self.returning[node].is_some_and(|then| then <= now) {
                self.start(node);
            }
        }
        let then = self.began + Duration::from_millis(now);
        self.runtime.block_on(async { sleep_until(then).await });
        self.judge();
    }

    /// A process has ended by itself. Only a disk is a good reason, or that it was removed.
    fn ended(&mut self, node: usize, why: &str) {
        let by_disk = ["crashed in a sync", "no storage space", "broken pipe"];
        let removed = self.replaced == Some(node) && why.contains("removed from its cluster");
        if !removed && !by_disk.iter().any(|reason| why.contains(reason)) {
            let words = format!("at {} node {node} ended by itself: {why}", self.now);
            self.recording.lock().wrong.push(words);
        }
        self.crash(node, Presence::Refuses, 500);
    }

    /// Whether the cluster can work now, by what is known from outside.
    fn judge(&mut self) {
        let able = |node: &usize| self.nodes[*node].is_able(self.now);
        let network = self.network.lock();
        let nodes = self.nodes.len();
        let well = (0..nodes).filter(able).any(|leader| {
            let reaches = |other: &usize| *other == leader || network.is_whole(leader, *other);
            let voters = self.nodes[leader].voters();
            let followers = voters.iter().copied().filter(able).filter(reaches).count();
            self.nodes[leader].leads() && 2 * followers > voters.len()
        });
        drop(network);
        if !well {
            self.well_since = None;
        } else if self.well_since.is_none() {
            self.well_since = Some(self.now);
        }
        if self.well_since.is_none_or(|since| self.now < since + RECOVERY) {
            self.troubled += STEP;
        }
        self.recording.lock().troubled.insert(self.now, self.troubled);
    }

    /// All is well from now on: whoever waits is answered, and all tables become equal and empty.
    fn settle(&mut self, operator: &mut Operator) -> Vec<String> {
        self.doors.lock().closing = true;
        let until = self.now + LIVENESS;
        while self.now < until
            && !(self.lives.iter().all(JoinHandle::is_finished)
                && operator.rests()
                && self.is_still())
        {
            self.step();
            operator.step(self);
        }
        let mut wrong = Vec::new();
        for (client, _) in self.lives.iter().enumerate().filter(|(_, life)| !life.is_finished()) {
            wrong.push(format!("client {client} was never answered"));
        }
        if !operator.rests() {
            wrong.push("a node was removed, and never became a voter again".to_string());
        }
        if !self.is_still() {
            let tables = self.tables();
            wrong.push(format!("the tables are not equal, or not empty: {tables:?}"));
        }
        wrong
    }

    /// Index, hash, names in use and sessions of every table.
    fn tables(&self) -> Vec<Option<(u64, u64, usize, usize)>> {
        let look = |node: &SimNode| {
            let engine = node.engine()?;
            let seen = engine.look(|table| {
                Some((table.index(), table.state_hash(), table.names(), table.sessions_len()))
            });
            seen.filter(|_| engine.status().leader.is_some())
        };
        self.nodes.iter().map(look).collect()
    }

    fn is_still(&self) -> bool {
        let tables = self.tables();
        let empty = |table: &Option<(u64, u64, usize, usize)>| {
            table.is_some_and(|(_, _, names, sessions)| names == 0 && sessions == 0)
        };
        tables.iter().all(|table| empty(table) && *table == tables[0])
    }
}

/// A network and disks, as fast as the seed has them.
fn common(seed: u64, nodes: usize, chance: &mut Chance) -> Common {
    let delay = (STEP, STEP + chance.between(0, 12));
    let doors = Doors::default();
    doors.lock().nodes = vec![None; nodes];
    Common {
        nodes,
        data: place(seed),
        network: SimNetwork::new(nodes, Chance::new(seed, 2), delay),
        doors,
        recording: Recording::default(),
        sync: (1, 1 + chance.between(1, 12)),
        snapshot_entries: chance.between(5, 40),
    }
}

/// Where the disks of a run are: in memory, if the system has a place for that.
fn place(seed: u64) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let name = format!("conclave-simulation-{}-{seed}-{run}", std::process::id());
    let shared = PathBuf::from("/dev/shm");
    let base = if shared.is_dir() { shared } else { std::env::temp_dir() };
    let place = base.join(name);
    std::fs::create_dir_all(&place).expect("a temporary directory");
    place
}
