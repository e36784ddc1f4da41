//! Advice on a scenario: what the calculators of timeouts and probabilities say of its setting.

use super::expect::{Check, compare};
use super::file::List;
use super::plan::no_files;
use super::{Expect, Scenario};
use crate::probability;
use crate::timeout_advice::Answers;
use serde::Deserialize;

/// How likely a quorum lets in two, if each coordinator forgets with this probability.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forgetting {
    /// That one coordinator forgets.
    probability: f64,
    /// That two are let in.
    violation: f64,
}

/// How long an answer is worth waiting for, at the latency of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patience {
    /// What it costs to give up too early.
    mistake: f64,
    /// What it costs to wait on.
    waiting: f64,
    /// So long, in units.
    timeout: f64,
}

impl Scenario {
    /// Asks the calculators, where something is expected of them.
    pub(super) fn advice(&self, checks: &mut Vec<Check>) {
        let Expect { forgetting, patience, .. } = &self.expect;
        if let Some(Forgetting { probability, violation }) = forgetting {
            let observed = match (self.number("coordinators"), self.number("votes")) {
                (Some(n), Some(m)) if m <= n && 2 * m > n => {
                    digits(probability::violation(n, m, *probability).as_float())
                }
                (_, _) => "set has no coordinators and votes".to_string(),
            };
            checks.push(compare("violation_probability", digits(*violation), observed));
        }
        if let Some(Patience { mistake, waiting, timeout }) = patience {
            let latency = self.file.latency.as_ref().map(List::text).unwrap_or_default();
            let observed = match Answers::parse(&latency, &no_files) {
                Ok(answers) => {
                    let first = answers.first_worth_stopping(*mistake, *waiting);
                    ((first * 1e3).round() / 1e3).to_string()
                }
                Err(error) => error.to_string(),
            };
            checks.push(compare("timeout", timeout, observed));
        }
    }

    fn number(&self, name: &str) -> Option<u32> {
        let set = self.set.iter().find(|(known, _)| known == name);
        set.and_then(|(_, value)| value.parse().ok())
    }
}

fn digits(number: f64) -> String {
    format!("{number:.10e}")
}
