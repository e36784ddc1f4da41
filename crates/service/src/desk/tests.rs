//! The rules of the desk, one by one, with host that only write down what they are asked to do.

mod elections;
mod handover;
mod idempotent;
mod lease_loss;
mod limits;
mod locks;
mod restart;
mod routing;
mod scale;
mod sessions;
mod withdrawn;

use super::*;
use crate::Hears;
use conclave_api as api;
use conclave_core::Ticks;
use conclave_net::{Foreign, Input, Peer, Stepped, Survival};
use std::collections::BTreeMap;
use tokio::sync::oneshot::{self, Receiver, error::TryRecvError};

/// A host that does nothing.
#[derive(Default)]
pub(super) struct Idle {
    pub(super) now: Ticks,
    pub(super) asked: Vec<(String, AnyRequest)>,
    told: Vec<(String, AnyIndication)>,
    opened: Vec<String>,
    machines: Vec<Key>,
    pub(super) saved: BTreeMap<String, Vec<u8>>,
    pub(super) deeds: Vec<Box<dyn FnOnce() + Send>>,
    wake: Option<Ticks>,
    peers: BTreeMap<NodeId, Peer>,
    /// How much more than at first a machine has said.
    said: BTreeMap<String, u64>,
}

impl HostContext for Idle {
    fn me(&self) -> NodeId {
        NodeId(0)
    }
    fn identity(&self, _: NodeId) -> Option<u128> {
        Some(7)
    }
    fn now(&self) -> Ticks {
        self.now
    }
    fn open(&mut self, key: &Key) {
        self.opened.push(key.to_string());
    }
    fn ask(&mut self, key: &Key, asked: AnyRequest) {
        self.asked.push((key.to_string(), asked));
    }
    fn tell(&mut self, key: &Key, told: AnyIndication) {
        self.told.push((key.to_string(), told));
    }
    fn machines(&self) -> Vec<Key> {
        self.machines.clone()
    }
    fn save(&mut self, name: &str, value: Option<Vec<u8>>) {
        match value {
            Some(value) => drop(self.saved.insert(name.to_string(), value)),
            None => drop(self.saved.remove(name)),
        }
    }
    fn afterwards(&mut self, deed: Box<dyn FnOnce() + Send>) {
        self.deeds.push(deed);
    }
    fn wake_at(&mut self, at: Option<Ticks>) {
        self.wake = at;
    }
    fn peer(&self, peer: NodeId) -> Peer {
        self.peers.get(&peer).copied().unwrap_or_default()
    }
    fn sent(&self, key: &Key) -> Vec<(String, u64)> {
        let more = self.said.get(&**key).copied().unwrap_or_default();
        vec![("REQUEST".to_string(), 2 + more)]
    }
}

/// A machine that does nothing, but survives in a certain way.
struct Inert(Survival);

impl Automaton for Inert {
    fn step(&mut self, _: &Input) -> Result<Stepped, Foreign> {
        Ok(Stepped::default())
    }
    fn saved(&self) -> Vec<u8> {
        Vec::new()
    }
    fn restore(&mut self, _: &[u8]) -> Result<(), Foreign> {
        Ok(())
    }
    fn survival(&self) -> Survival {
        self.0
    }
    fn clock(&self) -> u64 {
        0
    }
    fn script(&mut self, _: &[u32]) {}
}

/// Node 1 of three, with everybody in touch.
struct Bench {
    desk: Desk,
    host: Idle,
}

fn config() -> DeskConfig {
    let address = |i: u32| crate::Address { peer: format!("p{i}:1"), api: format!("a{i}:1") };
    DeskConfig {
        me: NodeId(0),
        nodes: (1..=3).map(address).collect(),
        cluster: "test".to_string(),
        engine: "maekawa".to_string(),
        parameters: BTreeMap::new(),
        election: "majority".to_string(),
        detector: "phi-accrual".to_string(),
        election_hears: Hears::Detector,
        lock_hears: Hears::Detector,
        everywhere: false,
        first_leader: None,
        needs: Needs::All,
        ttl_max: None,
        notice: Ticks::units(1_000),
        lease: None,
        started_ms: 1_000,
    }
}

impl Bench {
    fn new() -> Self {
        Self::with(config(), Survival::Whole, Vec::new(), &[])
    }

    /// A node with this on its disk, and these locks.
    fn with(
        config: DeskConfig,
        survival: Survival,
        saved: Vec<(String, Vec<u8>)>,
        locks: &[&str],
    ) -> Self {
        let make = move |_: &Key, late| -> Option<(Box<dyn Automaton>, Input)> {
            let first = if late { Input::Restart } else { Input::Start };
            Some((Box::new(Inert(survival)), first))
        };
        let mut desk = Desk::new(config, Box::new(make));
        let up = Peer { connected: true, ..Peer::default() };
        let peers = [(NodeId(1), up), (NodeId(2), up)].into();
        let mut host = Idle { peers, ..Idle::default() };
        host.saved = saved.iter().cloned().collect();
        for lock in locks {
            assert!(desk.machine(&lock_key(lock)).is_some());
        }
        desk.begin(saved, &mut host);
        Self { desk, host }
    }

    fn command(&mut self, command: Command) {
        self.desk.command(command, &mut self.host);
    }

    /// All is on disk: answers go out.
    fn commit(&mut self) {
        for deed in std::mem::take(&mut self.host.deeds) {
            deed();
        }
        if self.desk.queues.locks.len() < 100 {
            self.check_replies();
        }
    }

