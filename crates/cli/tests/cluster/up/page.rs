//! The page of `up`: served by itself, it outlives every node; it passes the API on to one that
//! lives, and acts on the real processes.

use super::cluster::{DEADLINE, Place, Running, Up, gone};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// An answer: its status, its headers and its body as text.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|_| panic!("{}: {}", self.status, self.body))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_string()
    }
}

/// Asks the page, by hand: nothing is added to what is said here.
fn ask(up: &Up, line: &str, headers: &[String], body: &str) -> Answer {
    ask_at(&up.page, line, headers, body)
}

fn ask_at(page: &str, line: &str, headers: &[String], body: &str) -> Answer {
    let host = page.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let length = body.len();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let host = if headers.contains("host:") { String::new() } else { format!("host: {host}\r\n") };
    let close = format!("connection: close\r\ncontent-length: {length}\r\n");
    write!(stream, "{line} HTTP/1.1\r\n{host}{headers}{close}\r\n{body}").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body =
        if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.into() };
    Answer { status, head: head.to_string(), body }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole += &rest[..size];
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

fn get(up: &Up, path: &str) -> Answer {
    ask(up, &format!("GET {path}"), &[], "")
}

fn act(up: &Up, node: u64, action: &str) -> Answer {
    let token = format!("authorization: Bearer {}", up.token);
    ask(up, &format!("POST /up/nodes/{node}/{action}"), &[token], "")
}

fn node(up: &Up, id: u64) -> Value {
    let nodes = get(up, "/up/nodes").json()["nodes"].clone();
    nodes.as_array().unwrap().iter().find(|node| node["id"] == id).unwrap().clone()
}

/// Looks again and again until it is so.
fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, Value>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(Instant::now() < end, "never {what}: {seen}"),
        }
        std::thread::yield_now();
    }
}

/// Waits until a node is as it should be.
fn node_until(up: &Up, id: u64, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    until(what, || {
        let node = node(up, id);
        if is_so(&node) { Ok(node) } else { Err(node) }
    })
}

fn state(pid: u64) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('-')
}

#[test]
fn what_was_recorded_is_shown_to_who_has_the_token() {
    let place = Place::new("page-recorded");
    let up = Up::bare(&place, &["--nodes", "1"]);
    let wrong = format!("authorization: Bearer {}x", &up.token[1..]);
    for headers in [vec![], vec![wrong]] {
        for line in ["GET /up/recording", "GET /up/recording?lock=orders", "GET /up/recording?x"] {
            let refused = ask(&up, line, &headers, "");
            assert_eq!((refused.status, refused.code().as_str()), (401, "unauthorized"), "{line}");
        }
    }
    let token = format!("authorization: Bearer {}", up.token);
    let known = ask(&up, "GET /up/recording", &[token], "");
    assert_eq!((known.status, known.code().as_str()), (404, "not_found"), "it records nothing");
}

#[test]
fn what_may_not_be_done_is_not_done() {
    let place = Place::new("page-refused");
    let up = Up::bare(&place, &["--nodes", "1"]);
    let wrong = format!("authorization: Bearer {}x", &up.token[1..]);
    for headers in [vec![], vec![wrong]] {
        let refused = ask(&up, "POST /up/nodes/1/kill", &headers, "");
        assert_eq!((refused.status, refused.code().as_str()), (401, "unauthorized"));
        assert!(refused.head.contains("www-authenticate: Bearer"), "{}", refused.head);
    }
    let foreign = [
        vec!["host: evil.example".to_string()],
        vec!["origin: http://evil.example".to_string()],
        vec!["sec-fetch-site: cross-site".to_string()],
    ];
    let token = format!("authorization: Bearer {}", up.token);
    for mut headers in foreign {
        headers.push(token.clone());
        for line in ["POST /up/nodes/1/kill", "GET /up/nodes", "GET /v1/cluster", "GET /"] {
            assert_eq!(ask(&up, line, &headers, "").status, 403, "{line} {headers:?}");
        }
    }
    for (node, action) in [(9, "kill"), (1, "explode")] {
        assert_eq!(act(&up, node, action).status, 404, "{node} {action}");
    }
    for action in ["resume", "heal", "restart"] {
        let refused = act(&up, 1, action);
        assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"), "{action}");
    }
    assert_eq!(get(&up, "/up/nodes/1/kill").status, 405);
    let long = "x".repeat((256 << 10) + 1);
    assert_eq!(ask(&up, "POST /v1/sessions", &[], &long).status, 413);
    let node = node(&up, 1);
    assert_eq!((&node["state"], &node["pid"]), (&json!("running"), &json!(up.nodes[0].pid)));
    assert_eq!(up.end(Signal::INT), Some(0));
}

