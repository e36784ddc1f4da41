//! One process of the original's ring: the lab's ring election, in the words of the wire.
//!
//! `start_election` is the lab's `Election`, `inform_results` its `Coordinator`, a process that
//! does not answer 200 is a `Suspect` of the detector below, and one that answers again a `Trust`.
//! The rules are the lab's: the list is cut at the own id, what was sent to a process found dead
//! goes to the next, only the death of the leader starts an election, and whoever comes back is
//! told who leads. Two things are otherwise, because the wire does not carry what they need:
//!
//! - The lab numbers its rounds. Here a result bears no number, so one that differs from what is
//!   believed counts as later than all before it, and one that does not differ as old.
//! - In the lab a result goes on until it comes to a process that has seen it. A process of the
//!   original would send its own result round again. So a result is not sent to, nor past, the
//!   process that started: whoever would do so is the last to hear of it.

use conclave_algorithms::election::rank::Ranking;
use conclave_algorithms::election::ring::{Announcement, Message, Ring};
use conclave_core::detector::Indication as Noticed;
use conclave_core::election::{Indication, Request};
use conclave_core::{Choices, Context, Effect, Event, NodeId, NodeSet};

/// The result of an election, by the ids of the wire, which begin at 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Those that were found alive, in ascending order: the original takes the last for the leader.
    pub clients: Vec<u32>,
    /// Who leads.
    pub coordinator: u32,
    /// Who closed the round.
    pub starter: u32,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Post `/start_election` to this process.
    StartElection {
        /// To whom.
        to: u32,
        /// Those that the list has passed, in order.
        clients: Vec<u32>,
    },
    /// Post `/inform_results` to this process.
    InformResults {
        /// To whom.
        to: u32,
        /// The result.
        outcome: Outcome,
    },
    /// Somebody was elected: for people.
    Elected(Outcome),
}

/// One process of the ring.
#[derive(Debug)]
pub struct Circle {
    me: NodeId,
    n: u32,
    ring: Ring,
    ctx: Context<Ring>,
    /// The greatest number of a round: ours, as the wire has none.
    round: u64,
    leader: u32,
    /// The result that says so; none at first, when all know the leader without an election.
    believed: Option<Outcome>,
    /// The last result that this process announced.
    announced: Option<Outcome>,
    dead: NodeSet,
}

impl Circle {
    /// Process `me` of `n`, all of which know the first leader.
    pub fn new(me: u32, n: u32, leader: u32) -> Self {
        let ranking = Ranking::by_key(n, |node| node);
        let me = node(me);
        Self {
            me,
            n,
            ring: Ring::new(me, ranking, Some(node(leader))),
            ctx: Context::new(Choices::None),
            round: 1,
            leader,
            believed: None,
            announced: None,
            dead: NodeSet::new(n),
        }
    }

    /// Who leads, as far as this process knows.
    pub fn leader(&self) -> u32 {
        self.leader
    }

    /// Those to look after: the successor, and the dead before it, which may come back.
    pub fn watched(&self) -> Vec<u32> {
        let mut watched = Vec::new();
        let mut next = self.me.successor(self.n);
        while next != self.me {
            watched.push(id(next));
            if !self.dead.contains(next) {
                break;
            }
            next = next.successor(self.n);
        }
        watched
    }

    /// Whether this process was found dead and has not come back since.
    pub fn is_dead(&self, process: u32) -> bool {
        self.dead.contains(node(process))
    }

    /// Somebody asks for an election, or a list comes round.
    pub fn on_list(&mut self, clients: &[u32]) -> Vec<Act> {
        let Some(&last) = clients.last() else {
            return self.act(Event::Request(Request::Campaign), None);
        };
        // The wire does not say who sent it; the last in the list did, unless that is dead.
        let from = if node(last) == self.me { self.me.successor(self.n) } else { node(last) };
        let list = clients.iter().map(|&client| node(client)).collect();
        self.act(Event::Message { from, message: Message::Election { counter: 0, list } }, None)
    }

    /// A result comes round.
    pub fn on_outcome(&mut self, outcome: Outcome) -> Vec<Act> {
        let known = [&self.believed, &self.announced];
        if known.contains(&&Some(outcome.clone())) {
            return Vec::new(); // It has been here.
        }
        let list = outcome.clients.iter().map(|&client| node(client)).collect();
        let leader = node(outcome.coordinator);
        let origin = node(outcome.starter);
        let from = if origin == self.me { self.me.successor(self.n) } else { origin };
        let told = Announcement { round: self.round + 1, leader, origin, list };
        self.act(Event::Message { from, message: Message::Coordinator(told) }, None)
    }

