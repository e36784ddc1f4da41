//! The lab's questions over HTTP. Each is answered by the real algorithm, run from the beginning,
//! on a thread of its own; nothing is kept between two of them.

mod body;
mod export;
mod recording;
mod run;
mod translate;
mod turns;

use axum::Router;
use axum::routing::post;
use turns::Turns;

/// The routes of the lab.
pub fn routes() -> Router {
    Router::new()
        .route("/lab/run", post(run::run))
        .route("/lab/export", post(export::export))
        .route("/lab/recording", post(recording::recording))
        .with_state(Turns::default())
}
