//! What the flags of `check` take.

use conclave_core::{Network, Timing};
use std::fmt;
use std::num::NonZeroUsize;

/// More nodes than this have more runs than anybody can look at.
const NODES_MAX: u32 = 64;
/// More of any fault than this, too.
const FAULTS_MAX: u32 = 1_000;

/// So often, or any number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times(pub Option<u32>);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(times) => write!(f, "{times}"),
            None => f.write_str("unlimited"),
        }
    }
}

pub fn nodes(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|nodes| (1..=NODES_MAX).contains(nodes));
    number.ok_or_else(|| format!("takes a whole number from 1 to {NODES_MAX}"))
}

pub fn small(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|faults| *faults <= FAULTS_MAX);
    number.ok_or_else(|| format!("takes a whole number from 0 to {FAULTS_MAX}"))
}

/// None at all would be no check.
pub fn some(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=FAULTS_MAX).contains(number));
    number.ok_or_else(|| format!("takes a whole number from 1 to {FAULTS_MAX}"))
}

pub fn times(text: &str) -> Result<Times, String> {
    if text == "unlimited" {
        return Ok(Times(None));
    }
    let accepted = |_| format!("takes a whole number from 0 to {FAULTS_MAX}, or unlimited");
    small(text).map(|times| Times(Some(times))).map_err(accepted)
}

pub fn depth(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|depth| *depth >= 1);
    number.ok_or_else(|| "takes a whole number from 1".to_string())
}

pub fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|threads: &NonZeroUsize| threads.get() <= 1_024);
    number.ok_or_else(|| "takes a whole number from 1 to 1024".to_string())
}

/// `20000`, `500k`, `50M`.
pub fn states(text: &str) -> Result<u64, String> {
    let units = [("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)];
    measured(text, &units).ok_or_else(|| "takes a number of states: 20000, 500k, 50M".to_string())
}

/// `512MiB`, `8GiB`.
pub fn memory(text: &str) -> Result<u64, String> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
    measured(text, &units).ok_or_else(|| "takes a size: 512MiB, 8GiB".to_string())
}

/// A number greater than 0, with a unit or without.
fn measured(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let of_unit = |&(unit, factor): &(&str, u64)| Some((text.strip_suffix(unit)?, factor));
    let (number, factor) = units.iter().find_map(of_unit).unwrap_or((text, 1));
    number.trim().parse::<u64>().ok()?.checked_mul(factor).filter(|&size| size > 0)
}

pub fn network(text: &str) -> Result<Network, String> {
    match text {
        "fifo" => Ok(Network::Fifo),
        "bag" => Ok(Network::Bag),
        _ => Err("takes fifo or bag".to_string()),
    }
}

pub fn network_name(network: Network) -> &'static str {
    match network {
        Network::Fifo => "fifo",
        Network::Bag => "bag",
    }
}

pub fn timing(text: &str) -> Result<Timing, String> {
    match text {
        "any" => Ok(Timing::AnyMoment),
        "synchronous" => Ok(Timing::Synchronous),
        _ => Err("takes any or synchronous".to_string()),
    }
}

pub fn timing_name(timing: Timing) -> &'static str {
    match timing {
        Timing::AnyMoment => "any",
        Timing::Synchronous => "synchronous",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(states("20000"), Ok(20_000));
        assert_eq!(states("50M"), Ok(50_000_000));
        assert_eq!(memory("8GiB"), Ok(8 << 30));
        assert_eq!(memory("1024"), Ok(1_024));
        for wrong in ["", "0", "M", "-1", "1e6", "99999999999999999999", "18446744073709551615k"] {
            assert!(states(wrong).is_err(), "{wrong}");
        }
        assert!(memory("8GB").is_err() && memory("0MiB").is_err());
    }

    #[test]
    fn some_things_may_happen_any_number_of_times() {
        assert_eq!(times("3"), Ok(Times(Some(3))));
        assert_eq!(times("unlimited"), Ok(Times(None)));
        assert!(times("-1").is_err() && times("many").is_err());
        assert_eq!(
            [Times(None), Times(Some(2))].map(|times| times.to_string()),
            ["unlimited", "2"]
        );
    }
}
