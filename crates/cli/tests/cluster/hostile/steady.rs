//! Clients that take and give back one lock all the while, whatever else happens to its cluster.

use super::kit::until;
use conclave_client::{Client, Wanted};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

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
    /// One client per node, which knows no other.
    pub fn start(apis: &[SocketAddr]) -> Self {
        Self::of(apis.iter().map(|api| vec![api.to_string()]).collect())
    }

    /// As many clients, each of which knows all nodes.
    pub fn everywhere(apis: &[SocketAddr]) -> Self {
        let all: Vec<String> = apis.iter().map(ToString::to_string).collect();
        Self::of(vec![all; apis.len()])
    }

    fn of(servers: Vec<Vec<String>>) -> Self {
        let shared = Arc::new(Shared::default());
        let client = |servers: Vec<String>| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&servers, &shared))
        };
        let threads = servers.into_iter().map(client).collect();
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

fn work(servers: &[String], shared: &Shared) {
    let client = Client::new(servers).expect("addresses");
    let wanted = Wanted { wait: Some(Duration::from_secs(60)), ..Wanted::default() };
    while !shared.stop.load(Ordering::SeqCst) {
        let guard = client.lock(NAME, &wanted).expect("it is granted");
        assert!(!shared.inside.swap(true, Ordering::SeqCst), "two inside at once");
        let fence = guard.fence();
        let before = std::mem::replace(&mut *shared.last_fence.lock().unwrap(), fence);
        assert!(before < fence, "fence {fence} after {before}");
        shared.inside.store(false, Ordering::SeqCst);
        shared.entries.fetch_add(1, Ordering::SeqCst);
        guard.release().expect("it was held");
    }
}
