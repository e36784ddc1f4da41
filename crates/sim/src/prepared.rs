//! A run from outside: prepared, then run to its end.

use crate::error::Error;
use crate::outcome::Outcome;
use crate::plan::{Options, Plan};
use crate::simulator::Simulation;
use conclave_core::mutex::Mutex;
use conclave_core::{Cluster, Oracle, Process};

/// Runs a cluster by a plan, to the end.
pub fn run<P>(cluster: &Cluster<P>, plan: &Plan, options: &Options) -> Result<Outcome, Error>
where
    P: Process<Provides = Mutex>,
    P::Uses: Oracle,
{
    Ok(prepare(cluster, plan, options)?.run())
}

/// Everything up to the first event: the nodes built and started, the workload laid out.
pub fn prepare<'a, P>(
    cluster: &'a Cluster<P>,
    plan: &'a Plan,
    options: &Options,
) -> Result<Prepared<'a, P>, Error>
where
    P: Process<Provides = Mutex>,
    P::Uses: Oracle,
{
    let mut simulation = Simulation::new(cluster, plan, options)?;
    simulation.start();
    Ok(Prepared(simulation))
}

/// A run about to begin.
pub struct Prepared<'a, P: Process>(Simulation<'a, P>);

impl<P> Prepared<'_, P>
where
    P: Process<Provides = Mutex>,
    P::Uses: Oracle,
{
    /// How many events have been handled already: every node was started.
    pub fn events(&self) -> u64 {
        self.0.events
    }

    /// Runs to the end.
    pub fn run(mut self) -> Outcome {
        let ending = self.0.run_to_end();
        self.0.finish(ending)
    }
}
