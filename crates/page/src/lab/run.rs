//! `POST /lab/run`: a run, played.

use super::body::{Packed, Prepared, question};
use super::translate::Tongue;
use super::turns::Turns;
use crate::Problem;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use conclave_lab::player::{RunQuestion, answer_within};

pub async fn run(
    State(turns): State<Turns>,
    headers: HeaderMap,
    body: Body,
) -> Result<Prepared, Problem> {
    let question: RunQuestion = question(body).await?;
    let tongue = Tongue::of(question.lang.as_deref());
    let packed = Packed::of(&headers);
    let work = move |patience| {
        let answered = answer_within(patience, &question);
        let mut answer = answered.map_err(|refused| tongue.refuse(&refused))?;
        tongue.translate(&mut answer);
        packed.json(&answer)
    };
    turns.short(tongue, work).await
}