#[test]
fn each_action_is_done_to_the_real_process_and_told_on_the_screen() {
    let place = Place::new("page-acts");
    let mut up = Up::bare(&place, &["--nodes", "3"]);
    let pid = node(&up, 3)["pid"].as_u64().unwrap();
    assert_eq!(act(&up, 3, "pause").json()["state"], "paused");
    up.running.wait_for("node 3 is paused, by the page");
    until("it is stopped", || if state(pid) == 'T' { Ok(()) } else { Err(json!(pid)) });
    node_until(&up, 3, "it is silent", |node| node["answers"] == false);
    assert_eq!(act(&up, 3, "pause").status, 409, "once is enough");
    assert_eq!(act(&up, 3, "resume").json()["state"], "running");
    up.running.wait_for("node 3 goes on, by the page");
    node_until(&up, 3, "it is ready", |node| node["ready"] == true);
    let killed = act(&up, 3, "kill").json();
    assert_eq!((&killed["state"], &killed["can"]), (&json!("killed"), &json!(["restart"])));
    gone(i32::try_from(pid).unwrap());
    up.running.wait_for("node 3 is killed, by the page");
    up.running.wait_for("node 3 was killed by signal 9");
    let again = act(&up, 3, "restart").json();
    assert_eq!(again["state"], "running");
    assert_ne!(again["pid"], pid);
    up.running.wait_for("node 3 is started again, by the page");
    node_until(&up, 3, "it is ready", |node| node["ready"] == true);
    up.nodes[2].pid = i32::try_from(again["pid"].as_u64().unwrap()).unwrap();
    assert_eq!(up.end(Signal::INT), Some(0));
}

#[test]
fn a_leader_that_is_isolated_is_replaced_and_follows_once_it_is_healed() {
    let place = Place::new("page-isolates");
    let mut up = Up::bare(&place, &["--nodes", "3"]);
    let first = up.leader().id;
    assert_eq!(act(&up, first, "isolate").json()["state"], "isolated");
    up.running.wait_for(&format!("node {first} is cut off from the others, by the page"));
    let leads = |view: &Value| view["leader"].as_u64();
    let next = until("another leads", || {
        let nodes = get(&up, "/up/nodes").json()["nodes"].clone();
        let views = nodes.as_array().unwrap().iter().map(|node| &node["view"]);
        let others = views.filter(|view| view["node"] != first);
        let found = others.filter_map(leads).find(|leader| *leader != first);
        found.ok_or(nodes.clone())
    });
    let cut = node_until(&up, first, "it hears of nobody", |node| node["ready"] == false);
    assert_eq!(cut["answers"], true, "its process runs, and its API answers");
    place.fence(&["demo"]); // The others go on.
    assert_eq!(act(&up, first, "heal").json()["state"], "running");
    node_until(&up, first, "it follows", |node| {
        node["ready"] == true && leads(&node["view"]).is_some_and(|leader| leader != first)
    });
    assert_ne!(next, first);
    assert_eq!(up.end(Signal::INT), Some(0));
}

#[test]
fn the_page_outlives_every_node_and_can_start_them_again() {
    let place = Place::new("page-outlives");
    let mut up = Up::bare(&place, &["--nodes", "3"]);
    let before = place.fence(&["demo"]);
    for node in 1..=3 {
        assert_eq!(get(&up, "/v1/cluster").status, 200, "before node {node} dies");
        assert_eq!(act(&up, node, "kill").status, 200);
    }
    up.running.wait_for("no node is left; their logs are in ");
    for path in ["/", "/page/about", "/up/nodes", "/assets/app.js"] {
        assert_eq!(get(&up, path).status, 200, "{path}");
    }
    let refused = get(&up, "/v1/locks");
    assert_eq!((refused.status, refused.code().as_str()), (503, "unavailable"));
    for node in 1..=3 {
        let again = act(&up, node, "restart").json();
        up.nodes[node as usize - 1].pid = i32::try_from(again["pid"].as_u64().unwrap()).unwrap();
    }
    assert!(place.fence(&["demo"]) > before, "the same disks");
    assert_eq!(up.end(Signal::INT), Some(0));
}

