//! What a lock protects, and those who want it.

use crate::cluster::{Cluster, DEADLINE};
use conclave_client::{Guard, Lease, Wanted};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A resource that watches who uses it: one at a time, and with rising fences.
#[derive(Default)]
pub struct Resource {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    inside: Option<u32>,
    latest: u64,
    entries: usize,
}

impl Resource {
    /// Somebody from this node uses it, with this fence.
    pub fn enter(&self, node: u32, fence: u64) {
        let mut state = self.state();
        assert_eq!(state.inside, None, "node {node} is not alone inside");
        let latest = state.latest;
        assert!(fence > latest, "node {node} came with fence {fence} after {latest}");
        *state = State { inside: Some(node), latest: fence, entries: state.entries + 1 };
    }

    /// It leaves.
    pub fn leave(&self, node: u32) {
        let inside = self.state().inside.take();
        assert_eq!(inside, Some(node), "node {node} was not inside");
    }

    /// How often it was used.
    pub fn entries(&self) -> usize {
        self.state().entries
    }

    /// Uses it once, under a lock, by a session of this node.
    pub fn use_once(&self, lease: &Lease, node: u32, name: &str) {
        let guard = take(lease, node, name);
        self.enter(node, guard.fence());
        thread::yield_now(); // Gives others the time to come in.
        self.leave(node);
        assert_eq!(guard.lost(), None, "node {node}");
        guard.release().expect("it was held");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session at a node, kept alive by a thread.
pub fn session(cluster: &Cluster<'_>, node: u32) -> Lease {
    let label = format!("at node {node}");
    cluster.client(node).open(Duration::from_secs(10), Some(&label)).expect("a session")
}

/// Waits for a lock until it is had.
pub fn take(lease: &Lease, node: u32, name: &str) -> Guard {
    let guard = lease.acquire(name, &within(DEADLINE));
    guard.unwrap_or_else(|error| panic!("node {node}, {name}: {error}"))
}

/// A wish that is given up after so long.
pub fn within(wait: Duration) -> Wanted {
    Wanted { wait: Some(wait), ..Wanted::default() }
}
