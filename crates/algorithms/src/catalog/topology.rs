//! What the rows of elections on graphs share: the graph, the ranks, the sizes costs are made of.

use super::{Kind, Parameter, Setting};
use crate::Error;
use crate::election::graph::Graph;
use crate::election::rank::{Choose, Rank};
use conclave_core::{Cluster, NodeId, Process};
use std::sync::Arc;

/// The parameter that chooses the graph.
pub const PARAMETER: Parameter = Parameter {
    name: "topology",
    kind: Kind::ChoiceOrFile(&["ring", "complete", "grid", "star", "path", "random:"]),
    default: "ring",
    about: "the graph. grid: rows and columns as equal as they get, for any number of nodes that \
            is not prime; star: around the first node; random:P or random:P:SEED: every edge with \
            probability P, drawn until connected; a file has one edge 'a b' per line",
};

/// The graph of a setting.
pub fn graph(setting: &Setting) -> Result<Graph, Error> {
    let text = setting.params.text(PARAMETER.name);
    Graph::parse(text, setting.n).map_err(|reason| Error::Unusable { name: PARAMETER.name, reason })
}

/// The ranks of all nodes by id. Whoever may not be elected ranks behind whoever may.
pub fn ranks(setting: &Setting, choose: Choose) -> Vec<Rank> {
    let behind = match choose {
        Choose::Min => 1,
        Choose::Max => 0,
    };
    let attribute = |node| match setting.is_candidate(node) {
        _ if setting.candidates.is_empty() => 0,
        true => 1 - behind,
        false => behind,
    };
    let nodes = (0..setting.n).map(NodeId);
    nodes.map(|node| Rank { attribute: attribute(node), id: setting.id(node), node }).collect()
}

/// The nodes on a graph, of which the best that is up in the end should lead.
pub fn cluster<P: Process>(
    graph: Graph,
    ranks: Vec<Rank>,
    choose: Choose,
    fresh: impl Fn(Rank, &[NodeId]) -> P + Send + Sync + 'static,
) -> Cluster<P> {
    let ranks: Arc<[Rank]> = ranks.into();
    let known = Arc::clone(&ranks);
    let n = graph.nodes();
    let links = graph.links();
    let fresh = move |me: NodeId| fresh(known[me.index()], graph.neighbours(me));
    Cluster {
        winner: Some(Box::new(move |up, _| {
            choose.best(up.iter().map(|node| ranks[node.index()])).map(|best| best.node)
        })),
        links,
        ..Cluster::of_equals(n, fresh)
    }
}

/// The sizes that formulas are made of; all 0 for a graph that cannot be built.
pub struct Size {
    /// Nodes.
    pub n: f64,
    /// Edges.
    pub m: f64,
    /// The diameter.
    pub d: f64,
}

impl Size {
    /// The sizes of a setting's graph.
    pub fn of(setting: &Setting) -> Self {
        match graph(setting) {
            Ok(graph) => {
                Self { n: setting.n(), m: graph.edges() as f64, d: f64::from(graph.diameter()) }
            }
            Err(_) => Self { n: 0.0, m: 0.0, d: 0.0 },
        }
    }

    /// The least distance that any node can have from the one farthest from it.
    pub fn radius_min(&self) -> f64 {
        (self.d / 2.0).ceil()
    }
}
