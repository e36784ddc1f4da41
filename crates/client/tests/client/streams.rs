//! Sessions that end soon after their streams: what their clients know of that.

use crate::support::{Answer, DEADLINE, Fake, Request, refuse};
use crate::table::Nodes;
use conclave_client::{Client, Loss, Wanted};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const STREAM: &str = "GET /v1/session/stream";
const PING: &str = "POST /v1/session/ping";
/// Longer than any stall of a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A node that has streams, in front of one of a cluster; and what ends the streams.
#[derive(Clone, Default)]
struct Streams {
    open: Arc<Mutex<Vec<Sender<&'static str>>>>,
    deaf: Arc<AtomicBool>,
}

impl Streams {
    fn answer(&self, request: &Request) -> Option<Answer> {
        let deaf = self.deaf.load(Ordering::SeqCst);
        match &*request.line {
            STREAM | PING if deaf => Some(refuse(404, "not_found", "no such stream")),
            STREAM => {
                let (end, ended) = mpsc::channel();
                self.open.lock().unwrap().push(end);
                Some(Answer::Streams(ended))
            }
            PING => Some(Answer::Says(200, serde_json::json!({}))),
            _ => None,
        }
    }

    fn say(&self, words: &'static str) {
        for stream in &*self.open.lock().unwrap() {
            let _ = stream.send(words); // It may be over.
        }
    }

    fn end_all(&self) {
        self.open.lock().unwrap().clear();
    }
}

/// So many nodes of one cluster, all with streams.
fn start(count: usize) -> (Nodes, Streams) {
    let streams = Streams::default();
    let kept = streams.clone();
    (Nodes::start_behind(count, move |request| kept.answer(request)), streams)
}

fn wanted(grace: Duration) -> Wanted {
    let (wait, ttl, grace) = (Some(DEADLINE), LONG, Some(grace));
    Wanted { wait, ttl, grace, ..Wanted::default() }
}

fn pings(fake: &Fake) -> Vec<u64> {
    fake.bodies(PING).iter().map(|body| body["stream"].as_u64().unwrap()).collect()
}

#[test]
fn a_stream_that_ends_is_opened_anew_under_a_higher_number() {
    let (nodes, streams) = start(2);
    let client = Client::new(nodes.addresses()).unwrap();
    let guard = client.lock("build", &wanted(LONG)).unwrap();
    let opened = &nodes.bodies("POST /v1/sessions")[0];
    assert_eq!(opened["on_disconnect"]["grace_ms"], 60_000);
    let first = nodes.fakes.iter().position(|fake| pings(fake) == [1]).unwrap();
    streams.end_all();
    let other = &nodes.fakes[1 - first];
    other.wait_for(PING, 1);
    assert_eq!((pings(other), guard.lost()), (vec![2], None));
}

#[test]
fn who_hears_no_echo_for_its_grace_has_lost_what_it_holds() {
    let (nodes, streams) = start(1);
    let client = Client::new(nodes.addresses()).unwrap();
    let guard = client.lock("build", &wanted(Duration::from_secs(3))).unwrap();
    assert!(guard.watch().left() <= Duration::from_secs(3));
    streams.deaf.store(true, Ordering::SeqCst);
    assert_eq!(guard.watch().wait(), Some(Loss::Silence));
}

/// Nobody waits for a keepalive or a deadline: both are far away.
#[test]
fn who_is_told_that_its_session_has_ended_knows_at_once() {
    for (said, told) in [
        ("event: ended\ndata: {\"reason\":\"expired\"}\n\n", "its session was silent for too long"),
        ("event: ended\ndata: {\"reason\":\"closed\"}\n\n", "its session was ended"),
        ("event: ended\ndata: ?\n\n", "its session has ended"),
    ] {
        let (nodes, streams) = start(2);
        let client = Client::new(nodes.addresses()).unwrap();
        let guard = client.lock("build", &wanted(LONG)).unwrap();
        streams.say(":\n\n");
        assert_eq!(guard.lost(), None, "a comment says nothing");
        streams.say(said);
        assert_eq!(guard.watch().wait(), Some(Loss::Told(told.to_string())));
        let opened: usize = nodes.fakes.iter().map(|fake| fake.bodies(STREAM).len()).sum();
        assert_eq!(opened, 1, "there is nothing left to open a stream for");
    }
}

#[test]
fn a_session_without_a_stream_in_time_is_none() {
    let (nodes, streams) = start(1);
    streams.deaf.store(true, Ordering::SeqCst);
    let client = Client::new(nodes.addresses()).unwrap();
    let opened = client.open_with(LONG, None, Some(LONG));
    assert!(opened.is_err());
    nodes.wait_until("it is ended", |table| table.sessions.is_empty());
}
