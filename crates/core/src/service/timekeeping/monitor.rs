//! Monitor of logical clocks (the clock condition): if one event happened before another, its time
//! is smaller.

use super::Kind;
use crate::clock::{Lamport, Time, Vector};
use crate::{NodeId, Property, Ticks, Verdict, Violation};
use std::cmp::Ordering;

/// One event: its time as the clock under test told it, and as Lamport's and a vector clock tell
/// it when they count nothing but events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it happened, which no node knows.
    pub at: Ticks,
    /// Where.
    pub node: NodeId,
    /// What.
    pub kind: Kind,
    /// The clock's time.
    pub time: Time,
    /// Lamport's.
    pub lamport: u64,
    /// Exactly what happened before it.
    pub vector: Vector,
}

/// How many pairs of events are ordered, and by what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// One happened before the other.
    pub ordered: u64,
    /// Neither did.
    pub concurrent: u64,
    /// Neither did, but the clock gives them different times in some order.
    pub ordered_by_clock: u64,
    /// Neither did, but Lamport's clock does so.
    pub ordered_by_lamport: u64,
}

/// Judges a clock. It keeps true causality beside it, from the messages alone.
#[derive(Clone, Debug)]
pub struct Monitor {
    nodes: Vec<Node>,
    records: Vec<Record>,
    violations: Vec<Violation>,
}

#[derive(Clone, Debug)]
struct Node {
    lamport: Lamport,
    vector: Vector,
    /// Its events, as places among all.
    events: Vec<usize>,
}

impl Monitor {
    /// For so many nodes.
    pub fn new(n: u32) -> Self {
        let node = Node { lamport: Lamport::default(), vector: Vector::new(n), events: Vec::new() };
        Self { nodes: vec![node; n as usize], records: Vec::new(), violations: Vec::new() }
    }

    /// An event got its time.
    pub fn stamped(&mut self, node: NodeId, kind: Kind, time: Time, at: Ticks) {
        let cause = self.cause(kind);
        let here = &mut self.nodes[node.index()];
        match cause {
            Some(cause) => {
                here.lamport.receive(self.records[cause].lamport);
                here.vector.merge(&self.records[cause].vector);
            }
            None => {
                here.lamport.tick();
            }
        }
        here.vector.tick(node);
        let lamport = here.lamport.now();
        let vector = here.vector.clone();
        let last = here.events.last().copied();
        here.events.push(self.records.len());
        let record = Record { at, node, kind, time, lamport, vector };
        // The rest follows, since both orders are transitive. A message to oneself may be both.
        for before in last.into_iter().chain(cause.filter(|&cause| Some(cause) != last)) {
            self.judge(before, &record);
        }
        self.records.push(record);
    }

    /// All events in the order of true time.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// What went wrong.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Whether times rose from cause to effect.
    pub fn verdict(&self) -> Verdict {
        if self.violations.is_empty() { Verdict::Holds } else { Verdict::Violated }
    }

    /// Whether the clock under test claims to order events exactly where cause and effect do: its
    /// times can be concurrent.
    pub fn claims_exactness(&self) -> bool {
        let partial = |time: &Time| matches!(time, Time::Vector(_) | Time::Matrix(_));
        !self.records.is_empty() && self.records.iter().all(|record| partial(&record.time))
    }

    /// The first event that the clock orders with one that it has nothing to do with. Compares
    /// every event with every other.
    pub fn inexact(&self) -> Option<Violation> {
        self.records.iter().enumerate().find_map(|(place, b)| {
            let a = self.records[..place].iter().find(|a| is_ordered_by_clock_alone(a, b))?;
            let what = format!(
                "{} of {} with time {} and {} of {} with time {} are ordered by the clock, though \
                 neither caused the other",
                noun(a.kind),
                a.node.mark(),
                a.time,
                noun(b.kind),
                b.node.mark(),
                b.time,
            );
            Some(Violation { property: Property::HBExact, at: b.at, what })
        })
    }

    /// Compares every event with every other.
    pub fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::default();
        for (place, b) in self.records.iter().enumerate() {
            for a in &self.records[..place] {
                if a.vector.partial_cmp(&b.vector).is_some() {
                    pairs.ordered += 1;
                    continue;
                }
                pairs.concurrent += 1;
                pairs.ordered_by_clock += u64::from(is_ordered_by_clock_alone(a, b));
                pairs.ordered_by_lamport += u64::from(a.lamport != b.lamport);
            }
        }
        pairs
    }

    /// The sending of a message that was received.
    fn cause(&self, kind: Kind) -> Option<usize> {
        match kind {
            Kind::Receive { from, sent } => {
                let events = &self.nodes.get(from.index())?.events;
                events.get((sent as usize).checked_sub(1)?).copied()
            }
            Kind::Local | Kind::Send { .. } => None,
        }
    }

    fn judge(&mut self, before: usize, after: &Record) {
        let before = &self.records[before];
        if before.time < after.time {
            return;
        }
        let what = format!(
            "{} of {} at {} has time {}, not before time {} of {} of {}, which it caused",
            noun(before.kind),
            before.node.mark(),
            before.at,
            before.time,
            after.time,
            noun(after.kind),
            after.node.mark(),
        );
        self.violations.push(Violation { property: Property::HB, at: after.at, what });
    }
}

