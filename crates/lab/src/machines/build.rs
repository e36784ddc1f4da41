//! Machines without their types.

use super::made::{Hears, MachineVisitor, Made};
use conclave_algorithms::catalog::Cluster;
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::{NodeId, Process};
use conclave_net::{Automaton, Machine, Spoken};

/// One kind of machine.
pub struct Kind {
    /// Makes that of a node, with a seed for its choices.
    pub make: Box<dyn Fn(NodeId, u64) -> Box<dyn Automaton> + Send + Sync>,
    /// Of whom it is told.
    pub hears: Hears,
    /// Whether it says nothing unless it is asked.
    pub silent: bool,
}

/// Makes a kind of machine out of any algorithm.
pub struct Build;

impl Build {
    fn kind<P: Process<Provides: Spoken>>(made: Made<P>) -> Kind {
        let Made { cluster, survival, heard, hears } = made;
        let Cluster { fresh, silent, .. } = cluster;
        let make = move |me, seed| -> Box<dyn Automaton> {
            Box::new(Machine::new(me, fresh(me), survival, heard, seed))
        };
        Kind { make: Box::new(make), hears, silent }
    }
}

impl MachineVisitor for Build {
    type Output = Kind;

    fn lock<P: Process<Provides = Mutex>>(self, made: Made<P>) -> Kind {
        Self::kind(made)
    }

    fn election<P: Process<Provides = Election>>(self, made: Made<P>) -> Kind {
        Self::kind(made)
    }

    fn detector<P: Process<Provides = Detector>>(self, made: Made<P>) -> Kind {
        Self::kind(made)
    }
}
