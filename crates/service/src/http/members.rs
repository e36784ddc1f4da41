//! Handlers of membership, of who leads, and of backups: all but the list need the admin token.

use super::Api;
use super::authorize::Authenticated;
use super::body::{Body, Name, NoBody};
use super::problem::{Outcome, Problem};
use crate::desk::{Command, MemberChange, Question, Refusal, Replicated};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use conclave_api::{self as api, limits};

pub async fn list(Authenticated(api): Authenticated) -> Outcome<api::Members> {
    Ok(Json(api.show(|reply| Question::Members { reply }).await?))
}

pub async fn add(
    Authenticated(api): Authenticated,
    Body(request): Body<api::NewMember>,
) -> Outcome<api::Members> {
    change(&api, MemberChange::Add(request)).await
}

pub async fn remove(
    Authenticated(api): Authenticated,
    Name(member): Name,
    _: NoBody,
) -> Outcome<api::Members> {
    let id = limits::node_number(&member).map_err(Refusal::from)?;
    change(&api, MemberChange::Remove(id)).await
}

pub async fn promote(
    Authenticated(api): Authenticated,
    Body(request): Body<api::Promote>,
) -> Outcome<api::Members> {
    change(&api, MemberChange::Promote(request.id)).await
}

pub async fn transfer(
    Authenticated(api): Authenticated,
    Body(request): Body<api::Transfer>,
) -> Outcome<api::Members> {
    change(&api, MemberChange::Transfer(request.to)).await
}

pub async fn snapshot(Authenticated(api): Authenticated, _: NoBody) -> Result<Response, Problem> {
    let bytes = api.ask(|reply| Command::Replicated(Replicated::Snapshot { reply })).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

async fn change(api: &Api, change: MemberChange) -> Outcome<api::Members> {
    Ok(Json(api.ask(|reply| Command::Replicated(Replicated::Members { change, reply })).await?))
}
