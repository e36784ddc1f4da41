//! Forwarding: any node takes any request, and at most one hop brings it to the leader.
//!
//! A request that fails because the leader changed is asked again under the same number at the new
//! one, until its time is over. One that nobody numbered is asked again only if it is certainly not
//! in the log.

use super::engine::ReplicatedEngine;
use super::members::MemberAsked;
use super::sights::{Details, LockSeen};
use conclave_core::NodeId;
use conclave_replica::{Call, CallError, Server};
use conclave_table::{Answer, Body, Change, Fence, Renewal, Renewed, Resource, SessionId, Text};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;
use std::sync::Weak;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// In front of everything that one node asks of another.
const FORMAT: u8 = 1;
/// A request that does not wait is answered within so long, if nobody leads.
pub const LEADERLESS: Duration = Duration::from_secs(2);
/// And within so long, if the leader does not answer.
pub const ANSWERED: Duration = Duration::from_secs(4);
/// One that waits is given up by its node so long after its time: by then the table has ended it,
/// unless its clock stands still.
const OVERDUE: Duration = Duration::from_secs(10);
/// How long to wait before a node that could not be reached, or did not lead, is asked again.
const AGAIN: Duration = Duration::from_millis(20);
/// How long an answer may be under way from a node that leads no longer.
const LATE: Duration = Duration::from_millis(500);

/// What one node asks of another, or of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Asked {
    /// To put a change into the log.
    Change {
        /// Who asks.
        principal: Text,
        /// The change.
        change: Change,
    },
    /// A keepalive.
    Renew {
        /// Who asks.
        principal: Text,
        /// The keepalive.
        renewal: Renewal,
    },
    /// The index up to which a table must be to know all that is committed now.
    ReadIndex,
    /// Whether somebody holds a lock with this fence now.
    Verify(Resource, Fence, Option<SessionId>),
    /// A lock or an election as it is now; and explained.
    Look(Resource, bool),
    /// A value as it is now.
    Value(Text),
    /// To change who belongs to the cluster, or leads it.
    Member(MemberAsked),
    /// Whether it is there.
    Ping,
}

impl Asked {
    /// Whether it may be forwarded. What the leader proposes by itself is no other node's affair:
    /// a version that nobody knows would end them all.
    fn is_of_a_client(&self) -> bool {
        let Self::Change { change, .. } = self else { return true };
        match change {
            Change::Open(_)
            | Change::End { .. }
            | Change::Attach { .. }
            | Change::Detach { .. }
            | Change::Ask(_)
            | Change::Put { .. }
            | Change::Force(_) => true,
            Change::Tick
            | Change::Renew(_)
            | Change::Expire { .. }
            | Change::Lapse { .. }
            | Change::SetLimits(_)
            | Change::RaiseVersion(_) => false,
        }
    }

    /// How long it may wait for its turn.
    fn wait_ms(&self) -> u64 {
        let Self::Change { change: Change::Ask(ask), .. } = self else { return 0 };
        let Body::Acquire(acquire) = &ask.body else { return 0 };
        acquire.wait_ms
    }
}

/// What it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// What came of a change.
    Changed(Changed),
    /// What came of a keepalive, and the session's time to live.
    Renewed(Renewed, u64),
    /// The index.
    ReadIndex(u64),
    /// Whether somebody does, and the largest fence known.
    Verified(bool, Option<Fence>),
    /// The lock.
    Seen(Box<LockSeen>),
    /// The value: its fence and its text.
    Value(Option<(Fence, Option<Text>)>),
    /// It is done.
    Done,
    /// The request cannot be carried out, and why.
    No(String),
    /// Too much is under way at that node; nothing was done.
    Busy,
    /// This node does not lead, and nothing was done.
    NotLeading,
    /// This node does not know what came of it.
    Unknown,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The table's answer.
    pub answer: Answer,
    /// How long it waited, in milliseconds of the lease clock.
    pub waited_ms: u64,
    /// Whether what it was granted was given back before: the answer to a repeat.
    pub released: bool,
    /// More about a refusal.
    pub details: Option<Box<Details>>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Nobody led for too long; nothing was done, or the request may be repeated.
    NoLeader,
    /// It may or may not have taken effect.
    Unknown,
    /// The leader has too much to do.
    Busy,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    leaderless: Instant,
    answered: Instant,
    /// Whether it may be asked again although it may have taken effect.
    repeatable: bool,
}

