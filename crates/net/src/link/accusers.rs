//! Words of peers against this node: that its disk is an old copy, or that it is not the node that
//! they know. One peer alone may be wrong, or in the wrong hands, so it takes two to end a node.

use super::error::ConnectionError;
use conclave_core::NodeId;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// How many have to say so.
const SEVERAL: usize = 2;

/// Who has said it in this run. A word is not forgotten when its connection ends.
pub(super) struct Accusers {
    /// Nobody is believed, however many they are.
    needed: Option<usize>,
    said: Mutex<BTreeSet<NodeId>>,
}

impl Accusers {
    /// In a cluster of two the only peer is all others there are. It is believed if TLS proves that
    /// it is the one: without, it is anybody who reaches the port.
    pub fn new(n: u32, proved: bool) -> Self {
        let needed = match n {
            0..=2 => proved.then_some(1),
            _ => Some(SEVERAL),
        };
        Self { needed, said: Mutex::new(BTreeSet::new()) }
    }

    /// Remembers the word of this peer; says whether it is to be believed by now.
    pub fn add(&self, by: NodeId, what: &ConnectionError) -> bool {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let news = said.insert(by);
        let believed = self.needed.is_some_and(|needed| said.len() >= needed);
        if news && !believed {
            let unless = match self.needed {
                Some(_) => "unless another says so too",
                None => "for without TLS it may be anybody",
            };
            tracing::warn!("node {by} alone is not believed, {unless}: {what}");
        }
        believed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old() -> ConnectionError {
        ConnectionError::OldCopy("remembers more".into())
    }

    #[test]
    fn two_peers_are_believed_and_one_is_not_however_often_it_says_so() {
        let accusers = Accusers::new(3, true);
        assert!(!accusers.add(NodeId(1), &old()));
        assert!(!accusers.add(NodeId(1), &old()));
        assert!(accusers.add(NodeId(2), &old()));
    }

    #[test]
    fn the_only_peer_is_believed_if_it_has_proved_who_it_is() {
        assert!(Accusers::new(2, true).add(NodeId(1), &old()));
        assert!(!Accusers::new(2, false).add(NodeId(1), &old()));
    }
}
