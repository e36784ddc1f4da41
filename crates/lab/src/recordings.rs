//! Recordings of the nodes of a real cluster, put together into one run of one of its machines.
//!
//! Each node wrote down what happened to it, by a clock of its own. [`Tapes`] are these files;
//! [`Post`] finds for every message that was received the one that was sent; [`Clocks`] sees which
//! clocks must have been behind; `merge` lays everything out in one order, and `retell` runs
//! every machine again, sees whether it does the same, judges the run and writes it down.
//!
//! Not everything is on a tape. What is not known is said in these words:
//!
//! | word         | what                                     | from when to when                  |
//! |--------------|------------------------------------------|------------------------------------|
//! | gap          | all that a node did                      | from one of its tapes to the next, |
//! |              |                                          | or before the first, or for ever   |
//! | unseen       | a message that others received           | sent in the gap where it fits      |
//! | out of sight | whether a machine waits, or is inside,   | until it shows by what it asks or  |
//! |              | when its node has gone through a gap     | is told next                       |
//!
//! Whatever lies outside of gaps must be as recorded.

mod alignment;
mod gaps;
pub mod judge;
mod machine;
mod merge;
mod post;
mod retell;
mod tape;

pub use alignment::Clocks;
pub use gaps::{Gap, MissingStarts};
pub use machine::{again, header, settings, survey, verify};
pub use merge::merge;
pub use post::{Difference, Post};
pub use retell::{Retold, Run};
pub use tape::{Place, Tape, Tapes};
