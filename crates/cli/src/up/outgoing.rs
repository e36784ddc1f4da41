//! Requests from `up` to its nodes: an HTTP client that makes one connection for each.

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a connection may take to come to be: all nodes are on this machine.
const CONNECT: Duration = Duration::from_secs(1);

/// What became of a request.
pub enum Sent {
    /// It is answered; the body may still be under way.
    Answer(Response<Incoming>),
    /// There was no connection: the node knows nothing of it.
    Unreachable(String),
    /// The connection broke before an answer: nobody knows whether it was carried out.
    BrokenOff(String),
}

/// Sends a request to the node with this API, in its own name.
pub async fn send(api: &str, mut request: Request<Body>) -> Sent {
    let connected = match timeout(CONNECT, TcpStream::connect(api)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return Sent::Unreachable(error.to_string()),
        Err(_) => return Sent::Unreachable("no connection came to be in time".to_string()),
    };
    let _ = connected.set_nodelay(true); // One that has gone is noticed soon enough.
    if let Ok(host) = HeaderValue::from_str(api) {
        request.headers_mut().insert(header::HOST, host);
    }
    let (mut sender, connection) = match http1::handshake(TokioIo::new(connected)).await {
        Ok(made) => made,
        Err(error) => return Sent::Unreachable(error.to_string()),
    };
    // It ends when the sender and the answer's body are dropped.
    tokio::spawn(async move {
        let _ = connection.await; // How it ends is told to whoever awaits the answer.
    });
    match sender.send_request(request).await {
        Ok(answer) => Sent::Answer(answer),
        Err(error) => Sent::BrokenOff(error.to_string()),
    }
}
