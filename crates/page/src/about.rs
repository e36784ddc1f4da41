//! What this server has: the page shows no half that is not there.

use crate::Page;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

#[derive(Serialize)]
struct About {
    version: &'static str,
    lab: bool,
    cluster: bool,
    up: bool,
}

pub fn routes(page: Page) -> Router {
    let Page { lab, cluster, up } = page;
    let about =
        move || async move { Json(About { version: env!("CARGO_PKG_VERSION"), lab, cluster, up }) };
    Router::new().route("/page/about", get(about))
}
