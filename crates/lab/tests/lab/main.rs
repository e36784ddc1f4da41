//! The catalogue held against the drivers: conformance in simulated runs, the claims in all runs,
//! and the scenarios.

mod assumptions;
mod claims;
mod conformance;
mod scenarios;

use conclave_algorithms::catalog::Setting;
use conclave_sim::Runnable;
use std::sync::Arc;

/// Builds the nodes of a setting, for the simulator.
fn cluster(setting: &Setting) -> Result<Arc<dyn Runnable>, conclave_algorithms::Error> {
    conclave_lab::drivers(setting).map(|drivers| drivers.simulator)
}
