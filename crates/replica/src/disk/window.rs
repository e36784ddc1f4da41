//! The log as it is in memory: which entries there are, and the recent ones themselves (a cache).

use super::record::{LogEntry, LogId, Vote, lease_of};
use super::segment::Place;
use conclave_table::LeaseTime;
use std::collections::VecDeque;
use std::ops::{Bound, RangeBounds};

/// What memory an entry takes, roughly: so much, and several times its encoded length, for names
/// and lists are pieces of memory of their own.
const OVERHEAD: usize = 256;
const TIMES: usize = 3;

/// The entries that are not purged, some of them only by their place on disk.
#[derive(Debug)]
pub struct Window {
    /// The last vote that is on disk.
    pub vote: Option<Vote>,
    /// The last entry known to be committed.
    pub committed: Option<LogId>,
    /// The last entry that was purged.
    pub purged: Option<LogId>,
    /// The largest lease clock up to there.
    purged_lease: LeaseTime,
    slots: VecDeque<Slot>,
    /// How many at the front are only on disk.
    uncached: usize,
    cached_bytes: usize,
    cached_bytes_max: usize,
}

#[derive(Debug)]
struct Slot {
    id: LogId,
    /// The largest lease clock up to here.
    lease: LeaseTime,
    /// Nothing until it is written.
    place: Option<Place>,
    entry: Option<Box<LogEntry>>,
    weight: usize,
}

/// An entry, or where it is to be read.
#[derive(Debug)]
pub enum Hit {
    /// From memory.
    Cached(LogEntry),
    /// From disk.
    OnDisk(Place),
}

/// There would be a hole in the log.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {found} comes where entry {expected} is due: there would be a hole in the log")]
pub struct Hole {
    /// What came.
    pub found: u64,
    /// What is due.
    pub expected: u64,
}

impl Window {
    /// An empty one that keeps so much in memory.
    pub fn new(cached_bytes_max: usize) -> Self {
        Self {
            vote: None,
            committed: None,
            purged: None,
            purged_lease: LeaseTime::default(),
            slots: VecDeque::new(),
            uncached: 0,
            cached_bytes: 0,
            cached_bytes_max,
        }
    }

    /// How it all was before the first entry that is left.
    pub fn start_after(&mut self, purged: Option<LogId>, lease: LeaseTime) {
        self.purged = purged;
        self.purged_lease = lease;
    }

    /// The last entry, or the last that was purged.
    pub fn last(&self) -> Option<LogId> {
        self.slots.back().map(|slot| slot.id).or(self.purged)
    }

    /// The largest lease clock of all entries, those purged included.
    pub fn lease(&self) -> LeaseTime {
        self.slots.back().map_or(self.purged_lease, |slot| slot.lease)
    }

    /// The largest lease clock up to an entry; what it would be if all after it were gone.
    pub fn lease_at(&self, index: Option<u64>) -> LeaseTime {
        let at = index.and_then(|index| self.position(index));
        at.map_or(self.purged_lease, |at| self.slots[at].lease)
    }

    /// The index of the first entry that is there.
    pub fn first(&self) -> Option<u64> {
        self.slots.front().map(|slot| slot.id.index)
    }

    /// Appends an entry.
    pub fn push(
        &mut self,
        entry: LogEntry,
        length: usize,
        place: Option<Place>,
    ) -> Result<(), Hole> {
        let found = entry.log_id.index;
        // The very first one may have any index: only what follows it can leave a hole.
        let expected = self.last().map_or(found, |last| last.index + 1);
        if found != expected {
            return Err(Hole { found, expected });
        }
        let weight = TIMES * length + OVERHEAD;
        let lease = self.lease().max(lease_of(&entry));
        let id = entry.log_id;
        self.slots.push_back(Slot { id, lease, place, entry: Some(Box::new(entry)), weight });
        self.cached_bytes += weight;
        self.shrink();
        Ok(())
    }

    /// An entry is on disk now.
    pub fn placed(&mut self, index: u64, place: Place) {
        // It may have been purged meanwhile.
        if let Some(at) = self.position(index) {
            self.slots[at].place = Some(place);
        }
        self.shrink();
    }

    /// Forgets what is after this index, or all.
    pub fn truncate_after(&mut self, index: Option<u64>) {
        let first = self.first().unwrap_or_default();
        let keep = index.map_or(0, |index| (index + 1).saturating_sub(first) as usize);
        for slot in self.slots.drain(keep.min(self.slots.len())..) {
            self.cached_bytes -= slot.cached();
        }
        self.uncached = self.uncached.min(self.slots.len());
    }

    /// Forgets what is up to this entry. Returns the largest lease clock up to there.
    pub fn purge(&mut self, id: LogId) -> LeaseTime {
        let purged = self.slots.iter().take_while(|slot| slot.id.index <= id.index).count();
        for slot in self.slots.drain(..purged) {
            self.purged_lease = slot.lease;
            self.cached_bytes -= slot.cached();
        }
        self.uncached = self.uncached.saturating_sub(purged);
        if self.purged.as_ref().is_none_or(|purged| purged.index < id.index) {
            self.purged = Some(id);
        }
        self.purged_lease
    }

    /// The entries of a range that are there, at most so many bytes of them, but at least one.
    pub fn read(&self, range: &impl RangeBounds<u64>, bytes_max: usize) -> Vec<Hit> {
        let first = self.first().unwrap_or_default();
        let from = match range.start_bound() {
            Bound::Included(index) => *index,
            Bound::Excluded(index) => index + 1,
            Bound::Unbounded => 0,
        };
        let until = match range.end_bound() {
            Bound::Included(index) => index + 1,
            Bound::Excluded(index) => *index,
            Bound::Unbounded => u64::MAX,
        };
        let skip = from.saturating_sub(first) as usize;
        let wanted = self.slots.iter().skip(skip).take_while(|slot| slot.id.index < until);
        let mut bytes = 0;
        let fits = |slot: &&Slot| {
            let fits = bytes == 0 || bytes + slot.weight <= bytes_max;
            bytes += slot.weight;
            fits
        };
        wanted.take_while(fits).filter_map(Slot::hit).collect()
    }

    fn position(&self, index: u64) -> Option<usize> {
        let at = index.checked_sub(self.first()?)? as usize;
        (at < self.slots.len()).then_some(at)
    }

    /// Drops the oldest entries from memory that are on disk.
    fn shrink(&mut self) {
        while self.cached_bytes > self.cached_bytes_max {
            let Some(slot) = self.slots.get_mut(self.uncached) else { return };
            if slot.place.is_none() {
                return;
            }
            slot.entry = None;
            self.cached_bytes -= slot.weight;
            self.uncached += 1;
        }
    }
}

impl Slot {
    fn cached(&self) -> usize {
        if self.entry.is_some() { self.weight } else { 0 }
    }

    fn hit(&self) -> Option<Hit> {
        match &self.entry {
            Some(entry) => Some(Hit::Cached(LogEntry::clone(entry))),
            None => self.place.clone().map(Hit::OnDisk),
        }
    }
}
