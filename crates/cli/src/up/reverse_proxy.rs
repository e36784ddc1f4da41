//! The reverse proxy: passes requests of the API on to a node that can serve them, so that one
//! address is good for as long as any node is.
//!
//! It is the first node, by number, that is ready: a session of a classic engine belongs to the
//! node that opened it, so whoever asks here must not be sent to and fro. What no node has heard is
//! sent to the next one; what a node may have heard is repeated only if it changes nothing.
//! A node that falls silent in the middle ends what waits for it: whoever asked learns of it here,
//! and need not have a time-out of its own.

use super::outgoing::{Sent, send};
use super::problem::{problem, problem_at};
use super::roster::{NodeSeen, Roster};
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, Request, StatusCode, header};
use axum::response::Response;
use conclave_client::api::Code;
use hyper::body::{Frame, Incoming, SizeHint};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::timeout;

/// The longest body, in bytes: that of a keepalive. A node has less for most others.
const BODY_MAX: usize = 256 << 10;
/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(10);

/// What is between two hosts only, or was for this one and is checked already.
const OWN: [HeaderName; 8] = [
    header::CONNECTION,
    header::HOST,
    header::ORIGIN,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Passes a request on to a node that can serve it.
pub async fn pass_on(State(roster): State<Roster>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let body = match take(body).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    let mut last = "none of them answers".to_string();
    for node in candidates(roster.nodes()) {
        match ask(&roster, &node, &head, body.clone()).await {
            Asked::Answer(answer) => return answer,
            Asked::Untold(why) => last = why,
            Asked::Lost(why) if is_harmless(&head.method) => last = why,
            Asked::Lost(why) => return broken_off(&why),
        }
    }
    problem(Code::Unavailable, format!("no node of this cluster can be asked: {last}"))
}

/// Passes a request on to this very node.
pub async fn pass_on_to(roster: &Roster, node: &NodeSeen, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let body = match take(body).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    match ask(roster, node, &head, body).await {
        Asked::Answer(answer) => answer,
        Asked::Untold(why) => problem(Code::Unavailable, why),
        Asked::Lost(why) => broken_off(&why),
    }
}

/// Who is worth asking, best first: whoever can serve, whoever answers at least.
fn candidates(nodes: Vec<NodeSeen>) -> Vec<NodeSeen> {
    let mut answering: Vec<NodeSeen> =
        nodes.into_iter().filter(|node| node.health.answers).collect();
    answering.sort_by_key(|node| !node.health.ready); // It keeps their order otherwise.
    answering
}

/// What came of asking one node.
enum Asked {
    Answer(Response),
    /// It knows nothing of it.
    Untold(String),
    /// Perhaps it has carried it out.
    Lost(String),
}

async fn ask(roster: &Roster, node: &NodeSeen, head: &Parts, body: Bytes) -> Asked {
    let id = node.id;
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::builder().method(&head.method).uri(path).body(Body::from(body));
    let Ok(mut request) = request else {
        return Asked::Answer(problem(Code::BadRequest, "no such address"));
    };
    *request.headers_mut() = passed(&head.headers);
    let sent = tokio::select! {
        sent = send(&node.api, request) => sent,
        () = roster.silence(id) => return Asked::Lost(format!("node {id} fell silent")),
    };
    match sent {
        Sent::Answer(answer) => Asked::Answer(guarded(answer, roster.clone(), id)),
        Sent::Unreachable(why) => Asked::Untold(format!("node {id}: {why}")),
        Sent::BrokenOff(why) => Asked::Lost(format!("node {id}: {why}")),
    }
}

/// Whether it may be asked twice without any harm.
fn is_harmless(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

fn broken_off(why: &str) -> Response {
    let words = "whether the request was carried out is not known; repeat it with its request_id";
    problem_at(StatusCode::BAD_GATEWAY, Code::Unavailable, format!("{why}: {words}"))
}

/// The whole body, before any node is asked: one that comes slowly or is too long disturbs none.
async fn take(body: Body) -> Result<Bytes, Response> {
    match timeout(BODY_TIME, to_bytes(body, BODY_MAX)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let words = format!("the body is broken off, or longer than {BODY_MAX} bytes");
            Err(problem(Code::TooLarge, words))
        }
        Err(_) => {
            let words = format!("the body took longer than {} s", BODY_TIME.as_secs());
            Err(problem_at(StatusCode::REQUEST_TIMEOUT, Code::BadRequest, words))
        }
    }
}

/// The headers that are for the node.
fn passed(headers: &HeaderMap) -> HeaderMap {
    let mut passed = headers.clone();
    for name in &OWN {
        passed.remove(name);
    }
    for name in ["keep-alive", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"] {
        passed.remove(name);
    }
    passed
}

/// The answer of a node, which ends when the node falls silent.
fn guarded(answer: hyper::Response<Incoming>, roster: Roster, id: u32) -> Response {
    let (mut head, body) = answer.into_parts();
    for name in &OWN {
        head.headers.remove(name);
    }
    let silence = Box::pin(async move { roster.silence(id).await });
    Response::from_parts(head, Body::new(Guarded { body, silence }))
}

struct Guarded {
    body: Incoming,
    silence: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl hyper::body::Body for Guarded {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other))),
            Poll::Pending => match self.silence.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Err(io::Error::other("the node fell silent")))),
                Poll::Pending => Poll::Pending,
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn the_first_that_is_ready_is_asked_and_none_that_is_silent() {
        let mut nodes: Vec<NodeSeen> =
            (1..=4).map(|id| NodeSeen::new(id, "127.0.0.1:1", id)).collect();
        nodes[0].health.answers = false;
        nodes[1].health.ready = false;
        let order: Vec<u32> = candidates(nodes).iter().map(|node| node.id).collect();
        assert_eq!(order, [3, 4, 2]);
    }

    #[test]
    fn what_was_for_this_host_is_not_passed_on() {
        let mut headers = HeaderMap::new();
        for name in ["host", "origin", "connection", "sec-fetch-site", "authorization"] {
            headers.insert(name, HeaderValue::from_static("it"));
        }
        let passed = passed(&headers);
        let names: Vec<&str> = passed.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["authorization"]);
    }
}
