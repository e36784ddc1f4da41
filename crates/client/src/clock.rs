//! The clock that leases run on: monotonic, and it counts the time asleep.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The time since the machine started, time asleep included: a lease goes on running while the
/// lid of a laptop is closed, and the monotonic clock does not.
pub fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// Waits are measured by the clock that stands still while the machine is asleep. So none is longer
/// than this: soon after the machine woke up, whoever waits looks at the right clock again.
const NAP_MAX: Duration = Duration::from_secs(1);

/// How long to wait at once for something that is this far away.
pub fn nap(span: Duration) -> Duration {
    span.min(NAP_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_long_without_a_look_at_the_clock() {
        assert_eq!(nap(Duration::from_secs(3_600)), NAP_MAX);
        assert_eq!(nap(Duration::from_millis(20)), Duration::from_millis(20));
    }
}
