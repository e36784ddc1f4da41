//! Flags as they were typed, to be typed again.

use conclave_sim::quoted;
use std::fmt::Display;

/// A flag that may have been given.
pub fn one(typed: &mut Vec<String>, flag: &str, value: &Option<impl Display>) {
    typed.extend(value.iter().map(|value| format!("{flag} {}", quoted(&value.to_string()))));
}

/// A flag that may have been given more than once.
pub fn many(typed: &mut Vec<String>, flag: &str, values: &[String]) {
    typed.extend(values.iter().map(|value| format!("{flag} {}", quoted(value))));
}

/// A flag that is on or off.
pub fn flag(typed: &mut Vec<String>, flag: &str, on: bool) {
    typed.extend(on.then(|| flag.to_string()));
}
