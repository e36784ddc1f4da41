//! Decentralised voting: a client enters with the votes of more than half of the coordinators,
//! and whoever is refused gives back what it won and tries again after a random pause.
//!
//! Source: S.-D. Lin, Q. Lian, M. Chen and Z. Zhang, "A practical distributed mutual exclusion
//! protocol in dynamic peer-to-peer systems", IPTPS 2004, as simplified by M. van Steen and
//! A. S. Tanenbaum: the original queues at the replicas, here a busy coordinator refuses at once.
//! Assumes: A1 every message arrives exactly once, in any order; A2 no coordinator forgets its
//! vote, and at most m-q of them crash; A3 who enters also releases.
//!
//! | message | from, to            | sent when                                 | carries        |
//! |---------|---------------------|-------------------------------------------|----------------|
//! | `Req`   | client, coordinator | a try begins; to all m                    | attempt        |
//! | `Ok`    | coordinator, client | its vote was free                         | attempt, fence |
//! | `Nok`   | coordinator, client | its vote is another's                     | attempt        |
//! | `Rel`   | client, coordinator | on exit or failure; to whoever gave a vote | attempt, fence |
//!
//! Has: mutual exclusion, since two sets of q > m/2 voters meet; rising fences, since the voter in
//! which they meet was told the last fence before its vote was free.
//! Lacks: progress, no starvation, bounded waiting: with random pauses somebody wins with
//! probability 1, but no bound holds. Order of requests. A coordinator that forgets its vote breaks
//! mutual exclusion, and the fence with it; one that only crashes does not.
//! Cost: 2mk messages for k tries, and one more for every vote won in any of them.

mod coordinator;
mod normal;
mod symmetry;

pub use normal::normal;
pub use symmetry::rename;

use super::places::Places;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{
    Context, Delay, Event, Named, Never, NodeId, NodeSet, Process, Recovery, Ticks,
};
use coordinator::Coordinator;
use serde::{Deserialize, Serialize};

/// The pause after a failed try may double so many times.
const DOUBLINGS_MAX: u32 = 6;

/// What is said between a client and a coordinator. Every answer names the try it answers; every
/// message that frees or gives a vote carries the largest fence its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message {
    /// Vote for me. It also says that all earlier tries are over.
    Req { attempt: u32 },
    /// My vote is yours.
    Ok { attempt: u32, fence: u64 },
    /// My vote is another's.
    Nok { attempt: u32 },
    /// Have your vote back.
    Rel { attempt: u32, fence: u64 },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Req { .. } => "REQ",
            Self::Ok { .. } => "OK",
            Self::Nok { .. } => "NOK",
            Self::Rel { .. } => "REL",
        }
    }
}

/// The variant of the algorithm that all nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// Who is who.
    pub places: Places,
    /// How many votes let a client in: more than half of the coordinators.
    pub votes: u32,
    /// How long the first pause is at most; it doubles with every further failure.
    pub backoff: Ticks,
    /// How long a try may take; without it, it takes until it is decided.
    pub attempt: Option<Ticks>,
}

/// A client's two timers; only one runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// This try took too long.
    Attempt,
    /// Try again.
    Backoff,
}

/// One node: a client, a coordinator, or both.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Voting {
    setup: Setup,
    phase: Phase,
    /// The number of the last try, over all requests.
    attempt: u32,
    /// How many tries of this request failed.
    failures: u32,
    /// The largest fence this client used or heard of.
    fence: u64,
    ok: NodeSet,
    nok: NodeSet,
    coordinator: Option<Box<Coordinator>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Trying,
    Backoff,
    Inside,
}

impl Process for Voting {
    type Provides = Mutex;
    type Uses = Never; // A2: who is silent is not missed, as long as q answer.
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => {}
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => {} // No clock here.
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Timer(Timer::Attempt) => self.on_attempt_over(ctx),
            Event::Timer(Timer::Backoff) => self.begin_try(ctx),
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl Voting {
    /// Node `me` in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        let clients = setup.places.clients();
        let m = setup.places.coordinators();
        assert!(setup.votes <= m && setup.votes > m / 2, "{} votes of {m}", setup.votes);
        let coordinator = setup.places.seat_of(me).map(|_| Box::new(Coordinator::new(clients)));
        let ok = NodeSet::new(m);
        let nok = NodeSet::new(m);
        let phase = Phase::Idle;
        Self { setup, phase, attempt: 0, failures: 0, fence: 0, ok, nok, coordinator }
    }

