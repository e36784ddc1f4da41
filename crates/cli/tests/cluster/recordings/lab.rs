//! A small cluster in memory: real machines, real recordings, a made-up network and clocks that are
//! wrong.

use conclave_core::{NodeId, Ticks};
use conclave_lab::machines::{Chosen, DETECTOR, ELECTION, Hears, Machines, Settings};
use conclave_net::recording::{Done, Entry, Header, Recorder, Restored, Step};
use conclave_net::{AnyIndication, AnyRequest, Automaton, Deed, Input, Key, Lane, Survival};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::path::{Path, PathBuf};

/// When all clocks say that it began, but for how wrong each is.
const BEGIN: u64 = 1_800_000_000_000_000;
/// How long a client stays inside.
const INSIDE: u64 = 2_500;

/// What is to happen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Ask(u32, String),
    Arrive { from: u32, to: u32, key: String, lane: Lane, number: u64, bytes: Vec<u8> },
    Fire { node: u32, key: String, timer: Vec<u8>, generation: u64 },
    Release(u32, String),
    Kill(u32),
    Stop(u32),
    Forget(u32),
    Return(u32),
}

/// What a node keeps of a machine when it is gone: its state, and the timers that run.
type Kept = (Vec<u8>, Vec<Vec<u8>>);

/// How long a timer runs that was on disk.
const TIMER: u64 = 50_000;

struct Node {
    engine: Machines,
    machines: BTreeMap<Key, Box<dyn Automaton>>,
    /// By machine and name: how often it was set, and when it is due if it runs.
    timers: BTreeMap<(Key, Vec<u8>), (u64, Option<u64>)>,
    recorder: Option<Recorder>,
    began: u64,
    starts: u32,
    saved: BTreeMap<Key, Kept>,
    /// What must not be lost waits for its return.
    held: Vec<Act>,
}

pub struct Lab {
    folder: PathBuf,
    engine: String,
    skews: Vec<u64>,
    nodes: Vec<Node>,
    queue: BinaryHeap<Reverse<(u64, u64, Act)>>,
    scheduled: u64,
    numbers: BTreeMap<(u32, u32, Lane), u64>,
    free: BTreeMap<(u32, u32), u64>,
    random: u64,
    now: u64,
}

fn machines(engine: &str, me: u32, nodes: u32) -> Machines {
    let chosen = |id: &str| Chosen { id: id.to_string(), set: Vec::new() };
    let (election, detector) = (chosen("majority"), chosen("phi-accrual"));
    let settings = Settings { nodes, engine: chosen(engine), election, detector };
    Machines::new(&settings, NodeId(me)).expect(engine)
}

impl Lab {
    /// A cluster of so many nodes as clocks are given, each so many microseconds ahead.
    pub fn new(folder: &Path, engine: &str, skews: &[u64]) -> Self {
        let mut lab = Self {
            folder: folder.to_path_buf(),
            engine: engine.to_string(),
            skews: skews.to_vec(),
            nodes: Vec::new(),
            queue: BinaryHeap::new(),
            scheduled: 0,
            numbers: BTreeMap::new(),
            free: BTreeMap::new(),
            random: 7,
            now: 0,
        };
        let n = skews.len() as u32;
        for id in 0..n {
            lab.nodes.push(Node {
                engine: machines(engine, id, n),
                machines: BTreeMap::new(),
                timers: BTreeMap::new(),
                recorder: None,
                began: 0,
                starts: 0,
                saved: BTreeMap::new(),
                held: Vec::new(),
            });
        }
        (0..n).for_each(|id| lab.start(id));
        lab
    }

    /// The file of a node's start.
    pub fn file(&self, node: u32, start: u32) -> String {
        let name = match start {
            1 => format!("{}.rec", node + 1),
            _ => format!("{}.{start}.rec", node + 1),
        };
        self.folder.join(name).to_string_lossy().into_owned()
    }

    pub fn files(&self) -> Vec<String> {
        let starts = |(id, node): (u32, &Node)| (1..=node.starts).map(move |start| (id, start));
        let all = (0..).zip(&self.nodes).flat_map(starts);
        all.map(|(id, start)| self.file(id, start)).collect()
    }

    pub fn asks(&mut self, at: u64, node: u32, lock: &str) {
        self.schedule(at, Act::Ask(node, format!("lock/{lock}")));
    }

    pub fn kill(&mut self, at: u64, node: u32) {
        self.schedule(at, Act::Kill(node));
    }

    /// It stops in good order.
    pub fn stops(&mut self, at: u64, node: u32) {
        self.schedule(at, Act::Stop(node));
    }

    /// It loses its disk while it is away.
    pub fn forgets(&mut self, at: u64, node: u32) {
        self.schedule(at, Act::Forget(node));
    }

