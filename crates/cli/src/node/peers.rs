//! Who belongs to the cluster, and where.

use super::file::Node;
use crate::failure::Mistakes;
use conclave_service::Address;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// More nodes than this and every algorithm here drowns in messages.
pub const NODES_MAX: usize = 99;

const TAKES: &str = "takes ID=HOST:PORT,api=HOST:PORT, once per node, this one included";

/// As `--peer` names it: `1=host:7100,api=host:7070`.
impl FromStr for Node {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(id, rest)| {
            let (peer, api) = rest.split_once(",api=")?;
            Some((id.parse().ok()?, peer.to_string(), api.to_string()))
        });
        let (id, peer, api) = parts.ok_or_else(|| TAKES.to_string())?;
        Ok(Self { id, peer, api })
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={},api={}", self.id, self.peer, self.api)
    }
}

/// The nodes that were typed, if all of them can be read.
pub fn typed(peers: &[String], mistakes: &mut Mistakes) -> Option<Vec<Node>> {
    let mut node = |text: &String| match text.parse() {
        Ok(node) => Some(node),
        Err(takes) => {
            mistakes.add(format!("--peer {text}: {takes}"));
            None
        }
    };
    let nodes: Vec<Option<Node>> = peers.iter().map(&mut node).collect();
    nodes.into_iter().collect()
}

/// The addresses in order of the numbers 1 to n, if they make sense together.
pub fn addresses(nodes: &[Node], mistakes: &mut Mistakes) -> Option<Vec<Address>> {
    let before = mistakes.0.len();
    if nodes.is_empty() {
        mistakes.add(format!("--peer: is missing; {TAKES}"));
    }
    if nodes.len() > NODES_MAX {
        mistakes.add(format!("--peer: {} nodes; at most {NODES_MAX}", nodes.len()));
        return None; // What else is wrong with so many is not looked for.
    }
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for node in nodes {
        for address in [&node.peer, &node.api] {
            if !is_address(address) {
                let id = node.id;
                mistakes.add(format!("--peer {id}={address}: takes HOST:PORT, not port 0"));
            } else if let Some(other) = seen.insert(address, node.id) {
                mistakes.add(format!("--peer {}={address}: node {other} is there", node.id));
            }
        }
    }
    for id in 1..=u32::try_from(nodes.len()).unwrap_or(u32::MAX) {
        match nodes.iter().filter(|node| node.id == id).count() {
            0 => mistakes.add(format!("--peer: node {id} is missing: nodes are 1 to n")),
            1 => {}
            _ => mistakes.add(format!("--peer {id}=…: is given twice")),
        }
    }
    if mistakes.0.len() > before {
        return None;
    }
    let mut nodes = nodes.to_vec();
    nodes.sort_by_key(|node| node.id);
    Some(nodes.into_iter().map(|node| Address { peer: node.peer, api: node.api }).collect())
}

fn is_address(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    !host.is_empty() && host.chars().all(plain) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node {
        text.parse().unwrap()
    }

    #[test]
    fn nodes_are_put_in_order() {
        let nodes = [node("2=b:1,api=b:2"), node("1=a:1,api=a:2")];
        let mut mistakes = Mistakes::default();
        let found = addresses(&nodes, &mut mistakes).unwrap();
        assert_eq!(found[0], Address { peer: "a:1".to_string(), api: "a:2".to_string() });
        assert!(mistakes.0.is_empty());
    }

    #[test]
    fn all_that_is_wrong_is_said() {
        let nodes = [node("1=a:1,api=a:2"), node("1=a:1,api=b:0"), node("4=c:1,api=c:2")];
        let mut mistakes = Mistakes::default();
        assert_eq!(addresses(&nodes, &mut mistakes), None);
        let expected = [
            "--peer 1=a:1: node 1 is there",
            "--peer 1=b:0: takes HOST:PORT, not port 0",
            "--peer 1=…: is given twice",
            "--peer: node 2 is missing: nodes are 1 to n",
            "--peer: node 3 is missing: nodes are 1 to n",
        ];
        assert_eq!(mistakes.0, expected);
    }

    #[test]
    fn of_far_too_many_nodes_only_that_is_said() {
        let nodes = vec![node("7=a:0,api=a:0"); 30_000];
        let mut mistakes = Mistakes::default();
        assert_eq!(addresses(&nodes, &mut mistakes), None);
        assert_eq!(mistakes.0, ["--peer: 30000 nodes; at most 99"]);
    }

    #[test]
    fn a_peer_has_a_number_and_two_places() {
        for bad in ["", "1", "1=a:1", "x=a:1,api=a:2", "1=a:1,a:2"] {
            assert_eq!(bad.parse::<Node>(), Err(TAKES.to_string()), "{bad}");
        }
    }
}
