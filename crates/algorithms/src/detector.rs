//! Failure detectors: who seems to have crashed.

pub mod adaptive;
pub mod any;
pub mod heartbeat;
pub mod phi;
pub mod phi_accrual;
pub mod pulse;
mod why;
