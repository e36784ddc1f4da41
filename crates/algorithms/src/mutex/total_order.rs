//! Voting through total-order broadcast: all coordinators see all requests in one order and queue
//! instead of refusing, so nobody ever loses and nobody starves.
//!
//! Source: lecture variant of decentralised voting; the broadcast is a fixed sequencer, as in
//! X. Défago, A. Schiper and P. Urbán, "Total order broadcast and multicast algorithms", 2004.
//! Assumes: A1 every message arrives exactly once, in any order; A2 the sequencer, which is the
//! first coordinator, does not crash, at most m-q others do, and none forgets; A3 who enters also
//! releases.
//!
//! | message   | from, to              | sent when                          | carries           |
//! |-----------|-----------------------|------------------------------------|-------------------|
//! | `Request` | client, sequencer     | the client wants to enter          | seq               |
//! | `Release` | client, sequencer     | it leaves or no longer wants in    | seq               |
//! | `Forward` | sequencer, coordinator | one of these two got its number   | number, and these |
//! | `Ok`      | coordinator, client   | this client is first in line there | seq, number       |
//!
//! Has: mutual exclusion; progress; no starvation, at most n-1 others first, in broadcast order;
//! fences, which are the broadcast numbers of the requests.
//! Lacks: happened-before order, since an earlier request may reach the sequencer later. Without
//! its sequencer everything stops.
//! Cost: 3m messages: 1 + (m-1) for the request, m to let in, 1 + (m-1) for the release.

mod normal;

pub use normal::normal;

use super::places::Places;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// What is said between clients, the sequencer and the coordinators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message {
    /// Broadcast that I want in.
    Request { seq: u32 },
    /// Broadcast that I am out, or no longer want in.
    Release { seq: u32 },
    /// This is the broadcast of that number.
    Forward { number: u64, broadcast: Broadcast },
    /// You are first in line here; your request had this number.
    Ok { seq: u32, number: u64 },
}

/// A request or a release, as all coordinators get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Broadcast {
    /// Whose.
    pub client: NodeId,
    /// The number the client gave its request.
    pub seq: u32,
    /// Whether it ends the request rather than begins it.
    pub release: bool,
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Release { .. } => "RELEASE",
            Self::Forward { .. } => "FORWARD",
            Self::Ok { .. } => "OK",
        }
    }
}

/// One node: a client, a coordinator, or both; the first coordinator is also the sequencer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TotalOrder {
    places: Places,
    votes: u32,
    phase: Phase,
    seq: u32,
    oks: NodeSet,
    coordinator: Option<Box<Coordinator>>,
    sequencer: Option<Box<Sequencer>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Coordinator {
    /// The number of the last broadcast delivered.
    delivered: u64,
    /// Broadcasts that came before their turn.
    early: BTreeMap<u64, Broadcast>,
    /// Client, its seq and the broadcast number, in order of these numbers.
    line: VecDeque<(NodeId, u32, u64)>,
}

/// What is known of each client's numbers: its request is open while `asked` exceeds `done`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Sequencer {
    last: u64,
    asked: Vec<u32>,
    done: Vec<u32>,
}

