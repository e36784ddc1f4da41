//! A random walk, and beside it every step of it under new names.

use super::walk::{next, others};
use super::world::{Faults, Move, World};
use conclave_algorithms::catalog::{Cluster, Visitor};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{NodeId, Oracle, Process, Renaming, Symmetry};

/// Walks so many steps.
pub struct Exchange {
    pub steps: usize,
    pub seed: u64,
    pub faults: Faults,
}

/// Whether there are nodes that can be exchanged.
pub struct HasSymmetry;

impl Visitor for HasSymmetry {
    type Output = bool;

    fn mutex<P>(self, cluster: Cluster<P>) -> bool
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        cluster.symmetry.is_some()
    }

    others!();
}

impl Visitor for Exchange {
    type Output = ();

    fn mutex<P>(self, cluster: Cluster<P>)
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        let symmetry = cluster.symmetry.as_ref().expect("only these are looked at");
        let mut random = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut world = World::new(&cluster);
        for step in 0..self.steps {
            let clients = shuffled(cluster.clients, &mut random);
            let coordinators = shuffled(cluster.coordinators, &mut random);
            let names = Renaming { clients, coordinators };
            shared_names_do_no_harm(&world, symmetry, &names);
            let moves = world.moves(self.faults);
            let happens = moves[(next(&mut random) % moves.len() as u64) as usize];
            let mut elsewhere = renamed(&world, symmetry, &names);
            elsewhere.apply(under(happens, &names), 0);
            world.apply(happens, 0);
            let expected = renamed(&world, symmetry, &names);
            assert!(elsewhere == expected, "{step}: {happens:?}\n{elsewhere:#?}\n{expected:#?}");
        }
    }

    others!();
}

/// All clients by one name: whatever comes of it, it comes of every order of them.
fn shared_names_do_no_harm<P>(world: &World<P>, symmetry: &Symmetry<P>, names: &Renaming)
where
    P: Process<Provides = Mutex>,
{
    let clients = vec![NodeId(0); names.clients.len()];
    let coordinators = vec![NodeId(0); names.coordinators.len()];
    let shared = Renaming { clients, coordinators };
    for node in &world.snapshot.nodes {
        let other = (symmetry.renamed)(node, names);
        assert_eq!((symmetry.renamed)(node, &shared), (symmetry.renamed)(&other, &shared));
    }
}

/// The new index of a node, whether client or coordinator.
fn name(node: usize, names: &Renaming) -> usize {
    match node.checked_sub(names.clients.len()) {
        None => names.clients[node].index(),
        Some(seat) => names.clients.len() + names.coordinators[seat].index(),
    }
}

fn renamed<P>(world: &World<P>, symmetry: &Symmetry<P>, names: &Renaming) -> World<P>
where
    P: Process<Provides = Mutex>,
{
    let mut renamed = world.clone();
    let n = world.snapshot.nodes.len();
    for (node, process) in world.snapshot.nodes.iter().enumerate() {
        let new = name(node, names);
        renamed.snapshot.nodes[new] = (symmetry.renamed)(process, names);
        renamed.timers[new].clone_from(&world.timers[node]);
    }
    for (client, user) in world.users.iter().enumerate() {
        renamed.users[name(client, names)] = *user;
    }
    for (from, to, messages) in &world.snapshot.links {
        let link = name(from.index(), names) * n + name(to.index(), names);
        renamed.snapshot.links[link].2.clone_from(messages);
    }
    renamed
}

fn under(happens: Move, names: &Renaming) -> Move {
    let n = names.clients.len() + names.coordinators.len();
    let moved = |link: usize| name(link / n, names) * n + name(link % n, names);
    match happens {
        Move::Ask(node, request) => Move::Ask(name(node, names), request),
        Move::Fire(node, timer) => Move::Fire(name(node, names), timer),
        Move::Restart(node) => Move::Restart(name(node, names)),
        Move::Doubt { by, of, trust } => {
            Move::Doubt { by: name(by, names), of: name(of, names), trust }
        }
        Move::Deliver { link, place, copy } => Move::Deliver { link: moved(link), place, copy },
        Move::Lose { link, place } => Move::Lose { link: moved(link), place },
    }
}

fn shuffled(n: u32, random: &mut u64) -> Vec<NodeId> {
    let mut names: Vec<NodeId> = (0..n).map(NodeId).collect();
    for last in (1..names.len()).rev() {
        names.swap(last, (next(random) % (last as u64 + 1)) as usize);
    }
    names
}
