//! Clients and coordinators: who is which, for the algorithms that keep coordinators.

use conclave_core::NodeId;
use serde::{Deserialize, Serialize};

/// Where clients and coordinators live. The clients are the first nodes; the coordinators come
/// right behind them, or live on the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Places {
    clients: u32,
    first: u32,
    coordinators: u32,
}

impl Places {
    /// Coordinators on nodes of their own, behind the clients.
    pub fn separate(clients: u32, coordinators: u32) -> Self {
        Self { clients, first: clients, coordinators }
    }

    /// Coordinators on the first nodes, beside their clients.
    pub fn colocated(clients: u32, coordinators: u32) -> Self {
        assert!(coordinators <= clients, "{coordinators} coordinators on {clients} nodes");
        Self { clients, first: 0, coordinators }
    }

    /// How many nodes the application runs on.
    pub fn clients(self) -> u32 {
        self.clients
    }

    /// How many nodes do nothing but coordinate.
    pub fn extra(self) -> u32 {
        if self.first == 0 { 0 } else { self.coordinators }
    }

    /// Whether there is only one client, who then need not ask anybody.
    pub fn alone(self) -> bool {
        self.clients == 1
    }

    /// Whether this node is a client.
    pub fn is_client(self, node: NodeId) -> bool {
        node.0 < self.clients
    }

    /// How many coordinators there are.
    pub fn coordinators(self) -> u32 {
        self.coordinators
    }

    /// The seats of the coordinators, counted from 0: small numbers, fit for a set.
    pub fn seats(self) -> impl Iterator<Item = NodeId> {
        (0..self.coordinators).map(NodeId)
    }

    /// The seat of a node, if it coordinates.
    pub fn seat_of(self, node: NodeId) -> Option<NodeId> {
        let seat = node.0.checked_sub(self.first)?;
        (seat < self.coordinators).then_some(NodeId(seat))
    }

    /// The node of a seat.
    pub fn node_at(self, seat: NodeId) -> NodeId {
        NodeId(self.first + seat.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separate_coordinators_sit_behind_the_clients() {
        let places = Places::separate(3, 2);
        assert_eq!(places.extra(), 2);
        assert_eq!(places.node_at(NodeId(1)), NodeId(4));
        assert_eq!(places.seat_of(NodeId(2)), None);
        assert_eq!(places.seat_of(NodeId(3)), Some(NodeId(0)));
        assert_eq!(places.seat_of(NodeId(5)), None);
        assert!(places.is_client(NodeId(2)) && !places.is_client(NodeId(3)));
    }

    #[test]
    fn colocated_coordinators_sit_on_the_first_clients() {
        let places = Places::colocated(3, 2);
        assert_eq!(places.extra(), 0);
        assert_eq!(places.node_at(NodeId(1)), NodeId(1));
        assert_eq!(places.seat_of(NodeId(1)), Some(NodeId(1)));
        assert_eq!(places.seat_of(NodeId(2)), None);
    }
}