    /// A process gave no answer, or one other than 200.
    pub fn on_dead(&mut self, process: u32) -> Vec<Act> {
        if !self.dead.insert(node(process)) {
            return Vec::new(); // Every look finds it dead again; the lab's detector says it once.
        }
        self.act(Event::Indication(Noticed::Suspect(node(process))), None)
    }

    /// A process answered 200 again.
    pub fn on_alive(&mut self, process: u32) -> Vec<Act> {
        if !self.dead.remove(node(process)) {
            return Vec::new();
        }
        self.act(Event::Indication(Noticed::Trust(node(process))), Some(node(process)))
    }

    /// One step of the lab's machine, its effects in the words of the wire. A process that is back
    /// is told the result even if it started that election: it may have forgotten.
    fn act(&mut self, event: Event<Ring>, back: Option<NodeId>) -> Vec<Act> {
        let told = match &event {
            Event::Message { message: Message::Coordinator(told), .. } => Some(told.clone()),
            Event::Message { message: Message::Election { .. }, .. }
            | Event::Start
            | Event::Restart
            | Event::Request(_)
            | Event::Indication(_)
            | Event::Timer(_) => None,
        };
        self.ctx.act(self.me, &mut self.ring, event);
        let effects: Vec<Effect<Ring>> = self.ctx.drain().collect();
        let mut acts = Vec::new();
        for (index, effect) in effects.iter().enumerate() {
            match effect {
                Effect::Send { to, message: Message::Election { list, .. } } => {
                    let clients = list.iter().map(|&client| id(client)).collect();
                    acts.push(Act::StartElection { to: id(*to), clients });
                }
                Effect::Send { to, message: Message::Coordinator(result) } => {
                    if back == Some(*to) || !self.is_past(*to, result.origin) {
                        let outcome = spoken(result);
                        acts.push(Act::InformResults { to: id(*to), outcome });
                    }
                }
                Effect::Indicate(Indication::Elected { leader, term }) => {
                    let round = term / u64::from(self.n);
                    let result = result_of(round, told.as_ref(), &effects[index..]);
                    acts.push(Act::Elected(self.believe(round, *leader, result)));
                }
                // The caller knows of the first two, and no ring deposes.
                Effect::Indicate(Indication::Suspect(_) | Indication::Trust(_))
                | Effect::Indicate(Indication::Deposed { .. }) => {}
                Effect::SetTimer { .. } | Effect::CancelTimer(_) | Effect::Request(_) => {}
            }
        }
        acts
    }

    fn believe(&mut self, round: u64, leader: NodeId, result: Option<Announcement>) -> Outcome {
        // Nobody is told of a result that was found alone.
        let alone = || Announcement { round, leader, origin: self.me, list: [self.me].into() };
        let result = result.unwrap_or_else(alone);
        let outcome = spoken(&result);
        self.round = self.round.max(round);
        self.leader = outcome.coordinator;
        self.believed = Some(outcome.clone());
        if result.origin == self.me {
            self.announced = Some(outcome.clone());
        }
        outcome
    }

    /// Whether a message from here to there comes to, or passes, that origin.
    fn is_past(&self, to: NodeId, origin: NodeId) -> bool {
        let distance = |other: NodeId| (other.0 + self.n - self.me.0) % self.n;
        origin != self.me && distance(origin) <= distance(to)
    }
}

/// The result with this number: the one that was told, or the one that is now announced.
fn result_of(
    round: u64,
    told: Option<&Announcement>,
    effects: &[Effect<Ring>],
) -> Option<Announcement> {
    let sent = effects.iter().filter_map(|effect| match effect {
        Effect::Send { message: Message::Coordinator(result), .. } => Some(result),
        Effect::Send { message: Message::Election { .. }, .. }
        | Effect::SetTimer { .. }
        | Effect::CancelTimer(_)
        | Effect::Indicate(_)
        | Effect::Request(_) => None,
    });
    told.into_iter().chain(sent).find(|result| result.round == round).cloned()
}

fn spoken(result: &Announcement) -> Outcome {
    let mut clients: Vec<u32> = result.list.iter().map(|&client| id(client)).collect();
    clients.sort_unstable();
    Outcome { clients, coordinator: id(result.leader), starter: id(result.origin) }
}

/// A process by its id on the wire, where they begin at 1.
fn node(process: u32) -> NodeId {
    NodeId(process - 1)
}

fn id(node: NodeId) -> u32 {
    node.0 + 1
}

#[cfg(test)]
mod tests;
