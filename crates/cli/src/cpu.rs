//! How much work of the processor something takes, on all cores together.

use rustix::time::{ClockId, clock_gettime};

/// What came of `work`, and how many seconds the whole process had a processor meanwhile: threads
/// that have ended, and what the system did for them, included.
pub fn seconds_of<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = used();
    let result = work();
    (result, used() - before)
}

/// For how many seconds this process has had a processor, all threads together.
pub fn used() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn threads_that_have_ended_count_and_sleep_does_not() {
        let busy = || {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
        };
        let ((), worked) = seconds_of(|| thread::spawn(busy).join().expect("it only spins"));
        assert!(worked > 0.001, "{worked}");
        let ((), slept) = seconds_of(|| thread::sleep(Duration::from_millis(1)));
        assert!(slept < 10.0, "{slept}");
    }
}
