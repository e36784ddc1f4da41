//! The floor: what the disk allows. Nothing a node says leaves it before a synced commit.

use anyhow::Context;
use conclave_core::NodeId;
use conclave_net::store::{Batch, Expected, Store};
use conclave_net::{Lane, Packet};
use std::path::Path;
use std::time::{Duration, Instant};

/// For so long at most.
const TIME: Duration = Duration::from_millis(500);
/// And so many.
const COMMITS_MAX: u32 = 2_000;
/// The states of most algorithms for five nodes are about as long.
const STATE: usize = 64;

/// How many steps of usual size one node alone could sync per second on this disk: a machine's
/// state, one message to send, and a row of its application.
pub fn commits_per_second(directory: &Path) -> anyhow::Result<f64> {
    let place = directory.join("floor");
    let expected = Expected { cluster: "floor", node: NodeId(0), settings: "floor" };
    let store = Store::open(&place, &expected).context("the floor")?;
    let begun = Instant::now();
    let mut commits = 0;
    while commits < COMMITS_MAX && begun.elapsed() < TIME {
        commits += 1;
        store.commit(&step(u64::from(commits)))?;
    }
    let took = begun.elapsed();
    drop(store);
    std::fs::remove_dir_all(&place)?;
    Ok(f64::from(commits) / took.as_secs_f64())
}

fn step(number: u64) -> Batch {
    let key = "lock/floor".into();
    let packet = Packet { lane: Lane::Durable, number, key, bytes: vec![7; 8] };
    Batch {
        machines: vec![("lock/floor".into(), vec![number as u8; STATE])],
        outbox: vec![(NodeId(1), packet)],
        delivered: vec![(NodeId(1), number.saturating_sub(1))],
        application: vec![("lock/floor".to_string(), Some(vec![number as u8; STATE]))],
        ..Batch::default()
    }
}
