//! FloodMax: round by round everybody passes on the greatest id it knows, for as many rounds as the
//! graph is wide.
//!
//! Source: folklore; N. A. Lynch, "Distributed Algorithms", Morgan Kaufmann 1996, section 4.1.
//! Assumes: A1 every message arrives exactly once and within a round; A2 no crashes; A3 the graph
//! is connected, the ids are distinct and everybody knows the diameter D; A4 whoever begins by
//! itself begins at the same instant.
//!
//! | message | from, to         | sent when                    | carries                          |
//! |---------|------------------|------------------------------|----------------------------------|
//! | `MAX`   | node, neighbours | a round begins (`optimised`: | the greatest rank known, whether |
//! |         |                  | and there is something new)  | somebody overslept               |
//!
//! - R1 in each round a node tells all its neighbours the greatest rank that it knows;
//! - R2 of what it hears it keeps the greatest;
//! - R3 after D rounds it decides: the greatest rank has come everywhere;
//! - R4 if somebody overslept, all go on to 3D rounds.
//!
//! The paper has everybody begin at once; then D rounds are enough, and this is what the costs of
//! textbooks count. A node that did not begin is woken by the first message. Somebody overslept,
//! then, and all come to know it within D rounds: a woken node knows, and so does one that misses a
//! neighbour's message at the end of its first round; the others are told with the greatest rank,
//! along ways of which each node began by itself. Then everybody goes on to 3D rounds of its own:
//! all are awake after D rounds' time, and since their rounds do not begin together any more, the
//! greatest rank may need two rounds per edge.
//!
//! Has: the greatest id leads; everybody learns of it.
//! Lacks: any tolerance of loss (it can elect two) or of messages that take longer than a round.
//! Cost: 2mD messages in D rounds if all begin together, else 6mD; fewer when optimised.

mod why;

pub use why::WHY;

use super::why::{NO_HAND_OVER, STRANGER, WAITS, pass_on};
use crate::election::rank::Rank;
use conclave_core::detector::Detector;
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Delay, Event, Named, NodeId, Process, Recovery, Ticks};
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// What the sender knows.
    Max {
        /// The greatest rank.
        greatest: Rank,
        /// Whether somebody did not begin by itself.
        overslept: bool,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Max { .. } => "MAX",
        }
    }
}

/// The only timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A round is over.
    Round,
}

/// What all nodes know of the network and of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rounds {
    /// The diameter of the graph.
    pub diameter: u32,
    /// How long a round takes.
    pub length: Ticks,
    /// Send only when there is something new.
    pub optimised: bool,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FloodMax {
    rank: Rank,
    /// In order.
    neighbours: Box<[NodeId]>,
    rounds: Rounds,
    phase: Phase,
    /// The rounds that are over.
    over: u32,
    /// How many messages came before the first round was over.
    early: u32,
    greatest: Rank,
    overslept: bool,
    /// There is something to tell that was not told yet.
    news: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Asleep,
    Flooding,
    Decided,
}

