//! The history of a trial, checked while it is made. What is protected looks at every entry, every
//! use and every write: fences rise, whoever is passed by has been told, the queue is kept, and
//! what was acknowledged is there.

use super::queue::Queue;
use conclave_client::api::{Code, NewValue};
use conclave_client::{Client, Guard, Watch};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The lock that all want.
pub const NAME: &str = "build";

/// All that happened, as far as it is needed to judge what happens next.
#[derive(Default)]
pub struct History {
    /// Whether what is held and written survives the loss of any node.
    pub survives: bool,
    inside: Mutex<Inside>,
    queue: Mutex<Queue>,
    /// The values that were acknowledged, by their names: with which fence.
    written: Mutex<BTreeMap<String, u64>>,
    /// Nothing is wrong, and has not been for a moment.
    pub calm: AtomicBool,
    /// How often something went wrong.
    pub faults: AtomicU64,
    entries: AtomicU64,
    checks: AtomicU64,
    overtaken: AtomicU64,
    lost: AtomicU64,
    deaths: AtomicU64,
    late_calm_ms: AtomicU64,
    late_ms: AtomicU64,
}

#[derive(Default)]
struct Inside {
    who: Option<(u32, Watch)>,
    latest: u64,
}

impl History {
    /// That of a cluster in which what is held and written survives the loss of any node.
    pub fn that_survives() -> Self {
        Self { survives: true, ..Self::default() }
    }

    /// Somebody from this node, who waited under this label, was let in. Whether it is to go on: if
    /// the answer came late, its client knows.
    pub fn enter(&self, node: u32, label: &str, guard: &Guard) -> bool {
        let mut inside = lock(&self.inside);
        if guard.lost().is_some() {
            lock(&self.queue).leaves(label);
            return false;
        }
        let fence = guard.fence();
        let latest = inside.latest;
        assert!(fence > latest, "node {node} came with fence {fence} after {latest}");
        if let Some((other, watch)) = inside.who.take() {
            assert!(watch.lost().is_some(), "nodes {node} and {other} are both inside");
            self.overtaken.fetch_add(1, Ordering::Relaxed);
        }
        *inside = Inside { who: Some((node, guard.watch())), latest: fence };
        let entry = self.entries.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.queue).enters(label, fence, entry);
        self.checked(3);
        true
    }

    /// Whoever is inside uses what is protected, which refuses a fence below the largest it has
    /// seen: nobody who still relies on its lock is refused.
    pub fn use_it(&self, node: u32, guard: &Guard) {
        let latest = lock(&self.inside).latest;
        let refused = guard.fence() < latest;
        assert!(!refused || guard.lost().is_some(), "node {node} was passed by and not told");
        self.checked(1);
    }

    /// It leaves, and whether it had lost what it held.
    pub fn leave(&self, node: u32, lost: bool) {
        let mut inside = lock(&self.inside);
        inside.who = inside.who.take().filter(|(who, _)| *who != node);
        self.lost.fetch_add(lost.into(), Ordering::Relaxed);
    }

    /// It does not wait any more.
    pub fn give_up(&self, label: &str) {
        lock(&self.queue).leaves(label);
    }

    /// Looks who waits, by any node: what that says is so at some moment while it is asked.
    pub fn look_at_queue(&self, client: &Client) {
        let Ok(seen) = client.lock_state(NAME) else { return };
        let waiters: Vec<String> = seen.waiters.into_iter().map(|waiter| waiter.label).collect();
        let checks = lock(&self.queue).seen(&waiters, self.count());
        self.checked(checks);
    }

    /// What was acknowledged of a value is there, and another is written. Nobody else writes it.
    pub fn write(&self, client: &Client, name: &str, fence: u64) {
        self.read(client, name);
        let value = NewValue { value: fence.into(), fence, ..NewValue::default() };
        if client.set_value(name, &value).is_ok() {
            let mut written = lock(&self.written);
            let latest = written.entry(name.to_string()).or_default();
            *latest = fence.max(*latest);
        }
    }

    fn read(&self, client: &Client, name: &str) {
        let written = lock(&self.written).get(name).copied().unwrap_or(0);
        match client.value(name) {
            Ok(found) => {
                assert!(found.fence >= written, "{name}: {} after {written}", found.fence);
                assert_eq!(found.value, found.fence, "{name} has another's content");
                self.checked(2);
            }
            Err(error) => {
                assert!(written == 0 || !error.says(Code::NotFound), "{name} was forgotten");
            }
        }
    }

    /// This is held, and the cluster says so too.
    pub fn is_held(&self, client: &Client, guard: &Guard) {
        let seen = client.verify(guard.name(), guard.fence());
        let denied = seen.is_ok_and(|seen| !seen.valid);
        assert!(!denied || guard.lost().is_some(), "{} was forgotten", guard.name());
        self.checked(1);
    }

    /// All values that were ever acknowledged are there.
    pub fn read_all(&self, client: &Client) {
        let names: Vec<String> = lock(&self.written).keys().cloned().collect();
        names.iter().for_each(|name| self.read(client, name));
    }

    /// Somebody died, and so long after its lease was over another was let in.
    pub fn inherited(&self, late: Duration, was_calm: bool) {
        self.deaths.fetch_add(1, Ordering::Relaxed);
        let late_ms = u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
        let latest = if was_calm { &self.late_calm_ms } else { &self.late_ms };
        latest.fetch_max(late_ms, Ordering::Relaxed);
        self.checked(1);
    }

    /// How often somebody was let in.
    pub fn count(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// So many things were looked at.
    pub fn checked(&self, count: u64) {
        self.checks.fetch_add(count, Ordering::Relaxed);
    }

    /// Prints the numbers, and judges what can be judged only in the end.
    pub fn finish(&self) {
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let [entries, checks, overtaken, lost] =
            [&self.entries, &self.checks, &self.overtaken, &self.lost].map(count);
        println!("{entries} grants, {checks} checks, {overtaken} overtaken, {lost} lost");
        let values = lock(&self.written).len();
        let [deaths, calm, late] = [&self.deaths, &self.late_calm_ms, &self.late_ms].map(count);
        println!(
            "{values} values; {deaths} holders died: the next came at most {calm} ms after the \
             lease while nothing was wrong, else {late} ms"
        );
        assert!(entries > 0);
        assert!(!self.survives || lost == 0, "{lost} running clients lost their locks");
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
