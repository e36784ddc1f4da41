//! Requests that are given up, and clients that are closed, while others wait or hold.

use crate::support::{Answer, Fake, refuse, usual};
use conclave_client::{Client, Loss, Wanted};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const ACQUIRE: &str = "POST /v1/locks/build/acquire";

fn client(fake: &Fake) -> Client {
    Client::new([&fake.address]).unwrap()
}

#[test]
fn who_gives_up_leaves_the_line_and_keeps_the_session() {
    let withdrawn = Arc::new(AtomicBool::new(false));
    let left = Arc::clone(&withdrawn);
    let fake = Fake::start(move |request| {
        if request.line.starts_with("DELETE /v1/locks/build/waiters/") {
            left.store(true, Ordering::SeqCst);
            return Answer::Says(200, json!({"name": "build", "position": 1}));
        }
        match request.line == ACQUIRE {
            true => {
                while !left.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                refuse(409, "withdrawn", "it was withdrawn")
            }
            false => usual(request),
        }
    });
    let lease = client(&fake).open(Duration::from_secs(60), None).unwrap();
    let waiting = lease.clone();
    let wanted = Wanted { wait: None, ..Wanted::default() };
    let waiter = thread::spawn(move || waiting.acquire("build", &wanted).unwrap_err());
    fake.wait_for(ACQUIRE, 1);
    lease.give_up();
    assert_eq!(waiter.join().unwrap().code(), Some("withdrawn"));
    assert_eq!(lease.watch().lost(), None);
    let id = fake.bodies(ACQUIRE)[0]["request_id"].as_str().unwrap().to_string();
    let withdraw = format!("DELETE /v1/locks/build/waiters/{id}");
    assert_eq!(fake.bodies(&withdraw), [json!({"session": "5e55"})]);
}

/// The grant is on its way, and the withdrawal overtakes it: whoever is let in next is inside.
#[test]
fn a_grant_that_comes_after_it_was_given_up_is_not_told() {
    let withdrawn = Arc::new(AtomicBool::new(false));
    let left = Arc::clone(&withdrawn);
    let fake = Fake::start(move |request| {
        if request.line.starts_with("DELETE /v1/locks/build/waiters/") {
            left.store(true, Ordering::SeqCst);
            return Answer::Says(200, json!({"name": "build", "position": 1}));
        }
        while request.line == ACQUIRE && !left.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        usual(request)
    });
    let lease = client(&fake).open(Duration::from_secs(60), None).unwrap();
    let waiting = lease.clone();
    let wanted = Wanted { wait: None, ..Wanted::default() };
    let waiter = thread::spawn(move || waiting.acquire("build", &wanted).map(drop));
    fake.wait_for(ACQUIRE, 1);
    lease.give_up();
    assert_eq!(waiter.join().unwrap().unwrap_err().code(), Some("withdrawn"));
}

#[test]
fn what_is_held_is_lost_when_its_client_is_closed() {
    let fake = Fake::start(usual);
    let client = client(&fake);
    let guard = client.lock("build", &Wanted::default()).unwrap();
    let watch = guard.watch();
    let watcher = thread::spawn(move || watch.wait());
    client.close();
    let closed = Some(Loss::Told("it was closed here".to_string()));
    assert_eq!((guard.lost(), guard.watch().left()), (closed.clone(), Duration::ZERO));
    assert_eq!(watcher.join().unwrap(), closed);
    drop(guard);
    let released = fake.bodies("POST /v1/locks/build/release");
    assert_eq!(released.len(), 0, "the end of the session gave it back");
}
