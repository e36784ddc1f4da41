//! Clients that take and give back one lock all the while, whatever else happens to its cluster.

use super::http::{acquire, release, session};
use super::kit::until;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

const NAME: &str = "steady";

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    inside: AtomicBool,
    last_fence: Mutex<u64>,
    entries: AtomicU64,
}

/// Such clients, at work.
pub struct Steady {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Steady {
    /// One client per node.
    pub fn start(apis: &[SocketAddr]) -> Self {
        let shared = Arc::new(Shared::default());
        let client = |api: &SocketAddr| {
            let (api, shared) = (*api, Arc::clone(&shared));
            thread::spawn(move || work(api, &shared))
        };
        let threads = apis.iter().map(client).collect();
        let steady = Self { shared, threads };
        steady.goes_on();
        steady
    }

    /// Waits for some more entries.
    pub fn goes_on(&self) {
        let enough = self.shared.entries.load(Ordering::SeqCst) + 6;
        until("the clients go on", || {
            assert!(!self.threads.iter().any(JoinHandle::is_finished), "a client has failed");
            (self.shared.entries.load(Ordering::SeqCst) >= enough).then_some(())
        });
    }

    /// Lets them finish; no client has seen an error, and no two were inside at once.
    pub fn finish(self) {
        self.goes_on();
        self.shared.stop.store(true, Ordering::SeqCst);
        for thread in self.threads {
            thread.join().expect("no client sees an error");
        }
    }
}

fn work(api: SocketAddr, shared: &Shared) {
    let session = session(api, 3_600_000);
    while !shared.stop.load(Ordering::SeqCst) {
        let granted = acquire(api, NAME, &session, 60_000);
        assert_eq!(granted.status, 200, "{granted:?}");
        let fence = granted.json()["fence"].as_u64().expect("a fence");
        assert!(!shared.inside.swap(true, Ordering::SeqCst), "two inside at once");
        let before = std::mem::replace(&mut *shared.last_fence.lock().unwrap(), fence);
        assert!(before < fence, "fence {fence} after {before}");
        shared.inside.store(false, Ordering::SeqCst);
        shared.entries.fetch_add(1, Ordering::SeqCst);
        let released = release(api, NAME, &session, fence);
        assert_eq!(released.status, 200, "{released:?}");
    }
}
