//! The catalogue held against the drivers: conformance in simulated runs, the claims in all runs,
//! the scenarios. And the rest of the lab, by way of its interface.

mod assumptions;
mod claims;
mod compare;
mod conformance;
mod machines;
mod normal;
mod parallel;
mod player;
mod quorum;
mod recordings;
mod scenarios;
mod timeout;

use conclave_algorithms::catalog::Setting;
use conclave_sim::Runnable;
use std::sync::Arc;

/// Builds the nodes of a setting, for the simulator.
fn cluster(setting: &Setting) -> Result<Arc<dyn Runnable>, conclave_algorithms::Error> {
    conclave_lab::drivers(setting).map(|drivers| drivers.simulator)
}