impl Process for TotalOrder {
    type Provides = Mutex;
    type Uses = Never; // A2: who is silent is not missed, as long as q answer.
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => {}
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Acquire) => self.on_acquire(ctx),
            Event::Request(Request::Release) => self.on_release(ctx),
            Event::Request(Request::Cancel) => self.on_cancel(ctx),
            Event::Request(Request::Observe(_)) => {} // No clock here.
            Event::Message { from, message } => self.on_message(from, message, ctx),
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl TotalOrder {
    /// Node `me` in its first state; `votes` coordinators let a client in.
    pub fn new(me: NodeId, places: Places, votes: u32) -> Self {
        let m = places.coordinators();
        assert!(votes <= m && votes > m / 2, "{votes} votes of {m}");
        let none = vec![0; places.clients() as usize];
        let sequencer = |_| Box::new(Sequencer { last: 0, asked: none.clone(), done: none });
        let seat = places.seat_of(me);
        Self {
            places,
            votes,
            phase: Phase::Idle,
            seq: 0,
            oks: NodeSet::new(m),
            coordinator: seat.map(|_| Box::default()),
            sequencer: seat.filter(|&seat| seat == NodeId(0)).map(sequencer),
        }
    }

    /// The application died with the node: whatever it had asked for or held is given back.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        if self.phase != Phase::Idle {
            self.give_back(ctx);
        }
    }

    fn on_acquire(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Idle, "acquired twice");
        self.seq += 1;
        if self.places.alone() {
            self.phase = Phase::Inside; // Nobody to be kept out, so nobody to be asked.
            return ctx.indicate(Indication::Entered { fence: u64::from(self.seq) });
        }
        self.phase = Phase::Waiting;
        self.oks.clear();
        self.tell_sequencer(Message::Request { seq: self.seq }, ctx);
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        let seat = self.places.seat_of(from);
        let from_client = self.places.is_client(from);
        match (message, seat) {
            (Message::Request { seq }, _) if from_client => self.on_request(from, seq, ctx),
            (Message::Release { seq }, _) if from_client => self.on_released(from, seq, ctx),
            (Message::Forward { number, broadcast }, Some(NodeId(0))) => {
                self.on_forward(number, broadcast, ctx);
            }
            (Message::Ok { seq, number }, Some(seat)) => self.on_ok(seat, seq, number, ctx),
            (Message::Request { .. } | Message::Release { .. }, _) => {} // A stranger.
            (Message::Forward { .. }, _) => {} // Only the sequencer gives numbers.
            (Message::Ok { .. }, None) => {}   // Not a coordinator's word.
        }
    }

    fn on_request(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(sequencer) = self.sequencer.as_deref_mut() else { return }; // Not for us.
        let asked = sequencer.asked[from.index()];
        let done = sequencer.done[from.index()];
        if seq <= done || seq == asked {
            return; // Its own release came first, or it is a repetition.
        }
        if asked > done {
            self.on_released(from, asked, ctx); // Over, even if its release is still on the way.
        }
        if let Some(sequencer) = self.sequencer.as_deref_mut() {
            sequencer.asked[from.index()] = seq;
            sequencer.done[from.index()] = seq - 1;
        }
        self.broadcast(Broadcast { client: from, seq, release: false }, ctx);
    }

    fn on_released(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(sequencer) = self.sequencer.as_deref_mut() else { return }; // Not for us.
        let asked = sequencer.asked[from.index()];
        let done = sequencer.done[from.index()];
        if seq <= done {
            return; // A repetition, or its next request came first.
        }
        sequencer.done[from.index()] = seq;
        if asked > done {
            self.broadcast(Broadcast { client: from, seq: asked, release: true }, ctx);
        } // Otherwise it overtook its own request, which will be dropped.
    }

    /// The next number is given; the sequencer, a coordinator itself, has its copy at once.
    fn broadcast(&mut self, broadcast: Broadcast, ctx: &mut Context<Self>) {
        let Some(sequencer) = self.sequencer.as_deref_mut() else { return };
        sequencer.last += 1;
        let number = sequencer.last;
        for seat in self.places.seats().skip(1) {
            ctx.send(self.places.node_at(seat), Message::Forward { number, broadcast });
        }
        self.on_forward(number, broadcast, ctx);
    }

    fn on_forward(&mut self, number: u64, broadcast: Broadcast, ctx: &mut Context<Self>) {
        let Some(coordinator) = self.coordinator.as_deref_mut() else { return }; // Not for us.
        if number <= coordinator.delivered {
            return; // A repetition.
        }
        if number > coordinator.delivered + 1 {
            coordinator.early.insert(number, broadcast); // Others come first.
            return;
        }
        coordinator.deliver(number, broadcast, ctx);
        while let Some(next) = coordinator.early.remove(&(coordinator.delivered + 1)) {
            coordinator.deliver(coordinator.delivered + 1, next, ctx);
        }
    }

    fn on_ok(&mut self, seat: NodeId, seq: u32, number: u64, ctx: &mut Context<Self>) {
        if self.phase != Phase::Waiting || seq != self.seq {
            return; // One more than needed, or for a request whose release is on its way.
        }
        self.oks.insert(seat);
        if self.oks.len() >= self.votes {
            self.phase = Phase::Inside;
            ctx.indicate(Indication::Entered { fence: number });
        }
    }

    fn on_release(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Inside, "released without entering");
        self.give_back(ctx);
    }

    fn on_cancel(&mut self, ctx: &mut Context<Self>) {
        assert_eq!(self.phase, Phase::Waiting, "cancelled without waiting");
        self.give_back(ctx);
    }

    fn give_back(&mut self, ctx: &mut Context<Self>) {
        self.phase = Phase::Idle;
        if !self.places.alone() {
            self.tell_sequencer(Message::Release { seq: self.seq }, ctx);
        }
    }

    fn tell_sequencer(&self, message: Message, ctx: &mut Context<Self>) {
        ctx.send(self.places.node_at(NodeId(0)), message);
    }
}

