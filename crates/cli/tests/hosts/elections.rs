//! Every election across five hosts.

use crate::cluster::{Cluster, N};
use crate::on_hosts;
use conclave_algorithms::catalog::{ENTRIES, Family};

/// Those that elect again when the leader has crashed. The others know no crashes.
const SURVIVE: [&str; 4] = ["bully", "ring", "majority", "wireless"];

#[test]
fn all_hosts_agree_on_one_leader_whatever_the_algorithm() {
    on_hosts(N, |lan| {
        for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Election) {
            let flags = ["--engine", "ricart-agrawala", "--election", entry.id];
            let mut cluster = Cluster::start(lan, &flags);
            let nodes: Vec<u32> = (1..=N).collect();
            let leader = cluster.agreed(&nodes, None);
            if SURVIVE.contains(&entry.id) {
                // Most of them begin with a leader, and have not elected anybody yet.
                cluster.kill(leader);
                let others: Vec<u32> = nodes.into_iter().filter(|node| *node != leader).collect();
                cluster.agreed(&others, Some(leader));
            }
        }
    });
}
