//! The desk of a node: its clients' sessions, the lines in front of locks and elections, and what
//! passes between the machines below.
//!
//! It does nothing by itself and reads no clock: what it is told and asked comes in through
//! [`Upper`], and what it wants done goes out through [`Hands`]. Answers leave when all that led to
//! them is on disk.

mod acquire;
mod blocked;
mod campaign;
mod command;
mod config;
mod election_fence;
mod expiry;
mod journal;
mod lease_clock;
mod lease_loss;
mod locks;
mod metrics;
mod needs;
mod persistence;
mod queue;
pub mod refusal;
mod routing;
mod sessions;
#[cfg(test)]
mod tests;
mod timing;
mod values;
mod view;

pub use command::{Answer, Command, Feed, Question, Reply};
pub use config::{DeskConfig, Factory};
pub use journal::Numbered;
pub use metrics::Metrics;
pub use needs::{Needs, Part};
pub use persistence::has_holds;
pub use refusal::Refusal;
pub use sessions::Kind;

use crate::{DETECTOR, ELECTION, LOCK};
use conclave_api::limits::{self, LOCKS_MAX};
use conclave_core::{NodeId, Ticks};
use conclave_net::{Asked, Automaton, Hands, Input, Key, Told, Upper};
use journal::Journal;
use lease_clock::LeaseClock;
use lease_loss::Stop;
use locks::Lock;
use queue::Line;
use sessions::Session;
use std::collections::{BTreeMap, BTreeSet};
use timing::TICK;

/// The desk of a node.
pub struct Desk {
    config: DeskConfig,
    /// The cluster's random id; empty until node 1, which made it, was first met.
    cluster_id: String,
    factory: Factory,
    clock: LeaseClock,
    /// The earliest moment at which anything runs out, as far as is known.
    next_due: Option<Ticks>,
    sessions: BTreeMap<String, Session>,
    /// The sessions that a request with an id opened, by that id.
    opened_by: BTreeMap<String, String>,
    locks: BTreeMap<String, Lock>,
    /// The locks whose machines may have something to do.
    unsettled: BTreeSet<String>,
    /// Those that would ask to enter if this node could lend anything.
    held_up: BTreeSet<String>,
    /// Those whose holders have lost them.
    lapsed: BTreeSet<String>,
    elections: BTreeMap<String, Line>,
    counter: election_fence::Counter,
    values: BTreeMap<String, persistence::Value>,
    entries: u64,
    /// Who leads the cluster and in which term, as far as this node knows.
    leader: Option<(NodeId, u64)>,
    /// Since when no node leads that this one is in touch with.
    cut_off: Option<Ticks>,
    /// When this node was last stopped.
    stop: Option<Stop>,
    /// Whether the clock is looked at every now and then.
    ticks: bool,
    /// From when on candidates at this node may lead, if it does.
    lead_from: Ticks,
    /// The term in which this node was deposed, if nobody was elected since.
    deposed: Option<u64>,
    /// Whether the first leader has been replaced, or this node has come back.
    late: bool,
    /// When to look again, whatever there is to see.
    tick_at: Ticks,
    /// When this node may next ask for an election.
    campaign_at: Ticks,
    /// Whom the detector suspects, and since when.
    suspects: BTreeMap<NodeId, Ticks>,
    /// Whom the election, passing that on, suspects.
    passed_on: BTreeSet<NodeId>,
    journal: Journal,
}

impl Desk {
    /// A desk that knows nobody yet, and makes its machines with this factory.
    pub fn new(config: DeskConfig, factory: Factory) -> Self {
        let journal = Journal::new(config.me.0 + 1, config.started_ms);
        Self {
            config,
            cluster_id: String::new(),
            factory,
            clock: LeaseClock::default(),
            next_due: None,
            sessions: BTreeMap::new(),
            opened_by: BTreeMap::new(),
            locks: BTreeMap::new(),
            unsettled: BTreeSet::new(),
            held_up: BTreeSet::new(),
            lapsed: BTreeSet::new(),
            elections: BTreeMap::new(),
            counter: election_fence::Counter::default(),
            values: BTreeMap::new(),
            entries: 0,
            leader: None,
            cut_off: None,
            stop: None,
            ticks: false,
            lead_from: Ticks::ZERO,
            deposed: None,
            late: false,
            tick_at: Ticks::ZERO,
            campaign_at: Ticks::ZERO,
            suspects: BTreeMap::new(),
            passed_on: BTreeSet::new(),
            journal,
        }
    }

