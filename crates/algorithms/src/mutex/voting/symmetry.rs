//! Symmetry of voting: new names for its clients and coordinators.

use super::{Coordinator, Voting};
use crate::mutex::symmetry::{moved, renamed};
use conclave_core::Renaming;

/// The state of a node in which all others go by new names; coordinators must be apart. A node
/// knows the seats that answered it, and a coordinator its clients.
pub fn rename(node: &Voting, names: &Renaming) -> Voting {
    let coordinator = |it: &Coordinator| {
        let vote = it.vote.map(|(client, attempt)| (names.clients[client.index()], attempt));
        Coordinator { vote, done: moved(&it.done, &names.clients), fence: it.fence }
    };
    Voting {
        ok: renamed(&node.ok, &names.coordinators),
        nok: renamed(&node.nok, &names.coordinators),
        coordinator: node.coordinator.as_deref().map(coordinator).map(Box::new),
        ..node.clone()
    }
}