    /// Whoever waits can be answered, and nobody else.
    fn check_replies(&self) {
        let queues = self.desk.queues.occupied();
        let queues = queues.iter().filter_map(|(kind, name)| self.desk.queues.get(*kind, name));
        let waiters: usize = queues.map(|queue| queue.waiters().len()).sum();
        assert_eq!(self.desk.replies.len(), waiters);
    }

    fn now<T>(&mut self, command: impl FnOnce(Reply<T>) -> Command) -> Answer<T> {
        let (reply, mut answer) = oneshot::channel();
        self.command(command(reply));
        self.commit();
        answer.try_recv().expect("this is answered at once")
    }

    fn show<T>(&mut self, question: impl FnOnce(Reply<T>) -> Question) -> Answer<T> {
        self.now(|reply| Command::Show(question(reply)))
    }

    fn session(&mut self, id: &str) {
        self.session_for(id, 10_000);
    }

    fn sessions(&mut self, ids: &[&str]) {
        ids.iter().for_each(|id| self.session(id));
    }

    fn session_for(&mut self, id: &str, ttl_ms: u64) {
        let label = Some(format!("label of {id}"));
        let ttl_ms = Some(ttl_ms);
        let request = api::NewSession { ttl_ms, label, ..api::NewSession::default() };
        let id = id.to_string();
        self.now(|reply| Command::OpenSession { request, id, reply }).expect("a session");
    }

    fn acquire(&mut self, name: &str, session: &str, wait_ms: u64) -> Receiver<Answer<api::Grant>> {
        let request = acquire(session, wait_ms, None);
        self.acquire_as(name, request)
    }

    fn acquire_as(&mut self, name: &str, request: api::Acquire) -> Receiver<Answer<api::Grant>> {
        let (reply, answer) = oneshot::channel();
        self.command(Command::Acquire { name: name.to_string(), request, reply });
        self.commit();
        answer
    }

    fn release(&mut self, name: &str, session: &str, fence: u64) -> Answer<api::Released> {
        let session = session.to_string();
        let request = api::Release { session, fence, ..api::Release::default() };
        let name = name.to_string();
        self.now(|reply| Command::Release { name, request, reply })
    }

    /// The machine of this lock is inside.
    fn enter(&mut self, name: &str, fence: u64) {
        self.desk.told(&lock_key(name), AnyIndication::Entered { fence }, &mut self.host);
        self.commit();
    }

    fn tell(&mut self, key: &str, told: AnyIndication) {
        self.desk.told(&Key::from(key), told, &mut self.host);
        self.commit();
    }

    /// So many milliseconds go by, with the desk woken whenever it wants to be.
    fn pass(&mut self, milliseconds: u64) {
        let end = self.host.now + Ticks::units(milliseconds);
        while let Some(at) = self.host.wake.filter(|at| *at <= end) {
            self.host.now = at.max(self.host.now + Ticks(1));
            self.desk.wake(&mut self.host);
            self.commit();
        }
        self.host.now = end;
    }

    /// The node is stopped for so long, and woken once afterwards.
    fn stall(&mut self, milliseconds: u64) {
        self.host.now = self.host.now + Ticks::units(milliseconds);
        self.desk.wake(&mut self.host);
        self.commit();
    }

    /// What was asked of the machine of this lock since last time.
    fn asked(&mut self, name: &str) -> Vec<AnyRequest> {
        let key = &*lock_key(name);
        let (these, others) =
            std::mem::take(&mut self.host.asked).into_iter().partition(|(of, _)| of == key);
        self.host.asked = others;
        let these: Vec<(String, AnyRequest)> = these;
        these.into_iter().map(|(_, asked)| asked).collect()
    }

    fn lock(&mut self, name: &str) -> api::Lock {
        let name = name.to_string();
        self.show(|reply| Question::Lock { name, look: Default::default(), reply })
            .expect("a lock that was used")
    }

    fn events(&mut self) -> Vec<String> {
        let feed = self.show(|reply| Question::Events { reply }).expect("events");
        feed.past.iter().map(|numbered| numbered.event.kind.clone()).collect()
    }

    /// The disk after a crash.
    fn disk(self) -> Vec<(String, Vec<u8>)> {
        self.host.saved.into_iter().collect()
    }
}

fn acquire(session: &str, wait_ms: u64, request_id: Option<&str>) -> api::Acquire {
    api::Acquire {
        session: session.to_string(),
        wait_ms: Some(wait_ms),
        request_id: request_id.map(str::to_string),
        ..api::Acquire::default()
    }
}

fn verify(fence: u64) -> api::Verify {
    api::Verify { fence, ..api::Verify::default() }
}

fn granted(answer: &mut Receiver<Answer<api::Grant>>) -> api::Grant {
    answer.try_recv().expect("an answer").expect("a grant")
}

fn refused<T: std::fmt::Debug>(answer: &mut Receiver<Answer<T>>) -> Refusal {
    answer.try_recv().expect("an answer").expect_err("a refusal")
}

fn waits<T>(answer: &mut Receiver<Answer<T>>) -> bool {
    matches!(answer.try_recv(), Err(TryRecvError::Empty))
}

fn code<T: std::fmt::Debug>(answer: Answer<T>) -> String {
    answer.expect_err("a refusal").error.code.to_string()
}
