//! The lock service of one node, without its network: requests of clients come in, and the state
//! machines of locks, election and detector are asked for what these need. It is called the desk.
//!
//! The desk does nothing by itself and reads no clock: what it is told and asked comes in through
//! [`Application`], and what it wants done goes out through [`HostContext`]. Answers leave when all
//! that led to them is on disk.
//!
//! Its state has parts, each with its own rules: `sessions`, `queues` (of `locks` and `elections`),
//! `values`, `connectivity` and `leadership`. Reply channels are kept beside them, in `replies`.
//! A lock request comes in as [`Command::Acquire`] and is served in `acquire`; a lease ends in
//! `expiry`; the fencing tokens of leaderships are made in `election_fence`.

mod acquire;
mod audited;
mod blocked;
mod campaign;
mod command;
mod config;
mod connectivity;
mod election_fence;
mod elections;
mod expiry;
mod handover;
mod journal;
mod keepalive;
mod leadership;
mod lease_clock;
mod lease_loss;
mod locks;
mod metrics;
mod needs;
mod persistence;
mod queue;
mod queues;
pub mod refusal;
mod release;
mod replies;
mod routing;
mod session_list;
mod sessions;
#[cfg(test)]
mod tests;
mod timing;
mod values;
mod view;

pub use command::{Answer, Attached, Command, Feed, MemberChange, Question, Replicated, Reply};
pub use config::{DeskConfig, Factory};
pub use journal::Numbered;
pub use metrics::Metrics;
pub use needs::{Needs, Part};
pub use persistence::has_holds;
pub use refusal::Refusal;
pub use sessions::Kind;

use crate::audit::Audit;
use crate::rights::Principal;
use crate::{DETECTOR, ELECTION, LOCK};
use conclave_api::limits::{self, LOCKS_MAX};
use conclave_core::NodeId;
use conclave_net::{AnyIndication, AnyRequest, Application, Automaton, HostContext, Input, Key};
use connectivity::Connectivity;
use handover::Handover;
use journal::Journal;
use leadership::Leadership;
use lease_clock::LeaseTimer;
use metrics::Counts;
use queues::Queues;
use replies::Replies;
use sessions::Sessions;
use values::Values;

/// The desk of a node.
pub struct Desk {
    config: DeskConfig,
    /// The cluster's random id; empty until node 1, which made it, was first met.
    cluster_id: String,
    factory: Factory,
    timer: LeaseTimer,
    sessions: Sessions,
    queues: Queues,
    values: Values,
    replies: Replies,
    connectivity: Connectivity,
    leadership: Leadership,
    journal: Journal,
    /// Where it is written down who did what.
    audit: Option<Audit>,
    /// Who asks for what is being done just now.
    asker: Principal,
    counts: Counts,
    /// Once this node was told to stop.
    handover: Option<Handover>,
}

impl Desk {
    /// A desk that knows nobody yet, and makes its machines with this factory.
    pub fn new(config: DeskConfig, factory: Factory) -> Self {
        let n = config.nodes.len() as u32;
        Self {
            cluster_id: String::new(),
            factory,
            timer: LeaseTimer::default(),
            sessions: Sessions::default(),
            queues: Queues::default(),
            values: Values::default(),
            replies: Replies::new(),
            connectivity: Connectivity::new(config.me, n, config.notice),
            leadership: Leadership::new(config.me, config.first_leader),
            journal: Journal::new(config.me.0 + 1, config.started_ms),
            audit: None,
            asker: Principal::default(),
            counts: Counts::default(),
            handover: None,
            config,
        }
    }

    /// The same, which writes down who did what.
    pub fn with_audit(self, audit: Option<Audit>) -> Self {
        Self { audit, ..self }
    }

    /// Fences of clusters that were made anew under an old name are not comparable. The identity of
    /// its first node tells them apart, since no node comes back without its disk.
    fn learn_cluster(&mut self, host: &dyn HostContext) {
        if let Some(identity) = host.identity(NodeId(0)) {
            self.cluster_id = format!("{:016x}", conclave_core::hash(&identity.to_le_bytes()));
        }
    }

