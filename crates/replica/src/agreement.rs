//! Agreement of the tables: nodes compare state hashes, and the minority stops.
//!
//! All nodes apply the same log by the same rules, so at the same index their tables have the same
//! hash. If not, a table is wrong: a bug, or broken memory. Whoever has not the hash of a majority
//! stops and says so; without a majority all stop, and nothing is granted. The word of one node
//! ends no other as long as those answer who might know better.
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

/// So many comparisons in a row leave a doubt before it is taken for certain.
const DOUBTS: u32 = 6;

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
    let mut doubts = Doubts::default();
    loop {
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
        compare(&node, &mut doubts).await;
        raise_version(&node, &proposing).await;
    }
}

async fn compare(node: &Node, doubts: &mut Doubts) {
    let mine = node.table.hashes();
    let voters = node.members().voters;
    let mut others = node.others();
    others.retain(|to| voters.contains(&to.id.0.into()));
    if mine.is_empty() || others.is_empty() {
        return;
    }
    let deadline = Instant::now() + ANSWER;
    let asked = others.iter().map(|to| node.peers.ask(to, &Question::Hashes, deadline));
    let heard = join_all(asked).await.into_iter().map(|reply| match reply {
        Ok(Reply::Hashes(hashes)) => Some(hashes),
        Ok(_) | Err(_) => None,
    });
    let verdict = verdict(&mine, &heard.collect::<Vec<_>>(), voters.len());
    if let Some(index) = doubts.settle(verdict) {
        node.end(format!(
            "after entry {index} this node's table is not that of a majority: something is wrong \
             with the program or with this machine; it stops, and its disk should be kept to find \
             out"
        ));
    }
}

/// What a comparison has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing speaks against this node.
    Fine,
    /// After this entry somebody has another hash, and those who might agree do not answer.
    Doubtful(u64),
    /// After this entry no majority can have this node's hash.
    Wrong(u64),
}

/// Doubts that nobody has dispelled.
#[derive(Debug, Default)]
struct Doubts(u32);

impl Doubts {
    /// The entry after which the table is wrong, as far as can be known. One node alone may lie or
    /// be wrong itself, so those who do not answer are waited for; but not for ever, since without
    /// a majority nothing may be granted.
    fn settle(&mut self, verdict: Verdict) -> Option<u64> {
        match verdict {
            Verdict::Fine => {
                *self = Self::default();
                None
            }
            Verdict::Doubtful(index) => {
                self.0 += 1;
                (self.0 >= DOUBTS).then_some(index)
            }
            Verdict::Wrong(index) => Some(index),
        }
    }
}

/// Compares with the answers of all other voters; none where one did not answer.
fn verdict(mine: &[StateHash], others: &[Option<Vec<StateHash>>], voters: usize) -> Verdict {
    let mut verdict = Verdict::Fine;
    for hash in mine {
        let same_place =
            |other: &&StateHash| other.index == hash.index && other.version == hash.version;
        // One word of each: the first.
        let said = |hashes: &Vec<StateHash>| hashes.iter().find(same_place).map(|other| other.hash);
        let answered = others.iter().flatten();
        let disagreeing =
            answered.filter(|hashes| said(hashes).is_some_and(|other| other != hash.hash)).count();
        let mute = others.iter().filter(|answer| answer.is_none()).count();
        if disagreeing == 0 {
            continue;
        }
        if 2 * (voters - disagreeing) <= voters {
            return Verdict::Wrong(hash.index);
        }
        if 2 * (voters - disagreeing - mute) <= voters && verdict == Verdict::Fine {
            verdict = Verdict::Doubtful(hash.index);
        }
    }
    verdict
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

    fn said(hashes: &[StateHash]) -> Option<Vec<StateHash>> {
        Some(hashes.to_vec())
    }

    #[test]
    fn nobody_stops_while_all_agree_or_are_not_as_far() {
        let mine = [hash(10, 1), hash(20, 2)];
        let others = [said(&[hash(10, 1)]), said(&[hash(10, 1), hash(20, 2)])];
        assert_eq!(verdict(&mine, &others, 3), Verdict::Fine);
        assert_eq!(verdict(&mine, &[None, None], 3), Verdict::Fine);
    }

    #[test]
    fn the_minority_stops_and_the_majority_goes_on() {
        let good = [hash(10, 1)];
        let bad = [hash(10, 9)];
        assert_eq!(verdict(&bad, &[said(&good), said(&good)], 3), Verdict::Wrong(10));
        assert_eq!(verdict(&good, &[said(&good), said(&bad)], 3), Verdict::Fine);
        let other = [hash(10, 8)];
        assert_eq!(verdict(&good, &[said(&other), said(&bad)], 3), Verdict::Wrong(10));
        assert_eq!(verdict(&good, &[said(&bad)], 2), Verdict::Wrong(10), "of two, both");
    }

    #[test]
    fn one_node_alone_stops_no_other_while_the_rest_answers() {
        let good = [hash(10, 1)];
        let lie = said(&[hash(10, 9); 8]);
        let behind = said(&[]);
        assert_eq!(verdict(&good, &[lie.clone(), behind], 3), Verdict::Fine);
        assert_eq!(verdict(&good, &[lie, None], 3), Verdict::Doubtful(10));
    }

    #[test]
    fn without_a_majority_all_stop_once_nobody_else_is_expected() {
        let mut doubts = Doubts::default();
        assert_eq!(doubts.settle(Verdict::Doubtful(10)), None);
        assert_eq!(doubts.settle(Verdict::Fine), None);
        for _ in 1..DOUBTS {
            assert_eq!(doubts.settle(Verdict::Doubtful(10)), None);
        }
        assert_eq!(doubts.settle(Verdict::Doubtful(10)), Some(10));
        assert_eq!(Doubts::default().settle(Verdict::Wrong(10)), Some(10));
    }

    #[test]
    fn hashes_of_other_rules_do_not_compare() {
        let other = said(&[StateHash { version: 2, ..hash(10, 9) }]);
        assert_eq!(verdict(&[hash(10, 1)], &[other.clone(), other], 3), Verdict::Fine);
    }

    #[test]
    fn a_greeting_of_a_later_build_can_be_read() {
        let later = [About { version_max: 7 }.encode(), vec![1, 2, 3]].concat();
        assert_eq!(About::decode(&later), Some(About { version_max: 7 }));
        assert_eq!(About::decode(&[]), None);
    }
}
