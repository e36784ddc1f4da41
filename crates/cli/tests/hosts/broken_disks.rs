//! Disks that stand still, are full or fail, at the node that leads and at another. A node whose
//! disk fails it ends with a line that says so; what was acknowledged is there when it is back.

use crate::cluster::{Cluster, N, wait_for};
use crate::disk::Disk;
use crate::on_hosts;
use crate::resource::within;
use conclave_client::api::NewValue;
use conclave_client::{Client, Guard};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn all() -> Vec<u32> {
    (1..=N).collect()
}

/// What was acknowledged, and must be there from then on.
struct Acknowledged {
    client: Client,
    held: Vec<Guard>,
    values: Vec<(String, u64)>,
}

impl Acknowledged {
    fn new(cluster: &Cluster<'_>) -> Self {
        Self { client: cluster.clients_from(1), held: Vec::new(), values: Vec::new() }
    }

    /// One lock more is held, and one value more is written.
    fn more(&mut self) {
        let name = format!("lock-{}", self.held.len());
        let guard = self.client.lock(&name, &within(PATIENCE)).expect("it is free");
        let fence = guard.fence();
        assert!(self.held.iter().all(|before| before.fence() < fence), "fences rise");
        let value = NewValue { value: fence.into(), fence, ..NewValue::default() };
        if self.client.set_value(&name, &value).is_ok() {
            self.values.push((name, fence));
        }
        self.held.push(guard);
    }

    /// This node says that all of it is there.
    fn is_known_by(&self, cluster: &Cluster<'_>, node: u32) {
        let client = cluster.client(node);
        for guard in &self.held {
            assert_eq!(guard.lost(), None, "{}", guard.name());
            wait_for(&format!("node {node} knows {}", guard.name()), || {
                client.verify(guard.name(), guard.fence()).is_ok_and(|seen| seen.valid)
            });
        }
        for (name, fence) in &self.values {
            let found = client.value(name).expect("it was written");
            assert_eq!((found.value, found.fence), ((*fence).into(), *fence), "{name}");
        }
    }
}

/// The leader, and somebody else.
fn leader_and_other(cluster: &Cluster<'_>) -> [u32; 2] {
    let leader = cluster.agreed(&all(), None);
    [leader, leader % N + 1]
}

/// Five nodes with such disks, if those can be had.
fn with_disks(test: impl FnOnce(&mut Cluster<'_>, &[Disk]) + Send) {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::new(lan, &["--engine", "replicated"]);
        let disks: Option<Vec<Disk>> =
            (1..=N).map(|node| Disk::mount(&cluster.disk_of(node))).collect();
        let Some(disks) = disks else { return };
        cluster.launch_all();
        test(&mut cluster, &disks);
        drop(cluster); // Nobody uses the disks any more when they go.
    });
}

#[test]
fn a_disk_that_stands_still_costs_nobody_a_lock() {
    with_disks(|cluster, disks| {
        let mut acknowledged = Acknowledged::new(cluster);
        for node in leader_and_other(cluster) {
            acknowledged.more();
            let frozen = disks[node as usize - 1].freeze();
            acknowledged.more();
            drop(frozen);
            acknowledged.more();
            acknowledged.is_known_by(cluster, node);
        }
    });
}

#[test]
fn a_disk_that_is_full_stops_its_node_and_loses_nothing() {
    stops_and_loses_nothing(true);
}

#[test]
fn a_disk_that_fails_stops_its_node_and_loses_nothing() {
    stops_and_loses_nothing(false);
}

fn stops_and_loses_nothing(full: bool) {
    with_disks(|cluster, disks| {
        let mut acknowledged = Acknowledged::new(cluster);
        for node in leader_and_other(cluster) {
            let disk = &disks[node as usize - 1];
            acknowledged.more();
            // What is written from here on finds no room, or a disk that is broken.
            if full {
                disk.fill();
                let answer = cluster.snapshot(node);
                let refused = answer.is_empty() || answer.contains(" 503 ");
                assert!(refused, "there is no room for one: {answer}");
            } else {
                disk.fail();
                acknowledged.more();
            }
            assert_eq!(cluster.ends(node), Some(1), "{}", cluster.log(node));
            says_why(&cluster.log(node), full);
            acknowledged.more();
            if full {
                disk.make_room()
            } else {
                disk.repair()
            }
            cluster.launch(node);
            cluster.wait_for_links();
            acknowledged.is_known_by(cluster, node);
        }
    });
}

/// The last line names the file and what is wrong.
fn says_why(log: &str, full: bool) {
    let line = log.lines().last().unwrap_or_default();
    let no_room = line.contains("No space left on device");
    // How a disk fails depends on the system: the write, or the file system because of it.
    let failed = ["Input/output error", "Read-only file system"].iter().any(|it| line.contains(it));
    let told = no_room || (!full && failed);
    assert!(line.starts_with("error: ") && line.contains("/data/") && told, "{log}");
    assert!(!log.contains("panicked"), "{log}");
}
