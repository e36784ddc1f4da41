//! The lab's questions over HTTP. Each is answered by the real algorithm, run from the beginning,
//! on a thread of its own; nothing is kept between two of them.

mod body;
mod catalog;
mod check;
mod compare;
mod export;
mod recording;
mod run;
mod scenario;
mod translate;
mod turns;

use crate::Problem;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{any, get, post};
use std::time::Duration;
use turns::Turns;

/// The routes of the lab. Each question may take so long, but for searches and comparisons, which
/// have limits of their own.
pub fn routes(time: Duration) -> Router {
    Router::new()
        .route("/lab/run", post(run::run))
        .route("/lab/check", post(check::check))
        .route("/lab/catalog", get(catalog::catalog))
        .route("/lab/scenario", post(scenario::scenario))
        .route("/lab/compare", post(compare::compare))
        .route("/lab/export", post(export::export))
        .route("/lab/recording", post(recording::recording))
        .with_state(Turns::new(time))
}

/// What is told where the lab is not served.
const ABSENT: &str = "the lab is not served here: 'conclave lab' and 'conclave up' serve it, and \
                      'conclave node' if it is started with --lab";

/// The same addresses without the lab.
pub fn absent() -> Router {
    let absent = || async { Problem::new(StatusCode::NOT_FOUND, ABSENT) };
    Router::new().route("/lab/{*question}", any(absent))
}
