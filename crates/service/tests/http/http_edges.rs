//! What the API does with clients that are wrong, foreign, slow or many.

use crate::common::metrics_page::{check_page, promtool_reads};
use crate::common::{Client, Cluster, call, patient, raw};
use conclave_api::{Code, Failure};
use conclave_service::desk::Question;
use conclave_service::http::{HttpConfig, HttpLimits, Server, serve};
use conclave_service::metrics::Engines;
use conclave_service::{Command, NodeFacts};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

const JSON: (&str, &str) = ("content-type", "application/json");

/// A request, the type of its body, the body, and what it gets.
type Bad<'a> = (&'a str, Option<&'a str>, &'a str, u16, &'a str);

const ACQUIRE: &str = "POST /v1/locks/x/acquire";
const TYPE: Option<&str> = Some("application/json");
const SESSION: &str = r#"{"session":"00000000000000000000000000000000"}"#;

const HOLD_OF_NOBODY: &str = r#"{"session":"a","fence":1,"hold":"\u0007"}"#;
const HUGE_FENCE: &str = r#"{"session":"a","fence":9007199254740992}"#;

const BAD_BODIES: &[Bad] = &[
    (ACQUIRE, TYPE, "{", 400, "bad_request"),
    (ACQUIRE, TYPE, "", 400, "bad_request"),
    (ACQUIRE, TYPE, "{}", 400, "bad_request"),
    (ACQUIRE, TYPE, r#"["00000000000000000000000000000000"]"#, 400, "bad_request"),
    ("PUT /v1/values/v", TYPE, " [1, 5]", 400, "bad_request"),
    (ACQUIRE, TYPE, r#"{"session":"a","unknown":1}"#, 400, "bad_request"),
    (ACQUIRE, TYPE, r#"{"session":7}"#, 400, "bad_request"),
    (ACQUIRE, TYPE, r#"{"session":"a","wait_ms":-1}"#, 400, "bad_request"),
    (ACQUIRE, TYPE, r#"{"session":"a","wait_ms":3600001}"#, 400, "bad_request"),
    (ACQUIRE, TYPE, r#"{"session":"a","mode":"shared"}"#, 400, "unsupported"),
    (ACQUIRE, TYPE, r#"{"session":"a","permits":2}"#, 400, "unsupported"),
    (ACQUIRE, TYPE, SESSION, 404, "no_session"),
    (ACQUIRE, Some("text/plain"), SESSION, 415, "bad_request"),
    (ACQUIRE, None, SESSION, 415, "bad_request"),
    ("POST /v1/sessions", TYPE, r#"{"ttl_ms":999}"#, 400, "bad_request"),
    ("POST /v1/sessions", TYPE, r#"{"ttl_ms":3600001}"#, 400, "bad_request"),
    ("POST /v1/sessions", TYPE, r#"{"label":"a\nb"}"#, 400, "bad_request"),
    ("POST /v1/locks/x/verify", TYPE, r#"{"fence":-1}"#, 400, "bad_request"),
    ("POST /v1/locks/x/verify", TYPE, r#"{"fence":1.5}"#, 400, "bad_request"),
    ("POST /v1/locks/x/verify", TYPE, r#"{"fence":9007199254740992}"#, 400, "bad_request"),
    ("POST /v1/locks/x/release", TYPE, HUGE_FENCE, 400, "bad_request"),
    ("POST /v1/elections/x/resign", TYPE, HUGE_FENCE, 400, "bad_request"),
    ("POST /v1/locks/x/release", TYPE, r#"{"session":"a"}"#, 400, "bad_request"),
    ("PUT /v1/values/v", TYPE, r#"{"fence":1}"#, 400, "bad_request"),
    // This engine uses none of these, but a schema is a promise.
    ("POST /v1/locks/x/verify", TYPE, r#"{"fence":1,"session":"a"}"#, 400, "bad_request"),
    ("POST /v1/locks/x/release", TYPE, HOLD_OF_NOBODY, 400, "bad_request"),
    (ACQUIRE, TYPE, r#"{"session":"a","mode":"shared","permits":2}"#, 400, "bad_request"),
    ("PUT /v1/values/v", TYPE, r#"{"value":1,"fence":1,"request_id":"1"}"#, 400, "bad_request"),
    ("POST /v1/sessions/none/keepalive", TYPE, r#"{"open":[]}"#, 400, "bad_request"),
    ("POST /v1/sessions/none/keepalive", TYPE, "[]", 400, "bad_request"),
    ("POST /v1/sessions/none/keepalive", Some("text/plain"), "x", 415, "bad_request"),
    ("POST /v1/sessions/none/keepalive", None, "x", 400, "bad_request"),
    ("POST /v1/sessions/none/keepalive", None, "", 404, "no_session"),
    ("POST /v1/acquire", TYPE, r#"{"session":"a","locks":[{"name":"x"}]}"#, 404, "unsupported"),
    ("GET /v1/cluster/members", None, "", 404, "unsupported"),
];

const BAD_PATHS: &[Bad] = &[
    ("POST /v1/locks/a%20b/acquire", TYPE, SESSION, 400, "bad_request"),
    ("POST /v1/locks/a%FFb/acquire", TYPE, SESSION, 400, "bad_request"),
    ("GET /v1/values/v", None, "", 404, "not_found"),
    ("GET /v1/locks/never-used", None, "", 404, "not_found"),
    ("GET /v1/locks?limit=0", None, "", 400, "bad_request"),
    ("GET /v1/locks?limit=1001", None, "", 400, "bad_request"),
    ("GET /v1/locks?limit=x", None, "", 400, "bad_request"),
    ("GET /v1/locks?after=a%20b", None, "", 400, "bad_request"),
    ("GET /v1/elections?lmit=1", None, "", 400, "bad_request"),
    ("GET /v1/nothing", None, "", 404, "not_found"),
    ("GET /nothing", None, "", 404, "not_found"),
    ("PATCH /v1/locks", None, "", 405, "bad_request"),
    ("PUT /v1/sessions", None, "", 405, "bad_request"),
    ("DELETE /v1/sessions/none", None, "", 404, "no_session"),
];

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_gets_a_status_and_a_code() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let address = cluster.first();
    let long = format!("POST /v1/locks/{}/acquire", "x".repeat(257));
    let huge = format!("{{\"session\":\"{}\"}}", "x".repeat(70_000));
    let label = json!({ "label": "x".repeat(129) }).to_string();
    let oversized: &[Bad] = &[
        (&long, TYPE, SESSION, 400, "bad_request"),
        (ACQUIRE, TYPE, &huge, 413, "too_large"),
        ("POST /v1/sessions", TYPE, &label, 400, "bad_request"),
    ];
    for (request, kind, body, status, code) in [BAD_BODIES, BAD_PATHS, oversized].concat() {
        let headers: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        let answer = call(address, request, &headers, body).await;
        let short: String = body.chars().take(80).collect();
        assert_eq!(answer.failure(), (status, code.to_string()), "{request} {short}");
        assert!(!answer.json()["error"]["message"].as_str().expect("words").is_empty());
    }
    assert_eq!(call(address, "GET /v1/locks", &[], "").await.json()["locks"], json!([]));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_pages_and_names_are_refused() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let address = cluster.first();
    let own = address.to_string();
    let (local, evil) = (format!("http://{own}"), "http://evil.example");
    let table: &[(&[(&str, &str)], u16)] = &[
        (&[("host", &own)], 200),
        (&[("host", "localhost")], 200),
        (&[("host", "own.example:7070")], 200),
        (&[("host", "evil.example")], 403),
        (&[("host", "own.example:7071")], 403),
        (&[("host", &own), ("origin", &local)], 200),
        (&[("host", &own), ("origin", evil)], 403),
        (&[("host", &own), ("origin", "null")], 403),
        (&[("host", &own), ("sec-fetch-site", "cross-site")], 403),
        (&[("host", &own), ("sec-fetch-site", "same-origin")], 200),
        (&[("host", &own), ("sec-fetch-site", "none")], 200),
        (&[("host", &own), ("host", "localhost")], 400),
        (&[("host", &own), ("host", "evil.example")], 400),
    ];
    for (headers, status) in table {
        let answer = call(address, "GET /healthz", headers, "").await;
        assert_eq!(answer.status, *status, "{headers:?}");
    }
    let nameless = raw(address, b"GET /healthz HTTP/1.0\r\n\r\n").await;
    assert!(nameless.contains(" 400 "), "{nameless}");
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_let_go() {
    let short = Duration::from_millis(150);
    let limits = HttpLimits { head: short, body: short, idle: 2 * short, ..patient() };
    let cluster = Cluster::start(1, "ricart-agrawala", limits).await;
    let address = cluster.first();
    assert_eq!(raw(address, b"").await, "", "one that says nothing");
    assert_eq!(raw(address, b"GET /healthz HTTP/1.1\r\nhost: loc").await, "", "half a head");
    let half = "POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\n\
                content-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    let answer = raw(address, half.as_bytes()).await;
    assert!(answer.contains(" 408 "), "half a body: {answer}");
    let whole = raw(address, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(whole.contains(" 200 "), "served, and closed when idle: {whole}");
    let trickled = trickle(address).await;
    assert!(!trickled.contains(" 200 "), "a byte now and then is not enough: {trickled}");
    assert_eq!(call(address, "GET /healthz", &[], "").await.status, 200, "others are served");
    cluster.stop().await;
}

/// Sends a request byte by byte until it is whole or the other side has had enough.
async fn trickle(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    for byte in b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n" {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
    }
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

/// The API of a node at which nobody takes the commands. So many wait.
async fn deaf(limits: HttpLimits, room: usize) -> (SocketAddr, Server, mpsc::Receiver<Command>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let (sender, receiver) = mpsc::channel(room);
    let config = HttpConfig {
        node: 2,
        own: Vec::new(),
        keeper: Some("127.0.0.1:1".to_string()),
        admin_token: None,
        tokens: None,
        tls: None,
        audit: None,
        lab: false,
        limits,
        facts: NodeFacts::default(),
    };
    (address, serve(listener, config, sender), receiver)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_hangs_says_so() {
    let limits = HttpLimits { answer: Duration::from_millis(50), ..patient() };
    let (address, server, _receiver) = deaf(limits, 1).await;
    let ready = call(address, "GET /readyz", &[], "").await;
    assert_eq!(ready.failure(), (503, "unavailable".into()));
    assert!(ready.body.contains("does its disk hang"), "{}", ready.body);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_about_to_stop_is_not_ready() {
    let (address, server, mut receiver) = deaf(patient(), 1).await;
    let asked = tokio::spawn(async move { call(address, "GET /readyz", &[], "").await });
    let Some(Command::Show(Question::Ready { reply })) = receiver.recv().await else {
        panic!("nothing else is asked for");
    };
    let mut refusal = Failure::new(Code::Unavailable, "about to stop");
    refusal.stopping = true;
    assert!(reply.send(Err(Box::new(refusal))).is_ok(), "somebody waits for it");
    let ready = asked.await.expect("answered");
    assert_eq!(ready.failure(), (503, "unavailable".into()));
    assert_eq!(ready.json()["stopping"], true);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_take_turns() {
    let (address, server, mut receiver) = deaf(patient(), 32).await;
    let asked = |path: &'static str| {
        tokio::spawn(async move { call(address, &format!("GET {path}"), &[], "").await })
    };
    let _lists = [(); 20].map(|()| asked("/v1/locks"));
    let mut replies = Vec::new();
    for _ in 0..4 {
        match receiver.recv().await {
            Some(Command::Show(Question::Locks { reply, .. })) => replies.push(reply),
            _ => panic!("nothing but lists is asked for"),
        }
    }
    let _cluster = asked("/v1/cluster");
    let next = receiver.recv().await;
    assert!(matches!(next, Some(Command::Show(Question::Cluster { .. }))), "a fifth list");
    drop(replies);
    let next = receiver.recv().await;
    assert!(matches!(next, Some(Command::Show(Question::Locks { .. }))), "their turn has come");
    drop(receiver);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_or_stopped_node_says_so() {
    let (address, server, receiver) = deaf(patient(), 1).await;
    let first = tokio::spawn(async move { call(address, "GET /v1/cluster", &[], "").await });
    let mut busy = None;
    while busy.is_none() {
        let waiting = call(address, "GET /v1/cluster", &[], "");
        busy = tokio::time::timeout(Duration::from_millis(100), waiting).await.ok();
    }
    let busy = busy.expect("looped until there");
    assert_eq!(busy.failure(), (503, "unavailable".into()));
    assert!(busy.head.contains("retry-after: 1"), "{}", busy.head);
    let value = call(address, "GET /v1/values/v", &[], "").await;
    assert_eq!(value.failure(), (503, "unavailable".into()), "node 1 is down");
    let force = call(address, "DELETE /v1/locks/x/holders", &[JSON], r#"{"reason":"r"}"#).await;
    assert_eq!(force.failure(), (403, "forbidden".into()), "no token, no force");
    drop(receiver);
    assert_eq!(first.await.expect("answered").failure(), (503, "unavailable".into()));
    let ready = call(address, "GET /readyz", &[], "").await;
    assert_eq!(ready.failure(), (503, "unavailable".into()));
    assert_eq!(call(address, "GET /healthz", &[], "").await.status, 200);
    server.stop().await;
    assert!(TcpStream::connect(address).await.is_err(), "it listens no longer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_server_does_not_wait_for_those_who_wait() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let holder = Client::open(cluster.first(), "holds").await;
    holder.acquire("x").await;
    let mut events = TcpStream::connect(cluster.first()).await.expect("it listens");
    events.write_all(b"GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("sent");
    read_until(&mut events, "granted").await;
    cluster.stop().await;
    let mut rest = Vec::new();
    let _ = events.read_to_end(&mut rest).await;
}

/// Reads until this has come.
async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4_096];
    while !text.contains(wanted) {
        let reading = stream.read(&mut buffer);
        let read = tokio::time::timeout(Duration::from_secs(10), reading).await;
        let read = read.unwrap_or_else(|_| panic!("no {wanted:?} in {text}")).expect("open");
        assert_ne!(read, 0, "closed before {wanted:?}: {text}");
        text += &String::from_utf8_lossy(&buffer[..read]);
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn events_and_elections_can_be_watched() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let address = cluster.first();
    let stream = async |path: &str| {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        stream
    };
    let client = Client::open(address, "the client").await;
    let mut events = stream("/v1/events").await;
    let head = read_until(&mut events, "event: session_opened").await;
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    let mut election = stream("/v1/elections/e/observe").await;
    read_until(&mut election, r#""leader":null"#).await;
    let fence = client.acquire("x").await;
    client.release("x", fence).await;
    let seen = read_until(&mut events, "event: released").await;
    assert!(seen.contains("event: granted"), "{seen}");
    assert!(!seen.contains(&client.session), "a session id is a secret");
    let body = json!({ "value": "me", "wait_ms": 60_000 });
    let long = client.post("/v1/elections/e/campaign", body.clone()).await;
    assert_eq!(long.failure(), (400, "bad_request".into()), "its time to live is too long");
    let candidate = Client::open_for(address, "the candidate", 3_000).await;
    let won = candidate.post("/v1/elections/e/campaign", body).await;
    assert_eq!(won.status, 200);
    let seen = read_until(&mut election, "the candidate").await;
    assert!(seen.contains(r#""value":"me""#), "{seen}");
    let bad = call(address, "GET /v1/elections/a%20b/observe", &[], "").await;
    assert_eq!(bad.failure(), (400, "bad_request".into()));
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_described_route_is_served_and_no_other_method() {
    let cluster = Cluster::start(1, "ricart-agrawala", patient()).await;
    let address = cluster.first();
    let document = call(address, "GET /openapi.json", &[], "").await.json();
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() >= 18, "{}", paths.len());
    for (path, operations) in paths {
        let described: Vec<&String> = operations.as_object().expect("methods").keys().collect();
        let real = path.replace("{name}", "no%20name").replace("{id}", "none");
        for method in ["get", "put", "post", "delete", "patch"] {
            let known = described.iter().any(|one| *one == method);
            if known
                && operations[method]["responses"]["200"]["content"]["text/event-stream"]
                    != Value::Null
                && !path.contains('{')
            {
                continue; // A stream without end.
            }
            let request = format!("{} {real}", method.to_uppercase());
            let answer = call(address, &request, &[JSON], "").await;
            assert_eq!(answer.status != 405, known, "{request}: {answer:?}");
            assert!(!answer.body.contains("no such route"), "{request}");
        }
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_shows_how_it_is() {
    let cluster = Cluster::start(3, "ricart-agrawala", patient()).await;
    let address = cluster.first();
    assert_eq!(call(address, "GET /readyz", &[], "").await.status, 200);
    let client = Client::open(address, "the client").await;
    client.acquire("x").await;
    let page = call(address, "GET /metrics", &[], "").await;
    for line in [
        "conclave_sessions 1\n",
        "conclave_locks{state=\"held\"} 1\n",
        "conclave_entries_total 1\n",
        "conclave_messages_sent_total{machine=\"lock\",kind=\"REQUEST\"} 2\n",
        "conclave_link_up{node=\"3\"} 1\n",
    ] {
        assert!(page.body.contains(line), "{line} in {}", page.body);
    }
    assert!(!page.body.contains(&client.session));
    check_page(&page.body, Engines::Replicated);
    promtool_reads(&page.body);
    let seen = call(address, "GET /v1/cluster", &[], "").await.json();
    assert_eq!(seen["engine"], "ricart-agrawala");
    assert_eq!(seen["nodes"][0]["state"], "self");
    assert_eq!(seen["nodes"].as_array().map(Vec::len), Some(3));
    cluster.stop().await;
}
