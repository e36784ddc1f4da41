//! All nodes on one thread. What one sends arrives at once and in order; time is real.

use conclave_core::{NodeId, Ticks};
use conclave_net::{
    AnyIndication, AnyRequest, Application, Automaton, Deed, HostContext, Input, Key, Peer,
};
use conclave_service::Config;
use conclave_service::desk::{Command, Desk, DeskConfig, Needs};
use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Receiver;

type Timers = BTreeMap<(Key, Vec<u8>), Ticks>;

/// What is to be done with a machine.
enum Act {
    Ask(AnyRequest),
    Tell(AnyIndication),
    Step(Input),
}

/// What the desk wants done.
#[derive(Default)]
struct Wishes {
    me: NodeId,
    n: u32,
    now: Ticks,
    acts: VecDeque<(Key, Act)>,
    opened: Vec<Key>,
    machines: Vec<Key>,
    sent: BTreeMap<Key, BTreeMap<String, u64>>,
    deeds: Vec<Box<dyn FnOnce() + Send>>,
    wake: Option<Ticks>,
}

impl HostContext for Wishes {
    fn me(&self) -> NodeId {
        self.me
    }
    fn identity(&self, _: NodeId) -> Option<u128> {
        Some(7)
    }
    fn now(&self) -> Ticks {
        self.now
    }
    fn ask(&mut self, key: &Key, asked: AnyRequest) {
        self.acts.push_back((key.clone(), Act::Ask(asked)));
    }
    fn tell(&mut self, key: &Key, told: AnyIndication) {
        self.acts.push_back((key.clone(), Act::Tell(told)));
    }
    fn open(&mut self, key: &Key) {
        self.opened.push(key.clone());
    }
    fn machines(&self) -> Vec<Key> {
        self.machines.clone()
    }
    fn save(&mut self, _: &str, _: Option<Vec<u8>>) {}
    fn afterwards(&mut self, deed: Box<dyn FnOnce() + Send>) {
        self.deeds.push(deed);
    }
    fn wake_at(&mut self, at: Option<Ticks>) {
        self.wake = at;
    }
    fn peer(&self, peer: NodeId) -> Peer {
        Peer { connected: peer.0 < self.n, ..Peer::default() }
    }
    fn sent(&self, key: &Key) -> Vec<(String, u64)> {
        self.sent.get(key).cloned().unwrap_or_default().into_iter().collect()
    }
}

struct Node {
    desk: Desk,
    wishes: Wishes,
    machines: BTreeMap<Key, Box<dyn Automaton>>,
    timers: Timers,
    outgoing: Vec<(NodeId, Key, Vec<u8>)>,
}

impl Node {
    fn new(config: &Config, me: u32) -> Self {
        let config = Config { id: me + 1, ..config.clone() };
        let engine = config.machines().expect("a good configuration");
        let hears = |key: &str| engine.hears(&Key::from(key));
        let desk = DeskConfig {
            me: NodeId(me),
            nodes: config.nodes.clone(),
            cluster: config.cluster.clone(),
            engine: config.engine.name().to_string(),
            parameters: BTreeMap::new(),
            election: "majority".to_string(),
            detector: "phi-accrual".to_string(),
            election_hears: hears("election"),
            lock_hears: hears("lock/x"),
            everywhere: engine.must_be_everywhere(),
            first_leader: engine.first_leader(),
            needs: Needs::All,
            ttl_max: engine.ttl_max(),
            notice: Ticks::units(1_000),
            lease: None,
            started_ms: 0,
        };
        let make = move |key: &Key, late: bool| engine.machine(key, late);
        let n = config.nodes.len() as u32;
        Self {
            desk: Desk::new(desk, Box::new(make)),
            wishes: Wishes { me: NodeId(me), n, ..Wishes::default() },
            machines: BTreeMap::new(),
            timers: Timers::new(),
            outgoing: Vec::new(),
        }
    }

    /// Makes a machine if need be; its first step comes before what it is made for.
    fn make(&mut self, key: &Key) -> bool {
        if self.machines.contains_key(key) {
            return true;
        }
        let Some((machine, first)) = self.desk.machine(key) else { return false };
        self.machines.insert(key.clone(), machine);
        self.wishes.machines.push(key.clone());
        self.step(key, &first);
        self.desk.created(key, &mut self.wishes);
        true
    }

