//! The clock that leases run on: monotonic, it counts the time asleep, and nobody can slow it down.

use rustix::time::{ClockId, clock_gettime};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The time since the machine started, by the quicker of two clocks: one counts the time asleep (a
/// lease goes on running while the lid of a laptop is closed), and the other is not slewed while
/// the time of day is set right.
pub fn since_boot() -> Duration {
    static CLOCK: Mutex<Option<Quicker>> = Mutex::new(None);
    let boot = read(ClockId::Boottime);
    let raw = read(ClockId::MonotonicRaw);
    let mut clock = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    clock.get_or_insert(Quicker { now: boot, boot, raw }).advance(boot, raw)
}

fn read(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// Two clocks, of which the quicker counts, from each look to the next. So between any two looks at
/// least as much time passes as by either of them.
#[derive(Debug)]
struct Quicker {
    now: Duration,
    boot: Duration,
    raw: Duration,
}

impl Quicker {
    /// Both clocks were read. A thread may come with older readings than another brought before.
    fn advance(&mut self, boot: Duration, raw: Duration) -> Duration {
        let passed = boot.saturating_sub(self.boot).max(raw.saturating_sub(self.raw));
        self.boot = self.boot.max(boot);
        self.raw = self.raw.max(raw);
        self.now += passed;
        self.now
    }
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

    #[test]
    fn of_two_clocks_the_quicker_counts_from_look_to_look() {
        let at = Duration::from_secs;
        let mut clock = Quicker { now: at(100), boot: at(100), raw: at(50) };
        assert_eq!(clock.advance(at(110), at(55)), at(110), "asleep for a while");
        assert_eq!(clock.advance(at(112), at(60)), at(115), "slewed down");
        assert_eq!(clock.advance(at(111), at(59)), at(115), "an older look");
    }
}
