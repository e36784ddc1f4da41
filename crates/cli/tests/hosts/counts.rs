//! Messages counted on the network, and by the simulator for the same schedule.

use crate::cluster::{Cluster, N, wait_for};
use crate::resource::{session, take};
use crate::support::json;
use conclave_algorithms::catalog::Entry;
use std::collections::BTreeMap;

type Counts = BTreeMap<String, u64>;

/// The name of the lock that nobody else uses.
const NAME: &str = "counted";
/// Those that send messages as time goes by, whether anybody enters or not.
const TIMED: [&str; 2] = ["central-failover", "token-ring-regenerating"];
/// The messages of such a lock that an entry costs.
const OF_AN_ENTRY: [&str; 3] = ["REQUEST", "GRANT", "RELEASE"];

/// Node after node enters and leaves, alone and when all is quiet, so that no delay of the network
/// can matter: kind by kind it takes as many messages as in the simulator.
pub fn as_simulated(cluster: &Cluster<'_>, entry: &Entry) {
    if entry.id == "token-ring-regenerating" {
        return; // Its token never rests: how often it moves is a matter of time.
    }
    for node in 1..=N {
        let lease = session(cluster, node);
        let held = take(&lease, node, NAME);
        // A vote that comes after the exit would be given back on its own.
        wait_for("all votes have arrived", || is_quiet(cluster));
        held.release().expect("it was held");
        wait_for("all messages have arrived", || is_quiet(cluster));
    }
    let mut counted =
        sent(cluster).into_iter().flatten().fold(Counts::new(), |mut sum, (kind, k)| {
            *sum.entry(kind).or_default() += k;
            sum
        });
    let mut expected = simulated(cluster, entry);
    if TIMED.contains(&entry.id) {
        counted.retain(|kind, _| OF_AN_ENTRY.contains(&&**kind));
        expected.retain(|kind, _| OF_AN_ENTRY.contains(&&**kind));
    }
    assert_eq!(counted, expected, "{}: on the network, and simulated", entry.id);
}

/// What each node has sent for the lock; nothing if it does not know of it.
fn sent(cluster: &Cluster<'_>) -> Vec<Counts> {
    let of = |node| cluster.client(node).lock_state(NAME).map(|lock| lock.messages);
    (1..=N).map(|node| of(node).ok().flatten().unwrap_or_default()).collect()
}

/// Whether all that was sent had arrived and been answered. Each node has nothing on its way when
/// it is looked at, and none has sent anything between that and a second look.
fn is_quiet(cluster: &Cluster<'_>) -> bool {
    let before = sent(cluster);
    let arrived = |node| {
        let seen = cluster.client(node).cluster();
        seen.is_ok_and(|seen| seen.nodes.iter().all(|peer| peer.unacknowledged == 0))
    };
    (1..=N).all(arrived) && before == sent(cluster)
}

/// The same schedule in the simulator, with the parameters that the network uses.
fn simulated(cluster: &Cluster<'_>, entry: &Entry) -> Counts {
    let line = |(at, node, act): (u32, u32, &str)| format!("{at},{node},{act}");
    let visit = |node| [(node * 1_000, node, "acquire"), (node * 1_000 + 500, node, "release")];
    let script: Vec<String> = (1..=N).flat_map(visit).map(line).collect();
    let (nodes, script) = (N.to_string(), format!("script:={}", script.join(";")));
    let mut arguments = ["sim", entry.id, "--json", "--nodes", &nodes, "--workload", &script]
        .map(String::from)
        .to_vec();
    for (name, value) in cluster.seen_by(1).parameters {
        arguments.extend(["--set".to_string(), format!("{name}={value}")]);
    }
    let arguments: Vec<&str> = arguments.iter().map(|one| &**one).collect();
    let run = json(&arguments);
    let counts = run["messages_by_type"].as_object().expect("counts by kind").iter();
    counts.map(|(kind, count)| (kind.clone(), count.as_u64().expect("a number"))).collect()
}
