//! Retransmission: what is to go to one peer, and what may have to go there again.

use super::config::{Limits, Past};
use super::error::ConnectionError;
use crate::{Lane, Packet};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Messages to one peer. Durable ones stay until they are acknowledged, however many there are: the
/// host sees to it that there are not too many. Transient ones stay for a short while, in a limited
/// number, also after they were written: what a dropped connection swallowed is sent again.
///
/// Three durable numbers say where things stand, and `acknowledged <= carried <= left` always.
/// After a restart they come from the disk, and the host orders the messages themselves a little
/// later.
#[derive(Debug)]
pub(super) struct Outbox {
    /// In order, and all above `acknowledged`.
    durable: VecDeque<Packet>,
    /// Up to which number the peer's disk has them.
    acknowledged: u64,
    /// Up to which number the peer has them, or this connection has taken them along.
    carried: u64,
    /// The last number that has left this node, by whatever connection and in whatever life of it:
    /// nobody can have received more.
    left: u64,
    transient: VecDeque<(Instant, Packet)>,
    /// How many of the transient ones this connection need not carry any more.
    transient_written: usize,
    /// The start of the peer to which the transient messages belong.
    incarnation: Option<u32>,
    age_max: Duration,
    packets_max: usize,
}

impl Outbox {
    pub fn new(past: &Past, limits: &Limits) -> Self {
        Self {
            durable: VecDeque::new(),
            acknowledged: past.acknowledged,
            carried: past.acknowledged,
            left: past.sent.max(past.acknowledged),
            transient: VecDeque::new(),
            transient_written: 0,
            incarnation: None,
            age_max: limits.transient_age,
            packets_max: limits.transient_packets,
        }
    }

    pub fn push(&mut self, packet: Packet, now: Instant) {
        match packet.lane {
            // A peer can be quicker to acknowledge than the host of a node that starts to order.
            Lane::Durable if packet.number <= self.acknowledged => {}
            Lane::Durable => self.durable.push_back(packet),
            Lane::Transient => {
                self.forget_old(now);
                if self.transient.len() >= self.packets_max {
                    self.forget_oldest();
                }
                self.transient.push_back((now, packet));
            }
        }
    }

    /// A connection stands: the peer is in this incarnation and has received so many durable
    /// messages. What comes after those is written next.
    pub fn resume(
        &mut self,
        incarnation: u32,
        received: u64,
        now: Instant,
    ) -> Result<(), ConnectionError> {
        if received < self.acknowledged {
            return Err(ConnectionError::Forgot { has: received, acknowledged: self.acknowledged });
        }
        if received > self.left {
            return Err(ConnectionError::OldCopy(format!(
                "has received message {received} of this node, whose disk knows {} only",
                self.left
            )));
        }
        self.carried = received;
        self.forget_old_unsent(now);
        if self.incarnation.is_some_and(|known| known != incarnation) {
            self.transient.clear();
        }
        self.incarnation = Some(incarnation);
        self.transient_written = 0;
        Ok(())
    }

    /// The peer has these durable messages on its disk; says whether that is news.
    pub fn acknowledge(&mut self, number: u64) -> Result<bool, ConnectionError> {
        if number > self.carried {
            return Err(ConnectionError::Unsent(number));
        }
        while self.durable.front().is_some_and(|packet| packet.number <= number) {
            self.durable.pop_front();
        }
        let news = number > self.acknowledged;
        self.acknowledged = self.acknowledged.max(number);
        Ok(news)
    }

    /// Up to which number the peer's disk must have the durable messages.
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// The next message that this connection has to carry. Transient ones first: they are few, and
    /// late ones are useless.
    pub fn next(&mut self) -> Option<&Packet> {
        if let Some((_, packet)) = self.transient.get(self.transient_written) {
            self.transient_written += 1;
            return Some(packet);
        }
        let next = self.durable.partition_point(|packet| packet.number <= self.carried);
        let packet = self.durable.get(next)?;
        self.carried = packet.number;
        self.left = self.left.max(packet.number);
        Some(packet)
    }

    /// Those that were written and are too old to be written again.
    fn forget_old(&mut self, now: Instant) {
        while self.transient_written > 0 && self.oldest_is_old(now) {
            self.forget_oldest();
        }
    }

    /// Nobody was there to take them for too long.
    fn forget_old_unsent(&mut self, now: Instant) {
        while self.oldest_is_old(now) {
            self.forget_oldest();
        }
    }

    fn oldest_is_old(&self, now: Instant) -> bool {
        self.transient.front().is_some_and(|(since, _)| now - *since > self.age_max)
    }

