//! `POST /lab/recording`: a recording, also of a real cluster, played and judged.

use super::body::{Packed, Prepared, bytes};
use super::translate::Tongue;
use super::turns::Turns;
use crate::Problem;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use conclave_lab::player::answer::tell_in_time;
use conclave_lab::player::{Part, Played, Refused, RunQuestion};
use serde::Deserialize;

/// The longest recording.
const RECORDING_MAX: usize = 16 << 20;

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    lang: Option<String>,
    #[serde(default)]
    at: usize,
    #[serde(default)]
    ahead: usize,
    #[serde(default)]
    only: Option<String>,
    #[serde(default)]
    from: Option<usize>,
    #[serde(default)]
    to: Option<usize>,
}

pub async fn recording(
    State(turns): State<Turns>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    body: Body,
) -> Result<Prepared, Problem> {
    let tongue = Tongue::of(asked.lang.as_deref());
    let packed = Packed::of(&headers);
    let file = bytes(body, RECORDING_MAX).await?;
    let work = move |patience| {
        let refuse = |refused: Refused| tongue.refuse(&refused);
        let played = Played::by_recording(patience, &file).map_err(refuse)?;
        let window = asked.from.map(|from| (from, asked.to.unwrap_or(usize::MAX)));
        let question = RunQuestion {
            at: asked.at,
            ahead: asked.ahead,
            window,
            lang: asked.lang,
            only: asked.only.as_deref().map(parts),
            ..RunQuestion::default()
        };
        let mut answer = tell_in_time(&played, &question, "recording").map_err(refuse)?;
        tongue.translate(&mut answer);
        packed.json(&answer)
    };
    turns.short(tongue, work).await
}

/// The parts that are asked for, by their names; what is none is left out.
fn parts(names: &str) -> Vec<Part> {
    let named = |name: &str| serde_json::from_value(name.into()).ok();
    names.split(',').filter_map(named).collect()
}
