//! `POST /lab/export`: a run as a file: a drawing, a diagram in Mermaid, a recording.

use super::body::question;
use super::translate::Tongue;
use super::turns::Turns;
use crate::Problem;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use conclave_lab::player::answer::played;
use conclave_lab::player::{Audience, Exported, RunQuestion};

pub async fn export(State(turns): State<Turns>, body: Body) -> Result<Response, Problem> {
    let question: RunQuestion = question(body).await?;
    let tongue = Tongue::of(question.lang.as_deref());
    let work = move |patience| {
        let audience = Audience { focus: None, patience };
        let played = played(&audience, &question).map_err(|refused| tongue.refuse(&refused))?;
        let format = question.format.as_deref().unwrap_or("svg");
        played.export(format, tongue.0).map_err(|refused| tongue.refuse(&refused))
    };
    let Exported { kind, name, text } = turns.short(tongue, work).await?;
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(value) = HeaderValue::try_from(disposition) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}
