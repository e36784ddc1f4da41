//! The course of a measurement: when it ends, and the judge of mutual exclusion and of fences, who
//! sees all clients because they share one thread.

use std::cell::Cell;
use std::time::Instant;

/// What all clients of one measurement share.
#[derive(Debug, Default)]
pub struct Course {
    stopped: Cell<Option<Instant>>,
    aborted: Cell<bool>,
    inside: Cell<u32>,
    overlaps: Cell<u64>,
    falls: Cell<u64>,
    handoffs: Cell<u64>,
    last: Cell<Option<(usize, Option<u64>)>>,
    /// From when on somebody wants to know of the next grant, and when it came.
    awaited: Cell<bool>,
    came: Cell<Option<Instant>>,
}

impl Course {
    /// Nothing counts from now on. Clients finish what they have begun.
    pub fn stop(&self) {
        self.stopped.set(self.stopped.get().or(Some(Instant::now())));
    }

    /// Nobody tries again what failed, either.
    pub fn abort(&self) {
        self.stop();
        self.aborted.set(true);
    }

    /// Asks for the time of the next grant, whoever gets it.
    pub fn await_grant(&self) {
        self.came.set(None);
        self.awaited.set(true);
    }

    /// When the grant came that was asked for.
    pub fn granted_at(&self) -> Option<Instant> {
        self.came.get()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.get().is_some()
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.aborted.get()
    }

    pub(crate) fn stopped_at(&self) -> Option<Instant> {
        self.stopped.get()
    }

    /// A client has heard of its grant. With `one_lock` nobody else may be inside.
    pub(crate) fn enters(&self, client: usize, fence: Option<u64>, one_lock: bool) {
        if self.awaited.replace(false) {
            self.came.set(Some(Instant::now()));
        }
        let inside = self.inside.replace(self.inside.get() + 1);
        if !one_lock {
            return;
        }
        add(&self.overlaps, inside > 0);
        if let Some((before, latest)) = self.last.replace(Some((client, fence))) {
            add(&self.handoffs, before != client && !self.is_stopped());
            add(&self.falls, fence.zip(latest).is_some_and(|(fence, latest)| fence <= latest));
        }
    }

    /// A client is about to ask for its release.
    pub(crate) fn leaves(&self) {
        self.inside.set(self.inside.get() - 1);
    }

    /// Entries while another was inside.
    pub(crate) fn overlaps(&self) -> u64 {
        self.overlaps.get()
    }

    /// Entries with a fence that was not larger than the one before.
    pub(crate) fn falls(&self) -> u64 {
        self.falls.get()
    }

    /// Entries after one of another client.
    pub(crate) fn handoffs(&self) -> u64 {
        self.handoffs.get()
    }
}

fn add(count: &Cell<u64>, happened: bool) {
    count.set(count.get() + u64::from(happened));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_inside_are_an_overlap_and_an_equal_fence_is_a_fall() {
        let course = Course::default();
        course.enters(0, Some(5), true);
        course.leaves();
        course.enters(1, Some(7), true);
        course.enters(0, Some(7), true);
        assert_eq!((course.overlaps(), course.falls(), course.handoffs()), (1, 1, 2));
    }

    #[test]
    fn clients_with_locks_of_their_own_may_be_inside_together() {
        let course = Course::default();
        course.enters(0, Some(5), false);
        course.enters(1, Some(5), false);
        assert_eq!((course.overlaps(), course.falls(), course.handoffs()), (0, 0, 0));
    }

    #[test]
    fn a_grant_is_told_of_once_it_is_asked_for() {
        let course = Course::default();
        course.enters(0, None, true);
        course.leaves();
        course.await_grant();
        assert!(course.granted_at().is_none(), "the earlier one does not count");
        course.enters(0, None, true);
        assert!(course.granted_at().is_some());
    }
}
