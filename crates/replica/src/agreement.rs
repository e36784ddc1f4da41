//! Agreement of the tables: nodes compare state hashes, and the minority stops.
//!
//! All nodes apply the same log by the same rules, so at the same index their tables have the same
//! hash. If not, a table is wrong: a bug, or broken memory. Whoever has not the hash of a majority
//! stops and says so; without a majority all stop, and nothing is granted.
//!
//! The same task raises the version of the table's rules, on the leader, once all members have said
//! in their greeting that they know it.

use crate::lease::Proposing;
use crate::node::Node;
use crate::raft::message::{Question, Reply};
use crate::state_hashes::StateHash;
use conclave_table::Change;
use futures_util::future::join_all;
use openraft::ServerState;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How soon after its start a node compares, and how often later on.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// How long a node may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// What a node says of itself in every greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The largest version of the table's rules that it knows.
    pub version_max: u32,
}

impl About {
    /// As bytes.
    pub fn encode(self) -> Vec<u8> {
        postcard::to_stdvec(&self).expect("it is plain data")
    }

    /// From bytes. What comes after is of a later version of the program.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::take_from_bytes(bytes).ok().map(|(about, _)| about)
    }
}

/// Compares every so often.
pub async fn keep(node: Arc<Node>, proposing: Proposing) {
    let mut pause = PAUSE_MIN;
    loop {
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
        compare(&node).await;
        raise_version(&node, &proposing).await;
    }
}

async fn compare(node: &Node) {
    let mine = node.table.hashes();
    let others = node.others();
    if mine.is_empty() || others.is_empty() {
        return;
    }
    let voters = node.members().voters.len();
    let deadline = Instant::now() + ANSWER;
    let asked = others.iter().map(|to| node.peers.ask(to, &Question::Hashes, deadline));
    let heard = join_all(asked).await.into_iter().filter_map(|reply| match reply {
        Ok(Reply::Hashes(hashes)) => Some(hashes),
        Ok(_) | Err(_) => None,
    });
    if let Some(index) = disagreement(&mine, &heard.collect::<Vec<_>>(), voters) {
        node.end(format!(
            "after entry {index} this node's table is not that of a majority: something is wrong \
             with the program or with this machine; it stops, and its disk should be kept to find \
             out"
        ));
    }
}

/// The first index at which somebody has another hash and no majority has this node's.
fn disagreement(mine: &[StateHash], others: &[Vec<StateHash>], voters: usize) -> Option<u64> {
    let contested = |hash: &&StateHash| {
        let same_place =
            |other: &&StateHash| other.index == hash.index && other.version == hash.version;
        let heard: Vec<&StateHash> = others.iter().flatten().filter(same_place).collect();
        let agreeing = 1 + heard.iter().filter(|other| other.hash == hash.hash).count();
        agreeing <= heard.len() && 2 * agreeing <= voters
    };
    mine.iter().find(contested).map(|hash| hash.index)
}

async fn raise_version(node: &Node, proposing: &Proposing) {
    let leads = node.metrics().state == ServerState::Leader;
    let version = node.table.look(|table| table.version());
    if !leads || version >= node.version_max {
        return;
    }
    let Some(rpc) = node.peers.rpc() else { return };
    let known = |about: Vec<u8>| About::decode(&about).map(|about| about.version_max);
    let theirs = node.others().into_iter().map(|to| rpc.about(to.id).and_then(known));
    // Who has not said anything may be of any version.
    let all: Option<Vec<u32>> = theirs.collect();
    let Some(all) = all else { return };
    let common = all.into_iter().min().unwrap_or(node.version_max).min(node.version_max);
    if common > version {
        // It is tried again as long as it has not happened.
        let _ = proposing.propose(Change::RaiseVersion(common)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(index: u64, hash: u64) -> StateHash {
        StateHash { index, version: 1, hash }
    }

    #[test]
    fn nobody_stops_while_all_agree_or_are_not_as_far() {
        let mine = [hash(10, 1), hash(20, 2)];
        assert_eq!(
            disagreement(&mine, &[vec![hash(10, 1)], vec![hash(10, 1), hash(20, 2)]], 3),
            None
        );
        assert_eq!(disagreement(&mine, &[], 3), None);
    }

    #[test]
    fn the_minority_stops_and_the_majority_goes_on() {
        let good = [hash(10, 1)];
        let bad = [hash(10, 9)];
        assert_eq!(disagreement(&bad, &[good.to_vec(), good.to_vec()], 3), Some(10));
        assert_eq!(disagreement(&good, &[good.to_vec(), bad.to_vec()], 3), None);
    }

    #[test]
    fn without_a_majority_all_stop() {
        assert_eq!(disagreement(&[hash(10, 1)], &[vec![hash(10, 2)]], 3), Some(10));
        assert_eq!(disagreement(&[hash(10, 2)], &[vec![hash(10, 1)]], 2), Some(10));
    }

    #[test]
    fn hashes_of_other_rules_do_not_compare() {
        let other = StateHash { version: 2, ..hash(10, 9) };
        assert_eq!(disagreement(&[hash(10, 1)], &[vec![other], vec![other]], 3), None);
    }

    #[test]
    fn a_greeting_of_a_later_build_can_be_read() {
        let later = [About { version_max: 7 }.encode(), vec![1, 2, 3]].concat();
        assert_eq!(About::decode(&later), Some(About { version_max: 7 }));
        assert_eq!(About::decode(&[]), None);
    }
}
