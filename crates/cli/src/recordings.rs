//! Recordings of the nodes of a real cluster, put together into one run of one of its machines.
//!
//! Each node wrote down what happened to it, by a clock of its own. [`Tapes`] are these files;
//! [`Post`] finds for every message that was received the one that was sent; [`Clocks`] sees which
//! clocks must have been behind; `merge` lays everything out in one order, and `retell` runs
//! every machine again, sees whether it does the same, judges the run and writes it down.

mod alignment;
mod judge;
mod machine;
mod merge;
mod post;
mod retell;
mod tape;

pub use alignment::Clocks;
pub use machine::{again, header, settings, verify};
pub use merge::merge;
pub use post::{Difference, Post};
pub use retell::{Retold, Run};
pub use tape::{Place, Tape, Tapes};
