//! Handlers of locks: acquire, release, withdraw, verify, force, and views.

use super::Api;
use super::access::is_token;
use super::body::{Body, Name, Names, Query};
use super::problem::{Listed, Outcome, Problem};
use crate::desk::{Command, Kind, Question};
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use conclave_api as api;

pub async fn acquire(
    State(api): State<Api>,
    Name(name): Name,
    Body(request): Body<api::Acquire>,
) -> Outcome<api::Grant> {
    Ok(Json(api.ask(|reply| Command::Acquire { name, request, reply }).await?))
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
    let fence = request.fence;
    Ok(Json(api.show(|reply| Question::Verify { name, fence, reply }).await?))
}

pub async fn list(State(api): State<Api>, Query(page): Query<api::Page>) -> Listed {
    api.list(|reply| Question::Locks { page, reply }).await
}

pub async fn one(State(api): State<Api>, Name(name): Name) -> Outcome<api::Lock> {
    Ok(Json(api.show(|reply| Question::Lock { name, reply }).await?))
}

pub async fn force(
    State(api): State<Api>,
    headers: HeaderMap,
    Name(name): Name,
    Body(request): Body<api::Force>,
) -> Outcome<api::Forced> {
    may_force(&headers, api.config.admin_token.as_deref())?;
    Ok(Json(api.ask(|reply| Command::Force { name, request, reply }).await?))
}

fn may_force(headers: &HeaderMap, token: Option<&str>) -> Result<(), Problem> {
    let Some(token) = token else {
        let words = "this node was started without an admin token: nobody may use force";
        return Err(Problem::forbidden(StatusCode::FORBIDDEN, words));
    };
    let shown = headers.get(header::AUTHORIZATION).and_then(|shown| shown.to_str().ok());
    match shown.and_then(|shown| shown.strip_prefix("Bearer ")) {
        None => {
            let words = "force needs the admin token: 'Authorization: Bearer TOKEN'";
            Err(Problem::forbidden(StatusCode::UNAUTHORIZED, words))
        }
        Some(shown) if is_token(shown, token) => Ok(()),
        Some(_) => {
            tracing::warn!("somebody tried to use force with a wrong admin token");
            Err(Problem::forbidden(StatusCode::FORBIDDEN, "that is not the admin token"))
        }
    }
}
