//! The live recording of a classic engine: what the nodes wrote down so far (`--record`), put
//! together as one run for the lab. `conclave replay` does it, in a process of its own: `up` goes
//! on meanwhile, however many there are.

use super::actions::{Desk, unknown_caller};
use super::problem::{problem, problem_at};
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use conclave_client::api::{Code, limits};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// How long it may take to put the recordings together.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest run that the lab takes, in bytes.
const BYTES_MAX: u64 = 16 << 20;
/// Longer than a node keeps to itself what it has recorded.
const HANDED_OVER: Duration = Duration::from_millis(1_500);
/// `replay` found that a property was violated: a result, which the lab shows.
const VIOLATED: i32 = 3;

/// Where the nodes write down what they do.
#[derive(Clone, Debug)]
pub struct Recordings {
    /// Of each node.
    pub files: Arc<[PathBuf]>,
    /// Where the run is written that is made of them.
    pub into: PathBuf,
    /// One is made at a time.
    pub turn: Arc<Semaphore>,
}

/// Which machine is told: the lock that did most, if nothing is said.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    #[serde(default)]
    lock: Option<String>,
}

/// `GET /up/recording`, with the token: what was recorded names locks and those who held them.
pub async fn recording(State(desk): State<Desk>, headers: HeaderMap, uri: Uri) -> Response {
    if !desk.is_shown(&headers) {
        return unknown_caller();
    }
    let Some(recordings) = &desk.recordings else {
        return problem(Code::NotFound, "nothing is recorded: start 'conclave up' with --record");
    };
    let Ok(Query(asked)) = Query::<Asked>::try_from_uri(&uri) else {
        return problem(Code::BadRequest, "takes ?lock=NAME");
    };
    if let Some(name) = &asked.lock
        && limits::name(name).is_err()
    {
        return problem(Code::BadRequest, "this is no name of a lock");
    }
    let Ok(_turn) = recordings.turn.acquire().await else {
        return problem(Code::Unavailable, "the cluster is stopping");
    };
    let made = timeout(PATIENCE, latest(recordings, asked.lock.as_deref())).await;
    let answer = match made {
        Ok(Ok(output)) => told(&output, &recordings.into).await,
        Ok(Err(error)) => problem(Code::Internal, format!("cannot run 'replay': {error}")),
        Err(_) => problem(Code::Unavailable, "the recordings are too long to be put together here"),
    };
    let _ = tokio::fs::remove_file(&recordings.into).await; // It was for this answer alone.
    answer
}

/// Of a lock that was taken a moment ago, nothing may be on the disk yet: then once more.
async fn latest(recordings: &Recordings, lock: Option<&str>) -> std::io::Result<Output> {
    let output = replay(recordings, lock).await?;
    if is_run(&output) {
        return Ok(output);
    }
    sleep(HANDED_OVER).await;
    replay(recordings, lock).await
}

async fn replay(recordings: &Recordings, lock: Option<&str>) -> std::io::Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("replay").args(&*recordings.files).arg("--json");
    command.arg("--trace").arg(&recordings.into);
    if let Some(name) = lock {
        command.arg(format!("--lock={name}"));
    }
    command.stdin(Stdio::null()).kill_on_drop(true).output().await
}

/// Whether there is a run to show.
fn is_run(output: &Output) -> bool {
    matches!(output.status.code(), Some(0 | VIOLATED))
}

async fn told(output: &Output, file: &Path) -> Response {
    if !is_run(output) {
        let words = String::from_utf8_lossy(&output.stderr);
        let words = words.lines().next().unwrap_or("it cannot be put together").to_string();
        return problem_at(StatusCode::UNPROCESSABLE_ENTITY, Code::BadRequest, words);
    }
    let length = tokio::fs::metadata(file).await.map_or(u64::MAX, |found| found.len());
    if length > BYTES_MAX {
        let words = format!("the run has more than {BYTES_MAX} bytes; use 'conclave replay'");
        return problem(Code::TooLarge, words);
    }
    match tokio::fs::read(file).await {
        Ok(bytes) => {
            let kind = (header::CONTENT_TYPE, "application/jsonl; charset=utf-8");
            ([kind], Body::from(bytes)).into_response()
        }
        Err(error) => problem(Code::Internal, format!("the run cannot be read: {error}")),
    }
}
