//! Benchmark baseline, the floor under the simulator's speed: the event queue alone, moving the
//! events of a run at the times of that run to a handler that only counts them.

use crate::wheel::{Item, Lane, Wheel};
use conclave_core::{NodeId, Ticks};
use std::num::NonZeroU64;

/// When each event of a run was scheduled, for when and for whom.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    moves: Vec<Move>,
    /// Moves that were made before the first event was taken.
    before: usize,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    at: u64,
    node: u32,
    /// How many events were taken since the move before, and in the last two bits the lane: so a
    /// move is sixteen bytes, and reading them slows the floor down as little as possible.
    taken_and_lane: u32,
}

impl Move {
    fn new(at: Ticks, lane: Lane, node: NodeId, taken: u64) -> Self {
        let taken = u32::try_from(taken).expect("fewer than a billion events at rest");
        Self { at: at.0, node: node.0, taken_and_lane: taken << 2 | lane as u32 }
    }

    fn taken(self) -> u32 {
        self.taken_and_lane >> 2
    }

    fn make<const WORDS: usize>(self, wheel: &mut Wheel<Option<Payload<WORDS>>>) {
        let lane = match self.taken_and_lane & 3 {
            0 => Lane::Message,
            1 => Lane::Timer,
            _ => Lane::Application,
        };
        wheel.schedule(Ticks(self.at), lane, NodeId(self.node), Some(Payload::new(self.at)));
    }
}

impl Shape {
    pub(crate) fn scheduled(&mut self, at: Ticks, lane: Lane, node: NodeId, taken: u64) {
        self.moves.push(Move::new(at, lane, node, taken));
        if taken == 0 && self.before + 1 == self.moves.len() {
            self.before = self.moves.len();
        }
    }

    /// How many events the run moved.
    pub fn events(&self) -> u64 {
        self.moves.len() as u64
    }

    /// Moves events of `size` bytes as the run did, among `nodes` nodes. The first ones are laid
    /// out at once; the rest when the result is called, which returns how many were moved.
    pub fn replay(&self, nodes: u32, size: usize) -> Box<dyn FnOnce() -> u64 + '_> {
        match size.div_ceil(8) {
            0..=2 => self.lay_out::<1>(nodes),
            3 => self.lay_out::<2>(nodes),
            4 => self.lay_out::<3>(nodes),
            5 => self.lay_out::<4>(nodes),
            _ => self.lay_out::<5>(nodes),
        }
    }

    fn lay_out<const WORDS: usize>(&self, nodes: u32) -> Box<dyn FnOnce() -> u64 + '_> {
        let mut wheel: Wheel<Option<Payload<WORDS>>> = Wheel::new(|_| 0);
        let counts = vec![0; nodes as usize];
        let (first, rest) = self.moves.split_at(self.before);
        for each in first {
            each.make(&mut wheel);
        }
        Box::new(move || keep_moving(wheel, counts, rest))
    }
}

/// An event of so many words with nothing in it; like a real one it leaves room for a tag.
#[derive(Clone, Copy)]
struct Payload<const WORDS: usize> {
    first: NonZeroU64,
    rest: [u64; WORDS],
}

impl<const WORDS: usize> Payload<WORDS> {
    fn new(word: u64) -> Self {
        Self { first: NonZeroU64::MIN, rest: [word; WORDS] }
    }
}

impl<const WORDS: usize> Item for Option<Payload<WORDS>> {
    const VACANT: Self = None;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_none()
    }
}

fn keep_moving<const WORDS: usize>(
    mut wheel: Wheel<Option<Payload<WORDS>>>,
    mut counts: Vec<u64>,
    moves: &[Move],
) -> u64 {
    let mut moves = moves.iter();
    let mut next = moves.next();
    let mut taken = 0;
    while let Some(slot) = wheel.next_before(Ticks(u64::MAX)) {
        let node = wheel.look(slot).0;
        handle(&mut counts, node, wheel.take(slot));
        taken += 1;
        while let Some(each) = next
            && each.taken() == taken
        {
            taken = 0;
            each.make(&mut wheel);
            next = moves.next();
        }
    }
    counts.iter().sum()
}

/// The least that a handler can do. It is a call, and the event is handed over whole, as it is to
/// a real one: otherwise the compiler would leave most of the event where it is.
#[inline(never)]
fn handle<const WORDS: usize>(counts: &mut [u64], node: NodeId, event: Option<Payload<WORDS>>) {
    counts[node.index()] += event.map_or(0, |event| event.first.get() + (event.rest[0] >> 63));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_moved_once() {
        let mut shape = Shape::default();
        for (at, taken) in [(1, 0), (5, 0), (2, 1), (9, 1), (9, 0)] {
            shape.scheduled(Ticks(at), Lane::Message, NodeId(0), taken);
        }
        for size in [8, 24, 32, 40, 48] {
            assert_eq!(shape.replay(1, size)(), 5);
        }
    }
}
