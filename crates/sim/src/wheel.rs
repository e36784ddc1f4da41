//! The event queue, a calendar queue (bucket wheel): one bucket per tick, and a heap for what is
//! further away.
//!
//! A bucket holds three lists (messages, timers, application) that are emptied in that order. The
//! items of all lists live in one slab, linked by index, so that scheduling and taking cost a few
//! memory accesses and, once the slab has grown to the number of items in flight, no allocation.

use crate::floor::Shape;
use conclave_core::{NodeId, Ticks};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ticks that the wheel spans: 16 message times, so that the standard critical section fits.
const SPAN: u64 = 16_384;
const WORDS: usize = SPAN as usize / 64;
const NONE: u32 = u32::MAX;

/// What comes first among events of the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Messages, in the order they were sent.
    Message,
    /// Timers, in the order they were set.
    Timer,
    /// What the application does: by rank, then by node.
    Application,
}

/// Where an item is kept; valid until it is taken.
pub type SlotId = u32;

/// What the wheel can hold.
///
/// A slot without an item holds one that says so, instead of an `Option`: to look into an `Option`
/// on the way, the compiler takes an event apart into its tag and the rest, and the processor
/// stalls where the two are read together again.
pub trait Item {
    /// No item; never scheduled.
    const VACANT: Self;

    /// Whether this is no item.
    fn is_vacant(&self) -> bool;
}

/// A queue of items by time, lane and order of scheduling.
pub struct Wheel<T> {
    now: u64,
    buckets: Vec<Bucket>,
    /// One bit per bucket that is not empty, and one bit per word that is not zero.
    occupied: [u64; WORDS],
    summary: [u64; WORDS / 64],
    slots: Vec<Slot<T>>,
    free: u32,
    far: BinaryHeap<Reverse<(u64, u64, Lane, SlotId)>>,
    far_count: u64,
    /// The application's items of this very moment, sorted, the next one last.
    ready: Vec<SlotId>,
    rank: fn(&T) -> u8,
    len: usize,
    recorder: Option<Recorder>,
}

/// Keeps the shape of all that goes through the wheel.
struct Recorder {
    shape: Shape,
    /// How many were taken since the last was scheduled.
    taken: u64,
}

struct Slot<T> {
    /// Vacant when free, or cancelled.
    item: T,
    node: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct Bucket {
    lanes: [List; 3],
}

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

const EMPTY: List = List { head: NONE, tail: NONE };

impl<T: Item> Wheel<T> {
    /// An empty queue at time zero. `rank` orders the application's items of one moment.
    pub fn new(rank: fn(&T) -> u8) -> Self {
        Self {
            now: 0,
            buckets: vec![Bucket { lanes: [EMPTY; 3] }; SPAN as usize],
            occupied: [0; WORDS],
            summary: [0; WORDS / 64],
            slots: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            far_count: 0,
            ready: Vec::new(),
            rank,
            len: 0,
            recorder: None,
        }
    }

    /// From now on, keep when and for whom everything is scheduled.
    pub fn record(&mut self) {
        self.recorder = Some(Recorder { shape: Shape::default(), taken: 0 });
    }

    /// What was kept.
    pub fn into_shape(self) -> Option<Shape> {
        self.recorder.map(|recorder| recorder.shape)
    }

    /// Schedules an item. One for the past is due now.
    #[inline(always)]
    pub fn schedule(&mut self, at: Ticks, lane: Lane, node: NodeId, item: T) -> SlotId {
        let slot = self.keep(node, item);
        let at = at.0.max(self.now);
        if let Some(recorder) = &mut self.recorder {
            recorder.shape.scheduled(Ticks(at), lane, node, recorder.taken);
            recorder.taken = 0;
        }
        self.len += 1;
        if at - self.now < SPAN {
            self.link(at, lane, slot);
        } else {
            self.far.push(Reverse((at, self.far_count, lane, slot)));
            self.far_count += 1;
        }
        slot
    }

    /// Forgets an item that is still scheduled.
    pub fn cancel(&mut self, slot: SlotId) {
        self.slots[slot as usize].item = T::VACANT;
    }

    /// Forgets all items that this concerns.
    pub fn cancel_where(&mut self, concerns: impl Fn(NodeId, &T) -> bool) {
        for slot in &mut self.slots {
            if !slot.item.is_vacant() && concerns(NodeId(slot.node), &slot.item) {
                slot.item = T::VACANT;
            }
        }
    }

    /// Where the next item is that is due before `limit`; to be taken before anything else is done.
    #[inline]
    pub fn next_before(&mut self, limit: Ticks) -> Option<SlotId> {
        loop {
            let slot = self.next_slot(limit.0)?;
            self.len -= 1;
            if let Some(recorder) = &mut self.recorder {
                recorder.taken += 1;
            }
            if !self.slots[slot as usize].item.is_vacant() {
                return Some(slot);
            }
            self.slots[slot as usize].next = self.free;
            self.free = slot;
        }
    }

    /// The time of the item that was found last.
    #[inline]
    pub fn now(&self) -> Ticks {
        Ticks(self.now)
    }

    /// An item that has been found but not yet taken, and whose it is.
    #[inline]
    pub fn look(&self, slot: SlotId) -> (NodeId, &T) {
        let Slot { item, node, .. } = &self.slots[slot as usize];
        (NodeId(*node), item)
    }

    /// Takes the item that [`Wheel::next_before`] has found.
    #[inline]
    pub fn take(&mut self, slot: SlotId) -> T {
        let Slot { item, next, .. } = &mut self.slots[slot as usize];
        *next = self.free;
        self.free = slot;
        std::mem::replace(item, T::VACANT)
    }

