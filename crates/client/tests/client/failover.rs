//! A waiter whose session or node is lost asks anew, for as long as it wants to wait.

use crate::support::{Answer, DEADLINE, Fake, Request, refuse, session, usual};
use conclave_client::{Client, Error, Wanted};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const ACQUIRE: &str = "POST /v1/locks/build/acquire";
const KEEPALIVE: &str = "POST /v1/sessions/5e55/keepalive";
const CLOSE: &str = "DELETE /v1/sessions/5e55";

fn patient() -> Wanted {
    Wanted { wait: Some(DEADLINE), ttl: Duration::from_secs(1), ..Wanted::default() }
}

/// Two servers. The one that is asked for the lock first stands still from then on: connections are
/// made by its system, and nothing more happens.
fn one_stands_still() -> [Fake; 2] {
    let first = Arc::new(AtomicUsize::new(usize::MAX));
    [0, 1].map(|own| {
        let first = Arc::clone(&first);
        Fake::start(move |request: &Request| {
            if request.line == ACQUIRE {
                let none = usize::MAX;
                let order = Ordering::SeqCst;
                let _ = first.compare_exchange(none, own, order, order);
            }
            match request.line.as_str() {
                CLOSE => usual(request), // It moves again by then.
                _ if first.load(Ordering::SeqCst) == own => Answer::Silent,
                _ => usual(request),
            }
        })
    })
}

#[test]
fn a_waiter_whose_node_stands_still_asks_another() {
    let fakes = one_stands_still();
    let client = Client::new(fakes.iter().map(|fake| &fake.address)).unwrap();
    let guard = client.lock("build", &patient()).unwrap();
    assert_eq!(guard.fence(), 7);
    let asked = fakes.each_ref().map(|fake| fake.bodies(ACQUIRE).len());
    assert_eq!(asked, [1, 1]);
    // What was left behind is ended: nobody would use what it is granted.
    let still = fakes.iter().find(|fake| format!("http://{}", fake.address) != client.server());
    still.unwrap().wait_for(CLOSE, 1);
}

#[test]
fn a_keepalive_whose_connection_was_closed_goes_to_the_same_node_again() {
    let closed = AtomicBool::new(true);
    let crowded = Fake::start(move |request: &Request| match request.line.as_str() {
        KEEPALIVE if closed.swap(false, Ordering::SeqCst) => Answer::HangsUp,
        _ => usual(request),
    });
    let other = Fake::start(usual);
    let client = Client::new([&crowded.address, &other.address]).unwrap();
    client.keepalive("5e55", DEADLINE).unwrap();
    assert_eq!(crowded.bodies(KEEPALIVE).len(), 2);
    assert_eq!(other.bodies(KEEPALIVE).len(), 0);
}

#[test]
fn a_candidate_whose_node_stands_still_stands_elsewhere() {
    let still = AtomicBool::new(true);
    let fake = Fake::start(move |request: &Request| match request.line.as_str() {
        "POST /v1/elections/boss/campaign" if still.swap(false, Ordering::SeqCst) => Answer::Silent,
        KEEPALIVE => refuse(404, "no_session", "no such session"),
        _ => usual(request),
    });
    let guard = Client::new([&fake.address]).unwrap().lead("boss", &patient()).unwrap();
    assert_eq!(guard.fence(), 7);
}

#[test]
fn a_waiter_whose_session_is_unknown_opens_another() {
    let first = AtomicBool::new(true);
    let fake = Fake::start(move |request: &Request| match request.line.as_str() {
        ACQUIRE if first.swap(false, Ordering::SeqCst) => {
            refuse(404, "no_session", "no such session")
        }
        KEEPALIVE => Answer::Says(200, session(1_000)),
        _ => usual(request),
    });
    assert!(Client::new([&fake.address]).unwrap().lock("build", &patient()).is_ok());
    assert_eq!(fake.bodies("POST /v1/sessions").len(), 2);
}

#[test]
fn a_node_that_answered_once_is_lost_and_not_missing() {
    let fake = Fake::start(|request: &Request| match request.line.as_str() {
        ACQUIRE => Answer::HangsUp,
        _ => usual(request),
    });
    let client = Client::new([&fake.address]).unwrap();
    let error = client.lock("build", &Wanted::default()).unwrap_err();
    assert!(matches!(&error, Error::Lost(why) if why.contains(&fake.address)), "{error}");
}

