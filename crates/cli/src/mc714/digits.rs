//! The string of digits that goes from clock to clock, and how each clock keeps its time.
//!
//! The clock is the lab's [`Scalar`]: the same that `conclave sim lamport-clock` runs.

use crate::texts::help_of;
use clap::ValueEnum;
use conclave_algorithms::clock::lamport::{self, Scalar};

/// The longest string: what goes round in it takes two seconds for each.
pub const DIGITS_MAX: usize = 64;

/// What a clock does when it receives a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rule {
    #[value(help = help_of(
        "Goes one beyond a time that is not smaller than its own, as the original's code \
         does"
    ))]
    Code,
    #[value(help = help_of(
        "Goes one beyond a time that is greater than its own, as the original's report \
         says"
    ))]
    Report,
    #[value(help = help_of(
        "Goes one beyond the greater of the two, and gains one with every \
         sending"
    ))]
    Lamport,
}

impl Rule {
    /// A clock that begins at 0 and follows this rule.
    pub fn clock(self) -> Scalar {
        let rule = match self {
            Self::Code => lamport::Rule::Drift,
            Self::Report => lamport::Rule::Slip,
            Self::Lamport => lamport::Rule::Event,
        };
        Scalar::new(0, rule)
    }
}

/// Checks that each digit names one of `n` processes.
pub fn check(digits: &str, n: u32) -> Result<(), String> {
    let known = |digit: char| digit.to_digit(10).is_some_and(|id| (1..=n).contains(&id));
    if digits.len() > DIGITS_MAX {
        return Err(format!("takes at most {DIGITS_MAX} digits"));
    }
    match digits.chars().find(|&digit| !known(digit)) {
        Some(stranger) => {
            Err(format!("takes digits from 1 to {n}, the processes; {stranger:?} is none"))
        }
        None => Ok(()),
    }
}

/// Whose turn it is after the first digit, and the string as that process gets it.
pub fn next(digits: &str) -> Option<(u32, &str)> {
    let mut rest = digits.chars();
    rest.next()?;
    let rest = rest.as_str();
    Some((first(rest)?, rest))
}

/// Whose turn it is.
pub fn first(digits: &str) -> Option<u32> {
    digits.chars().next()?.to_digit(10)
}

#[cfg(test)]
mod tests;
