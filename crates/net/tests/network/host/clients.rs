//! Applications that take locks again and again, and what they must never see.

use conclave_algorithms::mutex::central::{Busy, Central, Order, Release, Setup};
use conclave_algorithms::mutex::places::Places;
use conclave_algorithms::mutex::ricart_agrawala::{RicartAgrawala, Text};
use conclave_algorithms::mutex::suzuki_kasami::SuzukiKasami;
use conclave_core::{Never, NodeId};
use conclave_net::{
    AnyIndication, AnyRequest, Application, Automaton, HostContext, Input, Key, Machine, Survival,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Copy, Debug)]
pub enum Engine {
    Central,
    RicartAgrawala,
    SuzukiKasami,
}

pub fn machine(engine: Engine, me: NodeId, n: u32) -> Box<dyn Automaton> {
    let (whole, heard) = (Survival::Whole, AnyIndication::to_oracle::<Never>);
    match engine {
        Engine::Central => {
            let places = Places::colocated(n, 1);
            let setup = Setup {
                places,
                busy: Busy::Silent,
                order: Order::Random,
                release_ack: false,
                release: Release::Own,
            };
            Box::new(Machine::new(me, Central::new(me, setup), whole, heard, 7))
        }
        Engine::RicartAgrawala => {
            let process = RicartAgrawala::new(me, n, Text::Corrected);
            Box::new(Machine::new(me, process, whole, heard, 7))
        }
        Engine::SuzukiKasami => {
            Box::new(Machine::new(me, SuzukiKasami::new(me, n), whole, heard, 7))
        }
    }
}

/// Sees every entry and exit in all nodes.
#[derive(Clone, Default)]
pub struct Watch(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    inside: BTreeMap<Key, NodeId>,
    fences: BTreeMap<Key, BTreeMap<u64, NodeId>>,
    finished: BTreeSet<(NodeId, Key)>,
    wrong: Vec<String>,
}

impl Watch {
    fn with<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A node is inside. It may be so again after a crash, by the same fence.
    fn enters(&self, me: NodeId, key: &Key, fence: u64) {
        self.with(|seen| {
            if let Some(other) = seen.inside.insert(key.clone(), me).filter(|other| *other != me) {
                seen.wrong.push(format!("{key}: {me} and {other} are inside"));
            }
            let fences = seen.fences.entry(key.clone()).or_default();
            let last = fences.last_key_value().map_or(0, |(fence, _)| *fence);
            let again = fences.insert(fence, me);
            if again.is_some_and(|other| other != me) || (again.is_none() && fence < last) {
                seen.wrong.push(format!("{key}: {me} enters by {fence}, after {last}"));
            }
        });
    }

    /// Said before anybody can hear of the release, so that nobody else can be in earlier.
    fn leaves(&self, key: &Key) {
        self.with(|seen| seen.inside.remove(key));
    }

    pub fn wrong(&self) -> Vec<String> {
        self.with(|seen| seen.wrong.clone())
    }

    pub fn finished(&self) -> usize {
        self.with(|seen| seen.finished.len())
    }

    /// How many entries there were of each lock.
    pub fn entries(&self) -> Vec<usize> {
        self.with(|seen| seen.fences.values().map(BTreeMap::len).collect())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Idle,
    Waiting,
    Inside(u64),
}

/// Takes each of some locks so many times. What it knows is on disk with the machines.
pub struct Clients {
    pub engine: Engine,
    pub me: NodeId,
    pub n: u32,
    pub locks: u32,
    pub entries: u64,
    pub watch: Watch,
    state: BTreeMap<Key, (u64, Phase)>,
}

impl Clients {
    pub fn new(engine: Engine, me: NodeId, n: u32, watch: Watch) -> Self {
        Self { engine, me, n, locks: 8, entries: 40, watch, state: BTreeMap::new() }
    }

    fn set(&mut self, key: &Key, done: u64, phase: Phase, host: &mut dyn HostContext) {
        self.state.insert(key.clone(), (done, phase));
        let (phase, fence) = match phase {
            Phase::Idle => (0, 0),
            Phase::Waiting => (1, 0),
            Phase::Inside(fence) => (2, fence),
        };
        let saved = [done, phase, fence].iter().flat_map(|number| number.to_le_bytes()).collect();
        host.save(key, Some(saved));
    }

    fn want(&mut self, key: &Key, host: &mut dyn HostContext) {
        let (done, _) = self.state.get(key).copied().unwrap_or((0, Phase::Idle));
        if done < self.entries {
            self.set(key, done, Phase::Waiting, host);
            return host.ask(key, AnyRequest::Acquire);
        }
        let (me, key, watch) = (self.me, key.clone(), self.watch.clone());
        host.afterwards(Box::new(move || {
            watch.with(|seen| seen.finished.insert((me, key)));
        }));
    }

    fn leave(&mut self, key: &Key, host: &mut dyn HostContext) {
        let done = self.state.get(key).map_or(0, |(done, _)| *done);
        self.watch.leaves(key);
        host.ask(key, AnyRequest::Release);
        self.set(key, done + 1, Phase::Idle, host);
        self.want(key, host);
    }
}

fn read(saved: &[u8]) -> (u64, Phase) {
    let number = |at: usize| {
        u64::from_le_bytes(saved[8 * at..8 * at + 8].try_into().expect("three numbers"))
    };
    let phase = match number(1) {
        0 => Phase::Idle,
        1 => Phase::Waiting,
        _ => Phase::Inside(number(2)),
    };
    (number(0), phase)
}

impl Application for Clients {
    type Command = ();

    fn machine(&mut self, key: &Key) -> Option<(Box<dyn Automaton>, Input)> {
        key.starts_with("lock/").then(|| (machine(self.engine, self.me, self.n), Input::Start))
    }

    fn begin(&mut self, saved: Vec<(String, Vec<u8>)>, host: &mut dyn HostContext) {
        self.state = saved.iter().map(|(key, saved)| (Key::from(&**key), read(saved))).collect();
        for key in (0..self.locks).map(|lock| Key::from(format!("lock/{lock}"))) {
            match self.state.get(&key).map_or(Phase::Idle, |(_, phase)| *phase) {
                Phase::Idle => self.want(&key, host),
                Phase::Waiting => {}
                Phase::Inside(fence) => {
                    self.watch.enters(self.me, &key, fence);
                    host.wake_at(Some(host.now()));
                }
            }
        }
    }

    fn told(&mut self, key: &Key, told: AnyIndication, host: &mut dyn HostContext) {
        let AnyIndication::Entered { fence } = told else { return };
        self.watch.enters(self.me, key, fence);
        let done = self.state.get(key).map_or(0, |(done, _)| *done);
        self.set(key, done, Phase::Inside(fence), host);
        // Some leave in the same batch, others stay for a commit or more.
        if done.is_multiple_of(2) {
            self.leave(key, host);
        } else {
            host.wake_at(Some(host.now()));
        }
    }

    fn wake(&mut self, host: &mut dyn HostContext) {
        let inside = |(key, (_, phase)): (&Key, &(u64, Phase))| {
            matches!(phase, Phase::Inside(_)).then(|| key.clone())
        };
        let all: Vec<Key> = self.state.iter().filter_map(inside).collect();
        all.iter().for_each(|key| self.leave(key, host));
    }

    fn created(&mut self, _: &Key, _: &mut dyn HostContext) {}
    fn command(&mut self, (): (), _: &mut dyn HostContext) {}
    fn asked(&mut self, _: &Key, _: AnyRequest, _: &mut dyn HostContext) {}
    fn link(&mut self, _: NodeId, _: bool, _: &mut dyn HostContext) {}
}
