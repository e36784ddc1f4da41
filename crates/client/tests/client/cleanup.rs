//! What a session must not keep though nobody wants it any more: answers and requests got lost.

use crate::support::{Answer, DEADLINE, Fake, Request, grant, refuse, usual};
use conclave_client::{Client, Error, Lease, Wanted};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const ACQUIRE: &str = "POST /v1/locks/build/acquire";
const RELEASE: &str = "POST /v1/locks/build/release";
const WITHDRAW: &str = "DELETE /v1/locks/build/waiters/";

fn lease(fake: &Fake) -> Lease {
    let client = Client::new([&fake.address]).unwrap();
    client.open(Duration::from_secs(3_600), None).unwrap()
}

/// Answers as usual, but for what begins with this: the first such request gets the first answer.
fn but<const N: usize>(begins: &'static str, answers: [fn() -> Answer; N]) -> Fake {
    let turn = AtomicUsize::new(0);
    Fake::start(move |request: &Request| {
        let other = !request.line.starts_with(begins);
        match answers.get(if other { N } else { turn.fetch_add(1, Ordering::SeqCst) }) {
            Some(answer) => answer(),
            None => usual(request),
        }
    })
}

fn withdrawals(fake: &Fake) -> usize {
    fake.requests().iter().filter(|request| request.line.starts_with(WITHDRAW)).count()
}

#[test]
fn what_was_taken_back_before_the_answer_came_is_asked_for_anew() {
    let old = || {
        let mut grant = grant("build", 7);
        grant["released"] = json!(true);
        Answer::Says(200, grant)
    };
    let fake = but(ACQUIRE, [|| Answer::HangsUp, old, || Answer::Says(200, grant("build", 8))]);
    let wanted = Wanted { wait: Some(DEADLINE), ..Wanted::default() };
    let guard = lease(&fake).acquire("build", &wanted).unwrap();
    assert_eq!(guard.fence(), 8);
    let asked = fake.bodies(ACQUIRE);
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0]["request_id"], asked[1]["request_id"]);
    assert_ne!(asked[1]["request_id"], asked[2]["request_id"], "another request");
}

#[test]
fn who_cannot_wait_is_told_that_it_was_taken_back() {
    let fake = Fake::start(|request| match request.line.as_str() {
        ACQUIRE => {
            let mut grant = grant("build", 7);
            grant["released"] = json!(true);
            Answer::Says(200, grant)
        }
        _ => usual(request),
    });
    let error = lease(&fake).acquire("build", &Wanted::default()).unwrap_err();
    assert!(matches!(error, Error::Lost(_)), "{error}");
}

#[test]
fn a_grant_whose_answer_got_lost_is_given_back() {
    let first = AtomicBool::new(true);
    let fake = Fake::start(move |request: &Request| match request.line.as_str() {
        ACQUIRE if first.swap(false, Ordering::SeqCst) => Answer::HangsUp,
        line if line.starts_with(WITHDRAW) => refuse(409, "granted", "it was granted before"),
        _ => usual(request),
    });
    let lease = lease(&fake);
    let error = lease.acquire("build", &Wanted::default()).unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error}");
    fake.wait_for(RELEASE, 1);
    assert_eq!(fake.bodies(RELEASE)[0]["fence"], 7);
    let asked = fake.bodies(ACQUIRE);
    assert_eq!(asked.first().unwrap()["request_id"], asked.last().unwrap()["request_id"]);
    assert_eq!(lease.watch().lost(), None);
}

#[test]
fn a_request_that_could_not_be_withdrawn_is_withdrawn_later() {
    let fake = Fake::start(move |request: &Request| match request.line.as_str() {
        ACQUIRE => Answer::HangsUp,
        line if line.starts_with(WITHDRAW) => Answer::HangsUp,
        _ => usual(request),
    });
    let lease = lease(&fake);
    lease.acquire("build", &Wanted::default()).unwrap_err();
    assert_eq!(withdrawals(&fake), 1);
    let id = fake.bodies(ACQUIRE)[0]["request_id"].as_str().unwrap().to_string();
    fake.wait_for(&format!("{WITHDRAW}{id}"), 3);
    assert_eq!(lease.watch().lost(), None);
}

#[test]
fn what_could_not_be_given_back_is_given_back_later_and_once() {
    let broken = || Answer::HangsUp;
    let fake = but(RELEASE, [broken, broken]);
    let lease = lease(&fake);
    drop(lease.acquire("build", &Wanted::default()).unwrap());
    fake.wait_for(RELEASE, 3);
    let released = fake.bodies(RELEASE);
    assert!(released[0]["request_id"].is_string());
    assert!(released.iter().all(|one| *one == released[0]), "{released:?}");
    drop(lease.acquire("build", &Wanted::default()).unwrap());
    fake.wait_for(RELEASE, 4);
    assert_ne!(fake.bodies(RELEASE)[3]["request_id"], released[0]["request_id"]);
}

#[test]
fn no_two_requests_of_a_session_have_the_same_id() {
    let fake = Fake::start(usual);
    let lease = lease(&fake);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| drop(lease.acquire("build", &Wanted::default()))));
        }
    });
    let asked = fake.bodies(ACQUIRE);
    let ids: BTreeSet<String> = asked.iter().map(|body| body["request_id"].to_string()).collect();
    assert_eq!((asked.len(), ids.len()), (80, 80));
}
