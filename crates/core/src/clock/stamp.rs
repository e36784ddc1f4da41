//! Timestamps: the logical time of an event, whichever clock told it.

use super::{Hybrid, Matrix, Vector};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

/// The time of an event, whichever clock told it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Time {
    /// Lamport's.
    Scalar(u64),
    /// A vector clock's.
    Vector(Vector),
    /// A matrix clock's.
    Matrix(Box<Matrix>),
    /// A hybrid clock's.
    Hybrid(Hybrid),
}

/// `None` where the clock calls the two concurrent, or where they are of different clocks.
impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Scalar(a), Self::Scalar(b)) => Some(a.cmp(b)),
            (Self::Vector(a), Self::Vector(b)) => a.partial_cmp(b),
            (Self::Matrix(a), Self::Matrix(b)) => a.partial_cmp(b),
            (Self::Hybrid(a), Self::Hybrid(b)) => Some(a.cmp(b)),
            (Self::Scalar(_) | Self::Vector(_) | Self::Matrix(_) | Self::Hybrid(_), _) => None,
        }
    }
}

impl From<u64> for Time {
    fn from(time: u64) -> Self {
        Self::Scalar(time)
    }
}

impl From<Vector> for Time {
    fn from(time: Vector) -> Self {
        Self::Vector(time)
    }
}

impl From<Matrix> for Time {
    fn from(time: Matrix) -> Self {
        Self::Matrix(Box::new(time))
    }
}

impl From<Hybrid> for Time {
    fn from(time: Hybrid) -> Self {
        Self::Hybrid(time)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(time) => time.fmt(f),
            Self::Vector(time) => time.fmt(f),
            Self::Matrix(time) => time.fmt(f),
            Self::Hybrid(time) => time.fmt(f),
        }
    }
}

/// Why the time on a message is not believed. The clock that refuses it stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// It is beyond [`super::LIMIT`], or of a cluster of another size.
    Absurd,
    /// It is further ahead of the physical clock than clocks here can be apart.
    TooFarAhead,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Absurd => "no clock can read that",
            Self::TooFarAhead => "too far ahead of the physical clock",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_different_clocks_have_no_order() {
        let vector = Time::Vector(Vector::new(2));
        assert_eq!(Time::Scalar(1).partial_cmp(&vector), None);
        assert_eq!(vector.partial_cmp(&vector), Some(Ordering::Equal));
        assert!(Time::Scalar(1) < Time::Scalar(2));
        assert!(Time::Hybrid(Hybrid::new(3, 1)) > Time::Hybrid(Hybrid::new(3, 0)));
    }

    #[test]
    fn times_read_as_they_are_written_on_paper() {
        assert_eq!(Time::Scalar(7).to_string(), "7");
        assert_eq!(Time::Vector(Vector::new(2)).to_string(), "[0,0]");
        assert_eq!(Time::Matrix(Box::new(Matrix::new(2))).to_string(), "[0,0 0,0]");
        assert_eq!(Time::Hybrid(Hybrid::new(10, 2)).to_string(), "(10,2)");
    }
}
