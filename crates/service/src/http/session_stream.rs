//! The stream of a session (server-sent events), whose end tells soon that its client is dead; and
//! the ping beside it.

use super::authorize::Authenticated;
use super::body::Body;
use super::problem::Problem;
use crate::desk::{Command, Refusal, Replicated, refusal};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use conclave_api::{Ping, SESSION_HEADER, STREAM_HEADER, StreamBegun, limits};
use futures_util::stream::{self, Stream, StreamExt};
use std::convert::Infallible;

/// Begins with one event, which says that the stream counts from now on. If the session ends before
/// the stream does, the last event says so.
pub async fn stream(
    Authenticated(api): Authenticated,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(session) = text(SESSION_HEADER).map(str::to_string) else {
        return Err(refusal::bad(format!("the header {SESSION_HEADER} names the session")).into());
    };
    let Some(stream) = text(STREAM_HEADER).and_then(|number| number.parse::<u64>().ok()) else {
        let words = format!("the header {STREAM_HEADER} has the stream's number, which rises");
        return Err(refusal::bad(words).into());
    };
    limits::stream(stream).map_err(Refusal::from)?;
    // One that is there is never ended to make room: its session would end with it.
    let Some(place) = api.session_streams.enter_if_free() else {
        return Err(refusal::too_many("this node has as many streams of sessions as it may").into());
    };
    let attached =
        api.ask(|reply| Command::Replicated(Replicated::Attach { session, stream, reply })).await?;
    let begun = Event::default().event("attached").json_data(StreamBegun { stream });
    let begun = begun.unwrap_or_default(); // A number can always be written down.
    let begun = stream::once(async { Ok(begun) });
    // It is dropped with the connection, and then the stream has ended.
    let rest = stream::once(async move {
        let _place = place;
        let ended = attached.0.await;
        Ok(Event::default().event("ended").data(serde_json::json!(ended).to_string()))
    });
    Ok(Sse::new(begun.chain(rest)).keep_alive(KeepAlive::default()))
}

pub async fn ping(
    Authenticated(api): Authenticated,
    Body(request): Body<Ping>,
) -> Result<StatusCode, Problem> {
    api.ask(|reply| Command::Replicated(Replicated::Ping { request, reply })).await?;
    Ok(StatusCode::NO_CONTENT)
}