impl Patience {
    /// Of a request that waits for so long; 0: not at all.
    pub fn waiting(wait_ms: u64, repeatable: bool) -> Self {
        let now = Instant::now();
        let wait = Duration::from_millis(wait_ms);
        let answered = if wait_ms == 0 { ANSWERED } else { wait + OVERDUE };
        Self { leaderless: now + wait.max(LEADERLESS), answered: now + answered, repeatable }
    }

    /// Of one that may be asked any number of times.
    pub fn repeatable() -> Self {
        Self::waiting(0, true)
    }

    /// Of one that must not be carried out twice.
    pub fn once() -> Self {
        Self::waiting(0, false)
    }

    /// A leader was lost while it had the request: the next gets some time to be elected.
    fn renew(&mut self) {
        self.leaderless = self.leaderless.max(Instant::now() + LEADERLESS).min(self.answered);
    }
}

impl ReplicatedEngine {
    /// Asks whoever leads, again and again if need be.
    pub async fn ask(&self, asked: &Asked, mut patience: Patience) -> Result<Said, Lost> {
        debug_assert!(asked.vet().is_ok(), "an honest node sends what the leader takes");
        let mut bytes = Vec::new();
        loop {
            let limit = patience.leaderless.min(patience.answered);
            let leader = timeout_at(limit, self.leader()).await.map_err(|_| Lost::NoLeader)?;
            let said = match leader == self.me() {
                true => self.ask_here(asked, patience).await,
                false => self.ask_there(leader, asked, &mut bytes, patience).await,
            };
            match said {
                Said::NotLeading if Instant::now() >= limit => return Err(Lost::NoLeader),
                Said::NotLeading => {}
                Said::Busy => return Err(Lost::Busy),
                Said::Unknown if !patience.repeatable => return Err(Lost::Unknown),
                Said::Unknown if Instant::now() >= patience.answered => return Err(Lost::Unknown),
                Said::Unknown if self.is_deaf() && Instant::now() >= limit => {
                    return Err(Lost::NoLeader); // None is about to be elected.
                }
                Said::Unknown if self.is_deaf() => {}
                Said::Unknown => patience.renew(),
                Said::Changed(_)
                | Said::Renewed(..)
                | Said::ReadIndex(_)
                | Said::Verified(..)
                | Said::Seen(_)
                | Said::Value(_)
                | Said::Done
                | Said::No(_) => return Ok(said),
            }
            self.leader_changed(leader, Instant::now() + AGAIN).await;
        }
    }

    async fn ask_here(&self, asked: &Asked, patience: Patience) -> Said {
        let carried_out = self.carry_out_in_time(asked.clone(), patience);
        timeout_at(patience.answered, carried_out).await.unwrap_or(Said::Unknown)
    }

    /// One that waits is not ended by the table when nothing can be decided any more: the lease
    /// clock stands still. It may still be granted later, unless it is withdrawn.
    async fn carry_out_in_time(&self, asked: Asked, patience: Patience) -> Said {
        let waits = asked.wait_ms() > 0;
        tokio::select! {
            biased;
            said = self.carry_out(asked) => said,
            () = self.deaf(patience.leaderless), if waits => Said::NotLeading,
        }
    }

