//! Facets that several rows have: who leads, who is suspected, where the tree goes.

use conclave_core::{Facet, FacetKind};

/// Who leads, as far as the node knows.
pub(super) const fn leader(field: &'static str) -> Facet {
    Facet { field, kind: FacetKind::Node, english: "leader", portuguese: "líder" }
}

/// Whom the node takes for dead.
pub(super) const fn suspects(field: &'static str) -> Facet {
    Facet { field, kind: FacetKind::Set, english: "suspected", portuguese: "sob suspeita" }
}

/// Where the node's place in a spanning tree hangs.
pub(super) const fn parent(field: &'static str) -> Facet {
    Facet { field, kind: FacetKind::Edge, english: "parent", portuguese: "pai" }
}

/// In whose wave the node is.
pub(super) const fn wave(field: &'static str) -> Facet {
    Facet { field, kind: FacetKind::Node, english: "in the wave of", portuguese: "na onda de" }
}

/// To whom the node gave its vote.
pub(super) const fn vote(field: &'static str) -> Facet {
    Facet { field, kind: FacetKind::Node, english: "voted for", portuguese: "votou em" }
}

/// Who gave the node its vote.
pub(super) const fn votes(field: &'static str) -> Facet {
    Facet { field, kind: FacetKind::Set, english: "votes for it", portuguese: "votos para ele" }
}

/// Any other set of nodes.
pub(super) const fn set(
    field: &'static str,
    english: &'static str,
    portuguese: &'static str,
) -> Facet {
    Facet { field, kind: FacetKind::Set, english, portuguese }
}

/// The ways from the node to those in a list.
pub(super) const fn edges(
    field: &'static str,
    english: &'static str,
    portuguese: &'static str,
) -> Facet {
    Facet { field, kind: FacetKind::Edge, english, portuguese }
}

/// Any other single node.
pub(super) const fn node(
    field: &'static str,
    english: &'static str,
    portuguese: &'static str,
) -> Facet {
    Facet { field, kind: FacetKind::Node, english, portuguese }
}

/// The counts of a clock, one for each node.
pub(super) const fn counts(field: &'static str) -> Facet {
    Facet { field, kind: FacetKind::Queue, english: "clock", portuguese: "relógio" }
}
