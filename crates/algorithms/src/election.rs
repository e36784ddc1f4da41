//! Leader election: who leads.

pub mod chang_roberts;
pub mod hirschberg_sinclair;
pub mod peterson;
