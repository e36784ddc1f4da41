//! Handlers of locks: acquire, release, withdraw, verify, force, and views.

use super::Api;
use super::access::check_admin;
use super::body::{Body, Name, Names, Query};
use super::problem::{Listed, Outcome};
use crate::desk::{Command, Kind, Question, Replicated};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use conclave_api as api;

pub async fn acquire(
    State(api): State<Api>,
    Name(name): Name,
    Body(request): Body<api::Acquire>,
) -> Outcome<api::Grant> {
    Ok(Json(api.ask_to_enter(|reply| Command::Acquire { name, request, reply }).await?))
}

pub async fn acquire_all(
    State(api): State<Api>,
    Body(request): Body<api::AcquireAll>,
) -> Outcome<api::Grants> {
    Ok(Json(
        api.ask_to_enter(|reply| Command::Replicated(Replicated::AcquireAll { request, reply }))
            .await?,
    ))
}

pub async fn release(
    State(api): State<Api>,
    Name(name): Name,
    Body(request): Body<api::Release>,
) -> Outcome<api::Released> {
    Ok(Json(api.ask(|reply| Command::Release { name, request, reply }).await?))
}

pub async fn withdraw(
    State(api): State<Api>,
    Names(name, request_id): Names,
    Body(request): Body<api::Withdraw>,
) -> Outcome<api::Withdrawn> {
    let kind = Kind::Lock;
    let ask = |reply| Command::Withdraw { kind, name, request_id, request, reply };
    Ok(Json(api.ask(ask).await?))
}

pub async fn verify(
    State(api): State<Api>,
    Name(name): Name,
    Body(request): Body<api::Verify>,
) -> Outcome<api::Verified> {
    Ok(Json(api.show(|reply| Question::Verify { name, request, reply }).await?))
}

pub async fn list(State(api): State<Api>, Query(page): Query<api::Page>) -> Listed {
    api.list(|reply| Question::Locks { page, reply }).await
}

pub async fn one(
    State(api): State<Api>,
    Name(name): Name,
    Query(look): Query<api::Look>,
) -> Outcome<api::Lock> {
    Ok(Json(api.show(|reply| Question::Lock { name, look, reply }).await?))
}

pub async fn force(
    State(api): State<Api>,
    headers: HeaderMap,
    Name(name): Name,
    Body(request): Body<api::Force>,
) -> Outcome<api::Forced> {
    check_admin(&headers, api.config.admin_token.as_deref(), "use force")?;
    Ok(Json(api.ask(|reply| Command::Force { name, request, reply }).await?))
}
