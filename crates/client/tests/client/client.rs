//! The client against a server that does what a test tells it to.

use crate::support::{Answer, DEADLINE, Fake, election, grant, refuse, session, usual};
use conclave_client::{Client, Error, Known, Loss, Wanted};
use serde_json::json;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const KEEPALIVE: &str = "POST /v1/sessions/5e55/keepalive";
const ACQUIRE: &str = "POST /v1/locks/build/acquire";

fn client(servers: &[&Fake]) -> Client {
    Client::new(servers.iter().map(|fake| &fake.address)).unwrap()
}

/// An address where nobody listens: it was free a moment ago.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Waits for the loss in a thread, so that a loss that never comes fails the test.
fn lost(watch: conclave_client::Watch) -> Option<Loss> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(watch.wait()));
    receiver.recv_timeout(DEADLINE).expect("it is lost some time")
}

fn short() -> Wanted {
    Wanted { ttl: Duration::from_secs(1), ..Wanted::default() }
}

/// A node has room for so many connections: who only looks around must not keep any.
#[test]
fn a_glance_leaves_no_connection_behind() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Client::new([listener.local_addr().unwrap().to_string()]).unwrap();
    let node = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _request = stream.read(&mut [0; 4_096]).unwrap();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.read(&mut [0; 1])
    });
    let glance = client.glance(DEADLINE);
    assert!(glance.is_ready());
    drop(glance);
    assert_eq!(node.join().unwrap().expect("it hangs up"), 0);
}

#[test]
fn a_lock_is_held_with_its_fence_and_given_back_with_it() {
    let fake = Fake::start(usual);
    let wanted = Wanted {
        wait: Some(Duration::from_secs(30)),
        label: Some("me".to_string()),
        ..Wanted::default()
    };
    let guard = client(&[&fake]).lock("team/build", &wanted).unwrap();
    assert_eq!((guard.fence(), guard.lost()), (7, None));
    drop(guard);
    let lines: Vec<String> = fake.requests().into_iter().map(|request| request.line).collect();
    let expected = [
        "POST /v1/sessions",
        "POST /v1/locks/team%2Fbuild/acquire",
        "POST /v1/locks/team%2Fbuild/release",
        "DELETE /v1/sessions/5e55",
    ];
    assert_eq!(lines, expected);
    let open = &fake.requests()[0].body;
    assert_eq!((&open["ttl_ms"], &open["label"]), (&json!(10_000), &json!("me")));
    assert_eq!(
        open["request_id"].as_str().map(str::len),
        Some(32),
        "a repeat is no second session"
    );
    let acquire = &fake.requests()[1].body;
    assert_eq!(acquire["session"], "5e55");
    assert!(acquire["wait_ms"].as_u64().is_some_and(|wait| (1..=30_000).contains(&wait)));
}

#[test]
fn a_server_that_is_down_is_passed_over_and_the_one_that_answers_is_remembered() {
    let fake = Fake::start(usual);
    let client = Client::new([nobody(), fake.address.clone()]).unwrap();
    let guard = client.lock("build", &Wanted::default()).unwrap();
    assert_eq!(client.server(), format!("http://{}", fake.address));
    drop(guard);
    assert_eq!(fake.bodies(ACQUIRE).len(), 1);
}

#[test]
fn a_node_that_cannot_help_is_passed_over_too() {
    let sick = Fake::start(|_| refuse(503, "unavailable", "no leader yet"));
    let well = Fake::start(usual);
    assert!(client(&[&sick, &well]).lock("build", &Wanted::default()).is_ok());
    let error = client(&[&sick]).lock("build", &Wanted::default()).unwrap_err();
    assert_eq!((error.code(), error.retry()), (Some("unavailable"), true));
}

#[test]
fn when_nobody_answers_all_who_were_asked_are_named() {
    let (first, second) = (nobody(), nobody());
    let client = Client::new([&first, &second]).unwrap();
    let error = client.cluster().unwrap_err();
    assert!(matches!(&error, Error::Unreachable(_)), "{error}");
    assert!(error.to_string().contains(&first) && error.to_string().contains(&second), "{error}");
}

#[test]
fn a_server_that_says_nothing_is_given_up_on() {
    let fake = Fake::start(|_| Answer::Silent);
    let error = client(&[&fake]).keepalive("5e55", Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error}");
}