    /// Carries out all that is wished for.
    fn settle(&mut self) {
        while let Some((key, act)) = self.wishes.acts.pop_front() {
            match act {
                Act::Ask(asked) if self.make(&key) => self.step(&key, &Input::Request(asked)),
                Act::Tell(told) => self.step(&key, &Input::Indication(told)),
                Act::Step(input) if self.make(&key) => self.step(&key, &input),
                Act::Ask(_) | Act::Step(_) => {}
            }
        }
        for deed in std::mem::take(&mut self.wishes.deeds) {
            deed();
        }
    }

    fn step(&mut self, key: &Key, input: &Input) {
        let Some(machine) = self.machines.get_mut(key) else { return };
        // A word that it does not know changes nothing.
        let Ok(stepped) = machine.step(input) else { return };
        for deed in stepped.deeds {
            match deed {
                Deed::Send { to, kind, bytes } => {
                    *self.wishes.sent.entry(key.clone()).or_default().entry(kind).or_default() += 1;
                    self.outgoing.push((to, key.clone(), bytes));
                }
                Deed::SetTimer { timer, after } => {
                    self.timers.insert((key.clone(), timer), self.wishes.now + after.max);
                }
                Deed::CancelTimer { timer } => drop(self.timers.remove(&(key.clone(), timer))),
                Deed::Indicate(told) => self.desk.told(key, told, &mut self.wishes),
                Deed::Request(asked) => self.desk.asked(key, asked, &mut self.wishes),
            }
        }
    }

    /// Fires what is due.
    fn tick(&mut self, now: Ticks) {
        self.wishes.now = now;
        if self.wishes.wake.is_some_and(|at| at <= now) {
            self.wishes.wake = None;
            self.desk.wake(&mut self.wishes);
            self.settle();
        }
        let due: Vec<_> = self
            .timers
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(name, _)| name.clone())
            .collect();
        for (key, timer) in due {
            // One that fired before it may have stopped or set it anew.
            let name = (key.clone(), timer.clone());
            if self.timers.get(&name).is_some_and(|at| *at <= now) {
                self.timers.remove(&name);
                self.step(&key, &Input::Timer(timer));
                self.settle();
            }
        }
    }

    fn next(&self) -> Option<Ticks> {
        self.timers.values().copied().chain(self.wishes.wake).min()
    }
}

/// Runs the nodes on a thread of their own until nobody can command them any more.
pub fn run_world(config: Config, commands: Vec<Receiver<Command>>) {
    let (sender, receiver) = channel();
    for (index, mut commands) in commands.into_iter().enumerate() {
        let sender = sender.clone();
        tokio::spawn(async move {
            while let Some(command) = commands.recv().await {
                if sender.send((index, command)).is_err() {
                    break;
                }
            }
        });
    }
    drop(sender);
    std::thread::spawn(move || live(&config, &receiver));
}

fn live(config: &Config, commands: &std::sync::mpsc::Receiver<(usize, Command)>) {
    let began = Instant::now();
    let now = || Ticks(began.elapsed().as_micros() as u64);
    let mut nodes: Vec<Node> =
        (0..config.nodes.len() as u32).map(|me| Node::new(config, me)).collect();
    for node in &mut nodes {
        node.desk.begin(Vec::new(), &mut node.wishes);
        node.settle();
    }
    loop {
        deliver(&mut nodes);
        let next = nodes.iter().filter_map(Node::next).min().unwrap_or(now() + Ticks(10_000));
        let pause = Duration::from_micros(next.since(now()).0);
        match commands.recv_timeout(pause) {
            Ok((index, command)) => {
                let node: &mut Node = &mut nodes[index];
                node.wishes.now = now();
                node.desk.command(command, &mut node.wishes);
                node.settle();
            }
            Err(RecvTimeoutError::Timeout) => nodes.iter_mut().for_each(|node| node.tick(now())),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Brings messages over until none is under way.
fn deliver(nodes: &mut [Node]) {
    loop {
        let mut under_way = Vec::new();
        for (from, node) in (0..).map(NodeId).zip(nodes.iter_mut()) {
            for (to, key, bytes) in std::mem::take(&mut node.outgoing) {
                under_way.push((from, to, key, bytes));
            }
            for key in std::mem::take(&mut node.wishes.opened) {
                for to in from.others(node.wishes.n) {
                    under_way.push((from, to, key.clone(), Vec::new()));
                }
            }
        }
        if under_way.is_empty() {
            return;
        }
        for (from, to, key, bytes) in under_way {
            let node = &mut nodes[to.index()];
            node.wishes.acts.push_back((key, Act::Step(Input::Message { from, bytes })));
            node.settle();
        }
    }
}