    /// Fences of clusters that were made anew under an old name are not comparable. The identity of
    /// its first node tells them apart, since no node comes back without its disk.
    fn learn_cluster(&mut self, hands: &dyn Hands) {
        if let Some(identity) = hands.identity(NodeId(0)) {
            self.cluster_id = format!("{:016x}", conclave_core::hash(&identity.to_le_bytes()));
        }
    }

    /// The term in which this node leads the cluster, if it does.
    fn leads(&self) -> Option<u64> {
        self.leader.filter(|(leader, _)| *leader == self.config.me).map(|(_, term)| term)
    }

    fn term_of(&self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Lock => None,
            Kind::Election => self.leads(),
        }
    }

    fn session(&self, id: &str) -> Answer<&Session> {
        self.sessions.get(id).ok_or_else(refusal::no_session)
    }

    fn settle_line(&mut self, kind: Kind, name: &str, hands: &mut dyn Hands) {
        match kind {
            Kind::Lock => self.settle(name),
            Kind::Election => self.settle_election(name, hands),
        }
    }

    fn save_line(&self, kind: Kind, name: &str, hands: &mut dyn Hands) {
        match kind {
            Kind::Lock => self.save_lock(name, hands),
            Kind::Election => {} // Leaderships do not outlive the node.
        }
    }

    /// Something runs out then, by the lease clock.
    fn due(&mut self, at: Ticks) {
        self.next_due = Some(self.next_due.map_or(at, |next| next.min(at)));
    }

    /// Whether this node is in touch with the others may have changed.
    fn feel_out(&mut self, hands: &mut dyn Hands) {
        self.cut_off = (!self.is_in_touch(hands)).then(|| self.cut_off.unwrap_or(hands.now()));
        self.lapse_when_cut_off(hands);
    }

    /// All that happens at this moment has happened. The desk has the machines do what comes of it,
    /// and itself woken when something runs out, and often enough for the lease clock to go on.
    /// Whatever happens meanwhile does not put that off: somebody may ask something all the time.
    fn rest(&mut self, hands: &mut dyn Hands) {
        self.settle_all(hands);
        let now = hands.now();
        let due = self.next_due.map(|at| now + at.since(self.clock.now()));
        self.ticks = due.is_some() || !self.is_led() || self.config.lease.is_some();
        let tick = self.ticks.then(|| self.tick_at.max(now));
        hands.wake_at(due.into_iter().chain(tick).min());
    }

    fn obey(&mut self, command: Command, hands: &mut dyn Hands) {
        match command {
            Command::OpenSession { request, id, reply } => {
                answer(reply, self.open(request, id, hands), hands);
            }
            Command::KeepAlive { session, reply } => {
                answer(reply, self.keep_alive(&session, hands), hands);
            }
            Command::CloseSession { session, reply } => {
                answer(reply, self.close(&session, hands), hands);
            }
            Command::Acquire { name, request, reply } => self.acquire(&name, request, reply, hands),
            Command::Release { name, request, reply } => {
                answer(reply, self.release(&name, &request, hands), hands);
            }
            Command::Withdraw { kind, name, request_id, request, reply } => {
                let session = &request.session;
                answer(reply, self.withdraw(kind, &name, &request_id, session, hands), hands);
            }
            Command::Force { name, request, reply } => {
                answer(reply, self.force(&name, &request, hands), hands);
            }
            Command::Campaign { name, request, reply } => {
                self.campaign(&name, request, reply, hands);
            }
            Command::Proclaim { name, request, reply } => {
                answer(reply, self.proclaim(&name, &request, hands), hands);
            }
            Command::Resign { name, request, reply } => {
                answer(reply, self.resign(&name, &request, hands), hands);
            }
            Command::SetValue { name, request, reply } => {
                answer(reply, self.set_value(&name, request, hands), hands);
            }
            Command::Show(question) => self.show(question, hands),
        }
    }

    fn show(&self, question: Question, hands: &mut dyn Hands) {
        match question {
            Question::Verify { name, fence, reply } => {
                answer(reply, self.verify(&name, fence), hands);
            }
            Question::Locks { reply } => answer(reply, Ok(self.locks_view(hands)), hands),
            Question::Lock { name, reply } => answer(reply, self.lock_view(&name, hands), hands),
            Question::Elections { reply } => answer(reply, Ok(self.elections_view()), hands),
            Question::Election { name, reply } => answer(reply, self.election_view(&name), hands),
            Question::Value { name, reply } => answer(reply, self.value(&name), hands),
            Question::Cluster { reply } => answer(reply, Ok(self.cluster_view(hands)), hands),
            Question::Events { reply } => answer(reply, Ok(self.journal.feed()), hands),
            Question::Metrics { reply } => answer(reply, Ok(self.metrics(hands)), hands),
        }
    }
}

