//! The floor under the simulator's speed: the wheel alone, moving events to a handler that does
//! next to nothing.

use crate::wheel::{Lane, Wheel};
use conclave_core::{NodeId, Ticks};
use std::num::NonZeroU64;

/// The wheel alone, loaded with events that are about to move.
pub struct Floor(Box<dyn FnOnce() -> u64>);

impl Floor {
    /// `events` events of `size` bytes among `nodes` nodes, `in_flight` of them at any time, each
    /// one unit under way.
    pub fn new(nodes: u32, events: u64, in_flight: u64, size: usize) -> Self {
        match size.div_ceil(8) {
            0..=2 => Self::of::<1>(nodes, events, in_flight),
            3 => Self::of::<2>(nodes, events, in_flight),
            4 => Self::of::<3>(nodes, events, in_flight),
            5 => Self::of::<4>(nodes, events, in_flight),
            _ => Self::of::<5>(nodes, events, in_flight),
        }
    }

    /// Moves them all, and returns how many each node got, added up.
    pub fn run(self) -> u64 {
        (self.0)()
    }

    fn of<const WORDS: usize>(nodes: u32, events: u64, in_flight: u64) -> Self {
        let mut wheel: Wheel<Payload<WORDS>> = Wheel::new(|_| 0);
        let counts = vec![0; nodes as usize];
        let scheduled = in_flight.min(events);
        for index in 0..scheduled {
            let payload = Payload { first: NonZeroU64::MIN, rest: [index; WORDS] };
            let node = NodeId((index % u64::from(nodes)) as u32);
            wheel.schedule(Ticks::UNIT, Lane::Message, node, payload);
        }
        Self(Box::new(move || keep_moving(wheel, counts, scheduled, events)))
    }
}

/// An event of so many words and nothing in it; like a real one it leaves room for a tag.
#[derive(Clone, Copy)]
struct Payload<const WORDS: usize> {
    first: NonZeroU64,
    rest: [u64; WORDS],
}

fn keep_moving<const WORDS: usize>(
    mut wheel: Wheel<Payload<WORDS>>,
    mut counts: Vec<u64>,
    mut scheduled: u64,
    events: u64,
) -> u64 {
    let nodes = counts.len() as u32;
    while let Some(due) = wheel.pop_before(Ticks(u64::MAX)) {
        counts[due.node.index()] += due.item.first.get();
        if scheduled < events {
            scheduled += 1;
            let payload = Payload { first: due.item.first, rest: due.item.rest };
            let to = due.node.successor(nodes);
            wheel.schedule(due.at + Ticks::UNIT, Lane::Message, to, payload);
        }
    }
    counts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_moved_once() {
        assert_eq!(Floor::new(3, 10, 1, 24).run(), 10);
        assert_eq!(Floor::new(3, 1_000, 100, 48).run(), 1_000);
        assert_eq!(Floor::new(1, 5, 100, 8).run(), 5);
    }
}