    /// Gives back the place of an item that has been found, and was looked at.
    #[inline]
    pub fn discard(&mut self, slot: SlotId) {
        let Slot { item, next, .. } = &mut self.slots[slot as usize];
        *item = T::VACANT;
        *next = self.free;
        self.free = slot;
    }

    /// Whether nothing is scheduled, not even something cancelled.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn next_slot(&mut self, limit: u64) -> Option<SlotId> {
        while self.now < limit {
            let bucket = (self.now % SPAN) as usize;
            if let Some(slot) = self.unlink(bucket, Lane::Message) {
                return Some(slot);
            }
            if let Some(slot) = self.unlink(bucket, Lane::Timer) {
                return Some(slot);
            }
            if let Some(slot) = self.ready.pop() {
                return Some(slot);
            }
            let List { head, tail } = self.buckets[bucket].lanes[Lane::Application as usize];
            if head != NONE && head == tail {
                self.buckets[bucket].lanes[Lane::Application as usize] = EMPTY;
                return Some(head);
            }
            if head != NONE {
                self.make_ready(bucket);
                continue;
            }
            self.mark_empty(bucket);
            self.advance(limit)?;
        }
        None
    }

    /// Moves on to the next time at which something is scheduled, if that is before the limit.
    fn advance(&mut self, limit: u64) -> Option<()> {
        let next = match self.next_bucket() {
            Some(at) => at,
            None => self.far.peek()?.0.0,
        };
        if next >= limit {
            return None;
        }
        self.now = next;
        // What was far comes into the wheel before anything later can be scheduled beside it, so
        // each list stays in the order of scheduling.
        while let Some(&Reverse((at, _, lane, slot))) = self.far.peek()
            && at - self.now < SPAN
        {
            self.far.pop();
            self.link(at, lane, slot);
        }
        Some(())
    }

    /// The application's items of this moment, sorted: they are few, or they already are.
    fn make_ready(&mut self, bucket: usize) {
        let list = &mut self.buckets[bucket].lanes[Lane::Application as usize];
        let mut next = std::mem::replace(list, EMPTY).head;
        while next != NONE {
            self.ready.push(next);
            next = self.slots[next as usize].next;
        }
        let key = |slot: &SlotId| {
            let Slot { item, node, .. } = &self.slots[*slot as usize];
            ((self.rank)(item), *node)
        };
        if !self.ready.is_sorted_by_key(key) {
            let keys = self.ready.iter().map(key).collect();
            sort_by_keys(&mut self.ready, keys);
        }
        self.ready.reverse();
    }

    #[inline(always)]
    fn keep(&mut self, node: NodeId, item: T) -> SlotId {
        let slot = Slot { item, node: node.0, next: NONE };
        if self.free == NONE {
            self.slots.push(slot);
            return self.slots.len() as u32 - 1;
        }
        let place = self.free;
        self.free = std::mem::replace(&mut self.slots[place as usize], slot).next;
        place
    }

    #[inline(always)]
    fn link(&mut self, at: u64, lane: Lane, slot: SlotId) {
        let bucket = (at % SPAN) as usize;
        let list = &mut self.buckets[bucket].lanes[lane as usize];
        if list.head == NONE {
            list.head = slot;
            self.occupied[bucket / 64] |= 1 << (bucket % 64);
            self.summary[bucket / 4096] |= 1 << (bucket / 64 % 64);
        } else {
            self.slots[list.tail as usize].next = slot;
        }
        list.tail = slot;
    }

    #[inline]
    fn unlink(&mut self, bucket: usize, lane: Lane) -> Option<SlotId> {
        let list = &mut self.buckets[bucket].lanes[lane as usize];
        let slot = list.head;
        if slot == NONE {
            return None;
        }
        list.head = self.slots[slot as usize].next;
        Some(slot)
    }

    #[inline]
    fn mark_empty(&mut self, bucket: usize) {
        self.occupied[bucket / 64] &= !(1 << (bucket % 64));
        if self.occupied[bucket / 64] == 0 {
            self.summary[bucket / 4096] &= !(1 << (bucket / 64 % 64));
        }
    }

    /// The time of the first bucket, from now on, that is not empty.
    #[inline]
    fn next_bucket(&self) -> Option<u64> {
        let start = (self.now % SPAN) as usize;
        let bucket = self.occupied_from(start).or_else(|| self.occupied_from(0))?;
        let ahead = (bucket as u64 + SPAN - start as u64) % SPAN;
        Some(self.now + ahead)
    }

    #[inline]
    fn occupied_from(&self, start: usize) -> Option<usize> {
        let word = start / 64;
        let here = self.occupied[word] & (!0 << (start % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let next_word = word + 1;
        let mut mask = !0_u64 << (next_word % 64);
        for group in next_word / 64..self.summary.len() {
            let words = self.summary[group] & mask;
            if words != 0 {
                let word = group * 64 + words.trailing_zeros() as usize;
                return Some(word * 64 + self.occupied[word].trailing_zeros() as usize);
            }
            mask = !0;
        }
        None
    }
}

/// Sorts places by the rank and node of what is there, and otherwise leaves their order. Outside of
/// the wheel, so that it is compiled once for all kinds of items.
fn sort_by_keys(places: &mut [SlotId], keys: Vec<(u8, u32)>) {
    let mut keyed: Vec<_> = keys.into_iter().zip(0_u32..).zip(places.iter().copied()).collect();
    keyed.sort_unstable();
    for (place, (_, sorted)) in places.iter_mut().zip(keyed) {
        *place = sorted;
    }
}

#[cfg(test)]
mod tests;