    /// One hop. That the other node leads no longer is noticed here even if the link to it stands.
    async fn ask_there(
        &self,
        leader: NodeId,
        asked: &Asked,
        bytes: &mut Vec<u8>,
        patience: Patience,
    ) -> Said {
        if bytes.is_empty() {
            *bytes = encode(asked);
        }
        let begun = Instant::now();
        let Some(replica) = self.replica() else { return Said::NotLeading };
        let call = replica.call(leader, bytes.clone(), patience.answered);
        let gone = async {
            self.leader_changed(leader, patience.answered + LATE).await;
            if !patience.repeatable {
                sleep(LATE).await; // It may have answered as its last deed.
            }
        };
        let answered = tokio::select! {
            biased;
            answered = call => answered,
            () = gone => return Said::Unknown,
        };
        self.metrics().forwarded(begun.elapsed());
        match answered {
            Ok(bytes) => decode(&bytes).unwrap_or(Said::Unknown),
            Err(CallError::Unreachable(_)) => Said::NotLeading,
            Err(CallError::Unanswered(_)) => Said::Unknown,
        }
    }

    /// Whether another node answers, within so long.
    pub async fn is_there(&self, id: NodeId, within: Duration) -> bool {
        let Some(replica) = self.replica() else { return false };
        replica.call(id, encode(&Asked::Ping), Instant::now() + within).await.is_ok()
    }

    /// Answers another node. A request that came by one hop takes no other.
    async fn serve(&self, call: Call) -> Said {
        if Instant::now() >= call.deadline {
            return Said::Unknown; // A keepalive that nobody waits for any more gives no time.
        }
        let Some(asked) = decode::<Asked>(&call.request) else {
            return Said::No("this node does not know what it was asked".to_string());
        };
        if !asked.is_of_a_client() {
            return Said::No("this is for the leader itself to do".to_string());
        }
        if let Err(invalid) = asked.vet() {
            return Said::No(invalid.to_string());
        }
        let Some(_turn) = self.turn() else { return Said::Busy };
        let patience = Patience::waiting(asked.wait_ms(), false);
        let carried_out = self.carry_out_in_time(asked, patience);
        timeout_at(call.deadline, carried_out).await.unwrap_or(Said::Unknown)
    }
}

/// Answers the requests of other nodes.
pub struct Forwarded(pub Weak<ReplicatedEngine>);

impl Server for Forwarded {
    fn serve(&self, call: Call) -> Pin<Box<dyn Future<Output = Vec<u8>> + Send>> {
        let engine = self.0.upgrade();
        Box::pin(async move {
            match engine {
                Some(engine) => encode(&engine.serve(call).await),
                None => encode(&Said::NotLeading),
            }
        })
    }
}

/// Plain data can always be written down; an empty answer would be read as none.
fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![FORMAT]).unwrap_or_default()
}

fn decode<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Option<T> {
    match bytes.split_first() {
        Some((&FORMAT, rest)) => postcard::from_bytes(rest).ok(),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_table::{Acquire, Ask, Limits, RequestId};

    #[test]
    fn what_the_leader_does_by_itself_cannot_be_forwarded() {
        let asked = |change| Asked::Change { principal: "".into(), change };
        assert!(asked(Change::End { session: SessionId([7; 16]) }).is_of_a_client());
        assert!(Asked::Ping.is_of_a_client());
        assert!(!asked(Change::RaiseVersion(u32::MAX)).is_of_a_client());
        assert!(!asked(Change::SetLimits(Limits::default())).is_of_a_client());
        assert!(!asked(Change::Tick).is_of_a_client());
    }

    #[test]
    fn what_is_sent_can_be_read_and_what_is_not_ours_cannot() {
        let body = Body::Acquire(Acquire::exclusive("a").waiting(5));
        let ask = Ask::new(SessionId([7; 16]), RequestId(3), body);
        let asked = Asked::Change { principal: "".into(), change: Change::Ask(ask.clone()) };
        let mut bytes = encode(&asked);
        let Some(Asked::Change { change, .. }) = decode(&bytes) else { panic!("it is a change") };
        assert_eq!(change, Change::Ask(ask));
        bytes[0] = FORMAT + 1;
        assert!(decode::<Asked>(&bytes).is_none());
        assert!(decode::<Asked>(&[]).is_none() && decode::<Said>(&[FORMAT, 99]).is_none());
    }
}
