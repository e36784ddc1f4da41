//! The same runs as stateright sees them, the checker that people use in Rust.
//!
//! The processes are the very same code. The rest is what somebody would write who knows
//! stateright well and wants it fast: nodes that did not act are shared between states, and links
//! are found by index.

use crate::{Error, Usage};
use conclave_algorithms::catalog::{self, Cluster, Setting, Visitor};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{Choices, Context, Effect, Event, NodeId, Oracle, Process};
use stateright::{Checker, Model, Property};
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Why other algorithms are refused.
pub const ONLY_MUTEX: &str = "only mutual exclusion is compared";

/// How many different states there are in all, on all cores.
pub fn unique_states(setting: &Setting, requests: u32) -> Result<u64, Error> {
    catalog::visit(setting, Look { requests })?
}

struct Look {
    requests: u32,
}

impl Visitor for Look {
    type Output = Result<u64, Error>;

    fn mutex<P>(self, cluster: Cluster<P>) -> Result<u64, Error>
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let model = Peer { cluster, requests: self.requests };
        let checker = model.checker().threads(threads).spawn_bfs().join();
        if let Some(name) = checker.discoveries().keys().next() {
            return Err(Error::Contradicted(name));
        }
        Ok(checker.unique_state_count() as u64)
    }

    fn election<P>(self, _: Cluster<P>) -> Result<u64, Error>
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        Err(Usage(ONLY_MUTEX.to_string()).into())
    }

    fn detector<P>(self, _: Cluster<P>) -> Result<u64, Error>
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        Err(Usage(ONLY_MUTEX.to_string()).into())
    }

    fn clock<P>(self, _: Cluster<P>) -> Result<u64, Error>
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        Err(Usage(ONLY_MUTEX.to_string()).into())
    }
}

/// A cluster in which every client asks a number of times. Nothing goes wrong, links are first in,
/// first out, and nobody has a timer.
struct Peer<P: Process> {
    cluster: Cluster<P>,
    requests: u32,
}

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<P: Process> {
    nodes: Vec<Arc<P>>,
    /// What is under way, by sender and then by receiver, the oldest first.
    links: Vec<VecDeque<P::Message>>,
    users: Vec<User>,
}

/// The user of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct User {
    phase: Phase,
    /// How many more times it will ask.
    left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    /// A user asks.
    Acquire(NodeId),
    /// A user leaves.
    Release(NodeId),
    /// The oldest message of a link arrives.
    Deliver {
        /// Who sent it.
        from: NodeId,
        /// Whom it reaches.
        to: NodeId,
    },
}

impl<P: Process<Provides = Mutex>> Peer<P> {
    fn link(&self, from: NodeId, to: NodeId) -> usize {
        from.index() * self.cluster.nodes() as usize + to.index()
    }

    /// One node acts, and what it wants done is done.
    fn act(&self, state: &mut State<P>, me: NodeId, event: Event<P>) {
        let mut ctx = Context::new(Choices::None);
        ctx.act(me, Arc::make_mut(&mut state.nodes[me.index()]), event);
        while let Some(effect) = ctx.pop() {
            match effect {
                Effect::Send { to, message } => {
                    state.links[self.link(me, to)].push_back(message);
                }
                Effect::Indicate(Indication::Entered { .. }) => {
                    state.users[me.index()].phase = Phase::Inside;
                }
                Effect::SetTimer { .. } | Effect::CancelTimer(_) | Effect::Request(_) => {
                    unreachable!("algorithms with timers or a layer below are not compared");
                }
            }
        }
    }
}

impl<P: Process<Provides = Mutex>> Model for Peer<P> {
    type State = State<P>;
    type Action = Move;

    fn init_states(&self) -> Vec<State<P>> {
        let n = self.cluster.nodes();
        let idle = User { phase: Phase::Idle, left: self.requests };
        let mut state = State {
            nodes: (0..n).map(|me| Arc::new((self.cluster.fresh)(NodeId(me)))).collect(),
            links: vec![VecDeque::new(); (n * n) as usize],
            users: vec![idle; self.cluster.clients as usize],
        };
        for me in (0..n).map(NodeId) {
            self.act(&mut state, me, Event::Start);
        }
        vec![state]
    }

    fn actions(&self, state: &State<P>, moves: &mut Vec<Move>) {
        for (me, user) in (0..).map(NodeId).zip(&state.users) {
            match user.phase {
                Phase::Idle if user.left > 0 => moves.push(Move::Acquire(me)),
                Phase::Inside => moves.push(Move::Release(me)),
                Phase::Idle | Phase::Waiting => {}
            }
        }
        let n = self.cluster.nodes();
        for (at, link) in (0..).zip(&state.links) {
            if !link.is_empty() {
                moves.push(Move::Deliver { from: NodeId(at / n), to: NodeId(at % n) });
            }
        }
    }

    fn next_state(&self, last: &State<P>, action: Move) -> Option<State<P>> {
        let mut next = last.clone();
        match action {
            Move::Acquire(me) => {
                let user = &mut next.users[me.index()];
                *user = User { phase: Phase::Waiting, left: user.left - 1 };
                self.act(&mut next, me, Event::Request(Request::Acquire));
            }
            Move::Release(me) => {
                next.users[me.index()].phase = Phase::Idle;
                self.act(&mut next, me, Event::Request(Request::Release));
            }
            Move::Deliver { from, to } => {
                let message = next.links[self.link(from, to)].pop_front()?;
                self.act(&mut next, to, Event::Message { from, message });
            }
        }
        Some(next)
    }

    /// S1, and V1 as a promise about single states.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("at most one is inside", |_, state: &State<P>| {
                state.users.iter().filter(|user| user.phase == Phase::Inside).count() <= 1
            }),
            Property::always("nobody waits in vain", |_, state: &State<P>| !state.is_dead_end()),
        ]
    }
}

impl<P: Process> State<P> {
    /// Whether somebody waits and nothing can happen any more.
    fn is_dead_end(&self) -> bool {
        let stuck = |user: &User| match user.phase {
            Phase::Idle => user.left == 0,
            Phase::Waiting => true,
            Phase::Inside => false,
        };
        self.users.iter().any(|user| user.phase == Phase::Waiting)
            && self.users.iter().all(stuck)
            && self.links.iter().all(VecDeque::is_empty)
    }
}
