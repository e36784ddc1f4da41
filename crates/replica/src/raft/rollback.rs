//! Rollback detection: a node that came back with an older copy of its disk is refused.
//!
//! A virtual machine that was restored, or a disk that lied, makes a node forget what it has
//! acknowledged: entries that count as committed, votes that it gave. Consensus does not allow for
//! that. So each start of a node has a number, durably counted, and a nonce; every message says of
//! which start it is. A start below the latest one that was heard of, or the same with another
//! nonce, is of a copy. So is a log that ends, or does not match, below what the node is known to
//! have had. What is known is kept in memory: it takes one node that has run on meanwhile.

use super::Vote;
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of so many nodes something is remembered.
const KNOWN_MAX: usize = 1_024;

/// One start of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The random number of its disk.
    pub disk: u128,
    /// How often this disk was opened.
    pub number: u64,
    /// Random: two copies of a disk may be opened equally often.
    pub nonce: u32,
    /// The index of the last entry of its log when it was opened.
    pub last: u64,
}

/// What this process knows of other nodes' disks.
#[derive(Debug, Default)]
pub struct Memory {
    known: Mutex<BTreeMap<NodeId, Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The latest start that was heard of.
    latest: Start,
    /// A committed entry that it has acknowledged.
    held: u64,
    /// The last entry that it has acknowledged to this node as leader of that vote.
    acknowledged: Option<(Vote, u64)>,
    /// Its log was found not to have what it has acknowledged.
    reverted: bool,
    /// What was last heard of it came from an older copy.
    refused: bool,
    /// The last start that a line was logged for.
    logged: Option<Start>,
}

/// What speaks of a node as an older copy of itself.
pub fn older_copy(id: NodeId) -> String {
    format!("node {id} came back with an older copy of its disk")
}

fn line(id: NodeId) -> String {
    format!(
        "{}: what it had acknowledged is missing; remove it and add it anew: `conclave cluster \
         remove {id}`, an empty disk, `conclave cluster add`",
        older_copy(id)
    )
}

/// Which nodes take this one for an older copy of itself, and the line of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accusations(BTreeMap<NodeId, Arc<str>>);

impl Accusations {
    /// One more has said so. Whether that is news.
    pub fn add(&mut self, by: NodeId, line: &str) -> bool {
        let news = !self.0.contains_key(&by);
        if news {
            tracing::warn!("node {by} says: {line}");
            self.0.insert(by, line.into());
        }
        news
    }

    /// The line that is to be believed. The leader knows what each node has acknowledged. Of all
    /// others two have to say so: one may be wrong, or in the wrong hands. Of two nodes the other
    /// one is believed if it has proved by TLS who it is.
    pub fn believed(
        &self,
        leader: Option<NodeId>,
        voters: usize,
        proved: bool,
    ) -> Option<Arc<str>> {
        let by_leader = leader.and_then(|leader| self.0.get(&leader));
        let needed = if voters <= 2 && proved { 1 } else { 2 };
        let by_others = self.0.values().next().filter(|_| self.0.len() >= needed);
        by_leader.or(by_others).map(Arc::clone)
    }
}

impl Memory {
    /// A message of this start has come. Refused by a line if that is an older copy.
    pub fn heard(&self, from: NodeId, start: &Start) -> Result<(), String> {
        let mut all = self.known();
        if !all.contains_key(&from) && all.len() >= KNOWN_MAX {
            return Ok(());
        }
        let known = all.entry(from).or_default();
        if known.latest.disk != start.disk {
            *known = Known { latest: *start, ..Known::default() };
        }
        let latest = &known.latest;
        let newer = start.number > latest.number;
        let older = match newer {
            true => start.last < known.held,
            false => (start.number, start.nonce) != (latest.number, latest.nonce),
        };
        known.refused = older || known.reverted;
        if known.refused {
            known.log(from, start);
            return Err(line(from));
        }
        if newer {
            known.latest = *start;
        }
        Ok(())
    }

    /// Whether an older copy was last heard of. Nothing is sent to one: when it hears of no leader
    /// it asks, and is told why. The right one is heard of when it asks, too.
    pub fn is_refused(&self, id: NodeId) -> bool {
        self.known().get(&id).is_some_and(|known| known.refused)
    }

    /// The last entry that this node has acknowledged to the leader of this vote.
    pub fn acknowledged(&self, id: NodeId, vote: &Vote) -> Option<u64> {
        let all = self.known();
        let (of, index) = all.get(&id)?.acknowledged.as_ref()?;
        (of == vote).then_some(*index)
    }

    /// It has acknowledged this entry to the leader of this vote, and so much is committed.
    pub fn on_acknowledged(&self, id: NodeId, vote: &Vote, index: u64, committed: Option<u64>) {
        let mut all = self.known();
        let Some(known) = all.get_mut(&id) else { return };
        let before = known.acknowledged.filter(|(of, _)| of == vote).map(|(_, index)| index);
        known.acknowledged = Some((*vote, before.map_or(index, |before| before.max(index))));
        if let Some(committed) = committed {
            known.held = known.held.max(index.min(committed));
        }
    }