    pub fn comes_back(&mut self, at: u64, node: u32) {
        self.schedule(at, Act::Return(node));
    }

    /// Lets everything happen up to this time; then all nodes stop in good order.
    pub fn run(&mut self, until: u64) {
        while let Some(Reverse((at, _, act))) = self.queue.pop() {
            if at > until {
                break;
            }
            self.now = at;
            self.act(act);
        }
        for node in &mut self.nodes {
            if let Some(recorder) = node.recorder.take() {
                recorder.finish(Ticks(until - node.began));
            }
        }
    }

    fn schedule(&mut self, at: u64, act: Act) {
        self.scheduled += 1;
        self.queue.push(Reverse((at, self.scheduled, act)));
    }

    fn draw(&mut self, from: u64, to: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        from + (self.random >> 33) % (to - from)
    }

    fn start(&mut self, id: u32) {
        let n = self.nodes.len().max(self.skews.len()) as u32;
        let path = self.folder.join(format!("{}.rec", id + 1));
        let (now, skew) = (self.now, self.skews[id as usize]);
        let node = &mut self.nodes[id as usize];
        node.starts += 1;
        node.began = now;
        let header = Header {
            cluster: "lab".into(),
            settings: node.engine.text().to_string(),
            node: NodeId(id),
            n,
            incarnation: node.starts,
            started: BEGIN + skew + now,
        };
        node.recorder = Some(Recorder::create(&path, &header).expect("a folder to write to"));
        let returning = self.bring_back(id);
        for key in returning {
            self.step(id, &key, Input::Restart, None);
        }
        if self.engine == "central-failover" {
            self.machine(id, &DETECTOR.into());
            self.machine(id, &ELECTION.into());
        }
    }