    fn term_of(&self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Lock => None,
            Kind::Election => self.leadership.own_term(),
        }
    }

    /// The queue has changed: what comes of it is done, now or when all has happened.
    fn settle(&mut self, kind: Kind, name: &str, host: &mut dyn HostContext) {
        match kind {
            Kind::Lock => self.queues.locks.settle(name),
            Kind::Election => self.settle_election(name, host),
        }
    }

    /// Something happens. Before that, the desk learns which grants somebody took note of, and what
    /// time it is.
    fn catch_up(&mut self, host: &mut dyn HostContext) {
        for delivered in self.replies.delivered() {
            if let Some(queue) = self.queues.get_mut(delivered.kind, &delivered.name) {
                queue.claim(delivered.request);
            }
        }
        self.advance_clock(host);
    }

    /// All that happens at this moment has happened. The desk has the machines do what comes of it,
    /// and itself woken when something expires, and often enough for the lease clock to go on.
    fn finish(&mut self, host: &mut dyn HostContext) {
        let may_lend = self.may_lend(host);
        self.queues.locks.settle_all(may_lend, self.config.everywhere, host);
        let led = self.leadership.is_led(&self.connectivity);
        let wake = self.timer.wake_at(host.now(), !led || self.config.lease.is_some());
        let look = self.handover_look(host.now());
        host.wake_at(wake.into_iter().chain(look).min());
    }

    fn execute(&mut self, command: Command, host: &mut dyn HostContext) {
        match command {
            Command::OpenSession { request, id, reply } => {
                answer(reply, self.open(request, id, host), host);
            }
            Command::KeepAlive { session, request: _, reply } => {
                answer(reply, self.keep_alive(&session, host), host);
            }
            Command::CloseSession { session, reply } => {
                answer(reply, self.close(&session, host), host);
            }
            Command::Acquire { name, request, reply } => self.acquire(&name, request, reply, host),
            Command::Release { name, request, reply } => {
                answer(reply, self.release(&name, &request, host), host);
            }
            Command::Withdraw { kind, name, request_id, request, reply } => {
                let session = &request.session;
                answer(reply, self.withdraw(kind, &name, &request_id, session, host), host);
            }
            Command::Force { name, request, reply } => {
                answer(reply, self.force(&name, &request, host), host);
            }
            Command::Campaign { name, request, reply } => {
                self.campaign(&name, request, reply, host);
            }
            Command::Proclaim { name, request, reply } => {
                answer(reply, self.proclaim(&name, &request, host), host);
            }
            Command::Resign { name, request, reply } => {
                answer(reply, self.resign(&name, &request, host), host);
            }
            Command::SetValue { name, request, reply } => {
                answer(reply, self.set_value(&name, request, host), host);
            }
            Command::Replicated(command) => refuse_replicated(command, host),
            Command::HandOver { reply } => self.hand_over(reply, host),
            Command::By { .. } => {} // Nobody asks in the name of somebody who asks.
            Command::Show(question) => self.show(question, host),
        }
    }

    fn show(&mut self, question: Question, host: &mut dyn HostContext) {
        self.forget_gone(&question, host);
        match question {
            Question::Verify { name, request, reply } => {
                answer(reply, self.verify(&name, request.fence), host);
            }
            Question::Locks { page, reply } => answer(reply, self.locks_view(&page, host), host),
            Question::Lock { name, look: _, reply } => {
                answer(reply, self.lock_view(&name, host), host)
            }
            Question::Sessions { page, reply } => answer(reply, self.sessions_view(&page), host),
            Question::Elections { page, reply } => {
                answer(reply, self.elections_view(&page), host);
            }
            Question::Election { name, reply } => answer(reply, self.election_view(&name), host),
            Question::Value { name, reply } => answer(reply, self.value(&name), host),
            Question::Cluster { reply } => answer(reply, Ok(self.cluster_view(host)), host),
            Question::Ready { reply } => answer(reply, Ok(self.readiness(host)), host),
            Question::Members { reply } => answer(reply, only_replicated(), host),
            Question::Events { reply } => answer(reply, Ok(self.journal.feed()), host),
            Question::Metrics { reply } => answer(reply, Ok(self.metrics(host).exposition()), host),
        }
    }
}

impl Application for Desk {
    type Command = Command;

