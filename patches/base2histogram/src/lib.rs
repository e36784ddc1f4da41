//! A histogram of powers of two, with as much of an interface as openraft uses: see the README one
//! folder up.
//!
//! ```
//! let mut sizes = base2histogram::Histogram::new();
//! sizes.record(3);
//! sizes.record_n(100, 9);
//! assert_eq!(sizes.percentile_stats().samples, 10);
//! assert_eq!(sizes.percentile_stats().p50, 64, "where its bucket begins");
//! ```

use std::fmt;
use std::marker::PhantomData;

/// One for zero, and one for each length in bits.
const BUCKETS: usize = 65;

/// How often numbers of about a size were seen: those with as many bits count as one. Its users
/// name a type, which means nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram<T = ()> {
    counts: [u64; BUCKETS],
    named: PhantomData<T>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self { counts: [0; BUCKETS], named: PhantomData }
    }

    /// Counts a number.
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts a number so many times.
    pub fn record_n(&mut self, value: u64, times: u64) {
        let bits = u64::BITS - value.leading_zeros();
        let count = &mut self.counts[bits as usize];
        *count = count.saturating_add(times);
    }

    /// How large they were.
    pub fn percentile_stats(&self) -> PercentileStats {
        let samples = self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let at = |permille: u64| self.at(samples, permille);
        PercentileStats {
            samples,
            p0_1: at(1),
            p1: at(10),
            p5: at(50),
            p10: at(100),
            p50: at(500),
            p90: at(900),
            p99: at(990),
            p99_9: at(999),
        }
    }

    /// Where the bucket begins in which so many of a thousand have been counted.
    fn at(&self, samples: u64, permille: u64) -> u64 {
        let wanted = (u128::from(samples) * u128::from(permille)).div_ceil(1_000).max(1);
        let mut seen = 0;
        for (bits, count) in self.counts.iter().enumerate() {
            seen += u128::from(*count);
            if seen >= wanted {
                return if bits == 0 { 0 } else { 1 << (bits - 1) };
            }
        }
        0 // There are none.
    }
}

/// Which part of the numbers was below what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PercentileStats {
    /// How many numbers there were.
    pub samples: u64,
    /// 0.1 % of them are no larger.
    pub p0_1: u64,
    /// 1 % of them are no larger.
    pub p1: u64,
    /// 5 % of them are no larger.
    pub p5: u64,
    /// 10 % of them are no larger.
    pub p10: u64,
    /// Half of them are no larger.
    pub p50: u64,
    /// 90 % of them are no larger.
    pub p90: u64,
    /// 99 % of them are no larger.
    pub p99: u64,
    /// 99.9 % of them are no larger.
    pub p99_9: u64,
}

impl fmt::Display for PercentileStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, p50, p90, p99, .. } = self;
        write!(f, "n={samples} p50={p50} p90={p90} p99={p99}")
    }
}

/// Several histograms under each other, in words.
#[derive(Clone, Debug, Default)]
pub struct AsciiChart {
    rows: Vec<(String, Histogram)>,
}

impl AsciiChart {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more row.
    #[allow(clippy::should_implement_trait, reason = "it is called so by its user")]
    pub fn add(mut self, name: impl ToString, row: Histogram) -> Self {
        self.rows.push((name.to_string(), row));
        self
    }
}

impl fmt::Display for AsciiChart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, row) in &self.rows {
            writeln!(f, "{name}: {}", row.percentile_stats())?;
        }
        Ok(())
    }
}
