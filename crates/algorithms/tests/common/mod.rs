//! Any algorithm of the catalogue, ready to be run by the simulator.

use conclave_algorithms::catalog::{self, Cluster, Setting, Visitor};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{Oracle, Process};
use conclave_sim::Runnable;

/// Builds the nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Box<dyn Runnable>, conclave_algorithms::Error> {
    catalog::visit(setting, Boxed)
}

struct Boxed;

impl Visitor for Boxed {
    type Output = Box<dyn Runnable>;

    fn mutex<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        Box::new(cluster)
    }

    fn election<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        Box::new(cluster)
    }
    fn detector<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        Box::new(cluster)
    }

    fn clock<P>(self, cluster: Cluster<P>) -> Box<dyn Runnable>
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        Box::new(cluster)
    }
}
