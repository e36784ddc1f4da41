//! The ring election: a list goes round and collects the live, and the best of them leads.
//!
//! Source: after G. Le Lann, IFIP Congress 1977, as told by Tanenbaum and van Steen, "Distributed
//! Systems"; the rules for crashes under way are written here.
//! Assumes: A1 every message to a live node arrives exactly once, in any order; A2 suspicions are
//! right in the end; A3 all know the order of the ring.
//!
//! | message       | from, to              | sent when                          | carries       |
//! |---------------|-----------------------|------------------------------------|---------------|
//! | `Election`    | node, live successor  | it begins, or was reached          | counter, list |
//! | `Coordinator` | node, live successor  | its own list is back, or reached   | all about it  |
//!
//! - R1 who begins sends a list with itself alone;
//! - R2 whoever it reaches adds itself and sends it on, to the next that is not known to be dead;
//! - R3 a node that finds itself in the list closes the round, and the best in the list leads.
//!   Whoever stands before it began the round and has died since, so the list is cut there;
//! - R4 `Coordinator` goes round until it reaches a node that has seen it, so that it ends even if
//!   the node that sent it is dead;
//! - R5 several may begin at once; their rounds do not know of each other. The number of a round is
//!   fixed when it closes, above all that its list has met. Greater numbers win, and of one number
//!   the better leader does: if that one is dead, it is noticed, and there will be another round;
//! - R6 only the node whose successor the leader was begins when the leader dies: the others need
//!   not. What was last sent to a dead successor goes to the next, since it may be lost;
//! - R7 a node that is told of a leader worse than itself begins as well; and who sees its
//!   successor come back tells it who leads. So the sides of a healed partition agree.
//!
//! Has: one leader, the best of the live, known to all.
//! Lacks: one leader while the network is cut; may elect a node that dies under way, and repeats.
//! With [`Text::Slides`], where only the node that made an announcement takes it from the ring, one
//! whose maker has died goes round for ever.
//! Cost: at most 2n messages and 2n units of time for each node that begins, n being the live.

mod message;
#[cfg(test)]
mod tests;
mod why;

pub use message::{Announcement, Message};
pub use why::WHY;

use super::rank::Ranking;
use super::why::{NO_HAND_OVER, WAITS};
use conclave_core::detector::{self, Detector};
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Context, Event, Named, Never, NodeId, NodeSet, Process, Recovery};
use serde::{Deserialize, Serialize};

/// Whose rule takes an announcement from the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Text {
    /// Whoever has seen it before does.
    Corrected,
    /// As slides print it, only the node that made it does.
    Slides,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ring {
    me: NodeId,
    ranking: Ranking,
    text: Text,
    /// What this node believes.
    elected: Option<Announcement>,
    /// The greatest number of a round seen.
    counter: u64,
    /// The greatest round of each origin whose announcement has been here.
    seen: Vec<u64>,
    /// The last list, and the last announcement, sent to each successor there has been.
    sent: Vec<(NodeId, Message)>,
    suspects: NodeSet,
}

impl Process for Ring {
    type Provides = Election;
    type Uses = Detector;
    type Message = Message;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => ctx.because(&WAITS, ()),
            Event::Restart => self.on_restart(ctx),
            Event::Request(Request::Campaign) => self.begin(ctx),
            Event::Request(Request::Resign) => ctx.because(&NO_HAND_OVER, ()),
            Event::Indication(detector::Indication::Suspect(node)) => self.on_suspect(node, ctx),
            Event::Indication(detector::Indication::Trust(node)) => self.on_trust(node, ctx),
            Event::Message { from, message } => {
                if self.is_sound(from, &message) {
                    self.on_message(message, ctx);
                } else {
                    ctx.because(&why::NOT_OF_THIS_RING, ());
                }
            }
        }
    }

    /// The disk keeps the number of the last round; who leads must be learnt anew.
    fn after_crash(&self) -> Recovery<Self> {
        let kept = Self::new(self.me, self.ranking.clone(), None);
        Recovery::State(Self { counter: self.counter, text: self.text, ..kept })
    }
}

impl Ring {
    /// Node `me`; everybody knows the first leader, if there is one.
    pub fn new(me: NodeId, ranking: Ranking, first: Option<NodeId>) -> Self {
        let n = ranking.n();
        assert!(me.0 < n, "{me} is outside a ring of {n}");
        let elected = first.map(|leader| Announcement {
            round: 1,
            leader,
            origin: leader,
            list: (0..n).map(NodeId).collect(),
        });
        let mut seen = vec![0; n as usize];
        if let Some(first) = &elected {
            seen[first.origin.index()] = first.round;
        }
        Self {
            me,
            ranking,
            text: Text::Corrected,
            counter: u64::from(elected.is_some()),
            elected,
            seen,
            sent: Vec::new(),
            suspects: NodeSet::new(n),
        }
    }

    /// The same node by these rules.
    pub fn by(self, text: Text) -> Self {
        Self { text, ..self }
    }

