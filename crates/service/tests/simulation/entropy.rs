//! Entropy: what the standard library draws from the system, from a seed instead.
//!
//! Tokio wakes the watchers of a value in a random order, and has its chance from the keys of the
//! standard library's hash maps. Those come from `getrandom`, a weak symbol that is there to be
//! replaced. Tokio counts how often it drew, too: so each seed has a process of its own.

use rustix::rand::{GetRandomFlags, getrandom as system};
use std::sync::atomic::{AtomicU64, Ordering};

/// None yet: the system's.
static STATE: AtomicU64 = AtomicU64::new(0);

/// From now on, all threads that begin draw from this seed.
pub fn seed_process(seed: u64) {
    STATE.store(seed | 1 << 63, Ordering::SeqCst);
}

/// Instead of the function of that name in the C library.
///
/// # Safety
/// As that one: there are so many bytes at `bytes`, to be written to.
#[allow(unsafe_code)] // There is no other way to be asked instead of the system.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(bytes: *mut u8, length: usize, _flags: u32) -> isize {
    // SAFETY: the caller says so.
    let bytes = unsafe { std::slice::from_raw_parts_mut(bytes, length) };
    if STATE.load(Ordering::SeqCst) == 0 {
        return system(bytes, GetRandomFlags::empty()).map_or(-1, |drawn| drawn as isize);
    }
    for byte in bytes {
        let state =
            STATE.load(Ordering::SeqCst).wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        STATE.store(state | 1 << 63, Ordering::SeqCst);
        *byte = (state >> 40) as u8;
    }
    length as isize
}
