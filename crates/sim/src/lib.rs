//! A discrete-event simulator: runs a distributed algorithm in simulated time, with fault
//! injection, and judges the run.
//!
//! A [`Plan`] says all that is to happen; the same plan always gives the same [`Outcome`], on every
//! machine.

mod asked;
mod decisions;
mod error;
mod event;
mod flags;
mod floor;
mod follow;
mod metrics;
mod network;
mod observers;
mod oracle;
mod outcome;
pub mod parse;
mod patience;
mod plan;
pub mod probability;
mod random;
mod registration;
mod replayed_choices;
mod runnable;
mod scenario;
mod shrink;
mod simulator;
mod slow_path;
mod sparse;
mod story;
mod sweep;
mod timeout_advice;
mod timers;
#[cfg(test)]
mod toys;
pub mod trace;
mod validate;
mod vector_stamps;
mod wheel;
mod workload;
mod world;

pub use decisions::Decisions;
pub use error::Error;
pub use flags::{flags, quoted};
pub use floor::Shape;
pub use follow::Retold;
pub use metrics::{Entry, Summary};
pub use oracle::listens;
pub use outcome::{Ending, Outcome, Times};
pub use parse::Names;
pub use patience::Patience;
pub use plan::{Act, Action, Fault, Latency, MessageRule, Options, Plan, ScriptLine, Workload};
pub use random::Stream;
pub use runnable::{Prepared, Runnable};
pub use scenario::{Check, Draft, Expect, Mistakes, Scenario, Text};
pub use shrink::{Shrunk, shrink};
pub use story::Line;
pub use sweep::{Sweep, sweep};
pub use timeout_advice::Answers;
pub use workload::{
    Entering, Exercised, Findings, Keeping, Leading, Reading, Refused, Shared, Watching,
};
