//! Any of the elections that survive crashes, where the user chooses the one that another
//! algorithm stands on.

use super::bully::{self, Bully};
use super::majority::{self, Majority};
use super::ring::{self, Ring};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::{Context, Event, Named, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};

/// One node of whichever election was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AnyElection {
    /// The best node that answers.
    Bully(Bully),
    /// The best node on the list.
    Ring(Ring),
    /// Whom a majority votes for.
    Majority(Majority),
}

/// A message of whichever election was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Of the bully election.
    Bully(bully::Message),
    /// Of the ring election.
    Ring(ring::Message),
    /// Of the majority election.
    Majority(majority::Message),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Bully(message) => message.name(),
            Self::Ring(message) => message.name(),
            Self::Majority(message) => message.name(),
        }
    }
}

/// A timer of whichever election was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Of the bully election.
    Bully(bully::Timer),
    /// Of the majority election.
    Majority(majority::Timer),
}

impl AnyElection {
    /// Who leads as far as this node knows, and in which term.
    pub fn leader(&self) -> Option<(NodeId, u64)> {
        match self {
            Self::Bully(process) => process.leader(),
            Self::Ring(process) => process.leader(),
            Self::Majority(process) => process.leader(),
        }
    }
}

impl Process for AnyElection {
    type Provides = Election;
    type Uses = Detector;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match self {
            Self::Bully(process) => {
                if let Some(event) = translate(event, of_bully, bully_timer) {
                    ctx.delegate(process, event, Message::Bully, Timer::Bully);
                }
            }
            Self::Ring(process) => {
                if let Some(event) = translate(event, of_ring, no_timer) {
                    ctx.delegate(process, event, Message::Ring, |timer: Never| match timer {});
                }
            }
            Self::Majority(process) => {
                if let Some(event) = translate(event, of_majority, majority_timer) {
                    ctx.delegate(process, event, Message::Majority, Timer::Majority);
                }
            }
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        match self {
            Self::Bully(process) => kept(process.after_crash(), Self::Bully),
            Self::Ring(process) => kept(process.after_crash(), Self::Ring),
            Self::Majority(process) => kept(process.after_crash(), Self::Majority),
        }
    }
}

/// The event as the chosen election knows it; none if it is meant for another.
fn translate<Q>(
    event: Event<AnyElection>,
    message: impl Fn(Message) -> Option<Q::Message>,
    timer: impl Fn(Timer) -> Option<Q::Timer>,
) -> Option<Event<Q>>
where
    Q: Process<Provides = Election, Uses = Detector>,
{
    Some(match event {
        Event::Start => Event::Start,
        Event::Restart => Event::Restart,
        Event::Request(request) => Event::Request(request),
        Event::Indication(indication) => Event::Indication(indication),
        Event::Message { from, message: told } => Event::Message { from, message: message(told)? },
        Event::Timer(name) => Event::Timer(timer(name)?),
    })
}

fn of_bully(message: Message) -> Option<bully::Message> {
    match message {
        Message::Bully(message) => Some(message),
        Message::Ring(_) | Message::Majority(_) => None, // A peer that is set up otherwise.
    }
}

fn of_ring(message: Message) -> Option<ring::Message> {
    match message {
        Message::Ring(message) => Some(message),
        Message::Bully(_) | Message::Majority(_) => None, // A peer that is set up otherwise.
    }
}

fn of_majority(message: Message) -> Option<majority::Message> {
    match message {
        Message::Majority(message) => Some(message),
        Message::Bully(_) | Message::Ring(_) => None, // A peer that is set up otherwise.
    }
}

fn bully_timer(timer: Timer) -> Option<bully::Timer> {
    match timer {
        Timer::Bully(timer) => Some(timer),
        Timer::Majority(_) => None,
    }
}

fn majority_timer(timer: Timer) -> Option<majority::Timer> {
    match timer {
        Timer::Majority(timer) => Some(timer),
        Timer::Bully(_) => None,
    }
}

fn no_timer(timer: Timer) -> Option<Never> {
    match timer {
        Timer::Bully(_) | Timer::Majority(_) => None,
    }
}

fn kept<Q>(recovery: Recovery<Q>, wrap: impl Fn(Q) -> AnyElection) -> Recovery<AnyElection> {
    match recovery {
        Recovery::Never => Recovery::Never,
        Recovery::Fresh => Recovery::Fresh,
        Recovery::State(process) => Recovery::State(wrap(process)),
    }
}

const _: () = assert!(size_of::<Event<AnyElection>>() <= 56); // The ring has lists.

#[cfg(test)]
mod tests {
    use super::super::rank::Ranking;
    use super::*;
    use conclave_core::election::{Indication, Request};
    use conclave_core::testkit::{message, run, send};
    use conclave_core::{Effect, NodeId};

    fn bully(me: u32) -> AnyElection {
        let setup = bully::Setup::new(Ranking::by_key(2, |node| node));
        AnyElection::Bully(Bully::new(NodeId(me), setup, None))
    }

    #[test]
    fn it_does_what_the_chosen_one_does() {
        let elected = Effect::Indicate(Indication::Elected { leader: NodeId(1), term: 3 });
        let told = send(0, Message::Bully(bully::Message::Coordinator { counter: 1 }));
        assert_eq!(run(&mut bully(1), Event::Request(Request::Campaign)), [elected, told]);
        let mut ring = AnyElection::Ring(Ring::new(NodeId(0), Ranking::by_key(1, |n| n), None));
        assert_eq!(run(&mut ring, Event::Request(Request::Campaign)).len(), 1, "alone, it leads");
    }

    #[test]
    fn what_is_meant_for_another_election_is_ignored() {
        let vote = majority::Message::RequestVote { term: 1 };
        assert_eq!(run(&mut bully(1), message(0, Message::Majority(vote))), []);
        let timer = Timer::Majority(majority::Timer::Heartbeat);
        assert_eq!(run(&mut bully(1), Event::Timer(timer)), []);
    }

    #[test]
    fn the_disk_keeps_what_the_chosen_one_keeps() {
        let mut node = bully(1);
        run(&mut node, Event::Request(Request::Campaign));
        let Recovery::State(mut kept) = node.after_crash() else { panic!("it comes back") };
        let elected = Effect::Indicate(Indication::Elected { leader: NodeId(1), term: 5 });
        assert!(run(&mut kept, Event::Restart).contains(&elected), "in a term of its own");
    }
}
