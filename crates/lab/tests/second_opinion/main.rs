//! Other ways to count the states of the same runs: a model written a second time by hand, for
//! stateright, and the plainest search that can be written. All must come to the same number.

mod chang_roberts;
mod naive;
mod ricart_agrawala;
mod users;

use conclave_algorithms::catalog::{self, Arrival, ENTRIES, Entry, Family, Stated, Visitor};
use conclave_check::Limits;
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{Bounds, Cluster, Network, Oracle, Process, Property};
use stateright::{Checker, Model};
use std::fmt::Debug;
use std::hash::Hash;
use users::{Citizen, Locker};

/// The rows whose states the plainest search can count, and the order in which messages arrive.
fn plain() -> impl Iterator<Item = (&'static str, Arrival)> {
    let counted = |entry: &&Entry| Some((entry.id, *entry.evidence.plain.yes()?));
    ENTRIES.iter().filter_map(counted)
}

#[test]
fn ricart_agrawala_has_as_many_states_written_by_hand() {
    for (nodes, requests, states) in [(2, 3, 462), (3, 1, 2_551), (3, 2, 46_805), (3, 3, 272_514)] {
        let model = ricart_agrawala::RicartAgrawala { nodes: nodes as usize, requests };
        let by_hand = by_stateright(model);
        let found = by_ours("ricart-agrawala", nodes, requests.into(), Network::Fifo);
        assert_eq!((by_hand, found), (states, states), "{nodes} nodes, {requests} requests each");
    }
}

#[test]
fn chang_roberts_has_as_many_states_written_by_hand() {
    for (nodes, states) in [(3, 183), (4, 918), (5, 4_343)] {
        let by_hand = by_stateright(chang_roberts::ChangRoberts { nodes: nodes as usize });
        let found = by_ours("chang-roberts", nodes, 1, Network::Fifo);
        assert_eq!((by_hand, found), (states, states), "{nodes} nodes");
    }
}

#[test]
fn the_plainest_search_finds_as_many_states_of_two_nodes() {
    for (id, arrival) in plain() {
        for (requests, network) in [(1, Network::Fifo), (2, Network::Fifo), (1, Network::Bag)] {
            if network == Network::Bag && arrival == Arrival::AsSent {
                continue;
            }
            let plainly = naively(id, 2, requests, network);
            let found = by_ours(id, 2, requests, network);
            assert_eq!(plainly, found, "{id}, {requests} requests each, {network:?}");
        }
    }
}

#[test]
fn a_row_that_the_plainest_search_leaves_out_says_why() {
    for entry in ENTRIES {
        if let Stated::No(why) = entry.evidence.plain {
            assert!(!why.is_empty(), "{}: evidence.plain of its row must say why not", entry.id);
        }
    }
    assert!(plain().count() >= 14, "only {} rows are counted twice", plain().count());
}

#[test]
fn the_plainest_search_finds_as_many_states_of_three_nodes() {
    for id in ["ricart-agrawala", "maekawa", "suzuki-kasami", "chang-roberts"] {
        let plainly = naively(id, 3, 1, Network::Fifo);
        assert_eq!(plainly, by_ours(id, 3, 1, Network::Fifo), "{id}");
    }
}

/// As many as our own search finds that leaves nothing out.
fn by_ours(id: &str, nodes: u32, requests: u32, network: Network) -> u64 {
    let bounds = Bounds { requests: Some(requests), network, ..Bounds::default() };
    let entry = catalog::find(id).expect("it is in the catalogue");
    // Only promises that need no memory of what has happened: it would tell states apart.
    let properties = match entry.family {
        Family::Mutex => vec![Property::S1, Property::V1],
        Family::Election => vec![Property::E1, Property::E2],
        Family::Detector | Family::Clock => panic!("{id} cannot be checked"),
    };
    let limits = Limits { partial_order: false, symmetry: false, properties, ..Limits::default() };
    let setting = entry.setting(nodes, &[]).expect("it takes any number of nodes");
    let checker = conclave_lab::drivers(&setting).expect("built").checker.expect("as it should");
    let report = checker.check(&bounds, &limits, &|_| {});
    assert!(report.is_complete(), "{id}: {:?}", report.stop);
    report.unique_states
}

/// As many as stateright finds, on all cores.
fn by_stateright<M>(model: M) -> u64
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync + 'static,
    M::Action: Clone + Debug + PartialEq,
{
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = model.checker().threads(threads).spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count() as u64
}

/// As many as the plainest search finds. In an election, every set of nodes begins once.
fn naively(id: &str, nodes: u32, requests: u32, network: Network) -> u64 {
    visit(id, nodes, Naively { requests, network })
}

fn visit<V: Visitor>(id: &str, nodes: u32, visitor: V) -> V::Output {
    let setting = catalog::find(id).and_then(|entry| entry.setting(nodes, &[]));
    let visited = setting.and_then(|setting| catalog::visit(&setting, visitor));
    visited.expect("it is in the catalogue and takes any number of nodes")
}

struct Naively {
    requests: u32,
    network: Network,
}

impl Visitor for Naively {
    type Output = u64;

    fn mutex<P>(self, cluster: Cluster<P>) -> u64
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        let users = vec![Locker::new(self.requests); cluster.clients as usize];
        naive::unique_states(&cluster, self.network, vec![users])
    }

    fn election<P>(self, cluster: Cluster<P>) -> u64
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        naive::unique_states(&cluster, self.network, Citizen::every_set(cluster.clients))
    }

    fn detector<P>(self, _: Cluster<P>) -> u64
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        panic!("a detector has timers")
    }

    fn clock<P>(self, _: Cluster<P>) -> u64
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        panic!("a clock is used in no particular way")
    }
}
