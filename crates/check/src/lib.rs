//! Looks at every run of a distributed algorithm within stated bounds.

mod report;

pub use report::{Limits, Progress, Reduction, Report, Stop};

use conclave_core::Bounds;

/// The cluster of some algorithm, whatever its types, all of whose runs can be looked at.
pub trait Checkable: Send + Sync {
    /// Looks at every run within the bounds, as far as the limits let it.
    fn check(
        &self,
        bounds: &Bounds,
        limits: &Limits,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Report;
}
