//! The clock that leases run on.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time since the machine started, time asleep included: a lease goes on running while the
/// lid of a laptop is closed, and the monotonic clock does not.
pub fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}