impl Upper for Desk {
    type Command = Command;

    fn machine(&mut self, key: &Key) -> Option<(Box<dyn Automaton>, Input)> {
        let Some(name) = key.strip_prefix(LOCK) else { return (self.factory)(key, self.late) };
        // A machine once made stays, so clients may name only so many locks at a node. What the
        // clients of other nodes have named is taken nevertheless: to pass over a message for a
        // lock is to stop that lock for ever. Every node keeps to its limit, so no cluster has more
        // than so many names per node.
        let known = self.locks.contains_key(name);
        let most = LOCKS_MAX * self.config.nodes.len();
        if !limits::is_name(name) || !known && self.locks.len() >= most {
            return None;
        }
        let (machine, first) = (self.factory)(key, self.late)?;
        let lock = self.locks.entry(name.to_string()).or_default();
        (lock.survival, lock.made) = (machine.survival(), true);
        Some((machine, first))
    }

    fn begin(&mut self, saved: Vec<(String, Vec<u8>)>, hands: &mut dyn Hands) {
        self.clock.advance(hands.now());
        self.learn_cluster(hands);
        self.take_up(saved);
        self.note_beginning(hands);
        let names: Vec<String> = self.locks.keys().cloned().collect();
        for name in names {
            // What nobody here wants any more is given back.
            self.settle(&name);
            self.save_lock(&name, hands);
        }
        self.next_due = self.sessions.values().map(|session| session.until).min();
        self.start_machines(hands);
        self.rest(hands);
    }

    fn created(&mut self, key: &Key, hands: &mut dyn Hands) {
        self.introduce(key, hands);
    }

    fn command(&mut self, command: Command, hands: &mut dyn Hands) {
        self.look(hands);
        self.obey(command, hands);
        self.rest(hands);
    }

    fn told(&mut self, key: &Key, told: Told, hands: &mut dyn Hands) {
        self.look(hands);
        match (&**key, told) {
            (DETECTOR, _) => self.detector_told(told, hands),
            (ELECTION, _) => self.election_told(told, hands),
            (lock, Told::Entered { fence }) => {
                self.entered(lock.strip_prefix(LOCK).unwrap_or(lock), fence, hands);
            }
            (lock, _) => tracing::warn!(lock, ?told, "a lock said what locks do not say"),
        }
        self.feel_out(hands);
        self.rest(hands);
    }

    fn asked(&mut self, _: &Key, asked: Asked, hands: &mut dyn Hands) {
        if asked == Asked::Campaign {
            hands.ask(&election_key(), asked);
        }
    }

    fn link(&mut self, peer: NodeId, connected: bool, hands: &mut dyn Hands) {
        self.look(hands);
        self.learn_cluster(hands);
        let (kind, words) = match connected {
            true => ("connected", format!("the link to node {} stands", peer.0 + 1)),
            false => ("disconnected", format!("the link to node {} is down", peer.0 + 1)),
        };
        self.journal.note(hands, kind, None, words);
        self.feel_out(hands);
        self.rest(hands);
    }

    fn wake(&mut self, hands: &mut dyn Hands) {
        self.look(hands);
        self.tick_at = hands.now() + TICK;
        self.feel_out(hands);
        self.end_what_is_over(hands);
        self.ask_for_election(hands);
        self.rest(hands);
    }
}

/// Answers when all that has happened so far is on disk. Whether anybody still waits for it is
/// the other side's affair.
fn answer<T: Send + 'static>(reply: Reply<T>, answered: Answer<T>, hands: &mut dyn Hands) {
    hands.afterwards(Box::new(move || drop(reply.send(answered))));
}

fn detector_key() -> Key {
    Key::from(DETECTOR)
}

fn election_key() -> Key {
    Key::from(ELECTION)
}

fn lock_key(name: &str) -> Key {
    Key::from(format!("{LOCK}{name}"))
}