    fn machine(&mut self, key: &Key) -> Option<(Box<dyn Automaton>, Input)> {
        let Some(name) = key.strip_prefix(LOCK) else {
            return (self.factory)(key, self.leadership.is_late());
        };
        // A machine once made stays, so clients may name only so many locks at a node. What the
        // clients of other nodes have named is taken nevertheless: to pass over a message for a
        // lock is to stop that lock for ever. Every node keeps to its limit, so no cluster has more
        // than so many names per node.
        let known = self.queues.locks.contains(name);
        let most = LOCKS_MAX * self.config.nodes.len();
        if !limits::is_name(name) || !known && self.queues.locks.len() >= most {
            return None;
        }
        let (machine, first) = (self.factory)(key, self.leadership.is_late())?;
        self.queues.locks.machine_made(name, machine.survival());
        Some((machine, first))
    }

    fn begin(&mut self, saved: Vec<(String, Vec<u8>)>, host: &mut dyn HostContext) {
        self.timer.advance(host.now());
        self.learn_cluster(host);
        self.restore(saved);
        self.leadership.begin(self.config.nodes.len() == 1, host.now());
        persistence::save_beginning(host);
        for name in self.queues.locks.names() {
            // What nobody here wants any more is given back.
            self.queues.locks.settle(&name);
            self.save_queue(Kind::Lock, &name, host);
        }
        self.timer.reset(self.sessions.next_expiry());
        self.start_machines(host);
        self.finish(host);
    }

    fn created(&mut self, key: &Key, host: &mut dyn HostContext) {
        self.introduce(key, host);
    }

    fn command(&mut self, command: Command, host: &mut dyn HostContext) {
        self.catch_up(host);
        let (asker, mut command) = command.opened();
        if let Some(session) = command.session_mut()
            && self.sessions.is_anothers(session, asker.name())
        {
            session.clear(); // A session of somebody else is as good as none.
        }
        self.asker = asker;
        self.execute(command, host);
        self.finish(host);
    }

    fn told(&mut self, key: &Key, told: AnyIndication, host: &mut dyn HostContext) {
        self.catch_up(host);
        match (&**key, told) {
            (DETECTOR, _) => self.detector_told(told, host),
            (ELECTION, _) => self.election_told(told, host),
            (lock, AnyIndication::Entered { fence }) => {
                self.machine_entered(lock.strip_prefix(LOCK).unwrap_or(lock), fence, host);
            }
            (lock, _) => tracing::warn!(lock, ?told, "a lock said what locks do not say"),
        }
        self.update_connectivity(host);
        self.finish(host);
    }

    fn asked(&mut self, _: &Key, asked: AnyRequest, host: &mut dyn HostContext) {
        if asked == AnyRequest::Campaign {
            host.ask(&election_key(), asked);
        }
    }

    fn link(&mut self, peer: NodeId, connected: bool, host: &mut dyn HostContext) {
        self.catch_up(host);
        self.learn_cluster(host);
        let (kind, words) = match connected {
            true => ("connected", format!("the link to node {} stands", peer.0 + 1)),
            false => ("disconnected", format!("the link to node {} is down", peer.0 + 1)),
        };
        self.journal.note(host, kind, None, words);
        self.update_connectivity(host);
        self.finish(host);
    }

    fn wake(&mut self, host: &mut dyn HostContext) {
        self.catch_up(host);
        self.timer.woken(host.now());
        self.update_connectivity(host);
        self.expire(host);
        self.ask_for_election(host);
        self.look_at_handover(host);
        self.finish(host);
    }
}

/// Answers when all that has happened so far is on disk. Whether anybody still waits for it is
/// the other side's affair.
fn answer<T: Send + 'static>(reply: Reply<T>, answered: Answer<T>, host: &mut dyn HostContext) {
    host.afterwards(Box::new(move || drop(reply.send(answered))));
}

fn refuse_replicated(command: Replicated, host: &mut dyn HostContext) {
    match command {
        Replicated::AcquireAll { reply, .. } => answer(reply, only_replicated(), host),
        Replicated::PassOn { reply, .. } => answer(reply, only_replicated(), host),
        Replicated::Attach { reply, .. } => answer(reply, only_replicated(), host),
        Replicated::Ping { reply, .. } => answer(reply, only_replicated(), host),
        Replicated::Members { reply, .. } => answer(reply, only_replicated(), host),
        Replicated::Snapshot { reply } => answer(reply, only_replicated(), host),
        Replicated::DeleteValue { reply, .. } => answer(reply, only_replicated(), host),
    }
}

/// What a classic engine says to what it does not have.
fn only_replicated<T>() -> Answer<T> {
    let mut refusal = refusal::unsupported("only the replicated engine has this");
    refusal.status = Some(404); // It is the route that is missing.
    Err(refusal)
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
