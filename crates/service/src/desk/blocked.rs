//! What a lock waits for that will not come by itself.

use super::limits::milliseconds;
use super::lock::Stage;
use super::{Desk, Needs};
use conclave_client::api;
use conclave_core::{NodeId, Ticks};
use conclave_net::Hands;

impl Desk {
    /// The nodes without which this lock cannot be had, if its machine waits for any.
    pub(super) fn blocked(&self, name: &str, hands: &dyn Hands) -> Option<api::Blocked> {
        let lock = self.locks.get(name)?;
        if lock.stage != Stage::Asked {
            return None;
        }
        let down = self.down(hands);
        let goes_on = match self.config.needs {
            Needs::All => down.is_empty(),
            Needs::Majority => self.is_majority_without(&down),
        };
        let since = down.iter().map(|(_, since)| *since).min()?;
        if goes_on {
            return None;
        }
        let nodes: Vec<u32> = down.iter().map(|(node, _)| node.0 + 1).collect();
        let for_ms = milliseconds(hands.now().since(since));
        let message = format!("blocked on {}, down {} s", listed(&nodes), for_ms / 1_000);
        Some(api::Blocked { nodes, for_ms, message })
    }

    /// The nodes that have so many messages to take yet that nobody should ask for more.
    pub(super) fn overflowing(&self, hands: &dyn Hands) -> Option<api::Blocked> {
        let full: Vec<NodeId> = self.peers().filter(|peer| hands.peer(*peer).full).collect();
        let first = hands.peer(*full.first()?);
        let nodes: Vec<u32> = full.iter().map(|node| node.0 + 1).collect();
        let for_ms = milliseconds(hands.now().since(first.since));
        let message = format!(
            "blocked on {}, {} messages not yet acknowledged",
            listed(&nodes),
            first.unacknowledged
        );
        Some(api::Blocked { nodes, for_ms, message })
    }

    /// Whether this node is in touch with so few that others may go on without it.
    pub(super) fn is_cut_off(&self, hands: &dyn Hands) -> bool {
        !self.is_majority_without(&self.down(hands))
    }

    fn is_majority_without(&self, down: &[(NodeId, Ticks)]) -> bool {
        let n = self.config.nodes.len();
        2 * (n - down.len()) > n
    }

    /// The nodes that are out of reach or suspected, and since when.
    fn down(&self, hands: &dyn Hands) -> Vec<(NodeId, Ticks)> {
        self.peers().filter_map(|peer| Some((peer, self.down_since(peer, hands)?))).collect()
    }

    fn peers(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.config.me.others(self.config.nodes.len() as u32)
    }

    /// Since when a peer is out of reach or suspected, whichever came first.
    fn down_since(&self, peer: NodeId, hands: &dyn Hands) -> Option<Ticks> {
        let link = hands.peer(peer);
        let unreachable = (!link.connected).then_some(link.since);
        let suspected = self.suspects.get(&peer).copied();
        unreachable.into_iter().chain(suspected).min()
    }
}

/// `node 3`, or `nodes 2 and 3`.
fn listed(nodes: &[u32]) -> String {
    match nodes {
        [] => "nobody".to_string(),
        [one] => format!("node {one}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!("nodes {} and {last}", first.join(", "))
        }
    }
}
