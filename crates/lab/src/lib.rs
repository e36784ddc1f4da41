//! The lab: the one place where the catalogue of algorithms meets simulator, checker and network.
//!
//! An [`Experiment`] is an algorithm with its size and parameters. It can be run, checked, followed
//! through a counterexample, recorded and replayed, whatever the types of the algorithm.
//! [`machines`] makes the processes of a real node; [`recordings`] puts what real nodes wrote down
//! together into a run; [`compare`], [`scenarios`] and [`quorum`] are made of many runs,
//! [`timeout`] of none. What comes back are values, never printed text.
//!
//! ```
//! use conclave_lab::{Experiment, People};
//! use conclave_sim::Plan;
//!
//! let experiment = Experiment::new("ricart-agrawala", 7, &[], &People::default())?;
//! let outcome = experiment.run(&Plan::default(), &experiment.options(false))?;
//! assert_eq!(outcome.messages, 7 * 2 * 6); // 2(N - 1) for each of N entries.
//! # Ok::<(), conclave_lab::Error>(())
//! ```

pub mod cards;
pub mod compare;
pub mod documents;
mod drivers;
mod error;
mod experiment;
pub mod files;
pub mod lessons;
pub mod lock_table;
pub mod machines;
pub mod parallel;
pub mod player;
pub mod quorum;
pub mod recordings;
mod rows;
pub mod scenarios;
pub mod sim_flags;
#[cfg(feature = "stateright")]
pub mod stateright;
pub mod timeout;

pub use drivers::{Drivers, build as drivers};
pub use error::{Error, Usage};
pub use experiment::{Experiment, NODES_MAX, People};
pub use rows::{claims, find};
pub use sim_flags::SimFlags;
