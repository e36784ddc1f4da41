//! A coordinator of the voting algorithm: one vote, lent to one try of one client at a time.

use super::Message;
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};

/// The state of one coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Coordinator {
    /// Who has the vote, and for which try.
    pub(super) vote: Option<(NodeId, u32)>,
    /// Per client, the last try known to be over.
    pub(super) done: Vec<u32>,
    /// The largest fence it was told of.
    pub(super) fence: u64,
}

impl Coordinator {
    /// With its vote free, for so many clients.
    pub(super) fn new(clients: u32) -> Self {
        Self { vote: None, done: vec![0; clients as usize], fence: 0 }
    }

    /// A client asks for the vote; the answer, if it deserves one.
    pub(super) fn on_req(&mut self, from: NodeId, attempt: u32) -> Option<Message> {
        let done = &mut self.done[from.index()];
        if attempt <= *done {
            return None; // Its own return, or a later try, overtook it.
        }
        *done = attempt - 1;
        if self.vote.is_some_and(|(client, _)| client != from) {
            return Some(Message::Nok { attempt });
        }
        // In place of its own older try, if any: only a return, which carries the fence, frees it.
        self.vote = Some((from, attempt));
        Some(Message::Ok { attempt, fence: self.fence })
    }

    /// A client returns the vote of this try and of all before it. The fence comes first, so that
    /// nobody gets the vote without it; a vote for a later try stays.
    pub(super) fn on_rel(&mut self, from: NodeId, attempt: u32, fence: u64) {
        self.fence = self.fence.max(fence);
        let done = &mut self.done[from.index()];
        *done = (*done).max(attempt);
        if self.vote.is_some_and(|(client, voted)| client == from && voted <= attempt) {
            self.vote = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    #[test]
    fn a_coordinator_has_one_vote_and_refuses_while_it_is_out() {
        let mut coordinator = Coordinator::new(2);
        let ok = Message::Ok { attempt: 1, fence: 0 };
        assert_eq!(coordinator.on_req(A, 1), Some(ok));
        assert_eq!(coordinator.on_req(A, 1), Some(ok), "repeated");
        assert_eq!(coordinator.on_req(B, 1), Some(Message::Nok { attempt: 1 }));
    }

    #[test]
    fn a_newer_try_of_the_same_client_takes_the_vote_over() {
        let mut coordinator = Coordinator::new(2);
        coordinator.on_req(A, 1);
        assert_eq!(coordinator.on_req(A, 3), Some(Message::Ok { attempt: 3, fence: 0 }));
        assert_eq!(coordinator.on_req(A, 2), None, "overtaken");
        coordinator.on_rel(A, 1, 0);
        assert_eq!(coordinator.on_req(B, 2), Some(Message::Nok { attempt: 2 }));
    }

    #[test]
    fn the_vote_is_free_again_once_its_fence_is_known() {
        let mut coordinator = Coordinator::new(2);
        coordinator.on_req(A, 1);
        coordinator.on_rel(A, 1, 8);
        assert_eq!(coordinator.on_req(A, 1), None, "over");
        assert_eq!(coordinator.on_req(B, 3), Some(Message::Ok { attempt: 3, fence: 8 }));
    }
}
