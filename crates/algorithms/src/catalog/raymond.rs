//! The row of Raymond's algorithm.

use super::claims::{
    ALL, UNFENCED, UNORDERED, as_usual, claim, copied, for_ever, thrice, twice, withdrawn_twice,
    withdrawn_with_a_comeback,
};
use super::dropped::{breaks, not_in_bounds};
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost,
    OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::raymond::{Raymond, WHY, normal};
use crate::mutex::tree::Tree;
use conclave_core::Property::{BW, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::{Facet, FacetKind};

/// The token on a tree.
pub const ENTRY: Entry = Entry {
    id: "raymond",
    family: Family::Mutex,
    title: "Raymond's tree",
    summary: "A privilege moves along the edges of a tree, to whoever asked first at each node.",
    paper: "K. Raymond, \"A tree-based algorithm for distributed mutual exclusion\", \
            ACM TOCS 7(1), 1989",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: breaks(limits::astray, &[V1, V2]),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes, or it restarts with its disk",
            dropped: breaks(limits::amnesia, &[V1, V2]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also leaves",
            dropped: breaks(limits::stay, &[V2]),
        },
        Assumption {
            tag: "A4",
            text: "the tree does not change",
            dropped: not_in_bounds(
                "it would take nodes whose neighbours change under way; all know one tree from \
                 the start",
            ),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![S1, S1Eff, V1, V2, F1],
    lacks: &[
        (HB, "first come, first served holds at each node, not between nodes"),
        (
            BW,
            "the privilege leaves for another branch before the REQUEST that calls it back; until \
             that arrives, the branch may use it again and again",
        ),
    ],
    bypass: None,
    parameters: &[Parameter {
        name: "tree",
        kind: Kind::ChoiceOrFile(&["heap", "star", "chain"]),
        default: "heap",
        about: "the tree, its root the first node; a file has one edge 'a b' per line",
    }],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula { text: "2 per edge to the privilege", range: light },
        heavy: Formula {
            text: "2(N-1)/N to 4(N-1)/N; star 4-6/N, chain 2-2/N",
            range: |setting| exactly(2.0 * hops(setting) / setting.n()),
        },
        client_delay: Formula { text: "2 per edge to the privilege", range: light },
        client_delay_serial: Formula { text: "2 per edge to the privilege", range: light },
        sync_delay: Formula {
            text: "1 to the tree's diameter",
            range: |setting| exactly(hops(setting) / (setting.n() - 1.0).max(1.0)),
        },
        textbooks: "Under load books say about 4 messages per entry: never more than 4(N-1)/N.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock::OF_EQUALS),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 224, ALL).place(24),
            claim(3, as_usual, 144, ALL).place(25),
            claim(3, twice, 1_838, ALL).place(38),
            claim(3, for_ever, 86, UNFENCED).place(49),
            claim(3, withdrawn_with_a_comeback, 23_906, ALL),
            claim(3, withdrawn_twice, 6_686, UNORDERED),
            claim(3, copied, 1_178, ALL),
        ]),
        normal: Stated::Yes(&[&[]]),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[WHY],
    facets: &[
        Facet { field: "queue", kind: FacetKind::Queue, english: "queue", portuguese: "fila" },
        Facet {
            field: "holder",
            kind: FacetKind::Edge,
            english: "towards the privilege",
            portuguese: "rumo ao privilégio",
        },
    ],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Raymond>, Error> {
    let tree = tree(setting)?;
    let nodes = Cluster::of_equals(setting.n, move |me| Raymond::new(me, tree.parent(me)));
    Ok(Cluster { normal: Some(normal), ..nodes })
}

fn tree(setting: &Setting) -> Result<Tree, Error> {
    match setting.params.text("tree") {
        "heap" => Ok(Tree::heap(setting.n)),
        "star" => Ok(Tree::star(setting.n)),
        "chain" => Ok(Tree::chain(setting.n)),
        text => {
            Tree::parse(text, setting.n).map_err(|reason| Error::Unusable { name: "tree", reason })
        }
    }
}

/// A REQUEST up and a PRIVILEGE down each edge between the client and the root.
fn light(setting: &Setting) -> (f64, f64) {
    let depths = tree(setting).map(|tree| tree.depths()).unwrap_or_default();
    exactly(2.0 * depths.into_iter().map(f64::from).sum::<f64>() / setting.n())
}

/// How far the privilege goes when all ask at once: every node then queues itself before its
/// children and these before its parent, so it walks the whole tree, each edge down and up, but for
/// the way back from the last. Each of its hops answers one REQUEST.
fn hops(setting: &Setting) -> f64 {
    let way_back = tree(setting).map(|tree| tree.depth_of_last()).unwrap_or_default();
    2.0 * (setting.n() - 1.0) - f64::from(way_back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_totals_come_out() {
        for (n, shape, total) in
            [(7, "star", 22.0), (7, "chain", 12.0), (7, "heap", 20.0), (15, "heap", 50.0)]
        {
            let setting = ENTRY.setting(n, &[("tree", shape)]).expect("taken");
            assert_eq!(2.0 * hops(&setting), total, "{shape} of {n}");
        }
        let chain = ENTRY.setting(3, &[("tree", "1 2\n2 3")]).expect("taken");
        assert_eq!((light(&chain), hops(&chain)), (exactly(2.0), 2.0));
    }

    #[test]
    fn a_file_that_is_no_tree_is_refused_by_name() {
        let setting = ENTRY.setting(3, &[("tree", "1 2")]).expect("taken");
        let error = cluster(&setting).err().expect("no tree");
        assert_eq!(error.to_string(), "--set tree: a tree of 3 nodes has 2 edges, not 1");
    }
}