#[test]
fn the_api_is_passed_on_to_a_node_that_lives() {
    let place = Place::new("page-passes");
    let mut up = Up::bare(&place, &["--nodes", "3"]);
    let json = "content-type: application/json".to_string();
    let body = r#"{"label":"<img src=x onerror=alert(1)>","ttl_ms":60000}"#;
    let session = ask(&up, "POST /v1/sessions", std::slice::from_ref(&json), body).json();
    let session = session["session"].as_str().unwrap().to_string();
    let body = format!(r#"{{"session":"{session}","wait_ms":20000,"request_id":"1"}}"#);
    let grant = ask(&up, "POST /v1/locks/a%2Fb/acquire", std::slice::from_ref(&json), &body);
    assert_eq!((grant.status, &grant.json()["name"]), (200, &json!("a/b")));
    let sessions = get(&up, "/v1/sessions?search=onerror").json();
    assert_eq!(sessions["sessions"][0]["holds"], 1, "{sessions}");
    assert_eq!(get(&up, "/up/nodes/2/v1/locks?search=a/b").json()["locks"][0]["node"], 2);
    assert!(get(&up, "/up/nodes/3/metrics").body.contains("conclave_ready 1"));
    assert_eq!(get(&up, "/openapi.json").status, 200);
    let page = get(&up, "/");
    assert!(page.head.contains("content-security-policy: default-src 'none'; "), "{}", page.head);
    // The first node is asked first; when it is dead, another is.
    act(&up, 1, "kill");
    let lock = until("another leads", || {
        let lock = get(&up, "/v1/locks/a%2Fb");
        if lock.status == 200 { Ok(lock.json()) } else { Err(lock.json()) }
    });
    assert_eq!(lock["holders"][0]["label"], "<img src=x onerror=alert(1)>");
    assert_eq!(get(&up, "/up/nodes/1/v1/cluster").status, 503);
    assert_eq!(up.running.child.try_wait().unwrap(), None);
    assert_eq!(up.end(Signal::INT), Some(0));
}

#[test]
fn a_stream_passes_on_and_ends_when_its_node_dies_or_falls_silent() {
    let place = Place::new("page-streams");
    let up = Up::bare(&place, &["--nodes", "3"]);
    for action in ["kill", "pause"] {
        let node = if action == "kill" { 1 } else { 2 };
        node_until(&up, node, "it is ready", |node| node["ready"] == true);
        let host = up.page.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        write!(stream, "GET /v1/events HTTP/1.1\r\nhost: {host}\r\n\r\n").unwrap();
        place.fence(&[&format!("lock-{action}")]);
        let mut seen = String::new();
        let mut bytes = [0; 4096];
        while !seen.contains(&format!(r#""name":"lock-{action}""#)) {
            let count = stream.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "it ended: {seen}");
            seen += &String::from_utf8_lossy(&bytes[..count]);
        }
        assert!(seen.contains(&format!(r#""node":{node}"#)), "{seen}");
        assert_eq!(act(&up, node, action).status, 200);
        while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
    }
    assert_eq!(get(&up, "/v1/cluster").json()["node"], 3);
    act(&up, 2, "resume");
    let _ = up.end(Signal::INT);
}

#[test]
fn a_request_that_waits_at_a_node_that_falls_silent_is_told_so() {
    let place = Place::new("page-silent");
    let up = Up::bare(&place, &["--nodes", "3"]);
    let held = ["lock", "demo", "--ttl", "60s", "--", "sleep", "1000"];
    let holder = Running::start(&place, place.command(&held));
    place.status_until("it is held", |status| status["locks"][0]["state"] == "held");
    let json = "content-type: application/json".to_string();
    let session = ask(&up, "POST /v1/sessions", std::slice::from_ref(&json), "{}").json();
    let session = session["session"].as_str().unwrap();
    let body = format!(r#"{{"session":"{session}","wait_ms":3600000,"request_id":"1"}}"#);
    let (page, line) = (up.page.clone(), "POST /v1/locks/demo/acquire");
    let answer = std::thread::scope(|scope| {
        let waits = scope.spawn(|| ask_at(&page, line, std::slice::from_ref(&json), &body));
        until("it waits", || {
            let lock = get(&up, "/v1/locks/demo?stale=true").json();
            if lock["waiters"][0].is_object() { Ok(()) } else { Err(lock) }
        });
        act(&up, 1, "pause");
        waits.join().unwrap()
    });
    assert_eq!((answer.status, answer.code().as_str()), (502, "unavailable"), "{}", answer.body);
    assert!(answer.body.contains("node 1 fell silent"), "{}", answer.body);
    act(&up, 1, "resume");
    drop(holder);
    let _ = up.end(Signal::INT);
}
