//! Membership: who belongs to the cluster, who leads it, and backups of its table.

use super::answers::lost;
use super::commands::unexpected;
use super::engine::ReplicatedEngine;
use super::hop::{Asked, Patience, Said};
use super::views;
use crate::desk::{Answer as Answered, MemberChange, refusal};
use conclave_api::{self as api, Code, limits};
use conclave_core::NodeId;
use conclave_replica::{Founder, NotChanged, NotProposed, Role, Status};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::Instant;

/// So long may it take until another node leads.
const TRANSFER: Duration = Duration::from_secs(2);

/// How the cluster is to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberAsked {
    /// A node joins as a learner.
    Add {
        /// Which.
        id: NodeId,
        /// `host:port` of its links.
        peer: String,
        /// `host:port` of its API.
        api: String,
    },
    /// A learner gets its vote.
    Promote(NodeId),
    /// A member leaves.
    Remove(NodeId),
    /// Another leads; which, or the one that is least behind.
    Transfer(Option<NodeId>),
}

impl ReplicatedEngine {
    /// Leader only: changes the cluster.
    pub async fn change_members(&self, asked: MemberAsked) -> Said {
        let Some(replica) = self.replica() else { return Said::NotLeading };
        let changed = match asked {
            MemberAsked::Add { id, peer, api } => replica.add(Founder { id, peer, api }).await,
            MemberAsked::Promote(id) => replica.promote(id).await,
            MemberAsked::Remove(id) => replica.remove(id).await,
            MemberAsked::Transfer(to) => {
                match to.or_else(|| successor(&self.status(), self.me())) {
                    Some(to) if to == self.me() => Ok(()),
                    Some(to) => replica.transfer(to).await,
                    None => return Said::No("there is no other node with a vote".to_string()),
                }
            }
        };
        match changed {
            Ok(()) => Said::Done,
            Err(NotChanged::Refused(words)) => Said::No(words),
            Err(NotChanged::NotProposed(NotProposed::NotLeader { .. })) => Said::NotLeading,
            Err(NotChanged::NotProposed(NotProposed::Unknown | NotProposed::Stopped)) => {
                Said::Unknown
            }
        }
    }

    /// Has the leader change the cluster, and says who belongs to it then.
    pub async fn members_changed(&self, change: MemberChange) -> Answered<api::Members> {
        let asked = self.member_words(change)?;
        let patience = Patience::waiting(MEMBERS_MS, false);
        let said = self.ask(&Asked::Member(asked.clone()), patience).await.map_err(lost)?;
        if let Said::No(words) = said {
            // It may be possible later, or otherwise: nothing is wrong with what was asked.
            return Err(refusal::refuse(Code::Conflict, words));
        }
        if said != Said::Done {
            return Err(unexpected(said));
        }
        let words = match asked {
            MemberAsked::Add { id, .. } => format!("node {} joined as a learner", id.0 + 1),
            MemberAsked::Promote(id) => format!("node {} has a vote", id.0 + 1),
            MemberAsked::Remove(id) => format!("node {} left", id.0 + 1),
            MemberAsked::Transfer(_) => return Ok(self.members_view()),
        };
        tracing::warn!("members: {words}");
        self.journal().note("member", None, words);
        Ok(self.members_view())
    }

    fn member_words(&self, change: MemberChange) -> Answered<MemberAsked> {
        let status = self.status();
        let known = |id: u32| status.members.iter().any(|member| member.id.0 + 1 == id);
        let member = |id: u32| match known(id) {
            true => Ok(NodeId(id - 1)),
            false => Err(refusal::not_found(format!("node {id} does not belong to the cluster"))),
        };
        match change {
            MemberChange::Add(new) => {
                limits::member(&new)?;
                if known(new.id) {
                    let words = format!("node {} belongs to the cluster already", new.id);
                    return Err(refusal::refuse(Code::Conflict, words));
                }
                Ok(MemberAsked::Add { id: NodeId(new.id - 1), peer: new.peer, api: new.api })
            }
            MemberChange::Promote(id) => member(id).map(MemberAsked::Promote),
            MemberChange::Remove(id) => member(id).map(MemberAsked::Remove),
            MemberChange::Transfer(to) => Ok(MemberAsked::Transfer(to.map(member).transpose()?)),
        }
    }

    /// Who belongs to the cluster, as this node knows it.
    pub fn members_view(&self) -> api::Members {
        let status = self.status_told();
        api::Members { members: views::members(&status), as_of_index: status.applied }
    }

    /// A backup of this node's table.
    pub async fn snapshot(&self) -> Answered<Vec<u8>> {
        let Some(replica) = self.replica() else {
            return Err(refusal::unavailable("this node has not started yet"));
        };
        // A node that lags behind, or is alone, has an old table: fences were issued since.
        let up_to_date = self.catch_up().await.is_ok();
        if !up_to_date {
            tracing::warn!("a backup is made of a table that may be old: no leader was reached");
        }
        replica.snapshot(up_to_date).await.map_err(|error| refusal::unavailable(error.to_string()))
    }

    /// The node is about to stop: another leads, if this one does, and whoever waits here is sent
    /// to another node.
    pub async fn hand_over(&self) -> Answered<()> {
        let status = self.status();
        if status.role == Role::Leader
            && let Some(to) = successor(&status, self.me())
            && let Some(replica) = self.replica()
        {
            match replica.transfer(to).await {
                Ok(()) => self.leader_changed(self.me(), Instant::now() + TRANSFER).await,
                Err(error) => tracing::warn!(%error, "nobody took over"),
            }
        }
        self.stopping().send_replace(true);
        Ok(())
    }
}

/// So long may a change of members take, in milliseconds.
const MEMBERS_MS: u64 = 10_000;

/// The voter that is least behind.
fn successor(status: &Status, me: NodeId) -> Option<NodeId> {
    let lag = |id: NodeId| status.lag.iter().find(|(other, _)| *other == id).map(|(_, lag)| *lag);
    let others = status.members.iter().filter(|member| member.voter && member.id != me);
    others.map(|member| member.id).min_by_key(|id| lag(*id).unwrap_or(u64::MAX))
}
