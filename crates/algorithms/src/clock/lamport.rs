//! Lamport's clock at work: one number per event.
//!
//! Source: L. Lamport, "Time, clocks, and the ordering of events in a distributed system",
//! CACM 21(7), 1978; the examples are those of two lectures.
//! Assumes: A1 no node forgets its clock. Messages may be late, lost or come twice.
//! Has: an event has a smaller time than every event that it causes.
//! Lacks: the converse: of two events with different times neither need be a cause of the other.
//! Cost: one number on every message.
//!
//! R1 every event takes the next number; R2 a receipt goes beyond the time on the message; R3 a
//! clock that runs by itself is only put right by a receipt (see [`Rule`]).

mod why;

pub use why::WHY;

use super::timekeeper::{Keeper, Timekeeper};
use conclave_core::clock::{LIMIT, Lamport, Refusal};
use conclave_core::{NodeId, Why};
use serde::{Deserialize, Serialize};

/// A node with Lamport's clock.
pub type LamportClock = Timekeeper<Scalar>;

/// When the clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// By one at every event, a receipt going beyond the time received.
    Event,
    /// By itself; a receipt that comes no later than its sending is put one later.
    Drift,
    /// By itself; a receipt that comes earlier than its sending is put one later. This is how
    /// lecture notes 001 print it. A receipt at the very time of its sending slips through.
    Slip,
    /// By itself, whatever is received.
    Never,
}

/// A number, and when it moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scalar {
    clock: Lamport,
    rule: Rule,
}

impl Scalar {
    /// A clock that reads this.
    pub fn new(reading: u64, rule: Rule) -> Self {
        Self { clock: Lamport(reading), rule }
    }

    fn advance(&mut self) -> u64 {
        if self.rule == Rule::Event { self.clock.tick() } else { self.clock.now() }
    }
}

impl Keeper for Scalar {
    type Time = u64;

    fn passes(&mut self, gain: u64) {
        let later = self.clock.now().checked_add(gain);
        self.clock = Lamport(later.expect("a clock counts fewer than 2^64 events"));
    }

    fn happens(&mut self) -> u64 {
        self.advance()
    }

    fn sends(&mut self) -> u64 {
        self.advance()
    }

    fn receives(&mut self, _: NodeId, &time: &u64) -> Result<u64, Refusal> {
        let now = self.clock.now();
        match self.rule {
            Rule::Event => return self.clock.try_receive(time),
            Rule::Drift | Rule::Slip | Rule::Never if time >= LIMIT => {
                return Err(Refusal::Absurd);
            }
            Rule::Drift if time >= now => self.clock = Lamport(time + 1),
            Rule::Slip if time > now => self.clock = Lamport(time + 1),
            Rule::Drift | Rule::Slip | Rule::Never => {}
        }
        Ok(self.clock.now())
    }

    fn why_happens(&self) -> &'static Why {
        if self.rule == Rule::Event { &why::MOVES_ON } else { &why::STANDS }
    }

    fn why_receives(&self, &time: &u64) -> &'static Why {
        let now = self.clock.now();
        match self.rule {
            Rule::Event => &why::GOES_BEYOND,
            Rule::Never => &why::NEVER_CORRECTED,
            Rule::Drift if time >= now => &why::PUT_LATER,
            Rule::Slip if time > now => &why::PUT_LATER,
            Rule::Slip if time == now => &why::SLIPS_THROUGH,
            Rule::Drift | Rule::Slip => &why::IN_ORDER,
        }
    }

    fn why_passes(&self) -> &'static Why {
        &why::TICKS
    }

    fn reading(&self) -> u64 {
        self.clock.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: NodeId = NodeId(1);

    #[test]
    fn each_rule_treats_a_receipt_in_its_own_way() {
        let received = |rule, time| Scalar::new(4, rule).receives(OTHER, &time);
        assert_eq!([3, 4, 5].map(|time| received(Rule::Event, time)), [Ok(5), Ok(5), Ok(6)]);
        assert_eq!([3, 4, 5].map(|time| received(Rule::Drift, time)), [Ok(4), Ok(5), Ok(6)]);
        assert_eq!([3, 4, 5].map(|time| received(Rule::Slip, time)), [Ok(4), Ok(4), Ok(6)]);
        assert_eq!([3, 4, 5].map(|time| received(Rule::Never, time)), [Ok(4), Ok(4), Ok(4)]);
        for rule in [Rule::Event, Rule::Drift, Rule::Slip, Rule::Never] {
            assert_eq!(received(rule, u64::MAX), Err(Refusal::Absurd));
        }
    }

    #[test]
    fn only_a_clock_of_events_moves_at_events() {
        let mut clock = Scalar::new(0, Rule::Event);
        assert_eq!((clock.happens(), clock.sends()), (1, 2));
        clock.passes(3);
        assert_eq!(clock.reading(), 5);
        let mut drifting = Scalar::new(0, Rule::Drift);
        drifting.passes(6);
        assert_eq!((drifting.happens(), drifting.sends()), (6, 6));
    }

    #[test]
    fn each_rule_says_what_it_makes_of_a_receipt() {
        let told = |rule| [3, 4, 5].map(|time| Scalar::new(4, rule).why_receives(&time).code);
        assert_eq!(told(Rule::Event), ["goes-beyond"; 3]);
        assert_eq!(told(Rule::Drift), ["in-order", "put-later", "put-later"]);
        assert_eq!(told(Rule::Slip), ["in-order", "slips-through", "put-later"]);
        assert_eq!(told(Rule::Never), ["never-corrected"; 3]);
    }
}
