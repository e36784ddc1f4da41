//! Symmetry reduction: one hash for all states that differ only in which of several equal nodes
//! does what.

use crate::explorer::Explorer;
use crate::intern::{Plain, mix};
use crate::state::State;
use crate::workings::LocalId;
use conclave_core::{Hasher, NodeId, Renaming};
use std::collections::HashMap;

/// The orders of more clients than this would take longer to try than they save.
pub const CLIENTS_MAX: u32 = 5;

/// Finds that hash.
///
/// All orders of the clients are tried. For the coordinators there is no need to: each is described
/// by its own state, by what is under way to and from it, and by the states of the clients with
/// this one coordinator marked and all others taken for one. The sum of these descriptions does not
/// depend on the order of the coordinators, and says all that there is to say about them.
pub struct Symmetry {
    clients: usize,
    coordinators: usize,
    /// Every order of the clients: the new name of each.
    orders: Vec<Vec<NodeId>>,
    /// Hashes of states of nodes by order and by marked coordinator.
    known: HashMap<(LocalId, u16, u16), u64, Plain>,
}

impl Symmetry {
    pub fn new(clients: u32, coordinators: u32) -> Self {
        let orders = permutations((0..clients).map(NodeId).collect());
        Self {
            clients: clients as usize,
            coordinators: coordinators as usize,
            orders,
            known: HashMap::default(),
        }
    }

    /// The hash of a state, the same for all that are alike.
    #[inline(never)] // So that [`key`] stays small where there is no symmetry.
    pub fn hash(&mut self, explorer: &Explorer<'_>, state: &State, global: u64) -> u64 {
        let links = Between::of(explorer, state);
        let hashes =
            (0..self.orders.len()).map(|order| self.of_order(explorer, state, &links, order));
        hashes.min().unwrap_or(0).wrapping_add(global)
    }

    fn of_order(
        &mut self,
        explorer: &Explorer<'_>,
        state: &State,
        links: &Between,
        order: usize,
    ) -> u64 {
        // Who goes by each new name.
        let mut who = vec![0; self.clients];
        for (client, name) in self.orders[order].iter().enumerate() {
            who[name.index()] = client;
        }
        let mut sum = 0_u64;
        for coordinator in 0..self.coordinators {
            let node = self.clients + coordinator;
            let mut hasher = Hasher::default();
            hasher.write_u64(self.renamed(explorer, state.nodes[node], order, coordinator));
            for &client in &who {
                hasher.write_u64(self.renamed(explorer, state.nodes[client], order, coordinator));
                hasher.write_u64(links.of_pair(client, node));
                hasher.write_u64(links.of_pair(node, client));
            }
            sum = sum.wrapping_add(mix(hasher.finish()));
        }
        sum
    }

    fn renamed(
        &mut self,
        explorer: &Explorer<'_>,
        local: LocalId,
        order: usize,
        marked: usize,
    ) -> u64 {
        let orders = &self.orders;
        let coordinators = self.coordinators;
        let key = (local, order as u16, marked as u16);
        *self.known.entry(key).or_insert_with(|| {
            let name = |coordinator| NodeId(u32::from(coordinator != marked));
            let renaming = Renaming {
                clients: orders[order].clone(),
                coordinators: (0..coordinators).map(name).collect(),
            };
            explorer.space().workings.renamed(local, &renaming)
        })
    }
}

/// The hash by which a state is known: the same for all that are alike, if some are.
#[inline]
pub fn key(explorer: &Explorer<'_>, symmetry: &mut Option<Symmetry>, state: &State) -> u64 {
    match symmetry {
        Some(symmetry) => symmetry.hash(explorer, state, explorer.global_hash(state.global)),
        None => state.hash,
    }
}

/// What is under way between each two nodes.
struct Between {
    nodes: usize,
    hashes: Vec<u64>,
}

impl Between {
    fn of(explorer: &Explorer<'_>, state: &State) -> Self {
        let nodes = state.nodes.len();
        let mut hashes = vec![0; nodes * nodes];
        for (slot, &content) in state.links.iter().enumerate() {
            let (from, to) = explorer.links()[slot];
            hashes[from.index() * nodes + to.index()] = explorer.content(content).hash;
        }
        Self { nodes, hashes }
    }

    fn of_pair(&self, from: usize, to: usize) -> u64 {
        self.hashes[from * self.nodes + to]
    }
}

fn permutations(names: Vec<NodeId>) -> Vec<Vec<NodeId>> {
    if names.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for place in 0..names.len() {
        let mut rest = names.clone();
        let first = rest.remove(place);
        all.extend(permutations(rest).into_iter().map(|mut order| {
            order.insert(0, first);
            order
        }));
    }
    all
}