#[test]
fn clients_are_spread_over_all_servers_and_stay_where_they_are() {
    let fakes = [(); 3].map(|()| Fake::start(usual));
    for _ in 0..64 {
        let client = Client::new(fakes.iter().map(|fake| &fake.address)).unwrap();
        drop(client.lock("build", &Wanted::default()).unwrap());
        let server = client.server().to_string();
        drop(client.lock("build", &Wanted::default()).unwrap());
        assert_eq!(client.server(), server);
    }
    // That one of three is never drawn in 64 draws is about as likely as one in 10^11.
    let asked = fakes.each_ref().map(|fake| fake.bodies(ACQUIRE).len());
    assert!(asked.iter().all(|asked| *asked > 0), "{asked:?}");
}

/// What a node answers that is about to stop.
fn farewell() -> Answer {
    let error = json!({"code": "unavailable", "message": "about to stop", "retry": true});
    Answer::Says(503, json!({"error": error, "stopping": true}))
}

/// Two servers. The one that gets this request first is about to stop.
fn one_stops(line: &'static str) -> [Fake; 2] {
    let first = Arc::new(AtomicUsize::new(usize::MAX));
    [0, 1].map(|own| {
        let first = Arc::clone(&first);
        Fake::start(move |request: &Request| {
            if request.line != line {
                return usual(request);
            }
            let none = usize::MAX;
            let order = Ordering::SeqCst;
            match first.compare_exchange(none, own, order, order) {
                Ok(_) => farewell(),
                Err(stopping) if stopping == own => farewell(),
                Err(_) => usual(request),
            }
        })
    })
}

#[test]
fn a_waiter_whose_node_is_about_to_stop_goes_to_another_at_once() {
    let fakes = one_stops(ACQUIRE);
    let client = Client::new(fakes.iter().map(|fake| &fake.address)).unwrap();
    let wanted = Wanted { ttl: DEADLINE * 2, ..patient() }; // Its session outlives the wait.
    assert_eq!(client.lock("build", &wanted).unwrap().fence(), 7);
    let asked = fakes.each_ref().map(|fake| fake.bodies(ACQUIRE).len());
    assert_eq!(asked, [1, 1]);
}

#[test]
fn a_candidate_whose_node_is_about_to_stop_stands_elsewhere_at_once() {
    const CAMPAIGN: &str = "POST /v1/elections/boss/campaign";
    let stopping = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stopping);
    // It opens no sessions any more.
    let stops = Fake::start(move |request: &Request| match request.line.as_str() {
        CAMPAIGN => {
            told.store(true, Ordering::SeqCst);
            farewell()
        }
        "POST /v1/sessions" if told.load(Ordering::SeqCst) => farewell(),
        _ => usual(request),
    });
    let goes_on = Fake::start(usual);
    let client = Client::new([&stops.address, &goes_on.address]).unwrap();
    let wanted = Wanted { ttl: DEADLINE, ..patient() };
    while !stopping.load(Ordering::SeqCst) {
        let another = Client::new(client.servers()).unwrap(); // Each begins where chance wants it.
        assert_eq!(another.lead("boss", &wanted).unwrap().fence(), 7);
    }
    assert_eq!(stops.bodies(CAMPAIGN).len(), 1);
}

#[test]
fn who_holds_something_at_a_node_that_is_about_to_stop_stays() {
    let fake = Fake::start(|request: &Request| match request.line.as_str() {
        ACQUIRE => farewell(),
        _ => usual(request),
    });
    let lease = Client::new([&fake.address]).unwrap().open(DEADLINE, None).unwrap();
    let guard = lease.acquire("other", &patient()).unwrap();
    let error = lease.acquire("build", &patient()).unwrap_err();
    assert_eq!(error.code(), Some("unavailable"));
    assert_eq!((guard.lost(), lease.watch().lost()), (None, None));
    // The node has forgotten the request: there is nothing to withdraw.
    let is_withdrawal = |request: &Request| request.line.contains("/waiters/");
    assert!(!fake.requests().iter().any(is_withdrawal));
    assert_eq!(fake.bodies(CLOSE).len(), 0);
}

#[test]
fn who_waits_for_as_long_as_it_takes_outlasts_the_longest_wait_of_a_server() {
    let first = AtomicBool::new(true);
    let fake = Fake::start(move |request: &Request| match request.line.as_str() {
        ACQUIRE if first.swap(false, Ordering::SeqCst) => {
            refuse(409, "timeout", "it could not be had in time")
        }
        _ => usual(request),
    });
    let client = Client::new([&fake.address]).unwrap();
    let guard = client.lock("build", &Wanted { wait: None, ..Wanted::default() }).unwrap();
    assert_eq!(guard.fence(), 7);
    let asked = fake.bodies(ACQUIRE);
    assert_eq!((asked.len(), &asked[0]["wait_ms"]), (2, &json!(3_600_000)));
    assert_ne!(asked[0]["request_id"], asked[1]["request_id"], "the first was answered");
    assert_eq!(fake.bodies("POST /v1/sessions").len(), 1, "with the same session");
}
