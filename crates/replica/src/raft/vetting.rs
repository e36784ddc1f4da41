//! Vetting (input validation): what no honest node says, and the consensus engine does not survive.
//!
//! The engine trusts its peers. A hole in the log, a member without an address or a term that is
//! the last of all would end this node, some of them at every start again. A node that lies can
//! break what the locks promise; but it is not to end another by a word.

use super::{LogId, Vote};
use crate::disk::snapshot::Meta;
use crate::raft_types::{MemberNode, TypeConfig};
use conclave_table::Change;
use openraft::EntryPayload;
use openraft::Membership;
use openraft::raft::{AppendEntriesRequest, VoteRequest};
use openraft::type_config::alias::EntryOf;

/// No election raises the term by more, however long a node was away. After the last of all terms
/// nobody could ever lead again.
const TERMS_MAX: u64 = 1 << 32;

/// The lease clock is below this, which is 285,000 years: no deadline is out of reach.
const LEASE_TIME_MAX: u64 = 1 << 53;

/// More members than any cluster has, those included that are about to leave.
const MEMBERS_MAX: usize = 64;

/// The longest address of a member.
const ADDRESS_MAX: usize = 1_024;

/// What is said, if it may be heard; else why not.
pub type Vetted = Result<(), String>;

/// How far this node is.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its term.
    pub term: u64,
    /// The last entry that it knows to be committed.
    pub committed: Option<LogId>,
    /// The largest version of the table's rules that it knows.
    pub version_max: u32,
}

/// A vote, in a question or in an answer.
pub fn vote(vote: &Vote, term: u64) -> Vetted {
    if vote.leader_id.term > term.saturating_add(TERMS_MAX) {
        return refuse("its term is out of reach");
    }
    if u32::try_from(vote.leader_id.node_id).is_err() {
        return refuse("its vote is of no node");
    }
    Ok(())
}

/// What a candidate asks for.
pub fn candidate(request: &VoteRequest<TypeConfig>, known: &Known) -> Vetted {
    vote(&request.vote, known.term)
}

/// Entries of a leader.
pub fn entries(request: &AppendEntriesRequest<TypeConfig>, known: &Known) -> Vetted {
    leader(&request.vote, known)?;
    let mut previous = request.prev_log_id;
    if let Some(id) = &previous {
        place(id, &request.vote, known)?;
    }
    for entry in &request.entries {
        let id = entry.log_id;
        let due = previous.as_ref().map_or(Some(0), |before| before.index.checked_add(1));
        if due != Some(id.index) || previous.is_some_and(|before| before.leader_id > id.leader_id) {
            return refuse("its entries are out of order");
        }
        place(&id, &request.vote, known)?;
        content(entry, known)?;
        previous = Some(id);
    }
    Ok(())
}

/// The announcement of a snapshot.
pub fn snapshot(by: &Vote, meta: &Meta, known: &Known) -> Vetted {
    leader(by, known)?;
    let Some(last) = &meta.last_log_id else { return refuse("its snapshot is of nothing") };
    let contradicts = |committed: LogId| *last > committed && last.index <= committed.index;
    if last.leader_id > by.leader_id || known.committed.is_some_and(contradicts) {
        return refuse("its snapshot contradicts what is committed");
    }
    members(meta.last_membership.membership())
}

fn leader(by: &Vote, known: &Known) -> Vetted {
    if !by.committed {
        return refuse("it does not lead");
    }
    vote(by, known.term)
}

/// What is committed is never replaced, and no entry is of a later leader than the one that sends
/// it.
fn place(id: &LogId, by: &Vote, known: &Known) -> Vetted {
    let contradicts = |committed: &LogId| match id.index == committed.index {
        true => id != committed,
        false => id.index < committed.index && id.leader_id > committed.leader_id,
    };
    if id.leader_id > by.leader_id || known.committed.as_ref().is_some_and(contradicts) {
        return refuse("its entries contradict what is committed");
    }
    Ok(())
}

fn content(entry: &EntryOf<TypeConfig>, known: &Known) -> Vetted {
    match &entry.payload {
        EntryPayload::Blank => Ok(()),
        EntryPayload::Membership(membership) => members(membership),
        EntryPayload::Normal(stamped) => {
            if stamped.lease_time.0 >= LEASE_TIME_MAX {
                return refuse("its lease clock is out of reach");
            }
            if let Change::RaiseVersion(version) = stamped.change
                && version > known.version_max
            {
                return refuse("it raises the version of the table to one that is not known here");
            }
            Ok(())
        }
    }
}

fn members(membership: &Membership<u64, MemberNode>) -> Vetted {
    let configs = membership.get_joint_config();
    let is_empty = configs.is_empty() || configs.iter().any(|voters| voters.is_empty());
    let is_strange = |(id, node): (&u64, &MemberNode)| {
        u32::try_from(*id).is_err() || node.peer.len().max(node.api.len()) > ADDRESS_MAX
    };
    let is_nowhere = |id: u64| membership.get_node(&id).is_none();
    if is_empty
        || membership.nodes().count() > MEMBERS_MAX
        || membership.nodes().any(is_strange)
        || membership.voter_ids().any(is_nowhere)
    {
        return refuse("its list of members makes no sense");
    }
    Ok(())
}

fn refuse(why: &str) -> Vetted {
    Err(why.to_string())
}

#[cfg(test)]
mod tests;