impl Coordinator {
    fn deliver(&mut self, number: u64, broadcast: Broadcast, ctx: &mut Context<TotalOrder>) {
        self.delivered = number;
        let first = self.line.front().copied();
        if broadcast.release && first.is_some_and(|(client, _, _)| client == broadcast.client) {
            self.line.pop_front();
        } else if broadcast.release {
            self.line.retain(|&(client, _, _)| client != broadcast.client);
        } else {
            self.line.push_back((broadcast.client, broadcast.seq, number));
        }
        let now = self.line.front().copied();
        if let Some((client, seq, number)) = now.filter(|_| now != first) {
            ctx.send(client, Message::Ok { seq, number });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Effect;
    use conclave_core::testkit::{act, message, run, send};

    const _: () = assert!(size_of::<Event<TotalOrder>>() <= 32);
    const ACQUIRE: Event<TotalOrder> = Event::Request(Request::Acquire);
    const CANCEL: Event<TotalOrder> = Event::Request(Request::Cancel);

    /// Clients 0 and 1; the coordinators are 2, who is the sequencer, 3 and 4.
    fn node(me: u32) -> TotalOrder {
        TotalOrder::new(NodeId(me), Places::separate(2, 3), 2)
    }

    fn forward(number: u64, client: u32, seq: u32, release: bool) -> Message {
        Message::Forward { number, broadcast: Broadcast { client: NodeId(client), seq, release } }
    }

    fn ok(client: u32, seq: u32, number: u64) -> Effect<TotalOrder> {
        send(client, Message::Ok { seq, number })
    }

    fn request(client: u32, seq: u32) -> Event<TotalOrder> {
        message(client, Message::Request { seq })
    }

    fn release(client: u32, seq: u32) -> Event<TotalOrder> {
        message(client, Message::Release { seq })
    }

    #[test]
    fn the_sequencer_numbers_what_comes_and_tells_the_other_coordinators() {
        let mut sequencer = node(2);
        let told = |message| [3, 4].map(|to| send(to, message));
        let [third, fourth] = told(forward(1, 1, 1, false));
        assert_eq!(run(&mut sequencer, request(1, 1)), [third, fourth, ok(1, 1, 1)]);
        assert_eq!(run(&mut sequencer, request(0, 1)), told(forward(2, 0, 1, false)));
        let [third, fourth] = told(forward(3, 1, 1, true));
        assert_eq!(run(&mut sequencer, release(1, 1)), [third, fourth, ok(0, 1, 2)]);
        assert_eq!(run(&mut sequencer, release(1, 1)), [], "repeated");
    }

    #[test]
    fn a_release_that_overtook_its_request_is_remembered() {
        let mut sequencer = node(2);
        assert_eq!(run(&mut sequencer, release(0, 1)), []);
        assert_eq!(run(&mut sequencer, request(0, 1)), []);
        assert_eq!(run(&mut sequencer, request(0, 2)).last(), Some(&ok(0, 2, 1)));
    }

    #[test]
    fn a_request_that_overtook_the_last_release_ends_it_first() {
        let mut sequencer = node(2);
        run(&mut sequencer, request(0, 1));
        run(&mut sequencer, request(1, 1));
        let effects = run(&mut sequencer, request(0, 2));
        let [end, again] = [forward(3, 0, 1, true), forward(4, 0, 2, false)];
        let [a, b, c, d] = [send(3, end), send(4, end), send(3, again), send(4, again)];
        assert_eq!(effects, [a, b, ok(1, 1, 2), c, d]);
        assert_eq!(run(&mut sequencer, release(0, 1)), []);
    }

    #[test]
    fn a_coordinator_delivers_in_order_of_numbers_and_drops_repetitions() {
        let mut coordinator = node(3);
        let mut tell = |sent| run(&mut coordinator, message(2, sent));
        assert_eq!(tell(forward(3, 0, 1, true)), []);
        assert_eq!(tell(forward(2, 1, 1, false)), []);
        assert_eq!(tell(forward(1, 0, 1, false)), [ok(0, 1, 1), ok(1, 1, 2)]);
        assert_eq!(tell(forward(2, 1, 1, false)), []);
        assert_eq!(tell(forward(4, 1, 1, true)), []);
    }

    #[test]
    fn a_client_enters_with_a_majority_of_answers_to_its_last_request() {
        let mut client = node(0);
        run(&mut client, ACQUIRE);
        assert_eq!(run(&mut client, CANCEL), [send(2, Message::Release { seq: 1 })]);
        assert_eq!(run(&mut client, ACQUIRE), [send(2, Message::Request { seq: 2 })]);
        let mut hear =
            |from, seq, number| run(&mut client, message(from, Message::Ok { seq, number }));
        assert_eq!(hear(2, 1, 1), []);
        assert_eq!(hear(2, 2, 5), []);
        assert_eq!(hear(2, 2, 5), []);
        assert_eq!(hear(1, 2, 5), [], "a client cannot let anyone in");
        let entered = Effect::Indicate(Indication::Entered { fence: 5 });
        assert_eq!(hear(4, 2, 5), [entered]);
        assert_eq!(hear(3, 2, 5), []);
        assert_eq!(run(&mut client, Event::Restart), [send(2, Message::Release { seq: 2 })]);
    }

    #[test]
    fn alone_with_a_colocated_coordinator_nothing_is_sent() {
        let mut node = TotalOrder::new(NodeId(0), Places::colocated(1, 1), 1);
        let entered = Effect::Indicate(Indication::Entered { fence: 1 });
        assert_eq!(act(NodeId(0), &mut node, ACQUIRE), [entered]);
    }
}
