//! Facets: what of a node's state helps most to understand it (a queue, a quorum, who has the vote,
//! an edge of a tree), to be shown as what it is.

/// A field of a node's state, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facet {
    /// The field's name in the state; that of a layer below comes with the layer's, `bully.voted`.
    /// A dot leads into a field of it, `arbiter.queue`; or, of a list, to those that have a word,
    /// `edges.Out`.
    pub field: &'static str,
    /// What it is.
    pub kind: FacetKind,
    /// What people call it in English.
    pub english: &'static str,
    /// And in Portuguese.
    pub portuguese: &'static str,
}

/// What a field of a node's state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetKind {
    /// Those that wait, the first first.
    Queue,
    /// Those that wait, the first last.
    QueueFromEnd,
    /// Those that wait: the time of each node's request, in order of node, or nothing.
    QueueByNode,
    /// Some of the nodes.
    Set,
    /// One node, such as the one that has the vote; or none.
    Node,
    /// The way from this node to another one, or to none: the edge of a tree or of a path. Of a
    /// list, one to each in it.
    Edge,
}

impl FacetKind {
    /// The word that programs know it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue | Self::QueueFromEnd | Self::QueueByNode => "queue",
            Self::Set => "set",
            Self::Node => "node",
            Self::Edge => "edge",
        }
    }
}
