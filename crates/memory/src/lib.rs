//! The allocator of the binary: mimalloc, counting how much memory is in use if somebody wants to
//! know. It keeps what was taken at the busiest moment, unless it is told to give it back. A crate
//! of its own, for this is optimised: the binary is not.
#![allow(unsafe_code, reason = "an allocator of one's own is the only way to count exactly")]

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

struct Counting;

/// Whether anybody wants to know. Threads that allocate much would only be in each other's way.
static COUNTING: AtomicBool = AtomicBool::new(false);
/// Bytes asked for since counting began, less those given back, whoever asked for them.
static NOW: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grown(bytes: usize) {
    if COUNTING.load(Relaxed) {
        let bytes = bytes as isize;
        let now = NOW.fetch_add(bytes, Relaxed) + bytes;
        if now > MOST.load(Relaxed) {
            MOST.fetch_max(now, Relaxed);
        }
    }
}

fn shrunk(bytes: usize) {
    if COUNTING.load(Relaxed) {
        NOW.fetch_sub(bytes as isize, Relaxed);
    }
}

// SAFETY: every call goes to the allocator below unchanged; counting touches no heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller keeps the contract, which is the same below.
        unsafe { MiMalloc.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrunk(layout.size());
        // SAFETY: the pointer came from below by one of the calls here.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        shrunk(layout.size());
        grown(size);
        // SAFETY: as above.
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }
}

/// Bytes asked for at most, at any one time while `work` ran, beyond what was in use before.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    NOW.store(0, Relaxed);
    MOST.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    let result = work();
    COUNTING.store(false, Relaxed);
    (result, MOST.load(Relaxed).unsigned_abs())
}

/// Gives memory back to the system that nobody uses. To be called from time to time: by itself the
/// allocator does so only while somebody allocates.
pub fn give_back() {
    // SAFETY: it may be called at any time by any thread, and gives back only pages of which
    // nothing is allocated.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

/// Takes pages of the usual size only, from now on. With huge ones a process that needs little
/// takes three times as much, and a thousand clients keep two processors busy with making them
/// zero; and what was freed comes back only if all around it was. Processes inherit this: see
/// [`take_pages_as_before`].
pub fn take_small_pages() {
    SMALL_BEFORE.store(pages::are_small(), Relaxed);
    pages::set_small(true);
}

/// Takes back [`take_small_pages`]: for what computes much, and for what is to run as if this
/// program had not started it.
pub fn take_pages_as_before() {
    pages::set_small(SMALL_BEFORE.load(Relaxed));
}

/// Whether whoever started this process had chosen small pages for it.
static SMALL_BEFORE: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
mod pages {
    const PR_SET_THP_DISABLE: i32 = 41;
    const PR_GET_THP_DISABLE: i32 = 42;
    const NONE: usize = 0;

    unsafe extern "C" {
        fn prctl(option: i32, ...) -> i32;
    }

    pub fn are_small() -> bool {
        // SAFETY: it takes numbers.
        let are_small = unsafe { prctl(PR_GET_THP_DISABLE, NONE, NONE, NONE, NONE) };
        are_small == 1
    }

    pub fn set_small(small: bool) {
        // SAFETY: it takes numbers. Where the system does not know it, nothing changes.
        unsafe { prctl(PR_SET_THP_DISABLE, usize::from(small), NONE, NONE, NONE) };
    }
}

/// Other systems have no such pages, or do not give them unasked.
#[cfg(not(target_os = "linux"))]
mod pages {
    pub fn are_small() -> bool {
        false
    }

    pub fn set_small(_: bool) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_again_still_counts_towards_the_peak() {
        let ((), peak) = peak_of(|| drop(std::hint::black_box(vec![1_u8; 1 << 24])));
        assert!(peak >= 1 << 24, "{peak}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_nobody_uses_is_given_back() {
        take_small_pages();
        // Small pieces, and few of them stay.
        let mut pieces: Vec<Vec<u8>> = (0..400_000).map(|_| vec![1_u8; 100]).collect();
        let full = resident_pages();
        pieces.truncate(1_000);
        give_back();
        let left = resident_pages();
        assert!(left < full / 2, "{left} of {full} pages are left");
    }

    #[cfg(target_os = "linux")]
    fn resident_pages() -> usize {
        let sizes = std::fs::read_to_string("/proc/self/statm").expect("the system says it");
        sizes.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).expect("a number")
    }
}
