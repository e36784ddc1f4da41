//! Messages between the replicas of a cluster, and how they look on the wire.
//!
//! Each begins with the version of this format, the cluster that it is meant for, and the start of
//! the node that it is from: a node that was restored from a backup, or belongs to another cluster,
//! is not understood, and an older copy of a node is told apart from it (see [`super::rollback`]).

use super::rollback::Start;
use super::{LogId, Vote};
use crate::disk::ClusterId;
use crate::disk::snapshot::Meta;
use crate::raft_types::TypeConfig;
use crate::state_hashes::StateHash;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, TransferLeaderRequest,
    TransferLeaderResponse, VoteRequest, VoteResponse,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of these messages.
pub const FORMAT: u8 = 1;

/// What one replica asks another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Question {
    /// Entries of the log, or none: a heartbeat.
    Append(AppendEntriesRequest<TypeConfig>),
    /// A vote.
    Vote(VoteRequest<TypeConfig>),
    /// Whether it would vote.
    PreVote(VoteRequest<TypeConfig>),
    /// The leader wants another to lead.
    Transfer(TransferLeaderRequest<TypeConfig>),
    /// Whether it may take part in founding a cluster.
    Acquaint,
    /// To take part in founding this cluster and no other: a record, see [`crate::founding`].
    Promise(Vec<u8>),
    /// To become a member of a cluster that exists.
    Join(ClusterId),
    /// It is a member no longer.
    Removed,
    /// Whether it has lost the leader too.
    Suspect(Suspicion),
    /// Its latest state hashes.
    Hashes,
    /// Whether whoever asks belongs to the cluster, by the log of whoever is asked.
    Belongs,
}

impl Question {
    /// On whose behalf it is asked, if it is a leader's or a candidate's.
    pub fn vote(&self) -> Option<&Vote> {
        match self {
            Self::Append(request) => Some(&request.vote),
            Self::Vote(request) | Self::PreVote(request) => Some(&request.vote),
            Self::Transfer(request) => Some(request.from_leader()),
            Self::Acquaint
            | Self::Promise(_)
            | Self::Join(_)
            | Self::Removed
            | Self::Suspect(_)
            | Self::Hashes
            | Self::Belongs => None,
        }
    }
}

/// What is asked of the receiver of a snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// The leader that sends it.
    pub vote: Vote,
    /// Which snapshot.
    pub meta: Meta,
    /// Its length in bytes.
    pub length: u64,
    /// Where these bytes belong.
    pub offset: u64,
    /// The bytes. None: to learn how many are there, and to have it installed if that is all.
    pub bytes: Vec<u8>,
}

/// The leader of this vote cannot be reached, and its host says that nobody listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspicion {
    /// The vote of the leader.
    pub vote: Vote,
    /// The last entry of whoever asks.
    pub last: Option<LogId>,
}

/// What a replica answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// To [`Question::Append`].
    Append(AppendEntriesResponse<TypeConfig>),
    /// To [`Question::Vote`] and [`Question::PreVote`].
    Vote(VoteResponse<TypeConfig>),
    /// To [`Question::Transfer`].
    Transfer(TransferLeaderResponse<TypeConfig>),
    /// To [`Question::Acquaint`].
    Acquainted(Acquaintance),
    /// To [`Question::Join`] and [`Question::Promise`]: it will, with this disk.
    Disk(u128),
    /// To [`Question::Suspect`].
    Suspect(Suspected),
    /// To [`Question::Hashes`].
    Hashes(Vec<StateHash>),
    /// To a [`Piece`]: so many bytes are there.
    Has(u64),
    /// To the last [`Piece`].
    Installed(SnapshotResponse<TypeConfig>),
    /// It is done; to [`Question::Belongs`]: it does.
    Done,
    /// No, and why.
    Refused(String),
    /// To [`Question::Belongs`]: it does not.
    Stranger,
}

/// What a node says that may take part in founding a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acquaintance {
    /// The random number of its disk.
    pub disk: u128,
    /// Whether nothing was ever written to it.
    pub blank: bool,
    /// What it has promised.
    pub promised: Option<Vec<u8>>,
    /// The version of the table's rules that its build begins with.
    pub version: u32,
}

