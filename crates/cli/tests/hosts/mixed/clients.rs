//! Those who want what is protected, and one who dies again and again while holding something.

use super::chance::Chance;
use super::history::{History, NAME};
use conclave_client::api::{Acquire, NewSession};
use conclave_client::{Client, Wanted};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long one holds the lock, in milliseconds, at most.
const HOLDS_MAX: u64 = 300;
/// So many values does each client write, by turns.
const VALUES: u64 = 20;
/// How long the one who dies is waited for.
const TTL: Duration = Duration::from_secs(2);
/// In a calm the next is let in within so long of the end of the lease (DESIGN: 100 ms), on a
/// machine that is this busy.
const LATE_MAX: Duration = Duration::from_millis(1_000);

fn wanted(wait: u64, label: &str) -> Wanted {
    let wait = Some(Duration::from_secs(wait));
    Wanted { wait, label: Some(label.to_string()), ..Wanted::default() }
}

/// Holds the lock again and again, each time for a while, until all is over.
pub fn hold_often(client: &Client, node: u32, history: &History, over: &AtomicBool) {
    let mut chance = Chance::new(u64::from(node) * 7_919);
    for attempt in 0_u64.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let label = format!("{node}.{attempt}");
        let Ok(guard) = client.lock(NAME, &wanted(20, &label)) else {
            history.give_up(&label);
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if !history.enter(node, &label, &guard) {
            continue;
        }
        if history.survives {
            history.write(client, NAME, guard.fence());
            let own = format!("value-{node}-{}", attempt % VALUES);
            history.write(client, &own, guard.fence());
        }
        let end = Instant::now() + Duration::from_millis(chance.below(HOLDS_MAX));
        while Instant::now() < end && guard.lost().is_none() {
            history.use_it(node, &guard);
            thread::sleep(Duration::from_millis(5));
        }
        if history.survives {
            history.is_held(client, &guard);
        }
        history.leave(node, guard.lost().is_some());
        let _ = guard.release(); // Its node may be gone by now.
    }
}

/// Holds something of its own from the beginning to the end.
pub fn hold_on(client: &Client, node: u32, history: &History, over: &AtomicBool) {
    let name = format!("anchor-{node}");
    let guard = client.lock(&name, &wanted(60, &name)).expect("nobody else wants it");
    while !over.load(Ordering::Relaxed) {
        assert_eq!(guard.lost(), None, "{name}");
        thread::sleep(Duration::from_millis(50));
    }
    let seen = client.verify(&name, guard.fence()).expect("all is well in the end");
    assert!(seen.valid, "{name} was forgotten");
    history.checked(1);
}

/// Looks who waits.
pub fn watch_queue(client: &Client, history: &History, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        history.look_at_queue(client);
        thread::sleep(Duration::from_millis(30));
    }
}

/// Takes a lock and is silent from then on; and sees when the next one is let in. Not before the
/// lease is over, and soon after.
pub fn die_often(client: &Client, history: &History, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let before = history.faults.load(Ordering::Relaxed);
        let calm = history.calm.load(Ordering::Relaxed);
        let sent = Instant::now();
        let Some(fence) = die_holding(client) else {
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        let answered = Instant::now();
        let Ok(heir) = client.lock("mortal", &wanted(60, "heir")) else { continue };
        let now = Instant::now();
        assert!(heir.fence() > fence, "fences rise");
        assert!(now - sent >= TTL - TTL / 100, "its lease was not over yet: {:?}", now - sent);
        let undisturbed = calm
            && history.calm.load(Ordering::Relaxed)
            && before == history.faults.load(Ordering::Relaxed);
        let late = (now - answered).saturating_sub(TTL);
        history.inherited(late, undisturbed);
        assert!(!undisturbed || late < LATE_MAX, "the next came {late:?} after the lease");
    }
}

/// A session without keepalives takes the lock; gives its fence.
fn die_holding(client: &Client) -> Option<u64> {
    let ttl_ms = Some(u64::try_from(TTL.as_millis()).ok()?);
    let label = Some("mortal".to_string());
    let words = NewSession { ttl_ms, label, ..NewSession::default() };
    let session = client.open_session(&words).ok()?.session;
    let request_id = Some("1".to_string());
    let acquire = Acquire { session, request_id, ..Acquire::default() };
    client.acquire("mortal", &acquire).ok().map(|grant| grant.fence)
}