    /// Its log does not have what it had acknowledged before it was asked.
    pub fn on_reverted(&self, id: NodeId) {
        if let Some(known) = self.known().get_mut(&id) {
            known.reverted = true;
            let latest = known.latest;
            known.log(id, &latest);
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<NodeId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Once for each start.
    fn log(&mut self, id: NodeId, start: &Start) {
        if self.logged.as_ref() != Some(start) {
            tracing::error!("{}", line(id));
            self.logged = Some(*start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(2);

    fn start(number: u64, nonce: u32, last: u64) -> Start {
        Start { disk: 7, number, nonce, last }
    }

    #[test]
    fn one_node_that_does_not_lead_is_not_believed_however_often_it_says_so() {
        let mut accused = Accusations::default();
        assert!(accused.add(NODE, "an older copy"));
        assert!(!accused.add(NODE, "an older copy"));
        assert_eq!(accused.believed(None, 3, true), None);
        assert_eq!(accused.believed(Some(NodeId(1)), 3, true), None);
        assert_eq!(accused.believed(None, 2, false), None, "without TLS it may be anybody");
        assert!(accused.believed(Some(NODE), 3, false).is_some(), "the leader");
        assert!(accused.believed(None, 2, true).is_some(), "the only other one");
        assert!(accused.add(NodeId(1), "an older copy"));
        assert!(accused.believed(None, 3, false).is_some(), "two of them");
    }

    #[test]
    fn an_ordinary_restart_is_none_of_a_copy() {
        let memory = Memory::default();
        let vote = Vote::new_committed(3, 1);
        assert_eq!(memory.heard(NODE, &start(1, 10, 0)), Ok(()));
        memory.on_acknowledged(NODE, &vote, 40, Some(38));
        assert_eq!(memory.heard(NODE, &start(1, 10, 0)), Ok(()), "its last is that of its start");
        // What was not committed may have been taken back by the next leader.
        assert_eq!(memory.heard(NODE, &start(2, 11, 38)), Ok(()));
        assert_eq!(memory.heard(NODE, &start(9, 12, 50)), Ok(()), "not all starts are heard of");
    }

    #[test]
    fn a_start_that_was_before_or_is_another_of_the_same_number_is_refused() {
        let memory = Memory::default();
        assert_eq!(memory.heard(NODE, &start(4, 10, 50)), Ok(()));
        let older = memory.heard(NODE, &start(3, 9, 50)).expect_err("it was before");
        assert!(older.contains("node 3 came back with an older copy"), "{older}");
        assert!(older.contains("conclave cluster remove 3"), "{older}");
        assert!(memory.heard(NODE, &start(4, 11, 50)).is_err(), "another one");
        assert!(memory.is_refused(NODE), "nothing is sent to a copy");
        assert_eq!(memory.heard(NODE, &start(4, 10, 50)), Ok(()), "the right one goes on");
        assert!(!memory.is_refused(NODE));
    }

    #[test]
    fn a_log_that_ends_below_what_was_acknowledged_and_committed_is_refused() {
        let memory = Memory::default();
        let vote = Vote::new_committed(3, 1);
        assert_eq!(memory.heard(NODE, &start(1, 10, 0)), Ok(()));
        memory.on_acknowledged(NODE, &vote, 40, Some(60));
        assert!(memory.heard(NODE, &start(5, 11, 39)).is_err());
        assert!(memory.heard(NODE, &start(6, 12, 39)).is_err(), "and refused it stays");
        assert_eq!(memory.heard(NODE, &Start { disk: 8, ..start(1, 1, 0) }), Ok(()), "anew");
    }

    #[test]
    fn what_was_acknowledged_is_of_one_leadership() {
        let memory = Memory::default();
        let vote = Vote::new_committed(3, 1);
        assert_eq!(memory.heard(NODE, &start(1, 10, 0)), Ok(()));
        memory.on_acknowledged(NODE, &vote, 40, None);
        memory.on_acknowledged(NODE, &vote, 30, None);
        assert_eq!(memory.acknowledged(NODE, &vote), Some(40));
        let next = Vote::new_committed(4, 1);
        assert_eq!(memory.acknowledged(NODE, &next), None);
        memory.on_acknowledged(NODE, &next, 35, None);
        assert_eq!(memory.acknowledged(NODE, &next), Some(35));
    }

    #[test]
    fn one_whose_log_has_gone_back_is_refused_for_good() {
        let memory = Memory::default();
        assert_eq!(memory.heard(NODE, &start(1, 10, 0)), Ok(()));
        memory.on_reverted(NODE);
        assert!(memory.heard(NODE, &start(1, 10, 0)).is_err());
        assert!(memory.heard(NODE, &start(2, 11, 90)).is_err());
    }
}
