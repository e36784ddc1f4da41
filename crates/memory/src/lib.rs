//! The allocator of the binary: the system's, counting how much memory is in use. It keeps what was
//! taken at the busiest moment, unless it is told to give it back. A crate of its own, for this is
//! optimised: the binary is not.
#![allow(unsafe_code, reason = "an allocator of one's own is the only way to count exactly")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

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

// SAFETY: every call goes to the system's allocator unchanged; counting touches no heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller keeps the contract, which is the system's own.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrunk(layout.size());
        // SAFETY: the pointer came from the system by one of the calls here.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        shrunk(layout.size());
        grown(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
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

/// Memory that is kept though nobody uses it: so much is no matter.
const IDLE: usize = 8 << 20;
/// What the system counts in.
const PAGE: usize = 4 << 10;
/// What could not be given back: pages of which a little is in use.
static STUCK: AtomicUsize = AtomicUsize::new(0);

/// Counts from now on, for [`give_back`].
pub fn count() {
    COUNTING.store(true, Relaxed);
}

/// Gives memory back to the system that nobody uses, if it is much, and more than could not be
/// given back before. To be called from time to time, after [`count`].
pub fn give_back() {
    let idle = idle_bytes();
    let stuck = STUCK.load(Relaxed).min(idle);
    if idle > stuck + IDLE {
        trim();
        STUCK.store(idle_bytes(), Relaxed);
    } else {
        STUCK.store(stuck, Relaxed);
    }
}

/// What this process has and nobody uses, what the allocator itself needs included.
fn idle_bytes() -> usize {
    let used = NOW.load(Relaxed).max(0).unsigned_abs();
    own_bytes().map_or(0, |own| own.saturating_sub(used))
}

/// What this process has in memory, but for what it shares with its file and with others.
fn own_bytes() -> Option<usize> {
    let sizes = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = sizes.split_whitespace().skip(1).map_while(|size| size.parse::<usize>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * PAGE)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: it takes a number, may be called at any time by any thread, and gives back only pages
    // of which nothing is allocated.
    unsafe { malloc_trim(0) };
}

/// Other systems' allocators are left to themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_again_still_counts_towards_the_peak() {
        let ((), peak) = peak_of(|| drop(std::hint::black_box(vec![1_u8; 1 << 24])));
        assert!(peak >= 1 << 24, "{peak}");
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn what_nobody_uses_is_given_back() {
        // Small pieces, every one between two others: the allocator keeps all of them.
        let pieces: Vec<Vec<u8>> = (0..400_000).map(|_| vec![1_u8; 100]).collect();
        let full = own_bytes().expect("the system says it");
        let kept: Vec<Vec<u8>> = pieces.into_iter().step_by(1_000).collect();
        give_back();
        let left = own_bytes().expect("the system says it");
        assert!(left + (20 << 20) < full, "{left} of {full} bytes, and {} pieces", kept.len());
    }
}