#[test]
fn what_the_server_says_is_passed_on() {
    let fake = Fake::start(|request| match request.line.as_str() {
        ACQUIRE => refuse(409, "timeout", "build is held by another"),
        _ => usual(request),
    });
    let error = client(&[&fake]).lock("build", &Wanted::default()).unwrap_err();
    assert_eq!(error.code(), Some("timeout"));
    assert_eq!(error.to_string(), "build is held by another");
    fake.wait_for("DELETE /v1/sessions/5e55", 1);
}

#[test]
fn what_is_no_conclave_is_said_to_be_none() {
    let fake = Fake::start(|_| Answer::Says(418, json!("teapot")));
    let error = client(&[&fake]).cluster().unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    let fake = Fake::start(|_| Answer::Says(200, json!({"cluster": 1})));
    let error = client(&[&fake]).cluster().unwrap_err();
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
}

#[test]
fn a_request_whose_answer_got_lost_is_repeated_under_its_id() {
    let first = AtomicBool::new(true);
    let fake = Fake::start(move |request| match request.line.as_str() {
        ACQUIRE if first.swap(false, Ordering::SeqCst) => {
            refuse(503, "unavailable", "the node is stopping")
        }
        _ => usual(request),
    });
    let wanted = Wanted { wait: Some(DEADLINE), ..Wanted::default() };
    let guard = client(&[&fake]).lock("build", &wanted).unwrap();
    assert_eq!(guard.fence(), 7);
    let asked = fake.bodies(ACQUIRE);
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["request_id"], asked[1]["request_id"]);
    assert!(asked[0]["request_id"].is_string());
}

#[test]
fn a_session_lives_while_keepalives_are_answered_and_is_lost_when_they_are_not() {
    let mute = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&mute);
    let fake = Fake::start(move |request| match request.line.as_str() {
        KEEPALIVE if switch.load(Ordering::SeqCst) => Answer::Silent,
        KEEPALIVE => Answer::Says(200, session(1_000)),
        _ => usual(request),
    });
    let guard = client(&[&fake]).lock("build", &short()).unwrap();
    fake.wait_for(KEEPALIVE, 5); // Beyond the first time to live.
    assert_eq!(guard.lost(), None);
    mute.store(true, Ordering::SeqCst);
    assert_eq!(lost(guard.watch()), Some(Loss::Silence));
    assert_eq!(guard.watch().left(), Duration::ZERO);
    drop(guard);
    assert!(fake.bodies("POST /v1/locks/build/release").is_empty(), "it is not ours to release");
}

/// A node that is overrun answers each keepalive only when the next one has come. It has renewed
/// the session every time.
#[test]
fn a_session_lives_though_its_keepalives_are_answered_late() {
    let come = Arc::new((Mutex::new(0), Condvar::new()));
    let fake = Fake::start(move |request| {
        if request.line == KEEPALIVE {
            let (count, more) = &*come;
            let mut count = count.lock().unwrap();
            *count += 1;
            let own = *count;
            more.notify_all();
            drop(more.wait_while(count, |count| *count == own).unwrap());
            return Answer::Says(200, session(3_000));
        }
        usual(request)
    });
    let wanted = Wanted { ttl: Duration::from_secs(3), ..Wanted::default() };
    let guard = client(&[&fake]).lock("build", &wanted).unwrap();
    fake.wait_for(KEEPALIVE, 7); // Beyond the first time to live.
    assert_eq!(guard.lost(), None);
}

#[test]
fn a_session_that_the_node_does_not_know_is_lost_at_once() {
    let fake = Fake::start(|request| match request.line.as_str() {
        KEEPALIVE => refuse(404, "no_session", "no such session"),
        _ => usual(request),
    });
    let guard = client(&[&fake]).lock("build", &short()).unwrap();
    assert_eq!(lost(guard.watch()), Some(Loss::Told("no such session".to_string())));
}

#[test]
fn a_lock_that_was_taken_away_is_lost_though_its_session_lives() {
    let fake = Fake::start(|request| match request.line.as_str() {
        "POST /v1/locks/build/verify" => Answer::Says(
            200,
            json!({"name": "build", "valid": false, "latest": 9, "scope": "node"}),
        ),
        _ => usual(request),
    });
    let guard = client(&[&fake]).lock("build", &short()).unwrap();
    assert!(matches!(lost(guard.watch()), Some(Loss::Told(_))));
}

