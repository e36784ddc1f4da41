//! A server that speaks HTTP and answers what a test wants.
#![allow(dead_code, reason = "each test file uses its own part")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Whatever a test waits for happens sooner than this.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A request as it came in.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Method and path: `POST /v1/sessions`.
    pub line: String,
    pub body: Value,
}

/// What a server does: a status and a body; or nothing at all, for ever; or it hangs up.
pub enum Answer {
    Says(u16, Value),
    Silent,
    HangsUp,
    /// A stream of events begins, and goes on, with what the test says, until the test ends it.
    Streams(Receiver<&'static str>),
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Request>>,
    more: Condvar,
}

/// A server on a port of the system's choice.
pub struct Fake {
    pub address: String,
    seen: Arc<Seen>,
}

impl Fake {
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let address = listener.local_addr().expect("it is bound").to_string();
        let seen = Arc::new(Seen::default());
        let (kept, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        Self { address, seen }
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// The bodies of all requests of this line so far.
    pub fn bodies(&self, line: &str) -> Vec<Value> {
        let requests = self.requests().into_iter();
        requests.filter(|request| request.line == line).map(|request| request.body).collect()
    }

    /// Waits until so many requests of this line came.
    pub fn wait_for(&self, line: &str, count: usize) {
        let end = Instant::now() + DEADLINE;
        let mut requests = self.seen.requests.lock().unwrap();
        while requests.iter().filter(|request| request.line == line).count() < count {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "'{line}' never came {count} times: {requests:?}");
            requests = self.seen.more.wait_timeout(requests, left).unwrap().0;
        }
    }
}

fn serve(stream: TcpStream, seen: &Seen, answer: &dyn Fn(&Request) -> Answer) {
    let Some(request) = read(&stream) else { return };
    seen.requests.lock().unwrap().push(request.clone());
    seen.more.notify_all();
    let (status, body) = match answer(&request) {
        Answer::Says(status, body) => (status, body),
        Answer::Silent => return drop((&stream).read(&mut [0; 1])), // Until the other hangs up.
        Answer::HangsUp => return,
        Answer::Streams(says) => {
            let _ = write!(
                &stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
                 event: attached\ndata: {{}}\n\n"
            );
            while let Ok(words) = says.recv() {
                let _ = (&stream).write_all(words.as_bytes()); // The other side may have gone.
            }
            return;
        }
    };
    let body = body.to_string();
    let _ = write!(
        &stream,
        "HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
}

pub fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let line = first.rsplit_once(' ')?.0.to_string();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

/// What a node with nothing to do answers: one session, one fence, all is granted.
pub fn usual(request: &Request) -> Answer {
    let path: Vec<&str> = request.line.split('/').collect();
    match path.as_slice() {
        ["POST ", "v1", "sessions"] => {
            Answer::Says(200, session(request.body["ttl_ms"].as_u64().unwrap_or(10_000)))
        }
        ["POST ", "v1", "sessions", _, "keepalive"] => Answer::Says(200, session(10_000)),
        ["DELETE ", "v1", "sessions", _] => Answer::Says(200, json!({})),
        ["POST ", "v1", "locks" | "elections", name, "acquire" | "campaign"] => {
            Answer::Says(200, grant(&name.replace("%2F", "/"), 7))
        }
        ["POST ", "v1", "locks" | "elections", name, "release" | "resign"] => {
            Answer::Says(200, json!({"name": name, "fence": 7, "holds": 0}))
        }
        ["POST ", "v1", "locks", name, "verify"] => {
            Answer::Says(200, json!({"name": name, "valid": true, "latest": 7, "scope": "node"}))
        }
        ["GET ", "v1", "elections", name] => Answer::Says(200, election(name, Some(7))),
        _ => refuse(404, "not_found", "there is nothing at this address"),
    }
}

pub fn session(ttl_ms: u64) -> Value {
    json!({"session": "5e55", "ttl_ms": ttl_ms, "node": 1, "cluster_id": "c1"})
}

pub fn grant(name: &str, fence: u64) -> Value {
    json!({
        "name": name, "fence": fence, "cluster_id": "c1", "node": 1, "holds": 1, "waited_ms": 0,
        "term": 3,
    })
}

pub fn election(name: &str, fence: Option<u64>) -> Value {
    let leader = fence.map(
        |fence| json!({"label": "x", "session": "ab", "node": 1, "fence": fence, "held_ms": 1}),
    );
    json!({
        "name": name, "leader": leader, "value": null, "candidates": [], "leading_node": 1,
        "leading_api": "127.0.0.1:1", "term": 3,
    })
}

pub fn refuse(status: u16, code: &str, message: &str) -> Answer {
    let retry = status == 503;
    Answer::Says(status, json!({"error": {"code": code, "message": message, "retry": retry}}))
}
