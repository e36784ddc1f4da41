//! `POST /lab/check`: a search for a broken promise, line by line as it goes on (NDJSON). Whoever
//! closes the connection ends it.

use super::body::question;
use super::translate::Tongue;
use super::turns::Turns;
use crate::Problem;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use conclave_lab::player::breaking::{CheckQuestion, Line, Search};
use futures_util::stream;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How often people are told how far a search is.
const EVERY: Duration = Duration::from_millis(200);
/// So many lines wait to be sent.
const LINES: usize = 16;

pub async fn check(State(turns): State<Turns>, body: Body) -> Result<Response, Problem> {
    let question: CheckQuestion = question(body).await?;
    let tongue = Tongue::of(question.lang.as_deref());
    let search = Search::new(&question).map_err(|refused| tongue.refuse(&refused))?;
    let turn = turns.long_turn(tongue).await?;
    let (lines, sent) = mpsc::channel::<Bytes>(LINES);
    tokio::task::spawn_blocking(move || {
        look(&search, tongue, &lines);
        drop(turn);
    });
    let body = stream::unfold(sent, |mut sent| async move {
        sent.recv().await.map(|line| (Ok::<_, Infallible>(line), sent))
    });
    let mut response = Body::from_stream(body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Searches, and writes down how far it is and what was found.
fn look(search: &Search, tongue: Tongue, lines: &mpsc::Sender<Bytes>) {
    let told = Mutex::new(Instant::now());
    let goes_on = |line: Line| {
        if let Ok(mut last) = told.lock()
            && last.elapsed() >= EVERY
        {
            *last = Instant::now();
            // A reader that is slow misses some of them.
            let _ = lines.try_send(written(&line));
        }
        !lines.is_closed()
    };
    let found = match search.run(&goes_on) {
        Ok(line) => written(&translated(line, tongue)),
        Err(refused) => {
            let problem = tongue.refuse(&refused);
            line_of(&json!({ "error": problem.error, "field": problem.field }))
        }
    };
    // If nobody is there any more, nobody is told.
    let _ = lines.blocking_send(found);
}

fn translated(line: Line, tongue: Tongue) -> Line {
    let clauses = |text: String| {
        text.split("; ").map(|clause| tongue.say(clause)).collect::<Vec<_>>().join("; ")
    };
    match line {
        Line::Found(mut found) => {
            found.what = tongue.say(&found.what);
            found.bounds = clauses(found.bounds);
            Line::Found(found)
        }
        Line::Holds { states, bounds } => Line::Holds { states, bounds: clauses(bounds) },
        Line::Unknown { states, why, bounds } => {
            Line::Unknown { states, why: tongue.say(&why), bounds: clauses(bounds) }
        }
        Line::Progress { .. } => line,
    }
}

fn written(line: &Line) -> Bytes {
    line_of(&serde_json::to_value(line).unwrap_or_default())
}

fn line_of(value: &serde_json::Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}