#[test]
fn to_give_back_is_no_loss() {
    let fake = Fake::start(usual);
    let guard = client(&[&fake]).lock("build", &Wanted::default()).unwrap();
    let watch = guard.watch();
    drop(guard);
    assert_eq!(lost(watch), None);
}

#[test]
fn a_candidate_goes_where_it_is_sent() {
    let leading = Fake::start(usual);
    let api = leading.address.clone();
    let other = Fake::start(move |request| match request.line.as_str() {
        "POST /v1/elections/boss/campaign" => Answer::Says(
            409,
            json!({
                "error": {"code": "not_leader", "message": "node 1 leads", "retry": true},
                "leading_api": api,
            }),
        ),
        _ => usual(request),
    });
    let guard = client(&[&other]).lead("boss", &Wanted::default()).unwrap();
    assert_eq!((guard.fence(), guard.grant().term), (7, Some(3)));
    drop(guard);
    leading.wait_for("POST /v1/elections/boss/resign", 1);
    other.wait_for("DELETE /v1/sessions/5e55", 1);
}

#[test]
fn nodes_that_send_a_candidate_in_circles_do_not_keep_it_for_ever() {
    let own = Arc::new(Mutex::new(String::new()));
    let api = Arc::clone(&own);
    let fake = Fake::start(move |request| match request.line.as_str() {
        "POST /v1/elections/boss/campaign" => Answer::Says(
            409,
            json!({
                "error": {"code": "not_leader", "message": "another leads", "retry": true},
                "leading_api": *api.lock().unwrap(),
            }),
        ),
        _ => usual(request),
    });
    own.lock().unwrap().clone_from(&fake.address);
    let error = client(&[&fake]).lead("boss", &Wanted::default()).unwrap_err();
    assert_eq!(error.code(), Some("not_leader"));
}

#[test]
fn a_leadership_is_lost_when_the_node_names_another_fence() {
    let fence = Arc::new(AtomicU64::new(7));
    let named = Arc::clone(&fence);
    let fake = Fake::start(move |request| match request.line.as_str() {
        "POST /v1/elections/boss/campaign" => Answer::Says(200, grant("boss", 7)),
        "GET /v1/elections/boss" => {
            Answer::Says(200, election("boss", Some(named.load(Ordering::SeqCst))))
        }
        _ => usual(request),
    });
    let guard = client(&[&fake]).lead("boss", &short()).unwrap();
    fake.wait_for("GET /v1/elections/boss", 1);
    assert_eq!(guard.lost(), None);
    fence.store(8, Ordering::SeqCst);
    assert!(matches!(lost(guard.watch()), Some(Loss::Told(_))));
}

#[test]
fn a_client_that_is_closed_takes_its_waiters_along() {
    let fake = Fake::start(|request| match request.line.as_str() {
        ACQUIRE => Answer::Silent,
        _ => usual(request),
    });
    let client = client(&[&fake]);
    let waiting = client.clone();
    thread::spawn(move || waiting.lock("build", &Wanted::default()));
    fake.wait_for(ACQUIRE, 1);
    client.close();
    assert_eq!(fake.bodies("DELETE /v1/sessions/5e55").len(), 1);
}

#[test]
fn a_client_that_was_closed_opens_no_session() {
    let fake = Fake::start(usual);
    let client = client(&[&fake]);
    client.close();
    assert!(matches!(client.lock("build", &short()), Err(Error::Lost(_))));
    assert_eq!(fake.bodies("DELETE /v1/sessions/5e55").len(), 1, "what was opened was ended");
    assert_eq!(fake.bodies(ACQUIRE).len(), 0);
}

#[test]
fn a_list_is_followed_page_by_page_and_to_no_end_that_is_none() {
    let fake = Fake::start(|request| {
        let lock = |name: &str| {
            json!({"name": name, "state": "free", "holder": null, "waiters": [],
                   "blocked_on": null, "entries": 0, "messages": {}, "node": 1})
        };
        let page = match &*request.line {
            "GET /v1/locks" => json!({"locks": [lock("a/b")], "next": "a/b"}),
            "GET /v1/locks?after=a%2Fb" => json!({"locks": [lock("c")], "next": "c"}),
            _ => json!({"locks": [lock("d")], "next": "c"}), // It leads back.
        };
        Answer::Says(200, page)
    });
    let names = client(&[&fake]).locks(Known::Now).unwrap().locks.into_iter().map(|lock| lock.name);
    assert_eq!(names.collect::<Vec<_>>(), ["a/b", "c", "d"]);
}
