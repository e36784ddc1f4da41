//! Symmetry of the quorum algorithm: new names for its clients and coordinators.

use super::{Coordinator, Quorum};
use crate::mutex::symmetry::renamed;
use conclave_core::Renaming;

/// The state of a node in which all others go by new names; coordinators must be apart. A node
/// knows the seats that let it in, and a coordinator its clients.
pub fn rename(node: &Quorum, names: &Renaming) -> Quorum {
    let coordinator =
        |it: &Coordinator| Coordinator { desk: it.desk.renamed(&names.clients), fence: it.fence };
    Quorum {
        grants: renamed(&node.grants, &names.coordinators),
        coordinator: node.coordinator.as_deref().map(coordinator).map(Box::new),
        ..node.clone()
    }
}
