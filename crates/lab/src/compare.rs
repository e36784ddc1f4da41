//! Comparison: all algorithms side by side, what they cost and what faults do to them, measured in
//! runs.

mod conditions;
pub mod elections;
mod estimate;
pub mod faults;
pub mod measure;

pub use conditions::Conditions;
pub use estimate::Estimate;

use conclave_algorithms::catalog::Entry;

/// An algorithm that was not run with so many nodes.
#[derive(Clone, Debug)]
pub struct Omitted {
    /// Which.
    pub entry: &'static Entry,
    /// How many.
    pub nodes: u32,
    /// Why.
    pub why: Why,
}

/// Why an algorithm was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// So many quorums take too long to lay out.
    Quorums,
    /// About so many messages would be sent when all ask at once.
    MessagesAbout(u64),
    /// At least so many messages would be sent.
    MessagesAtLeast(u64),
    /// Everybody who could be elected is dead.
    NobodyLeft,
    /// It does not run with so many nodes at all.
    Unfit(String),
}
