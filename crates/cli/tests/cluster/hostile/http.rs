//! Requests to the API, byte by byte as a test wants them.

use super::kit::DEADLINE;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of a refusal.
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_string()
    }
}

/// Connects, with a limit to all waiting.
pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// All that the other side says until it closes, whether or not it wants to hear this.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// A request with a Host, a length and JSON, unless the headers say otherwise.
pub fn request(request: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{request} HTTP/1.1\r\nconnection: close\r\n");
    let usual = [("host", "localhost"), ("content-type", "application/json")];
    let given = |name: &str| headers.iter().any(|(known, _)| *known == name);
    for (name, value) in usual.iter().filter(|(name, _)| !given(name)).chain(headers) {
        text += &format!("{name}: {value}\r\n");
    }
    text + &format!("content-length: {}\r\n\r\n{body}", body.len())
}

/// Asks, and reads the answer; `None` if there is none.
pub fn try_call(
    address: SocketAddr,
    line: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(DEADLINE)).ok()?;
    // One that is refused early is answered before all of it was sent.
    let _ = stream.write_all(request(line, headers, body).as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, body: body.to_string() })
}

/// Asks, and reads the answer.
pub fn call(address: SocketAddr, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let short: String = line.chars().take(80).collect();
    try_call(address, line, headers, body).unwrap_or_else(|| panic!("no answer to {short}"))
}

/// Opens a session; returns its id.
pub fn session(address: SocketAddr, ttl_ms: u64) -> String {
    let body = format!("{{\"ttl_ms\":{ttl_ms}}}");
    let answer = call(address, "POST /v1/sessions", &[], &body);
    answer.json()["session"].as_str().expect("a session").to_string()
}

/// Asks for a lock and waits for it.
pub fn acquire(address: SocketAddr, name: &str, session: &str, wait_ms: u64) -> Answer {
    let body = format!("{{\"session\":\"{session}\",\"wait_ms\":{wait_ms}}}");
    call(address, &format!("POST /v1/locks/{name}/acquire"), &[], &body)
}

/// Gives a lock back.
pub fn release(address: SocketAddr, name: &str, session: &str, fence: u64) -> Answer {
    let body = format!("{{\"session\":\"{session}\",\"fence\":{fence}}}");
    call(address, &format!("POST /v1/locks/{name}/release"), &[], &body)
}
