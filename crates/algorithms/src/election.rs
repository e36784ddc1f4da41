//! Leader election: who leads.

pub mod any;
pub mod bully;
pub mod chang_roberts;
pub mod hirschberg_sinclair;
pub mod majority;
pub mod peterson;
pub mod ranking;
pub mod ring;
#[cfg(test)]
mod testbed;
