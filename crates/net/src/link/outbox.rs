//! What is to go to one peer, and what may have to go there again.

use super::config::Limits;
use super::fault::Fault;
use crate::{Lane, Packet};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Messages to one peer. Durable ones stay until they are acknowledged, however many there are: the
/// host sees to it that there are not too many. Transient ones stay for a short while, in a limited
/// number, also after they were written: what a dropped connection swallowed is sent again.
#[derive(Debug)]
pub(super) struct Outbox {
    durable: VecDeque<Packet>,
    /// How many of the durable ones this connection need not carry any more.
    durable_written: usize,
    transient: VecDeque<(Instant, Packet)>,
    /// How many of the transient ones this connection need not carry any more.
    transient_written: usize,
    /// Up to which durable number the peer has received, for all we know.
    reach: u64,
    acknowledged: u64,
    /// The start of the peer to which the transient messages belong.
    incarnation: Option<u32>,
    age_max: Duration,
    packets_max: usize,
}

impl Outbox {
    pub fn new(durable: Vec<Packet>, limits: &Limits) -> Self {
        Self {
            durable: durable.into(),
            durable_written: 0,
            transient: VecDeque::new(),
            transient_written: 0,
            reach: 0,
            acknowledged: 0,
            incarnation: None,
            age_max: limits.transient_age,
            packets_max: limits.transient_packets,
        }
    }

    pub fn push(&mut self, packet: Packet, now: Instant) {
        match packet.lane {
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
    pub fn resume(&mut self, incarnation: u32, received: u64, now: Instant) -> Result<(), Fault> {
        if let Some(first) = self.durable.front()
            && first.number > received.saturating_add(1)
        {
            return Err(Fault::Forgot { has: received, first: first.number });
        }
        self.durable_written = self.durable.partition_point(|packet| packet.number <= received);
        self.reach = received;
        self.forget_old_unsent(now);
        if self.incarnation.is_some_and(|known| known != incarnation) {
            self.transient.clear();
        }
        self.incarnation = Some(incarnation);
        self.transient_written = 0;
        Ok(())
    }

    /// The peer has these durable messages on its disk; says whether that is news.
    pub fn acknowledge(&mut self, number: u64) -> Result<bool, Fault> {
        if number > self.reach {
            return Err(Fault::Unsent(number));
        }
        while self.durable.front().is_some_and(|packet| packet.number <= number) {
            self.durable.pop_front();
            self.durable_written = self.durable_written.saturating_sub(1);
        }
        let news = number > self.acknowledged;
        self.acknowledged = self.acknowledged.max(number);
        Ok(news)
    }

    /// The next message that this connection has to carry. Transient ones first: they are few, and
    /// late ones are useless.
    pub fn next(&mut self) -> Option<&Packet> {
        if let Some((_, packet)) = self.transient.get(self.transient_written) {
            self.transient_written += 1;
            return Some(packet);
        }
        let packet = self.durable.get(self.durable_written)?;
        self.durable_written += 1;
        self.reach = packet.number;
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

    fn packet(lane: Lane, number: u64) -> Packet {
        Packet { lane, number, key: "k".into(), bytes: Vec::new() }
    }

    fn outbox(durable: std::ops::Range<u64>) -> Outbox {
        let saved = durable.map(|number| packet(Lane::Durable, number)).collect();
        Outbox::new(saved, &Limits { transient_packets: 3, ..Limits::default() })
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
        assert!(matches!(outbox.acknowledge(1), Err(Fault::Unsent(1))));
        assert_eq!(outbox.next().map(|packet| packet.number), Some(1));
        assert!(outbox.acknowledge(1).unwrap());
        assert!(!outbox.acknowledge(1).unwrap(), "the same again is no news");
        assert_eq!(written(&mut outbox), [2, 3]);
        outbox.resume(1, 1, Instant::now()).unwrap();
        assert_eq!(written(&mut outbox), [2, 3]);
    }

    #[test]
    fn a_peer_that_lost_what_it_acknowledged_is_noticed() {
        let mut outbox = outbox(5..7);
        let outcome = outbox.resume(1, 3, Instant::now());
        assert!(matches!(outcome, Err(Fault::Forgot { has: 3, first: 5 })));
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