    fn forget_oldest(&mut self) {
        self.transient.pop_front();
        self.transient_written = self.transient_written.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;

    fn packet(lane: Lane, number: u64) -> Packet {
        Packet { lane, number, key: "k".into(), bytes: Vec::new() }
    }

    /// The outbox of a node that starts with these messages on its disk: those before them were
    /// acknowledged.
    fn starting(kept: &Range<u64>) -> Outbox {
        let past = Past {
            acknowledged: kept.start.saturating_sub(1),
            sent: kept.end.saturating_sub(1),
            ..Past::default()
        };
        Outbox::new(&past, &Limits { transient_packets: 3, ..Limits::default() })
    }

    fn order(outbox: &mut Outbox, numbers: Range<u64>) {
        numbers.for_each(|number| outbox.push(packet(Lane::Durable, number), Instant::now()));
    }

    fn outbox(kept: Range<u64>) -> Outbox {
        let mut outbox = starting(&kept);
        order(&mut outbox, kept);
        outbox
    }

    fn written(outbox: &mut Outbox) -> Vec<u64> {
        std::iter::from_fn(|| outbox.next().map(|packet| packet.number)).collect()
    }

    #[test]
    fn a_new_connection_carries_what_the_peer_has_not_received() {
        let mut outbox = outbox(4..8);
        outbox.resume(1, 5, Instant::now()).unwrap();
        assert_eq!(written(&mut outbox), [6, 7]);
        outbox.push(packet(Lane::Durable, 8), Instant::now());
        assert_eq!(written(&mut outbox), [8]);
        outbox.resume(1, 6, Instant::now()).unwrap();
        assert_eq!(written(&mut outbox), [7, 8]);
    }

    #[test]
    fn only_what_was_sent_can_be_acknowledged_and_then_it_is_forgotten() {
        let mut outbox = outbox(1..4);
        outbox.resume(1, 0, Instant::now()).unwrap();
        assert!(matches!(outbox.acknowledge(1), Err(ConnectionError::Unsent(1))));
        assert_eq!(outbox.next().map(|packet| packet.number), Some(1));
        assert!(outbox.acknowledge(1).unwrap());
        assert!(!outbox.acknowledge(1).unwrap(), "the same again is no news");
        assert_eq!(written(&mut outbox), [2, 3]);
        outbox.resume(1, 1, Instant::now()).unwrap();
        assert_eq!(written(&mut outbox), [2, 3]);
    }

    #[test]
    fn a_peer_may_answer_before_the_messages_of_an_earlier_life_are_ordered() {
        let mut outbox = starting(&(5..9));
        outbox.resume(1, 7, Instant::now()).unwrap();
        order(&mut outbox, 5..7);
        assert_eq!(written(&mut outbox), [], "it has these");
        assert!(outbox.acknowledge(7).unwrap());
        order(&mut outbox, 7..10);
        assert_eq!(written(&mut outbox), [8, 9]);
        assert!(outbox.acknowledge(9).unwrap());
    }

    #[test]
    fn a_peer_that_lost_what_it_acknowledged_is_noticed() {
        let forgot = |outbox: &mut Outbox| {
            let outcome = outbox.resume(1, 3, Instant::now());
            assert!(matches!(outcome, Err(ConnectionError::Forgot { has: 3, acknowledged: 4 })));
        };
        forgot(&mut outbox(5..7));
        forgot(&mut starting(&(5..7)));
        forgot(&mut starting(&(5..5)));
        let mut empty = outbox(1..5);
        empty.resume(1, 0, Instant::now()).unwrap();
        written(&mut empty);
        empty.acknowledge(4).unwrap();
        forgot(&mut empty);
    }

    #[test]
    fn a_peer_that_has_more_than_ever_left_shows_that_this_disk_is_old() {
        let mut old = outbox(2..4);
        // What was ordered since the start has not left, and does not count.
        order(&mut old, 4..9);
        let outcome = old.resume(1, 5, Instant::now());
        let Err(ConnectionError::OldCopy(reason)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(reason, "has received message 5 of this node, whose disk knows 3 only");
        old.resume(1, 3, Instant::now()).unwrap();
        assert_eq!(written(&mut old), [4, 5, 6, 7, 8]);
        old.resume(1, 8, Instant::now()).unwrap();
    }

    #[test]
    fn transient_messages_are_sent_again_to_the_same_start_of_the_peer_only() {
        let mut outbox = outbox(0..0);
        let now = Instant::now();
        outbox.push(packet(Lane::Transient, 1), now);
        outbox.resume(1, 0, now).unwrap();
        assert_eq!(written(&mut outbox), [1]);
        outbox.push(packet(Lane::Transient, 2), now);
        outbox.resume(1, 0, now).unwrap();
        assert_eq!(written(&mut outbox), [1, 2]);
        outbox.resume(2, 0, now).unwrap();
        assert_eq!(written(&mut outbox), []);
    }

    #[test]
    fn transient_messages_give_way_when_they_are_old_or_too_many() {
        let mut outbox = outbox(0..0);
        let start = Instant::now();
        let late = start + Limits::default().transient_age + Duration::from_millis(1);
        outbox.push(packet(Lane::Transient, 1), start);
        outbox.push(packet(Lane::Transient, 2), late);
        outbox.resume(1, 0, late).unwrap();
        assert_eq!(written(&mut outbox), [2]);
        for number in 3..7 {
            outbox.push(packet(Lane::Transient, number), late);
        }
        assert_eq!(written(&mut outbox), [4, 5, 6]);
    }
}
