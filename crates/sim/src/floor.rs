//! The floor under the simulator's speed: the wheel alone, moving events to a handler that does
//! next to nothing.

use crate::wheel::{Lane, Wheel};
use conclave_core::{NodeId, Ticks};
use std::num::NonZeroU64;

/// An event of `WORDS` words and nothing in it; like a real one it leaves room for a tag.
#[derive(Clone, Copy)]
struct Payload<const WORDS: usize> {
    first: NonZeroU64,
    rest: [u64; WORDS],
}

/// Moves `events` events of `size` bytes among `nodes` nodes, `in_flight` of them at any time, each
/// one unit under way, and counts them per node. Returns the total, so that nothing is optimised
/// away.
pub fn floor(nodes: u32, events: u64, in_flight: u64, size: usize) -> u64 {
    match size.div_ceil(8) {
        0..=2 => moved::<1>(nodes, events, in_flight),
        3 => moved::<2>(nodes, events, in_flight),
        4 => moved::<3>(nodes, events, in_flight),
        5 => moved::<4>(nodes, events, in_flight),
        _ => moved::<5>(nodes, events, in_flight),
    }
}

fn moved<const WORDS: usize>(nodes: u32, events: u64, in_flight: u64) -> u64 {
    let mut wheel: Wheel<Payload<WORDS>> = Wheel::new(|_| 0);
    let mut counts = vec![0_u64; nodes as usize];
    let mut scheduled = 0;
    for index in 0..in_flight.min(events) {
        let payload = Payload { first: NonZeroU64::MIN, rest: [index; WORDS] };
        wheel.schedule(
            Ticks::UNIT,
            Lane::Message,
            NodeId((index % u64::from(nodes)) as u32),
            payload,
        );
        scheduled += 1;
    }
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
        assert_eq!(floor(3, 10, 1, 24), 10);
        assert_eq!(floor(3, 1_000, 100, 48), 1_000);
        assert_eq!(floor(1, 5, 100, 8), 5);
    }
}