/// Whether neither of two events happened before the other, but the clock says that one did.
fn is_ordered_by_clock_alone(a: &Record, b: &Record) -> bool {
    a.vector.partial_cmp(&b.vector).is_none()
        && matches!(a.time.partial_cmp(&b.time), Some(Ordering::Less | Ordering::Greater))
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Local => "an event",
        Kind::Send { .. } => "a sending",
        Kind::Receive { .. } => "a receipt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P1: NodeId = NodeId(0);
    const P2: NodeId = NodeId(1);
    const P3: NodeId = NodeId(2);

    fn monitor(events: &[(NodeId, Kind, u64)]) -> Monitor {
        let mut monitor = Monitor::new(3);
        for (at, &(node, kind, time)) in (0..).zip(events) {
            monitor.stamped(node, kind, Time::Scalar(time), Ticks::units(at));
        }
        monitor
    }

    /// One sends, two receives and sends on, three does something and then receives.
    const CHAIN: [(NodeId, Kind, u64); 5] = [
        (P1, Kind::Send { to: P2 }, 1),
        (P2, Kind::Receive { from: P1, sent: 1 }, 2),
        (P2, Kind::Send { to: P3 }, 3),
        (P3, Kind::Local, 1),
        (P3, Kind::Receive { from: P2, sent: 2 }, 4),
    ];

    #[test]
    fn lamport_and_vector_times_come_from_the_messages_alone() {
        let monitor = monitor(&CHAIN);
        let lamport: Vec<u64> = monitor.records().iter().map(|record| record.lamport).collect();
        assert_eq!(lamport, [1, 2, 3, 1, 4]);
        let vectors: Vec<String> =
            monitor.records().iter().map(|record| record.vector.to_string()).collect();
        assert_eq!(vectors, ["[1,0,0]", "[1,1,0]", "[1,2,0]", "[0,0,1]", "[1,2,2]"]);
        assert_eq!(monitor.verdict(), Verdict::Holds);
    }

    #[test]
    fn pairs_that_lamport_orders_though_they_are_concurrent_are_counted() {
        let pairs = monitor(&CHAIN).pairs();
        let counted =
            Pairs { ordered: 7, concurrent: 3, ordered_by_clock: 2, ordered_by_lamport: 2 };
        assert_eq!(pairs, counted);
    }

    /// The same events by vector clocks: right ones, and one that takes over what it has not heard.
    #[test]
    fn a_vector_clock_that_orders_concurrent_events_is_not_exact() {
        let told = |third: [u64; 3]| {
            let times = [[1, 0, 0], [1, 1, 0], [1, 2, 0], third, [1, 2, 2]];
            let mut monitor = Monitor::new(3);
            for (&(node, kind, _), time) in CHAIN.iter().zip(times) {
                let time = Time::Vector(time.into_iter().collect());
                monitor.stamped(node, kind, time, Ticks::UNIT);
            }
            assert_eq!(monitor.verdict(), Verdict::Holds, "cause and effect are in order");
            assert!(monitor.claims_exactness());
            monitor.inexact()
        };
        assert_eq!(told([0, 0, 1]), None);
        let violation = told([1, 0, 1]).expect("the first sending is not its cause");
        assert_eq!(violation.property, Property::HBExact);
        assert!(violation.what.contains("[1,0,0]"), "{}", violation.what);
        assert!(!monitor(&CHAIN).claims_exactness(), "a number orders everything");
    }

    #[test]
    fn a_receipt_at_the_time_of_its_sending_is_a_violation() {
        let monitor = monitor(&[CHAIN[0], (P2, CHAIN[1].1, 1)]);
        assert_eq!(monitor.verdict(), Verdict::Violated);
        let [violation] = monitor.violations() else { panic!("one violation") };
        assert_eq!((violation.property, violation.at), (Property::HB, Ticks::UNIT));
    }

    #[test]
    fn two_events_of_one_node_must_differ() {
        let twice = [(P1, Kind::Local, 5), (P1, Kind::Local, 5)];
        assert_eq!(monitor(&twice).verdict(), Verdict::Violated);
    }

    #[test]
    fn a_message_that_nobody_sent_has_no_cause() {
        let stray = [(P1, Kind::Receive { from: P2, sent: 3 }, 1)];
        assert_eq!(monitor(&stray).records()[0].vector.to_string(), "[1,0,0]");
        let nonsense = [(P1, Kind::Receive { from: NodeId(9), sent: 0 }, 1)];
        assert_eq!(monitor(&nonsense).verdict(), Verdict::Holds);
    }

    #[test]
    fn a_receipt_comes_after_its_sending_and_after_what_was_there() {
        let receipt = |time| {
            let sent = [(P1, Kind::Send { to: P2 }, 5), (P2, Kind::Local, 8)];
            let there = (P2, Kind::Receive { from: P1, sent: 1 }, time);
            monitor(&[sent[0], sent[1], there]).violations().len()
        };
        assert_eq!([receipt(9), receipt(8), receipt(6), receipt(5)], [0, 1, 1, 2]);
    }

    #[test]
    fn concurrent_events_may_have_any_time() {
        let apart = [(P1, Kind::Local, 5), (P2, Kind::Local, 5), (P3, Kind::Local, 1)];
        assert_eq!(monitor(&apart).verdict(), Verdict::Holds);
    }

    #[test]
    fn a_message_to_oneself_right_after_its_sending_is_held_against_it_once() {
        let slip = [(P1, Kind::Send { to: P1 }, 5), (P1, Kind::Receive { from: P1, sent: 1 }, 5)];
        assert_eq!(monitor(&slip).violations().len(), 1);
    }
}
