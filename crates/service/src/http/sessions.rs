//! Handlers of sessions and keepalives, and of what there is to see of the node itself.

use super::authorize::Authenticated;
use super::body::{Body, Keep, Name, NoBody, Query};
use super::openapi;
use super::problem::{Listed, Outcome, Problem};
use crate::desk::{Command, Question, refusal};
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use conclave_api::{Cluster, Code, NewSession, Session, SessionPage};

pub async fn open(
    Authenticated(api): Authenticated,
    Body(request): Body<NewSession>,
) -> Outcome<Session> {
    let mut drawn = [0; 16];
    getrandom::fill(&mut drawn).map_err(|error| {
        tracing::error!(%error, "no randomness for a session id");
        Problem::from(refusal::refuse(Code::Internal, "no randomness"))
    })?;
    let id = format!("{:032x}", u128::from_be_bytes(drawn));
    Ok(Json(api.ask(|reply| Command::OpenSession { request, id, reply }).await?))
}

pub async fn list(Authenticated(api): Authenticated, Query(page): Query<SessionPage>) -> Listed {
    api.list(|reply| Question::Sessions { page, reply }).await
}

pub async fn keep_alive(
    Authenticated(api): Authenticated,
    Name(session): Name,
    Keep(request): Keep,
) -> Outcome<Session> {
    Ok(Json(api.ask(|reply| Command::KeepAlive { session, request, reply }).await?))
}

pub async fn close(
    Authenticated(api): Authenticated,
    Name(session): Name,
    _: NoBody,
) -> Result<StatusCode, Problem> {
    api.ask(|reply| Command::CloseSession { session, reply }).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn cluster(Authenticated(api): Authenticated) -> Outcome<Cluster> {
    Ok(Json(api.show(|reply| Question::Cluster { reply }).await?))
}

/// The process lives and its API answers; the desk is not asked.
pub async fn health() -> &'static str {
    "ok\n"
}

/// The node can serve now; if not, the answer names every check that fails.
pub async fn ready(Authenticated(api): Authenticated) -> Result<&'static str, Problem> {
    api.readiness().await?.answer()?;
    Ok("ready\n")
}

pub async fn description(Authenticated(api): Authenticated) -> Response {
    let kind = (header::CONTENT_TYPE, "application/json");
    ([kind], openapi::document_of(api.config.keeper.is_none())).into_response()
}
