//! Health checks: asks every node again and again how it is, and notes it in the roster.

use super::outgoing::{self, Sent};
use super::roster::{Health, Roster};
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How often to ask.
const EVERY: Duration = Duration::from_millis(400);
/// How long a node may take to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// After how long without an answer a node counts as silent. One answer may be late on a busy
/// machine.
const SILENT: Duration = Duration::from_secs(2);
/// No view of a cluster is longer, in bytes.
const VIEW_MAX: usize = 1 << 20;

/// Asks this node for ever.
pub async fn keep_asking(roster: Roster, id: u32, api: String) {
    loop {
        let asked = Instant::now();
        let heard = ask(&api).await;
        note(&roster, id, asked, heard);
        sleep(EVERY).await;
    }
}

/// What came of asking.
enum Heard {
    /// It answered: whether it can serve, and how it sees the cluster.
    Answer(bool, Option<Value>),
    /// Nobody listens there.
    Refused,
    /// Nothing, in time.
    Nothing,
}

async fn ask(api: &str) -> Heard {
    match timeout(PATIENCE, get(api, "/readyz")).await {
        Ok(Ok((status, _))) => {
            let view = timeout(PATIENCE, get(api, "/v1/cluster")).await;
            let view = view.ok().and_then(Result::ok).filter(|(status, _)| status.is_success());
            let view = view.and_then(|(_, bytes)| serde_json::from_slice(&bytes).ok());
            Heard::Answer(status.is_success(), view)
        }
        Ok(Err(true)) => Heard::Refused,
        Ok(Err(false)) | Err(_) => Heard::Nothing,
    }
}

/// An answer, or whether nobody listens there.
async fn get(api: &str, path: &str) -> Result<(StatusCode, Vec<u8>), bool> {
    let request = Request::builder().method(Method::GET).uri(path).body(Body::empty());
    let request = request.map_err(|_| false)?;
    match outgoing::send(api, request).await {
        Sent::Answer(answer) => {
            let status = answer.status();
            let bytes = to_bytes(Body::new(answer.into_body()), VIEW_MAX).await;
            Ok((status, bytes.map_err(|_| false)?.to_vec()))
        }
        Sent::Unreachable(_) => Err(true),
        Sent::BrokenOff(_) => Err(false),
    }
}

fn note(roster: &Roster, id: u32, asked: Instant, heard: Heard) {
    roster.change(id, |node| match heard {
        _ if asked < node.health.since => {} // That was another process.
        Heard::Answer(ready, view) => {
            let view = view.map(Arc::new).or_else(|| node.health.view.take());
            let since = node.health.since;
            node.health = Health { heard: Instant::now(), answers: true, ready, view, since };
        }
        Heard::Refused => {
            node.health.answers = false;
            node.health.ready = false;
        }
        Heard::Nothing => {
            node.health.ready = false;
            node.health.answers &= node.health.heard.elapsed() < SILENT;
        }
    });
}