    /// What was on its disk goes on; gives those that have to be told.
    fn bring_back(&mut self, id: u32) -> Vec<Key> {
        let saved = std::mem::take(&mut self.nodes[id as usize].saved);
        let mut returning = Vec::new();
        for (key, (saved, names)) in saved {
            let engine = &self.nodes[id as usize].engine;
            let (mut machine, _) = engine.machine(&key, true).expect("it was there");
            machine.restore(&saved).expect("what it saved");
            if machine.survival() == Survival::Returns {
                returning.push(key.clone());
            }
            let due = |name: Vec<u8>| {
                let due = self.set_timer(id, &key, &name, TIMER);
                (name, due)
            };
            let timers = names.into_iter().map(due).collect();
            let entry = Entry::Restored(Restored { key: key.clone(), saved, timers });
            let node = &mut self.nodes[id as usize];
            node.recorder.as_mut().expect("it runs").write(&entry);
            node.machines.insert(key, machine);
        }
        returning
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Ask(node, key) => {
                self.input(node, &key.into(), Input::Request(AnyRequest::Acquire), None)
            }
            Act::Release(node, key) => {
                self.input(node, &key.into(), Input::Request(AnyRequest::Release), None);
            }
            Act::Arrive { to, lane: Lane::Durable, .. } if !self.is_up(to) => {
                self.nodes[to as usize].held.push(act);
            }
            Act::Arrive { from, to, key, lane, number, bytes } => {
                let message = Input::Message { from: NodeId(from), bytes };
                self.input(to, &key.into(), message, Some((lane, number)));
            }
            Act::Fire { node, key, timer, generation } => {
                let key: Key = key.into();
                let running = self.nodes[node as usize].timers.get(&(key.clone(), timer.clone()));
                if running.is_some_and(|(set, due)| *set == generation && due.is_some()) {
                    self.nodes[node as usize].timers.remove(&(key.clone(), timer.clone()));
                    self.input(node, &key, Input::Timer(timer), None);
                }
            }
            Act::Kill(id) => {
                self.goes(id).into_iter().for_each(|mut recorder| recorder.flush());
            }
            Act::Stop(id) => {
                let after = Ticks(self.now - self.nodes[id as usize].began);
                self.goes(id).into_iter().for_each(|recorder| recorder.finish(after));
            }
            Act::Forget(id) => self.nodes[id as usize].saved.clear(),
            Act::Return(id) => {
                self.start(id);
                let held = std::mem::take(&mut self.nodes[id as usize].held);
                held.into_iter().for_each(|act| self.act(act));
            }
        }
    }

    /// A node is gone: what is left is on its disk.
    fn goes(&mut self, id: u32) -> Option<Recorder> {
        let node = &mut self.nodes[id as usize];
        let timers = std::mem::take(&mut node.timers);
        for (key, machine) in std::mem::take(&mut node.machines) {
            let mine =
                timers.iter().filter(|((whose, _), (_, due))| *whose == key && due.is_some());
            let names = mine.map(|((_, name), _)| name.clone()).collect();
            let kept = match machine.survival() {
                Survival::Whole => (machine.saved(), names),
                Survival::Returns => (machine.saved(), Vec::new()),
                Survival::Forgets => continue,
            };
            node.saved.insert(key, kept);
        }
        node.recorder.take()
    }

    fn is_up(&self, node: u32) -> bool {
        self.nodes[node as usize].recorder.is_some()
    }

    /// Makes a machine if there is none.
    fn machine(&mut self, id: u32, key: &Key) {
        let node = &mut self.nodes[id as usize];
        if node.machines.contains_key(key) {
            return;
        }
        let late = node.starts > 1;
        let (machine, first) = node.engine.machine(key, late).expect("a known name");
        node.machines.insert(key.clone(), machine);
        self.step(id, key, first, None);
    }

    fn input(&mut self, id: u32, key: &Key, input: Input, arrival: Option<(Lane, u64)>) {
        if self.is_up(id) {
            self.machine(id, key);
            self.step(id, key, input, arrival);
        }
    }

    fn step(&mut self, id: u32, key: &Key, input: Input, arrival: Option<(Lane, u64)>) {
        let machine = self.nodes[id as usize].machines.get_mut(key).expect("it was made");
        let lane = match machine.survival() {
            Survival::Whole => Lane::Durable,
            Survival::Returns | Survival::Forgets => Lane::Transient,
        };
        let stepped = machine.step(&input).expect("what it was sent");
        let mut deeds = Vec::new();
        let (mut told, mut asked) = (Vec::new(), Vec::new());
        for deed in stepped.deeds {
            let (mut sent, mut due) = (None, None);
            match &deed {
                Deed::Send { to, bytes, .. } => {
                    sent = Some((lane, self.send(id, to.0, key, lane, bytes.clone())));
                }
                Deed::SetTimer { timer, after } => {
                    let after = self.draw(after.min.0, after.max.0 + 1).max(1);
                    due = Some(self.set_timer(id, key, timer, after));
                }
                Deed::CancelTimer { timer } => {
                    let name = (key.clone(), timer.clone());
                    if let Some((_, due)) = self.nodes[id as usize].timers.get_mut(&name) {
                        *due = None;
                    }
                }
                Deed::Indicate(what) => told.push(*what),
                Deed::Request(what) => asked.push(*what),
            }
            deeds.push(Done { deed, sent, due });
        }
        let node = &mut self.nodes[id as usize];
        let at = Ticks(self.now - node.began);
        let (key_, choices) = (key.clone(), stepped.choices);
        let entry = Entry::Step(Step { at, key: key_, input, arrival, choices, deeds });
        node.recorder.as_mut().expect("it runs").write(&entry);
        told.into_iter().for_each(|told| self.told(id, key, told));
        for what in asked {
            self.step(id, &ELECTION.into(), Input::Request(what), None);
        }
    }

    /// As the application of a node passes on what one machine tells.
    fn told(&mut self, id: u32, key: &Key, told: AnyIndication) {
        if let AnyIndication::Entered { .. } = told {
            return self.schedule(self.now + INSIDE, Act::Release(id, key.to_string()));
        }
        let source = if &**key == DETECTOR { Hears::Detector } else { Hears::Election };
        let engine = &self.nodes[id as usize].engine;
        let machines = self.nodes[id as usize].machines.keys();
        let hears = |other: &&Key| *other != key && engine.hears(other) == source;
        let hearers: Vec<Key> = machines.filter(hears).cloned().collect();
        for other in hearers {
            self.step(id, &other, Input::Indication(told), None);
        }
    }

    fn send(&mut self, from: u32, to: u32, key: &Key, lane: Lane, bytes: Vec<u8>) -> u64 {
        let number = self.numbers.entry((from, to, lane)).or_default();
        *number += 1;
        let number = *number;
        let took = self.draw(180, 900);
        let free = self.free.entry((from, to)).or_default();
        let at = (self.now + took).max(*free + 1);
        *free = at;
        let key = key.to_string();
        self.schedule(at, Act::Arrive { from, to, key, lane, number, bytes });
        number
    }

    fn set_timer(&mut self, id: u32, key: &Key, timer: &[u8], after: u64) -> Ticks {
        let due = self.now + after;
        let node = &mut self.nodes[id as usize];
        let (generation, running) =
            node.timers.entry((key.clone(), timer.to_vec())).or_insert((self.scheduled, None));
        *generation += 1;
        *running = Some(due);
        let (generation, began) = (*generation, node.began);
        let (key, timer) = (key.to_string(), timer.to_vec());
        self.schedule(due, Act::Fire { node: id, key, timer, generation });
        Ticks(due - began)
    }
}
