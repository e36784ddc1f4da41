//! The drivers of one algorithm, without its types: whatever the catalogue builds can be simulated,
//! and, if it is a lock or an election, checked.
//!
//! This is the one place where simulator and checker are compiled for an algorithm.

use crate::lock_table;
use conclave_algorithms::catalog::{self, Cluster, Setting, Visitor};
use conclave_check::Checkable;
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{Oracle, Process};
use conclave_sim::Runnable;
use std::sync::Arc;

/// The cluster of some algorithm, as each driver sees it.
pub struct Drivers {
    /// One run at a time.
    pub simulator: Arc<dyn Runnable>,
    /// All runs, if there is a law by which all can be judged.
    pub checker: Option<Arc<dyn Checkable>>,
}

/// Builds the algorithm of a setting.
pub fn build(setting: &Setting) -> Result<Drivers, conclave_algorithms::Error> {
    if setting.entry.id == lock_table::ENTRY.id {
        return Ok(Erase.mutex(lock_table::cluster(setting)));
    }
    catalog::visit(setting, Erase)
}

/// Takes a cluster its types away.
struct Erase;

impl Visitor for Erase {
    type Output = Drivers;

    fn mutex<P>(self, cluster: Cluster<P>) -> Drivers
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        let cluster = Arc::new(cluster);
        Drivers { simulator: cluster.clone(), checker: Some(cluster) }
    }

    fn election<P>(self, cluster: Cluster<P>) -> Drivers
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        let cluster = Arc::new(cluster);
        Drivers { simulator: cluster.clone(), checker: Some(cluster) }
    }

    fn detector<P>(self, cluster: Cluster<P>) -> Drivers
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        Drivers { simulator: Arc::new(cluster), checker: None }
    }

    fn clock<P>(self, cluster: Cluster<P>) -> Drivers
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        Drivers { simulator: Arc::new(cluster), checker: None }
    }
}
