//! Leader election: who leads.

pub mod any;
pub mod bully;
pub mod chang_roberts;
pub mod echo;
pub mod flood_max;
pub mod graph;
pub mod hirschberg_sinclair;
pub mod majority;
pub mod peterson;
pub mod rank;
pub mod ring;
mod why;
pub mod wireless;
pub mod yo_yo;
