//! Answers to whoever proposed a change or sent a keepalive, once it is known what came of it.

use crate::face::{Committed, NotProposed};
use crate::raft::network::node_id;
use crate::raft_types::TypeConfig;
use conclave_table::{Answer, Applied, Renewed};
use openraft::errors::ClientWriteError;
use openraft::raft::ClientWriteResult;
use tokio::sync::oneshot;

/// Who waits for the answer to a keepalive.
pub type Keepalive = oneshot::Sender<Result<Renewed, NotProposed>>;

/// What came of a change.
pub fn committed(result: ClientWriteResult<TypeConfig>) -> Result<Committed, NotProposed> {
    match result {
        Ok(written) => {
            let applied = written.data.unwrap_or(Applied { answer: Answer::Done, notices: vec![] });
            Ok(Committed { index: written.log_id.index, applied })
        }
        Err(ClientWriteError::ForwardToLeader(forward)) => {
            Err(NotProposed::NotLeader { leader: forward.leader_id.map(node_id) })
        }
        Err(
            ClientWriteError::LogEntryDiscarded(_)
            | ClientWriteError::ChangeMembershipError(_)
            | ClientWriteError::PreconditionFailed(_),
        ) => Err(NotProposed::Unknown),
    }
}

/// A batch of keepalives was applied, or not: only now is anybody told.
pub fn answer(done: Result<ClientWriteResult<TypeConfig>, ()>, waiting: Vec<Keepalive>) {
    let committed = done.map_err(|()| NotProposed::Unknown).and_then(committed);
    let renewed = committed.map(|committed| {
        let Answer::Renewed(renewed) = committed.applied.answer else { return Vec::new() };
        renewed
    });
    match renewed {
        Ok(renewed) => {
            for (answer, renewed) in waiting.into_iter().zip(renewed) {
                let _ = answer.send(Ok(renewed)); // Whoever asked may be gone.
            }
        }
        Err(refusal) => {
            for answer in waiting {
                let _ = answer.send(Err(refusal.clone()));
            }
        }
    }
}
