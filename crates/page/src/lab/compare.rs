//! `POST /lab/compare`: all algorithms of a family, measured on the spot.

use super::body::{Packed, Prepared, question};
use super::translate::Tongue;
use super::turns::Turns;
use crate::Problem;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use conclave_lab::player::compared::{self, CompareQuestion};

pub async fn compare(
    State(turns): State<Turns>,
    headers: HeaderMap,
    body: Body,
) -> Result<Prepared, Problem> {
    let question: CompareQuestion = question(body).await?;
    let tongue = Tongue::of(question.lang.as_deref());
    let packed = Packed::of(&headers);
    let work = move || {
        let compared = compared::compare(&question);
        let mut compared = compared.map_err(|refused| tongue.refuse(&refused))?;
        for row in &mut compared.rows {
            row.formula = tongue.say(&row.formula);
        }
        packed.json(&compared)
    };
    turns.long(tongue, work).await
}
