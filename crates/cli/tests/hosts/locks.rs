//! Every lock algorithm across five hosts.

use crate::cluster::{Cluster, N};
use crate::on_hosts;
use crate::resource::{Resource, session};
use conclave_algorithms::catalog::{ENTRIES, Family};
use std::thread;

/// How often each host enters.
const ROUNDS: usize = 3;

/// All hosts at once, each a few times: no two are inside together, and fences rise.
fn is_safe(cluster: &Cluster<'_>, rounds: usize) {
    let resource = Resource::default();
    thread::scope(|scope| {
        for node in 1..=N {
            let (cluster, resource) = (&cluster, &resource);
            scope.spawn(move || {
                let lease = session(cluster, node);
                for _ in 0..rounds {
                    resource.use_once(&lease, node, "shared");
                }
            });
        }
    });
    assert_eq!(resource.entries(), N as usize * rounds);
}

#[test]
fn no_two_hosts_are_inside_at_once_whatever_the_algorithm() {
    on_hosts(N, |lan| {
        for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Mutex) {
            let cluster = Cluster::start(lan, &["--engine", entry.id]);
            crate::counts::as_simulated(&cluster, entry);
            is_safe(&cluster, ROUNDS);
        }
    });
}

#[test]
#[ignore = "minutes; scripts/soak runs it"]
fn many_entries_of_every_algorithm() {
    on_hosts(N, |lan| {
        for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Mutex) {
            let cluster = Cluster::start(lan, &["--engine", entry.id]);
            is_safe(&cluster, 50);
        }
    });
}