    /// Who leads as far as this node knows, and in which term.
    pub fn leader(&self) -> Option<(NodeId, u64)> {
        self.elected.as_ref().map(|elected| (elected.leader, self.term(elected)))
    }

    /// A node that lost its disk must not take the first leader for the present one.
    fn on_restart(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::CAME_BACK, ());
        self.elected = None;
        self.seen.fill(0);
        self.begin(ctx);
    }

    fn begin(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::BEGINS, ());
        self.pass_list(self.counter, vec![self.me], ctx);
    }

    fn on_message(&mut self, message: Message, ctx: &mut Context<Self>) {
        match message {
            Message::Election { counter, list } => self.on_election(counter, list, ctx),
            Message::Coordinator(announcement) => self.on_coordinator(announcement, ctx),
        }
    }

    fn on_election(&mut self, counter: u64, list: Box<[NodeId]>, ctx: &mut Context<Self>) {
        self.counter = self.counter.max(counter);
        let mut list = list.into_vec();
        match list.iter().position(|&node| node == self.me) {
            Some(own) => {
                ctx.because(&why::FINDS_ITSELF, ());
                if own > 0 {
                    ctx.because(&why::CUT_OFF, list[0]);
                }
                self.close(&list[own..], ctx);
            }
            None => {
                list.push(self.me);
                ctx.because(&why::ADDS_ITSELF, list.len());
                self.pass_list(self.counter, list, ctx);
            }
        }
    }

    /// Sends the list on; alone, the round is over.
    fn pass_list(&mut self, counter: u64, list: Vec<NodeId>, ctx: &mut Context<Self>) {
        let Some(next) = self.next() else {
            ctx.because(&why::ALONE, ());
            return self.close(&[self.me], ctx);
        };
        ctx.because(&why::PASSES_LIST, next);
        self.send(next, Message::Election { counter, list: list.into() }, ctx);
    }

    /// The list has been everywhere: the best in it leads.
    fn close(&mut self, list: &[NodeId], ctx: &mut Context<Self>) {
        let Some(leader) = self.ranking.best(list.iter().copied()) else {
            return ctx.because(&why::NOBODY_MAY_LEAD, ());
        };
        self.counter += 1;
        let round = self.counter;
        let origin = self.me;
        ctx.because(&why::ELECTS, (leader, list.len(), round));
        self.adopt(Announcement { round, leader, origin, list: list.into() }, ctx);
    }

    fn on_coordinator(&mut self, announcement: Announcement, ctx: &mut Context<Self>) {
        let Announcement { round, leader, origin, .. } = announcement;
        self.counter = self.counter.max(round);
        if origin == self.me && self.has_forgotten(round, leader) {
            ctx.because(&why::FORGOTTEN, leader);
            return self.begin(ctx);
        }
        if origin == self.me {
            return ctx.because(&why::HOME, ());
        }
        if self.seen[origin.index()] >= round {
            ctx.because(&why::SEEN, (origin, round)); // It has been everywhere, too.
            return self.pass_on_as_printed(announcement, ctx);
        }
        self.seen[origin.index()] = round;
        if self.ranking.beats(self.me, leader) {
            ctx.because(&why::IS_BETTER, leader);
            // Nobody knew that this node is alive. A list of its own that is under way does not
            // help: it may have been closed without this node, or lost.
            self.begin(ctx);
            return self.pass_on_as_printed(announcement, ctx);
        }
        let known = self.elected.as_ref().filter(|_| self.is_replaced(&announcement));
        match known.map(|known| (known.leader, known.round)) {
            Some((follows, since)) => {
                ctx.because(&why::OLDER_RESULT, (leader, round, follows, since));
                // An older round, but perhaps of another part of the ring, now healed.
                if self.ranking.beats(leader, follows) && !self.suspects.contains(leader) {
                    ctx.because(&why::HEALED, leader);
                    self.begin(ctx);
                }
                self.pass_on_as_printed(announcement, ctx);
            }
            None => {
                ctx.because(&why::FOLLOWS, (leader, round));
                self.adopt(announcement, ctx);
            }
        }
    }

    /// What this node need not, or does not, believe: the slides let only its maker remove it.
    fn pass_on_as_printed(&mut self, announcement: Announcement, ctx: &mut Context<Self>) {
        if let Some(next) = self.next().filter(|_| self.text == Text::Slides) {
            ctx.because(&why::PASSED_AS_PRINTED, announcement.origin);
            self.send(next, Message::Coordinator(announcement), ctx);
        }
    }

    /// Whether this node made an announcement before it lost its disk: others still believe it, and
    /// take those that it has made since, under the same number, for that one.
    fn has_forgotten(&self, round: u64, leader: NodeId) -> bool {
        let other = |known: &Announcement| known.round == round && known.leader != leader;
        self.elected.as_ref().is_some_and(|known| known.round < round || other(known))
    }

    /// Believes it and sends it on.
    fn adopt(&mut self, announcement: Announcement, ctx: &mut Context<Self>) {
        let Announcement { round, leader, origin, .. } = announcement;
        self.seen[origin.index()] = self.seen[origin.index()].max(round);
        let term = self.term(&announcement);
        let known = self.elected.as_ref().map(|known| self.term(known));
        if known != Some(term) {
            ctx.indicate(Indication::Elected { leader, term });
        }
        self.elected = Some(announcement.clone());
        // Lists that had met no more than the rounds before this one need not go on.
        let over = |message: &Message| match message {
            Message::Election { counter, .. } => *counter < round,
            Message::Coordinator(_) => false,
        };
        self.sent.retain(|(_, message)| !over(message));
        if let Some(next) = self.next() {
            self.send(next, Message::Coordinator(announcement), ctx);
        }
        if self.misses_leader() {
            ctx.because(&why::LEADER_LOST, leader); // It died under way.
            self.begin(ctx);
        }
    }

    fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Suspect(node));
        let missed = self.misses_leader();
        self.suspects.insert(node);
        if let Some(leader) = self.leader_missed().filter(|_| !missed) {
            ctx.because(&why::LEADER_LOST, leader);
            return self.begin(ctx);
        }
        let lost = self.sent.extract_if(.., |(to, _)| *to == node).collect::<Vec<_>>();
        if lost.is_empty() {
            ctx.because(&why::NOT_FOR_ME, node);
        }
        for (_, message) in lost {
            self.repeat(node, message, ctx);
        }
    }

    /// What was last sent to a dead successor may be lost: the next one gets it. A result that was
    /// replaced is no longer of interest, and must not be kept in place of the one that did.
    fn repeat(&mut self, dead: NodeId, message: Message, ctx: &mut Context<Self>) {
        match (message, self.next()) {
            (Message::Coordinator(told), _) if self.is_replaced(&told) => {
                ctx.because(&why::REPLACED, dead);
            }
            (Message::Election { counter, list }, _) => {
                ctx.because(&why::REPEATS_LIST, dead);
                self.pass_list(counter, list.into_vec(), ctx);
            }
            (message @ Message::Coordinator(_), Some(next)) => {
                ctx.because(&why::REPEATS_RESULT, (dead, next));
                self.send(next, message, ctx);
            }
            (Message::Coordinator(_), None) => ctx.because(&why::NOBODY_LEFT, ()),
        }
    }

    fn is_replaced(&self, told: &Announcement) -> bool {
        self.elected.as_ref().is_some_and(|known| self.term(known) > self.term(told))
    }

    fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        ctx.indicate(Indication::Trust(node));
        if !self.suspects.remove(node) || self.next() != Some(node) {
            return ctx.because(&why::OTHERS_TELL, node);
        }
        if let Some(known) = self.elected.clone() {
            ctx.because(&why::TELLS_SUCCESSOR, node);
            self.send(node, Message::Coordinator(known), ctx);
        } else {
            ctx.because(&why::NOTHING_TO_TELL, node);
        }
    }

    /// Whether the leader is dead, and this node the one to notice: all between them are dead.
    fn misses_leader(&self) -> bool {
        self.leader_missed().is_some()
    }

    fn leader_missed(&self) -> Option<NodeId> {
        let leader = self.elected.as_ref()?.leader;
        let suspected = |node| self.suspects.contains(node);
        let missed = suspected(leader) && between(self.me, leader, self.ranking.n()).all(suspected);
        missed.then_some(leader)
    }

    /// The first successor that is not known to be dead.
    fn next(&self) -> Option<NodeId> {
        between(self.me, self.me, self.ranking.n()).find(|&node| !self.suspects.contains(node))
    }

    fn send(&mut self, to: NodeId, message: Message, ctx: &mut Context<Self>) {
        let replaced =
            |(earlier, kept): &(NodeId, Message)| *earlier == to && kept.name() == message.name();
        self.sent.retain(|kept| !replaced(kept));
        self.sent.push((to, message.clone()));
        ctx.send(to, message);
    }

    fn term(&self, announcement: &Announcement) -> u64 {
        self.ranking.term(announcement.round, announcement.leader)
    }

    /// Whether it can come from this ring: known nodes, none twice.
    fn is_sound(&self, from: NodeId, message: &Message) -> bool {
        let n = self.ranking.n();
        let (list, named) = match message {
            Message::Election { list, .. } => (list, [from, from]),
            Message::Coordinator(told) => (&told.list, [told.leader, told.origin]),
        };
        let known = |node: &NodeId| node.0 < n;
        from != self.me
            && known(&from)
            && named.iter().chain(list).all(known)
            && list.len() <= n as usize
    }
}

/// The nodes after `from` and before `to`, in the order of the ring.
fn between(from: NodeId, to: NodeId, n: u32) -> impl Iterator<Item = NodeId> {
    let successors =
        std::iter::successors(Some(from.successor(n)), move |node| Some(node.successor(n)));
    successors.take_while(move |&node| node != to && node != from)
}

const _: () = assert!(size_of::<Event<Ring>>() <= 48);
