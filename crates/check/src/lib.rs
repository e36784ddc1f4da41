//! Looks at every run of a distributed algorithm within stated bounds.

mod checker;
mod cycles;
mod explorer;
mod found;
mod global;
mod graph;
mod intern;
mod judge;
mod local;
mod machine;
mod moves;
mod partial_order;
mod report;
mod retell;
mod search;
mod seen;
mod space;
mod state;
mod symmetry;
mod words;
mod workings;

pub use checker::Checkable;
pub use report::{Limits, Progress, Reduction, Report, Stop};
pub use words::{Ask, Explored, Family, Word};
