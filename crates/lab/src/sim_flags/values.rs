//! What single flags take: of each the value, or in words what it takes.

use crate::NODES_MAX;
use conclave_core::Ticks;

/// `--nodes`.
pub fn nodes(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|nodes| (1..=NODES_MAX).contains(nodes));
    number.ok_or_else(|| format!("takes a whole number from 1 to {NODES_MAX}"))
}

/// `--rounds`.
pub fn rounds(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|rounds| *rounds >= 1);
    number.ok_or_else(|| "takes a whole number from 1".to_string())
}

/// `--seed`.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "takes a whole number from 0 to 2^64-1".to_string())
}

/// `--value`.
pub fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "takes a whole number".to_string())
}

/// A time.
pub fn ticks(text: &str) -> Result<Ticks, String> {
    Ticks::parse(text).ok_or_else(|| "takes a time in units (2.5), or 250ms, 3s".to_string())
}

/// A probability.
pub fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|probability| (0.0..=1.0).contains(probability));
    number.ok_or_else(|| "takes a probability from 0 to 1".to_string())
}
