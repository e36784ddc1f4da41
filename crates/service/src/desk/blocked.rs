//! Blocked locks: the nodes that are down or overloaded and that a lock cannot do without.

use super::locks::Stage;
use super::timing::milliseconds;
use super::{Desk, Part};
use conclave_api as api;
use conclave_core::NodeId;
use conclave_net::HostContext;

impl Desk {
    /// The nodes without which this lock cannot be had, if its machine waits for any.
    pub(super) fn blocked(&self, name: &str, host: &dyn HostContext) -> Option<api::Blocked> {
        if self.queues.locks.get(name)?.state() != Stage::Asked {
            return None;
        }
        let down = self.connectivity.down(host);
        let nodes: Vec<NodeId> = down.iter().map(|(node, _)| *node).collect();
        let (nodes, part) = self.config.needs.missing(&nodes, self.config.nodes.len() as u32)?;
        let of_these = down.iter().filter(|(node, _)| nodes.contains(node));
        let since = of_these.map(|(_, since)| *since).min()?;
        let for_ms = milliseconds(host.now().since(since));
        let nodes: Vec<u32> = nodes.iter().map(|node| node.0 + 1).collect();
        let message = in_words(&nodes, for_ms / 1_000, part);
        Some(api::Blocked { nodes, for_ms, message })
    }

    /// The nodes that have so many messages to take yet that nobody should ask for more.
    pub(super) fn overflowing(&self, host: &dyn HostContext) -> Option<api::Blocked> {
        let full: Vec<NodeId> =
            self.connectivity.peers().filter(|peer| host.peer(*peer).full).collect();
        let first = host.peer(*full.first()?);
        let nodes: Vec<u32> = full.iter().map(|node| node.0 + 1).collect();
        let for_ms = milliseconds(host.now().since(first.since));
        let message = format!(
            "blocked on {}, {} messages not yet acknowledged",
            listed(&nodes),
            first.unacknowledged
        );
        Some(api::Blocked { nodes, for_ms, message })
    }
}

/// `blocked on node 3, down 40 s`, and what that node has to do with it.
fn in_words(nodes: &[u32], seconds: u64, part: Part) -> String {
    let down = format!("blocked on {}, down {seconds} s", listed(nodes));
    match (part, nodes.len()) {
        (Part::Needed, _) => down,
        (Part::Coordinates, _) => format!("{down}, which coordinates it"),
        (Part::Numbers, _) => format!("{down}, which numbers all requests"),
        (Part::MayHold, 1) => format!("waiting; {}, down {seconds} s, may hold it", listed(nodes)),
        (Part::MayHold, _) => {
            format!("waiting; one of {}, down {seconds} s, may hold it", listed(nodes))
        }
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