impl Process for FloodMax {
    type Provides = Election;
    type Uses = Detector; // A2: what it says is only passed on.
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => ctx.because(&WAITS, ()),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.on_campaign(ctx),
            Event::Request(Request::Resign) => ctx.because(&NO_HAND_OVER, ()),
            Event::Indication(told) => pass_on(told, ctx),
            Event::Message { from, .. } if self.neighbours.binary_search(&from).is_err() => {
                ctx.because(&STRANGER, from); // There is no edge to it.
            }
            Event::Message { from, message: Message::Max { greatest, overslept } } => {
                self.on_max(from, greatest, overslept, ctx);
            }
            Event::Timer(Timer::Round) => self.on_round(ctx),
        }
    }

    /// All of it. The rounds it missed are lost all the same (A2).
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl FloodMax {
    /// A node with that rank and those neighbours, in their order, in its first state.
    pub fn new(rank: Rank, neighbours: &[NodeId], rounds: Rounds) -> Self {
        Self {
            rank,
            neighbours: neighbours.into(),
            rounds,
            phase: Phase::Asleep,
            over: 0,
            early: 0,
            greatest: rank,
            overslept: false,
            news: true,
        }
    }

    /// Goes on with the round it was in.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Asleep => ctx.because(&WAITS, ()),
            Phase::Flooding => {
                ctx.because(&why::RESUMES, self.over + 1);
                self.set_timer(ctx);
            }
            Phase::Decided => {
                ctx.because(&why::DECIDED, self.greatest.node);
                self.tell(ctx);
            }
        }
    }

    /// Begins its first round, if it has not yet: there is one election.
    fn on_campaign(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Asleep => self.wake(false, ctx),
            Phase::Flooding | Phase::Decided => ctx.because(&why::ALREADY, ()),
        }
    }

    fn wake(&mut self, overslept: bool, ctx: &mut Context<Self>) {
        self.phase = Phase::Flooding;
        self.overslept = overslept;
        self.next_round(ctx);
    }

    fn on_max(&mut self, from: NodeId, greatest: Rank, overslept: bool, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Asleep => {
                ctx.because(&why::WOKEN, from);
                // What woke it goes out with its first message.
                self.greatest = self.greatest.max(greatest);
                self.wake(true, ctx);
            }
            Phase::Flooding => {
                self.early += u32::from(self.over == 0);
                self.hear(greatest, overslept, ctx);
            }
            Phase::Decided => ctx.because(&why::TOO_LATE, self.greatest.node),
        }
    }

    fn on_round(&mut self, ctx: &mut Context<Self>) {
        self.over += 1;
        if self.over == 1 && (self.early as usize) < self.neighbours.len() {
            self.learn(self.rank, true); // A neighbour was not awake.
            let heard = (self.early, self.neighbours.len(), self.last_round());
            ctx.because(&why::MISSES_NEIGHBOUR, heard);
        }
        self.next_round(ctx);
    }

    fn hear(&mut self, greatest: Rank, overslept: bool, ctx: &mut Context<Self>) {
        if greatest > self.greatest {
            ctx.because(&why::LEARNS, (greatest.node, self.greatest.node));
        } else {
            ctx.because(&why::NOTHING_NEW, (self.greatest.node, greatest.node));
        }
        let known = self.overslept;
        self.learn(greatest, overslept);
        if overslept && !known {
            ctx.because(&why::HEARS_OVERSLEPT, self.last_round());
        }
    }

    /// Takes note of what it hears.
    fn learn(&mut self, greatest: Rank, overslept: bool) {
        self.news |= greatest > self.greatest || overslept && !self.overslept;
        self.greatest = self.greatest.max(greatest);
        self.overslept |= overslept;
    }

    /// How many rounds it takes.
    fn last_round(&self) -> u32 {
        self.rounds.diameter * if self.overslept { 3 } else { 1 }
    }

    /// Begins a round, or decides after the last.
    fn next_round(&mut self, ctx: &mut Context<Self>) {
        let rounds = self.last_round();
        if self.over >= rounds {
            ctx.because(&why::DECIDES, (rounds, self.greatest.node));
            self.phase = Phase::Decided;
            return self.tell(ctx);
        }
        if self.news || !self.rounds.optimised {
            ctx.because(&why::FLOODS, (self.over + 1, rounds, self.greatest.node));
            self.news = false;
            let greatest = self.greatest;
            let overslept = self.overslept;
            for &neighbour in &self.neighbours {
                ctx.send(neighbour, Message::Max { greatest, overslept });
            }
        } else {
            ctx.because(&why::SILENT, (self.over + 1, rounds));
        }
        self.set_timer(ctx);
    }

    fn set_timer(&self, ctx: &mut Context<Self>) {
        ctx.set_timer(Timer::Round, Delay::exactly(self.rounds.length));
    }

    fn tell(&self, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Elected { leader: self.greatest.node, term: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{message, run, send};

    fn rank(node: u32) -> Rank {
        Rank::of(NodeId(node), u64::from(node) + 1)
    }

    fn node(me: u32, neighbours: &[u32], optimised: bool) -> FloodMax {
        let neighbours: Vec<NodeId> = neighbours.iter().copied().map(NodeId).collect();
        let rounds = Rounds { diameter: 2, length: Ticks::UNIT, optimised };
        FloodMax::new(rank(me), &neighbours, rounds)
    }

    fn max(greatest: u32, overslept: bool) -> Message {
        Message::Max { greatest: rank(greatest), overslept }
    }

    fn timer() -> Effect<FloodMax> {
        Effect::SetTimer { timer: Timer::Round, after: Delay::exactly(Ticks::UNIT) }
    }

    fn round() -> Event<FloodMax> {
        Event::Timer(Timer::Round)
    }

    #[test]
    fn each_round_the_greatest_rank_goes_out_and_after_the_last_it_leads() {
        let mut first = node(0, &[1], false);
        let begun = run(&mut first, Event::Request(Request::Campaign));
        assert_eq!(begun, [send(1, max(0, false)), timer()]);
        assert_eq!(run(&mut first, message(1, max(2, false))), []);
        assert_eq!(run(&mut first, round()), [send(1, max(2, false)), timer()]);
        let elected = Effect::Indicate(Indication::Elected { leader: NodeId(2), term: 1 });
        assert_eq!(run(&mut first, round()), [elected]);
        assert_eq!(run(&mut first, message(1, max(5, false))), [], "too late");
    }

    #[test]
    fn optimised_it_keeps_silent_when_there_is_nothing_new() {
        let mut first = node(3, &[1], true);
        run(&mut first, Event::Request(Request::Campaign));
        run(&mut first, message(1, max(2, false)));
        assert_eq!(run(&mut first, round()), [timer()]);
    }

    #[test]
    fn who_is_woken_says_so_and_who_misses_a_message_does_too() {
        let mut woken = node(1, &[0, 2], false);
        let begun = run(&mut woken, message(0, max(0, false)));
        assert_eq!(begun, [send(0, max(1, true)), send(2, max(1, true)), timer()]);
        let mut first = node(1, &[0, 2], true);
        run(&mut first, Event::Request(Request::Campaign));
        run(&mut first, message(2, max(0, false)));
        let next = run(&mut first, round());
        assert_eq!(next, [send(0, max(1, true)), send(2, max(1, true)), timer()]);
        assert_eq!(run(&mut first, round()), [timer()], "two of six rounds");
        assert!(size_of::<Event<FloodMax>>() <= 32);
    }
}
