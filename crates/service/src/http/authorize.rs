//! Authorization of requests: who asks, by a bearer token or a client certificate, and whether that
//! is enough for the route and the name in its path.

use super::access::is_token;
use super::problem::Problem;
use super::routes::Need;
use super::{Api, HttpConfig};
use crate::desk::refusal;
use crate::rights::{Principal, Right};
use crate::tokens::{ADMIN, TokenFile};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use conclave_api::{Code, limits};
use conclave_net::ApiClient;
use conclave_page::access::text;
use std::time::SystemTime;

/// The certificate that a client showed, if it did.
#[derive(Clone, Debug, Default)]
pub struct Shown(pub Option<ApiClient>);

/// Lets a request pass if whoever asks may.
pub async fn authorize(
    State((api, need)): State<(Api, Need)>,
    path: Result<RawPathParams, RawPathParamsRejection>,
    mut request: Request,
    next: Next,
) -> Response {
    let checked = who(request.headers(), request.extensions().get(), &api.config, need)
        .and_then(|principal| check(&principal, need, path).map(|()| principal));
    match checked {
        Ok(principal) => {
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// The API in the name of whoever asks.
pub struct Authenticated(pub Api);

impl FromRequestParts<Api> for Authenticated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let Some(who) = parts.extensions.get::<Principal>().cloned() else {
            return Err(refusal::refuse(Code::Internal, "nobody asked who asks").into());
        };
        Ok(Self(Api { who, ..api.clone() }))
    }
}

/// Who asks. Without a file of tokens nobody has to say so, but for what takes the admin token.
fn who(
    headers: &HeaderMap,
    shown: Option<&Shown>,
    config: &HttpConfig,
    need: Need,
) -> Result<Principal, Problem> {
    match &config.tokens {
        _ if need == Need::Nothing => Ok(Principal::default()),
        None if need.is_admin() => admin(headers, config).map(|()| Principal::default()),
        None => Ok(Principal::default()),
        Some(tokens) => known(headers, shown, config, tokens),
    }
}

fn known(
    headers: &HeaderMap,
    shown: Option<&Shown>,
    config: &HttpConfig,
    tokens: &TokenFile,
) -> Result<Principal, Problem> {
    if let Some(token) = bearer(headers)? {
        if config.admin_token.as_deref().is_some_and(|admin| is_token(token, admin)) {
            return Ok(Principal::almighty(ADMIN));
        }
        return tokens.of_token(token).ok_or_else(|| {
            tracing::warn!("somebody showed a token that is in no list");
            Problem::unauthorized("this token is not known here")
        });
    }
    let Some(client) = shown.and_then(|shown| shown.0.as_ref()) else {
        return Err(Problem::unauthorized("who asks? 'Authorization: Bearer TOKEN' is missing"));
    };
    if client.until <= SystemTime::now() {
        return Err(Problem::unauthorized("the certificate has expired"));
    }
    tokens.of_certificate(&client.name).ok_or_else(|| {
        let name = limits::shown(&client.name);
        let words = format!("the certificate of '{name}' is nobody's in the file of tokens");
        Problem::unauthorized(words)
    })
}

/// The token that is shown. What is no token is an error: somebody meant to show one.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    if all.next().is_none() {
        return Ok(None);
    }
    let one = text(headers, header::AUTHORIZATION).filter(|_| all.next().is_none());
    let token = one.and_then(|one| one.split_once(' ')).and_then(|(scheme, token)| {
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim_start())
    });
    let wrong = || Problem::unauthorized("Authorization takes 'Bearer TOKEN', once");
    token.map(Some).ok_or_else(wrong)
}

/// Refuses whoever does not show the admin token, where there are no others.
fn admin(headers: &HeaderMap, config: &HttpConfig) -> Result<(), Problem> {
    let Some(token) = config.admin_token.as_deref() else {
        let words = "this node was started without an admin token: nobody may do this";
        return Err(Problem::forbidden(StatusCode::FORBIDDEN, words));
    };
    match bearer(headers)? {
        Some(shown) if is_token(shown, token) => Ok(()),
        Some(_) => {
            tracing::warn!("somebody showed a wrong admin token");
            Err(Problem::unauthorized("that is not the admin token"))
        }
        None => {
            let words = "this needs the admin token: 'Authorization: Bearer TOKEN'";
            Err(Problem::unauthorized(words))
        }
    }
}

fn check(
    principal: &Principal,
    need: Need,
    path: Result<RawPathParams, RawPathParamsRejection>,
) -> Result<(), Problem> {
    match need {
        Need::Nothing | Need::Known => Ok(()),
        Need::Named(right) => {
            let path =
                path.map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "the path is not UTF-8"))?;
            let name = path.iter().find(|(parameter, _)| *parameter == "name");
            demand(principal, right, name.map_or("", |(_, name)| name))
        }
        Need::All(right) => demand(principal, right, ""),
        Need::Metrics if principal.may_read_metrics() => Ok(()),
        Need::Metrics => {
            let words = "the metrics are for those who may read all names, or have 'metrics'";
            Err(Problem::forbidden(StatusCode::FORBIDDEN, words))
        }
    }
}

/// Refuses unless this principal may do that with the name; with all names, if it is empty.
pub fn demand(principal: &Principal, right: Right, name: &str) -> Result<(), Problem> {
    if principal.may(right, name) {
        return Ok(());
    }
    let who = principal.name();
    let what = match name {
        "" => "all names".to_string(),
        name => format!("'{}'", limits::shown(name)),
    };
    let words = format!("'{who}' has no right to {} {what}", right.word());
    Err(Problem::forbidden(StatusCode::FORBIDDEN, words))
}
