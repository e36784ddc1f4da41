//! The HTTP API of a node.
//!
//! Handlers know nothing: they check what came, put it to the desk as a [`Command`] and wait for
//! the answer.

mod access;
mod answer_room;
mod authorize;
mod body;
mod elections;
mod head_timeout;
mod locks;
mod members;
mod metrics;
mod openapi;
mod places;
mod problem;
mod request_body;
mod route_table;
mod routes;
mod server;
mod session_stream;
mod sessions;
mod stream_limit;
mod streams;
mod values;
mod wire;

pub use access::is_token;
pub use server::{Server, serve};

use crate::audit::Audit;
use crate::desk::{Answer, Command, Question, Reply, refusal};
use crate::node_facts::NodeFacts;
use crate::readiness::{self, Readiness};
use crate::rights::{Principal, Right};
use crate::tokens::TokenFile;
use axum::Json;
use axum::body::Bytes;
use axum::response::IntoResponse;
use conclave_net::ApiTls;
use metrics::ApiMetrics;
use problem::Listed;
use serde::Serialize;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream_limit::StreamLimit;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// The API described for programs: an OpenAPI document, as `/openapi.json` has it.
pub fn openapi(replicated: bool) -> Bytes {
    openapi::document_of(replicated)
}

/// What the API must know.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// The number of this node, from 1.
    pub node: u32,
    /// The addresses, as `host:port`, under which clients know this node, loopback aside.
    pub own: Vec<String>,
    /// Classic engine: where the API of node 1 is, which keeps the values. Nothing: replicated.
    pub keeper: Option<String>,
    /// Whoever shows this may do everything; without other tokens only this lets use force.
    pub admin_token: Option<String>,
    /// Who may do what; without, everybody may do all that needs no admin token.
    pub tokens: Option<Arc<TokenFile>>,
    /// Certificates; without, connections are plain.
    pub tls: Option<ApiTls>,
    /// Where it is written down who did what.
    pub audit: Option<Audit>,
    /// Whether the page has its lab: its questions take work to answer.
    pub lab: bool,
    /// Time-outs, and how many connections.
    pub limits: HttpLimits,
    /// What else there is to tell of the node.
    pub facts: NodeFacts,
}

/// Time-outs of the API towards its clients, and how many connections it serves.
#[derive(Clone, Copy, Debug)]
pub struct HttpLimits {
    /// For the head of a request, from its first byte.
    pub head: Duration,
    /// For the body of a request.
    pub body: Duration,
    /// For a client to take any of its answer.
    pub write: Duration,
    /// For the next request on a connection.
    pub idle: Duration,
    /// For the node itself to say how things are: its disk may hang.
    pub answer: Duration,
    /// For requests under way when the node stops.
    pub drain: Duration,
    /// How many connections there may be at once. Beyond these, idle ones are closed.
    pub connections: usize,
    /// How many more there may be for urgent requests: keepalive, release, admin and health.
    pub reserved: usize,
    /// How many event streams there may be at once. Beyond these, the oldest ends. And so many of
    /// sessions, of which none ever gives way: the next is refused.
    pub streams: usize,
    /// How many bytes of long answers may be under way at once.
    pub answers: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(5),
            body: Duration::from_secs(10),
            write: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            answer: Duration::from_secs(5),
            drain: Duration::from_secs(1),
            connections: 1_024,
            reserved: 256,
            streams: 256,
            answers: 64 << 20,
        }
    }
}

/// So many lists are made at a time; the next waits for its turn. Before it is written down, a list
/// takes several times as much memory as after.
const LISTS_MAX: usize = 4;

/// So many keepalives may be read at a time that are longer than other bodies; the next is refused,
/// and its client asks another node.
const LONG_BODIES_MAX: usize = 256;

/// What every handler has. Each layer of the router clones it for each request.
#[derive(Clone)]
struct Api {
    shared: Arc<Shared>,
    /// In whose name.
    who: Principal,
}

/// What all requests have in common.
struct Shared {
    config: Arc<HttpConfig>,
    commands: mpsc::Sender<Command>,
    streams: Arc<StreamLimit>,
    session_streams: Arc<StreamLimit>,
    lists: Semaphore,
    long_bodies: Semaphore,
    metrics: ApiMetrics,
}

impl Deref for Api {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Api {
    /// Puts a command to the desk and waits for the answer; never for room.
    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Answer<T> {
        let (reply, answer) = oneshot::channel();
        match self.commands.try_send(Command::by(&self.who, command(reply))) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => {
                return Err(refusal::unavailable("too many requests are under way at this node"));
            }
            Err(mpsc::error::TrySendError::Closed(_)) => return Err(stopping()),
        }
        let mut answered = answer.await.unwrap_or_else(|_| Err(stopping()));
        if let Err(refusal) = &mut answered {
            // Of a deadlock, one sees what one may read.
            refusal.cycle.retain(|blocker| self.who.may(Right::Read, &blocker.lock));
        }
        answered
    }

    /// The same for a request to be let in: how long that took is counted.
    async fn ask_to_enter<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Answer<T> {
        let begun = Instant::now();
        let answered = self.ask(command).await;
        self.metrics.acquire.observe(begun.elapsed());
        answered
    }

    /// Whether the node can serve now: its data directory is there, and its engine says so.
    async fn readiness(&self) -> Answer<Readiness> {
        let engine = self.show(|reply| Question::Ready { reply }).await?;
        let gone = "the data directory of this node vanished: put it back, then restart the node";
        let gone = gone.to_string();
        let gone = self.config.facts.data.has_vanished().then_some(gone);
        Ok(engine.check(readiness::DISK, gone))
    }

    /// Asks the desk to show something.
    async fn show<T>(&self, question: impl FnOnce(Reply<T>) -> Question) -> Answer<T> {
        let shown = self.ask(|reply| Command::Show(question(reply)));
        let slow = |_| Err(refusal::unavailable("this node does not answer: does its disk hang?"));
        timeout(self.config.limits.answer, shown).await.unwrap_or_else(slow)
    }

    /// Asks the desk for a list, and writes it down. Few do at once.
    async fn list<T: Serialize>(&self, question: impl FnOnce(Reply<T>) -> Question) -> Listed {
        let slow = |_| refusal::unavailable("too many lists are asked for at this node");
        let turn = timeout(self.config.limits.answer, self.lists.acquire()).await.map_err(slow)?;
        let _turn = turn.map_err(|_| stopping())?;
        Ok(Json(self.show(question).await?).into_response())
    }
}

fn stopping() -> refusal::Refusal {
    refusal::unavailable("this node is stopping")
}
