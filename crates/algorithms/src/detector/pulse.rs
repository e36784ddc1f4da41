//! Heartbeats, which every failure detector here sends and counts.
//!
//! They are numbered, so that one that comes late or twice tells nothing. A node that comes back
//! without its memory would number from one again and seem silent until it had caught up; so each
//! heartbeat also says which number of the receiver's own was heard last, and whoever learns that
//! it had once counted further goes on from there. Nothing has to be kept on disk.

use super::why::{BEATS, CAUGHT_UP, STALE, STRANGER};
use conclave_core::{Context, Named, NodeId, Process};
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// I am alive.
    Heartbeat {
        /// The number of this heartbeat.
        number: u64,
        /// The greatest number that came from the receiver; 0 if none did.
        seen: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Heartbeat { .. } => "HEARTBEAT",
        }
    }
}

/// The heartbeats of one node, sent and heard.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pulse {
    me: NodeId,
    /// The number of the last one sent.
    sent: u64,
    /// The greatest number that came from each node.
    heard: Vec<u64>,
}

impl Pulse {
    /// Of node `me` of `n`, none sent or heard.
    pub fn new(me: NodeId, n: u32) -> Self {
        assert!(me.0 < n, "{me} is outside a cluster of {n}");
        Self { me, sent: 0, heard: vec![0; n as usize] }
    }

    /// Every node but this one.
    pub fn others(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.me.others(self.heard.len() as u32)
    }

    /// Sends the next heartbeat to all others.
    pub fn beat<P: Process<Message = Message>>(&mut self, ctx: &mut Context<P>) {
        self.sent = self.sent.saturating_add(1);
        ctx.because(&BEATS, self.sent);
        for other in self.others() {
            let seen = self.heard[other.index()];
            ctx.send(other, Message::Heartbeat { number: self.sent, seen });
        }
    }

    /// Takes in a heartbeat; false if it says nothing new.
    pub fn hear<P>(&mut self, from: NodeId, message: Message, ctx: &mut Context<P>) -> bool
    where
        P: Process<Message = Message>,
    {
        let Message::Heartbeat { number, seen } = message;
        let stranger = from == self.me || from.index() >= self.heard.len();
        if stranger {
            ctx.because(&STRANGER, from);
            return false;
        }
        if seen > self.sent {
            ctx.because(&CAUGHT_UP, seen); // From a former life of this node.
            self.sent = seen;
        }
        let heard = &mut self.heard[from.index()];
        let fresh = number > *heard;
        if fresh {
            *heard = number;
        } else {
            ctx.because(&STALE, (number, from, *heard));
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::super::heartbeat::Heartbeat;
    use super::*;
    use conclave_core::Choices;

    const PEER: NodeId = NodeId(1);

    fn pulse() -> Pulse {
        Pulse::new(NodeId(0), 2)
    }

    /// The reasons why it says nothing new; none if it does.
    fn hear(pulse: &mut Pulse, from: NodeId, number: u64, seen: u64) -> Vec<&'static str> {
        let mut ctx = Context::<Heartbeat>::new(Choices::None);
        ctx.listen(true);
        let fresh = pulse.hear(from, Message::Heartbeat { number, seen }, &mut ctx);
        let reasons: Vec<_> = ctx.reasons().iter().map(|reason| reason.why.code).collect();
        assert_eq!(fresh, !reasons.contains(&"stale") && !reasons.contains(&"stranger"));
        reasons
    }

    #[test]
    fn late_and_repeated_heartbeats_tell_nothing() {
        let mut pulse = pulse();
        assert_eq!(hear(&mut pulse, PEER, 2, 0), [""; 0]);
        assert_eq!(hear(&mut pulse, PEER, 2, 0), ["stale"], "repeated");
        assert_eq!(hear(&mut pulse, PEER, 1, 0), ["stale"], "late");
        assert_eq!(hear(&mut pulse, PEER, 5, 0), [""; 0], "some were lost");
    }

    #[test]
    fn strangers_and_oneself_are_not_heard() {
        let mut deaf = pulse();
        assert_eq!(hear(&mut deaf, NodeId(2), 1, 9), ["stranger"]);
        assert_eq!(hear(&mut deaf, NodeId(0), 1, 9), ["stranger"]);
        assert_eq!(deaf, pulse());
    }

    #[test]
    fn who_lost_its_memory_goes_on_from_the_number_others_remember() {
        let mut back = pulse();
        back.sent = 1;
        assert_eq!(hear(&mut back, PEER, 80, 57), ["caught-up"]);
        assert_eq!(back.sent, 57);
        assert_eq!(hear(&mut back, PEER, 81, 57), [""; 0]);
        assert_eq!(back.sent, 57, "once is enough");
    }

    #[test]
    fn a_number_that_cannot_be_topped_does_no_harm() {
        let mut pulse = pulse();
        hear(&mut pulse, PEER, u64::MAX, u64::MAX);
        assert_eq!(pulse.sent.saturating_add(1), u64::MAX);
    }
}
