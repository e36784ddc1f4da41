//! Handlers of elections: campaign, proclaim, resign, withdraw, and views.

use super::authorize::Authenticated;
use super::body::{Body, Name, Names, Query};
use super::problem::{Listed, Outcome};
use crate::desk::{Command, Kind, Question, Replicated};
use axum::Json;
use conclave_api as api;

pub async fn campaign(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::Acquire>,
) -> Outcome<api::Grant> {
    Ok(Json(api.ask_to_enter(|reply| Command::Campaign { name, request, reply }).await?))
}

pub async fn proclaim(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::Proclaim>,
) -> Outcome<api::Election> {
    Ok(Json(api.ask(|reply| Command::Proclaim { name, request, reply }).await?))
}

pub async fn pass_on(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::HandOver>,
) -> Outcome<api::HandedOver> {
    Ok(Json(
        api.ask(|reply| Command::Replicated(Replicated::PassOn { name, request, reply })).await?,
    ))
}

pub async fn resign(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::Release>,
) -> Outcome<api::Released> {
    Ok(Json(api.ask(|reply| Command::Resign { name, request, reply }).await?))
}

pub async fn withdraw(
    Authenticated(api): Authenticated,
    Names(name, request_id): Names,
    Body(request): Body<api::Withdraw>,
) -> Outcome<api::Withdrawn> {
    let kind = Kind::Election;
    let ask = |reply| Command::Withdraw { kind, name, request_id, request, reply };
    Ok(Json(api.ask(ask).await?))
}

pub async fn list(Authenticated(api): Authenticated, Query(page): Query<api::Page>) -> Listed {
    api.list(|reply| Question::Elections { page, reply }).await
}

pub async fn one(Authenticated(api): Authenticated, Name(name): Name) -> Outcome<api::Election> {
    Ok(Json(api.show(|reply| Question::Election { name, reply }).await?))
}
