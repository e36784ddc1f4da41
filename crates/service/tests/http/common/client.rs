//! A client that says exactly what the test wants it to say.

use super::described;
use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longer than anything takes, unless it hangs.
const FOR_EVER: Duration = Duration::from_secs(20);

/// What came back.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Everything before the body.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Response {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The status and the code of a failure.
    pub fn failure(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or_default().to_string())
    }

    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status in {text:?}"));
        Self { status, head: head.to_string(), body: body.to_string() }
    }
}

/// Sends these bytes and reads until the other side closes.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    // Whoever closes early may not want to read all of it.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(FOR_EVER, reading).await.expect("it hangs");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Makes one request with these headers. What comes back must be described.
pub async fn call(
    address: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let response = send(address, request, headers, body).await;
    described::check(request, response.status, &response.body);
    response
}

/// The same for what the document does not describe: it is about the API, not about the page.
pub async fn send(
    address: SocketAddr,
    request: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut text = format!("{request} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        text += &format!("host: {address}\r\n");
    }
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("content-length: {}\r\n\r\n{body}", body.len());
    Response::parse(&raw(address, text.as_bytes()).await)
}

/// A client with a session at one node.
#[derive(Clone)]
pub struct Client {
    /// Where the API of its node is.
    pub address: SocketAddr,
    /// Its session.
    pub session: String,
}

impl Client {
    /// Opens a session.
    pub async fn open(address: SocketAddr, label: &str) -> Self {
        Self::open_for(address, label, 60_000).await
    }

    /// The same with a time to live.
    pub async fn open_for(address: SocketAddr, label: &str, ttl_ms: u64) -> Self {
        let body = serde_json::json!({ "label": label, "ttl_ms": ttl_ms });
        let answer = post(address, "/v1/sessions", &body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.json()["session"].as_str().expect("an id").to_string();
        Self { address, session }
    }

    /// Posts something in the name of its session.
    pub async fn post(&self, path: &str, mut body: Value) -> Response {
        body["session"] = self.session.clone().into();
        post(self.address, path, &body).await
    }

    /// Takes a lock, and returns its fence.
    pub async fn acquire(&self, name: &str) -> u64 {
        let body = serde_json::json!({ "wait_ms": 15_000 });
        let answer = self.post(&format!("/v1/locks/{name}/acquire"), body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["fence"].as_u64().expect("a fence")
    }

    /// Gives it back.
    pub async fn release(&self, name: &str, fence: u64) -> Response {
        let body = serde_json::json!({ "fence": fence });
        self.post(&format!("/v1/locks/{name}/release"), body).await
    }
}

/// Posts JSON.
pub async fn post(address: SocketAddr, path: &str, body: &Value) -> Response {
    let json = ("content-type", "application/json");
    call(address, &format!("POST {path}"), &[json], &body.to_string()).await
}
