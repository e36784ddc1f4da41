//! Handlers of locks: acquire, release, withdraw, verify, force, and views.

use super::authorize::{Authenticated, demand};
use super::body::{Body, Name, Names, Query};
use super::problem::{Listed, Outcome};
use crate::desk::{Command, Kind, Question, Replicated};
use crate::rights::Right;
use axum::Json;
use conclave_api as api;

pub async fn acquire(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::Acquire>,
) -> Outcome<api::Grant> {
    Ok(Json(api.ask_to_enter(|reply| Command::Acquire { name, request, reply }).await?))
}

pub async fn acquire_all(
    Authenticated(api): Authenticated,
    Body(request): Body<api::AcquireAll>,
) -> Outcome<api::Grants> {
    request.locks.iter().try_for_each(|lock| demand(&api.who, Right::Acquire, &lock.name))?;
    Ok(Json(
        api.ask_to_enter(|reply| Command::Replicated(Replicated::AcquireAll { request, reply }))
            .await?,
    ))
}

pub async fn release(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::Release>,
) -> Outcome<api::Released> {
    Ok(Json(api.ask(|reply| Command::Release { name, request, reply }).await?))
}

pub async fn withdraw(
    Authenticated(api): Authenticated,
    Names(name, request_id): Names,
    Body(request): Body<api::Withdraw>,
) -> Outcome<api::Withdrawn> {
    let kind = Kind::Lock;
    let ask = |reply| Command::Withdraw { kind, name, request_id, request, reply };
    Ok(Json(api.ask(ask).await?))
}

pub async fn verify(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::Verify>,
) -> Outcome<api::Verified> {
    Ok(Json(api.show(|reply| Question::Verify { name, request, reply }).await?))
}

pub async fn list(Authenticated(api): Authenticated, Query(page): Query<api::Page>) -> Listed {
    api.list(|reply| Question::Locks { page, reply }).await
}

pub async fn one(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Query(look): Query<api::Look>,
) -> Outcome<api::Lock> {
    if look.explain {
        demand(&api.who, Right::Read, "")?; // It names other locks.
    }
    let brief = look.brief;
    let mut lock = api.show(|reply| Question::Lock { name, look, reply }).await?;
    if brief {
        lock.holders.truncate(1);
        lock.waiters.truncate(1);
    }
    Ok(Json(lock))
}

pub async fn force(
    Authenticated(api): Authenticated,
    Name(name): Name,
    Body(request): Body<api::Force>,
) -> Outcome<api::Forced> {
    Ok(Json(api.ask(|reply| Command::Force { name, request, reply }).await?))
}
