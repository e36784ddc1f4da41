//! Histograms of durations, for a monitoring system: to count one takes three atomic additions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper ends of the buckets, in microseconds: a tenth of a millisecond to a minute.
const BUCKETS: [u64; 18] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000, 60_000_000,
];

/// How long something took, each time, in buckets.
#[derive(Debug, Default)]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS.len()],
    /// Beyond the last bucket.
    longer: AtomicU64,
    sum_us: AtomicU64,
}

/// A histogram as it was at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    /// The upper end of each bucket in seconds, and how many took no longer than that.
    pub within: Vec<(f64, u64)>,
    /// How many there were.
    pub count: u64,
    /// How long all took together, in seconds.
    pub sum: f64,
}

impl Histogram {
    /// It took so long.
    pub fn observe(&self, took: Duration) {
        let us = took.as_micros() as u64;
        let bucket = BUCKETS.partition_point(|end| *end < us);
        self.counts.get(bucket).unwrap_or(&self.longer).fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    /// As it is now. It may be counted meanwhile: no count is below that of a shorter time.
    pub fn read(&self) -> Durations {
        let mut count = 0;
        let mut up_to = |(end, counted): (&u64, &AtomicU64)| {
            count += counted.load(Ordering::Relaxed);
            (*end as f64 / 1e6, count)
        };
        let within = BUCKETS.iter().zip(&self.counts).map(&mut up_to).collect();
        let count = count + self.longer.load(Ordering::Relaxed);
        Durations { within, count, sum: self.sum_us.load(Ordering::Relaxed) as f64 / 1e6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_counts_in_its_bucket_and_in_all_above() {
        let histogram = Histogram::default();
        for us in [100, 101, 70_000_000] {
            histogram.observe(Duration::from_micros(us));
        }
        let read = histogram.read();
        assert_eq!(read.within[..2], [(0.000_1, 1), (0.000_25, 2)]);
        assert_eq!(read.within.last(), Some(&(60.0, 2)));
        assert_eq!((read.count, read.sum), (3, 70.000_201));
    }
}