/// Whether a replica has lost the leader too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspected {
    /// Its own link to that leader is dead, and a new one was refused.
    pub agrees: bool,
    /// Its last entry.
    pub last: Option<LogId>,
}

/// Why a message is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotUnderstood {
    /// Another version of the program.
    #[error("it is of format {0}, and this version of the program reads format {FORMAT}")]
    Format(u8),
    /// Another cluster, or one that was restored from a backup.
    #[error("it is of another cluster, or of another generation of it")]
    Cluster,
    /// Not a message at all.
    #[error("it cannot be read")]
    Garbage,
}

/// Puts a message into bytes.
pub fn encode<T: Serialize>(cluster: Option<ClusterId>, from: &Start, message: &T) -> Vec<u8> {
    let bytes = postcard::to_extend(&(cluster, from), vec![FORMAT]);
    let bytes = bytes.and_then(|bytes| postcard::to_extend(message, bytes));
    bytes.expect("messages are plain data")
}

/// Reads one, and of which start it is. A side that does not know its cluster yet takes any.
pub fn decode<T: DeserializeOwned>(
    cluster: Option<ClusterId>,
    bytes: &[u8],
) -> Result<(Start, T), NotUnderstood> {
    let (format, rest) = bytes.split_first().ok_or(NotUnderstood::Garbage)?;
    if *format != FORMAT {
        return Err(NotUnderstood::Format(*format));
    }
    let ((theirs, from), rest): ((Option<ClusterId>, Start), _) =
        postcard::take_from_bytes(rest).map_err(|_| NotUnderstood::Garbage)?;
    if let (Some(ours), Some(theirs)) = (cluster, theirs)
        && ours != theirs
    {
        return Err(NotUnderstood::Cluster);
    }
    match postcard::take_from_bytes(rest) {
        Ok((message, [])) => Ok((from, message)),
        Ok(_) | Err(_) => Err(NotUnderstood::Garbage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raft_types::Stamped;
    use conclave_table::{Change, LeaseTime};
    use openraft::EntryPayload;
    use openraft::entry::RaftEntry;
    use openraft::type_config::alias::EntryOf;
    use openraft::vote::RaftLeaderId;

    fn append() -> Question {
        let leader = <TypeConfig as openraft::RaftTypeConfig>::LeaderId::new(3, 1);
        let log_id = LogId::new(leader.to_committed(), 7);
        let stamped = Stamped { lease_time: LeaseTime(9), change: Change::Tick };
        let entry = EntryOf::<TypeConfig>::new(log_id, EntryPayload::Normal(stamped));
        Question::Append(AppendEntriesRequest {
            vote: Vote::new_committed(3, 1),
            prev_log_id: None,
            entries: vec![entry],
            leader_commit: Some(log_id),
        })
    }

    #[test]
    fn what_is_sent_is_what_is_read() {
        let cluster = Some(ClusterId { id: 5, generation: 0 });
        let start = Start { disk: 1, number: 2, nonce: 3, last: 4 };
        let bytes = encode(cluster, &start, &append());
        let (from, read): (_, Question) = decode(cluster, &bytes).expect("it can be read");
        assert_eq!(from, start);
        assert_eq!(format!("{read:?}"), format!("{:?}", append()));
        assert!(decode::<Question>(None, &bytes).is_ok(), "a new node takes any");
    }

    #[test]
    fn a_message_of_another_generation_is_refused() {
        let cluster = Some(ClusterId { id: 5, generation: 0 });
        let bytes = encode(cluster, &Start::default(), &Question::Hashes);
        let restored = Some(ClusterId { id: 5, generation: 1 });
        let read = decode::<Question>(restored, &bytes);
        assert_eq!(read.map(|_| ()), Err(NotUnderstood::Cluster));
    }

    #[test]
    fn what_is_cut_short_or_too_long_or_foreign_is_refused() {
        let bytes = encode(None, &Start::default(), &append());
        for length in 0..bytes.len() {
            assert!(decode::<Question>(None, &bytes[..length]).is_err());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(decode::<Question>(None, &longer).map(|_| ()), Err(NotUnderstood::Garbage));
        let other = [&[9], &bytes[1..]].concat();
        assert_eq!(decode::<Question>(None, &other).map(|_| ()), Err(NotUnderstood::Format(9)));
    }
}