    /// The application died with the node, and answers may have been missed meanwhile: every
    /// coordinator is told that all tries so far are over.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        if self.attempt > 0 && !self.setup.places.alone() {
            self.give_back(self.setup.places.seats(), ctx);
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.failures = 0;
        if self.setup.places.alone() {
            self.attempt += 1;
            return self.enter(ctx); // Nobody to be kept out, so nobody to be asked.
        }
        self.begin_try(ctx);
    }

    fn begin_try(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Trying;
        self.attempt += 1;
        self.ok.clear();
        self.nok.clear();
        let request = Message::Req { attempt: self.attempt };
        for seat in self.setup.places.seats() {
            ctx.send(self.setup.places.node_at(seat), request);
        }
        if let Some(attempt) = self.setup.attempt {
            ctx.set_timer(Timer::Attempt, Delay::exactly(attempt));
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        let seat = self.setup.places.seat_of(from);
        let from_client = self.setup.places.is_client(from);
        match (message, seat) {
            (Message::Req { attempt }, _) if from_client => self.on_req(from, attempt, ctx),
            (Message::Rel { attempt, fence }, _) if from_client => {
                self.on_rel(from, attempt, fence)
            }
            (Message::Ok { attempt, fence }, Some(seat)) => self.on_ok(seat, attempt, fence, ctx),
            (Message::Nok { attempt }, Some(seat)) => self.on_nok(seat, attempt, ctx),
            (Message::Req { .. } | Message::Rel { .. }, _) => {} // A stranger: not our client.
            (Message::Ok { .. } | Message::Nok { .. }, None) => {} // Not a coordinator's to say.
        }
    }

    fn on_ok(&mut self, seat: NodeId, attempt: u32, fence: u64, ctx: &mut Context<Self>) {
        self.fence = self.fence.max(fence);
        match self.phase {
            Phase::Trying if attempt == self.attempt => {
                self.ok.insert(seat);
                if self.ok.len() >= self.setup.votes {
                    self.stop_attempt_timer(ctx);
                    self.enter(ctx);
                }
            }
            // Not needed any more, but it must be returned on exit like the others.
            Phase::Inside if attempt == self.attempt => {
                self.ok.insert(seat);
            }
            // A vote for a try that is over: its coordinator must not wait for us.
            Phase::Idle | Phase::Trying | Phase::Backoff | Phase::Inside => {
                let to = self.setup.places.node_at(seat);
                ctx.send(to, Message::Rel { attempt, fence: self.fence });
            }
        }
    }

    fn on_nok(&mut self, seat: NodeId, attempt: u32, ctx: &mut Context<Self>) {
        if self.phase != Phase::Trying || attempt != self.attempt {
            return; // That try is decided.
        }
        self.nok.insert(seat);
        // As soon as q votes are out of reach; to wait for q refusals would miss a tie.
        if self.nok.len() > self.setup.places.coordinators() - self.setup.votes {
            self.stop_attempt_timer(ctx);
            self.give_back(self.ok.iter(), ctx);
            self.pause(ctx);
        }
    }

    /// Whoever did not refuse may have given its vote, even if its answer was lost.
    fn on_attempt_over(&mut self, ctx: &mut Context<Self>) {
        let voters = self.setup.places.seats().filter(|&seat| !self.nok.contains(seat));
        self.give_back(voters, ctx);
        self.pause(ctx);
    }

    fn pause(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Backoff;
        let longest = Ticks(self.setup.backoff.0 << self.failures.min(DOUBLINGS_MAX));
        self.failures += 1;
        ctx.set_timer(Timer::Backoff, Delay::between(Ticks::ZERO, longest));
    }

    fn enter(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Inside;
        self.fence += 1;
        ctx.indicate(Indication::Entered { fence: self.fence });
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.phase = Phase::Idle;
        self.give_back(self.ok.iter(), ctx);
    }

    /// Votes that are still on the way come back when they arrive.
    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        match self.phase {
            Phase::Trying => {
                self.stop_attempt_timer(ctx);
                self.give_back(self.ok.iter(), ctx);
            }
            Phase::Backoff => ctx.cancel_timer(Timer::Backoff),
            Phase::Idle | Phase::Inside => panic!("cancelled without waiting"),
        }
        self.phase = Phase::Idle;
    }

    fn on_req(&mut self, from: NodeId, attempt: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else { return }; // Not for us.
        if let Some(answer) = coordinator.on_req(from, attempt) {
            ctx.send(from, answer);
        }
    }

    fn on_rel(&mut self, from: NodeId, attempt: u32, fence: u64) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else { return }; // Not for us.
        coordinator.on_rel(from, attempt, fence);
    }

    fn give_back(&self, seats: impl Iterator<Item = NodeId>, ctx: &mut Context<Self>) {
        let back = Message::Rel { attempt: self.attempt, fence: self.fence };
        for seat in seats {
            ctx.send(self.setup.places.node_at(seat), back);
        }
    }

    fn stop_attempt_timer(&self, ctx: &mut Context<Self>) {
        if self.setup.attempt.is_some() {
            ctx.cancel_timer(Timer::Attempt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{act, message, run, send};

    const _: () = assert!(size_of::<Event<Voting>>() <= 32);
    const ACQUIRE: Event<Voting> = Event::Request(Request::Acquire);
    const RELEASE: Event<Voting> = Event::Request(Request::Release);

    fn node(me: u32, places: Places, votes: u32) -> Voting {
        Voting::new(NodeId(me), Setup { places, votes, backoff: Ticks(10), attempt: None })
    }

    /// Client 0 of two, in its first try at the coordinators 2, 3, 4.
    fn client_in_its_first_try() -> Voting {
        let mut client = node(0, Places::separate(2, 3), 2);
        let req = Message::Req { attempt: 1 };
        assert_eq!(run(&mut client, ACQUIRE), [2, 3, 4].map(|to| send(to, req)));
        client
    }

    fn ok(from: u32, attempt: u32, fence: u64) -> Event<Voting> {
        message(from, Message::Ok { attempt, fence })
    }

    fn rel(to: u32, attempt: u32, fence: u64) -> Effect<Voting> {
        send(to, Message::Rel { attempt, fence })
    }

    fn pause(longest: u64) -> Effect<Voting> {
        let after = Delay::between(Ticks::ZERO, Ticks(longest));
        Effect::SetTimer { timer: Timer::Backoff, after }
    }

    #[test]
    fn a_majority_lets_in_and_every_vote_is_returned_with_the_fence() {
        let mut client = client_in_its_first_try();
        assert_eq!(run(&mut client, ok(2, 1, 4)), []);
        assert_eq!(run(&mut client, ok(2, 1, 4)), [], "a vote counts once");
        let entered = Effect::Indicate(Indication::Entered { fence: 7 });
        assert_eq!(run(&mut client, ok(4, 1, 6)), [entered]);
        assert_eq!(run(&mut client, ok(3, 1, 0)), []);
        assert_eq!(run(&mut client, RELEASE), [2, 3, 4].map(|to| rel(to, 1, 7)));
    }

    #[test]
    fn a_try_fails_once_a_majority_is_out_of_reach_and_pauses_double() {
        let mut client = client_in_its_first_try();
        run(&mut client, ok(3, 1, 0));
        let nok = |from, attempt| message(from, Message::Nok { attempt });
        assert_eq!(run(&mut client, nok(2, 1)), []);
        assert_eq!(run(&mut client, nok(4, 1)), [rel(3, 1, 0), pause(10)]);
        run(&mut client, Event::Timer(Timer::Backoff));
        run(&mut client, nok(2, 2));
        assert_eq!(run(&mut client, nok(3, 2)), [pause(20)]);
        assert_eq!(run(&mut client, ok(4, 2, 0)), [rel(4, 2, 0)], "a late vote is returned");
    }

    #[test]
    fn a_try_that_takes_too_long_takes_back_its_request_from_the_silent() {
        let mut client = client_in_its_first_try();
        run(&mut client, message(2, Message::Nok { attempt: 1 }));
        let over = run(&mut client, Event::Timer(Timer::Attempt));
        assert_eq!(over, [rel(3, 1, 0), rel(4, 1, 0), pause(10)]);
    }

    #[test]
    fn a_vote_of_an_earlier_try_is_not_counted_but_returned() {
        let mut client = client_in_its_first_try();
        run(&mut client, ok(2, 1, 0));
        assert_eq!(run(&mut client, Event::Request(Request::Cancel)), [rel(2, 1, 0)]);
        run(&mut client, ACQUIRE);
        assert_eq!(run(&mut client, ok(3, 1, 0)), [rel(3, 1, 0)]);
        assert_eq!(run(&mut client, ok(4, 1, 0)), [rel(4, 1, 0)]);
    }

    #[test]
    fn a_restart_returns_every_vote_and_a_client_alone_asks_nobody() {
        assert_eq!(run(&mut node(0, Places::separate(2, 3), 2), Event::Restart), [], "none yet");
        let mut client = client_in_its_first_try();
        assert_eq!(run(&mut client, Event::Restart), [2, 3, 4].map(|to| rel(to, 1, 0)));
        let mut alone = node(0, Places::separate(1, 3), 2);
        let entered = Effect::Indicate(Indication::Entered { fence: 1 });
        assert_eq!(act(NodeId(0), &mut alone, ACQUIRE), [entered]);
        assert_eq!(run(&mut alone, RELEASE), []);
    }
}
