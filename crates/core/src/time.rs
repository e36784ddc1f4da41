//! Simulated time (ticks) and delays, as the drivers measure them. Algorithms only ever name
//! delays.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};

/// A moment or a span: 1,000 ticks are one unit, the time of one message; on a network, 1 ms.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Ticks(pub u64);

impl Ticks {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// One message time.
    pub const UNIT: Self = Self(1_000);

    /// So many message times.
    pub const fn units(units: u64) -> Self {
        Self(units * Self::UNIT.0)
    }

    /// This span in message times, for people.
    pub fn as_units(self) -> f64 {
        self.0 as f64 / Self::UNIT.0 as f64
    }

    /// A time as people type it: units with decimals (`2.5`), `250ms`, `3s`.
    pub fn parse(text: &str) -> Option<Self> {
        let (digits, scale) = match text {
            _ if text.ends_with("ms") => (&text[..text.len() - 2], 1_000.0),
            _ if text.ends_with('s') => (&text[..text.len() - 1], 1_000_000.0),
            _ => (text, 1_000.0),
        };
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value: f64 = digits.parse().ok().filter(|_| plain)?;
        let ticks = value * scale;
        (ticks < 1e15).then(|| Self(ticks.round() as u64))
    }

    /// The span since `earlier`, or none at all if that is later.
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Ticks {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Ticks {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_units())
    }
}

/// How long a timer runs: the driver picks a moment between the two, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delay {
    /// The soonest.
    pub min: Ticks,
    /// The latest.
    pub max: Ticks,
}

impl Delay {
    /// Exactly this long.
    pub const fn exactly(ticks: Ticks) -> Self {
        Self { min: ticks, max: ticks }
    }

    /// Somewhere between the two, both included.
    pub const fn between(min: Ticks, max: Ticks) -> Self {
        Self { min, max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_type_them() {
        assert_eq!(Ticks::parse("2"), Some(Ticks(2_000)));
        assert_eq!(Ticks::parse("2.5"), Some(Ticks(2_500)));
        assert_eq!(Ticks::parse("250ms"), Some(Ticks(250_000)));
        assert_eq!(Ticks::parse("3s"), Some(Ticks(3_000_000)));
        for wrong in ["", "-1", "ms", "1h", "NaN", "inf", "1e3", "99999999999999999"] {
            assert_eq!(Ticks::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn units_read_as_people_write_them() {
        assert_eq!(Ticks::units(3).to_string(), "3");
        assert_eq!(Ticks(1_500).to_string(), "1.5");
        assert_eq!(Ticks(1).since(Ticks(5)), Ticks::ZERO);
    }
}
