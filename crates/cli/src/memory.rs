//! How much memory is in use: the system's allocator, counting.
#![allow(unsafe_code, reason = "an allocator of one's own is the only way to count exactly")]

use std::alloc::{GlobalAlloc, Layout, System};
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
        MOST.fetch_max(now, Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_again_still_counts_towards_the_peak() {
        let ((), peak) = peak_of(|| drop(std::hint::black_box(vec![1_u8; 1 << 24])));
        assert!(peak >= 1 << 24, "{peak}");
    }
}
