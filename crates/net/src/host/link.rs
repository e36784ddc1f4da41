//! Sequence numbers to and from one peer, duplicates, and what it has not acknowledged yet.

use crate::store::KeptPeer;
use crate::{Lane, Packet, Peer};
use conclave_core::Ticks;
use std::collections::VecDeque;

/// More than this many messages, or bytes, not acknowledged: nobody should ask for more. Nothing is
/// ever dropped, so this is a word to the application, not a wall.
const FULL_MESSAGES: usize = 65_536;
const FULL_BYTES: usize = 16 << 20;

/// What to do with a message that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Take it: it is the next one.
    Next,
    /// Pass it over: it was taken before.
    Again,
    /// Pass it over without a word: one before it is missing, and both will be sent again.
    Early,
}

#[derive(Default)]
pub(super) struct Link {
    pub(super) kept: KeptPeer,
    /// Whether the disk has `kept` as it is.
    pub(super) changed: bool,
    /// Up to which number the peer has everything, if the outbox on disk still has some of it.
    pub(super) delivered: Option<u64>,
    transient_received: u64,
    transient_sent: u64,
    /// Number and size of durable messages that were not acknowledged, in order.
    waiting: VecDeque<(u64, usize)>,
    waiting_bytes: usize,
    connected: bool,
    since: Ticks,
}

impl Link {
    /// A link whose transient numbers are above all that this node ever gave.
    pub(super) fn new(kept: KeptPeer, incarnation: u32) -> Self {
        let transient_sent = Packet::transient_from(incarnation);
        Self { kept, transient_sent, ..Self::default() }
    }

    /// The number of the next message.
    pub(super) fn number(&mut self, lane: Lane, bytes: usize) -> u64 {
        match lane {
            Lane::Transient => {
                self.transient_sent += 1;
                self.transient_sent
            }
            Lane::Durable => {
                self.kept.sent += 1;
                self.changed = true;
                self.wait_for(self.kept.sent, bytes);
                self.kept.sent
            }
        }
    }

    /// This durable message was sent, maybe in an earlier dispatcher, and is not acknowledged.
    pub(super) fn wait_for(&mut self, number: u64, bytes: usize) {
        self.waiting.push_back((number, bytes));
        self.waiting_bytes += bytes;
    }

    /// Whether a message of this number is to be taken.
    pub(super) fn arrives(&mut self, lane: Lane, number: u64) -> Arrival {
        match lane {
            Lane::Transient if number <= self.transient_received => Arrival::Again,
            Lane::Transient => {
                self.transient_received = number;
                Arrival::Next
            }
            Lane::Durable if number <= self.kept.received => Arrival::Again,
            Lane::Durable if number > self.kept.received + 1 => Arrival::Early,
            Lane::Durable => {
                self.kept.received = number;
                self.changed = true;
                Arrival::Next
            }
        }
    }

    /// The peer has everything up to this number. Says how many messages that settles.
    pub(super) fn acknowledged(&mut self, number: u64) -> usize {
        let before = self.waiting.len();
        while let Some(&(_, bytes)) = self.waiting.front().filter(|(first, _)| *first <= number) {
            self.waiting.pop_front();
            self.waiting_bytes -= bytes;
        }
        let settled = before - self.waiting.len();
        if settled > 0 {
            self.delivered = Some(number.min(self.kept.sent));
        }
        settled
    }

    pub(super) fn turns(&mut self, connected: bool, now: Ticks) {
        if self.connected != connected {
            self.connected = connected;
            self.since = now;
        }
    }

    pub(super) fn as_peer(&self) -> Peer {
        Peer {
            connected: self.connected,
            since: self.since,
            unacknowledged: self.waiting.len() as u64,
            full: self.waiting.len() > FULL_MESSAGES || self.waiting_bytes > FULL_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durable_messages_are_taken_once_and_in_order() {
        let mut link = Link::new(KeptPeer { received: 4, ..KeptPeer::default() }, 1);
        let came: Vec<Arrival> =
            [4, 6, 5, 5, 6].iter().map(|number| link.arrives(Lane::Durable, *number)).collect();
        use Arrival::{Again, Early, Next};
        assert_eq!(came, [Again, Early, Next, Again, Next]);
        assert_eq!(link.kept.received, 6);
    }

    #[test]
    fn transient_messages_may_be_missing_but_never_come_twice_or_late() {
        let mut link = Link::default();
        let came: Vec<Arrival> =
            [2, 2, 1, 5].iter().map(|number| link.arrives(Lane::Transient, *number)).collect();
        use Arrival::{Again, Next};
        assert_eq!(came, [Next, Again, Again, Next]);
        assert!(!link.changed, "the disk has no part in it");
    }

    #[test]
    fn numbers_rise_over_restarts() {
        let kept = KeptPeer { sent: 9, ..KeptPeer::default() };
        let (mut first, mut second) = (Link::new(kept, 1), Link::new(kept, 2));
        assert_eq!(first.number(Lane::Durable, 1), 10);
        assert!(first.number(Lane::Transient, 1) < second.number(Lane::Transient, 1));
    }

    #[test]
    fn a_node_that_ran_for_long_is_heard_after_its_next_start() {
        let mut long = Link::new(KeptPeer::default(), 1);
        long.transient_sent += 1 << 32;
        let last = long.number(Lane::Transient, 1);
        let first = Link::new(KeptPeer::default(), 2).number(Lane::Transient, 1);
        let mut peer = Link::default();
        let came = [last, first].map(|number| peer.arrives(Lane::Transient, number));
        assert_eq!(came, [Arrival::Next, Arrival::Next]);
    }

    #[test]
    fn too_much_unacknowledged_is_said_and_settled() {
        let mut link = Link::new(KeptPeer::default(), 1);
        link.number(Lane::Durable, FULL_BYTES);
        assert!(!link.as_peer().full);
        link.number(Lane::Durable, 1);
        assert!(link.as_peer().full);
        assert_eq!((link.acknowledged(1), link.delivered), (1, Some(1)));
        assert!(!link.as_peer().full);
        assert_eq!((link.acknowledged(99), link.delivered), (1, Some(2)));
        assert_eq!(link.as_peer().unacknowledged, 0);
    }
}
