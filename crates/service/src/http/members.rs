//! Handlers of membership, of who leads, and of backups: all but the list need the admin token.

use super::Api;
use super::access::check_admin;
use super::body::{Body, Name, NoBody};
use super::problem::{Outcome, Problem};
use crate::desk::{Command, MemberChange, Question, Replicated, refusal};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use conclave_api as api;

pub async fn list(State(api): State<Api>) -> Outcome<api::Members> {
    Ok(Json(api.show(|reply| Question::Members { reply }).await?))
}

pub async fn add(
    State(api): State<Api>,
    headers: HeaderMap,
    Body(request): Body<api::NewMember>,
) -> Outcome<api::Members> {
    change(&api, &headers, MemberChange::Add(request)).await
}

pub async fn remove(
    State(api): State<Api>,
    headers: HeaderMap,
    Name(member): Name,
    _: NoBody,
) -> Outcome<api::Members> {
    let Ok(id) = member.parse::<u32>() else {
        return Err(refusal::bad("a member is a number, from 1").into());
    };
    change(&api, &headers, MemberChange::Remove(id)).await
}

pub async fn promote(
    State(api): State<Api>,
    headers: HeaderMap,
    Body(request): Body<api::Promote>,
) -> Outcome<api::Members> {
    change(&api, &headers, MemberChange::Promote(request.id)).await
}

pub async fn transfer(
    State(api): State<Api>,
    headers: HeaderMap,
    Body(request): Body<api::Transfer>,
) -> Outcome<api::Members> {
    change(&api, &headers, MemberChange::Transfer(request.to)).await
}

pub async fn snapshot(
    State(api): State<Api>,
    headers: HeaderMap,
    _: NoBody,
) -> Result<Response, Problem> {
    check_admin(&headers, api.config.admin_token.as_deref(), "take a backup")?;
    let bytes = api.ask(|reply| Command::Replicated(Replicated::Snapshot { reply })).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

async fn change(api: &Api, headers: &HeaderMap, change: MemberChange) -> Outcome<api::Members> {
    check_admin(headers, api.config.admin_token.as_deref(), "change the members")?;
    Ok(Json(api.ask(|reply| Command::Replicated(Replicated::Members { change, reply })).await?))
}
