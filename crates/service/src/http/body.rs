//! Request parts: a name in the path and JSON in the body, with limits on size and time.

use super::Api;
use super::problem::Problem;
use crate::desk::{Refusal, refusal};
use axum::body::{Bytes, to_bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{self, FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use conclave_api::limits::{BODY_MAX, KEEPALIVE_MAX};
use conclave_api::{Code, KeepAlive, Request as Checked};
use serde::de::DeserializeOwned;
use tokio::sync::SemaphorePermit;

/// The one parameter of a path, decoded.
pub struct Name(pub String);

/// The two parameters of a path, decoded.
pub struct Names(pub String, pub String);

impl FromRequestParts<Api> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let Path(name) = Path::from_request_parts(parts, api).await.map_err(no_text)?;
        Ok(Self(name))
    }
}

impl FromRequestParts<Api> for Names {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let Path((one, other)) = Path::from_request_parts(parts, api).await.map_err(no_text)?;
        Ok(Self(one, other))
    }
}

fn no_text(_: PathRejection) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "the path is not UTF-8")
}

/// What stands behind the `?` of an address.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Api> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Problem> {
        let query = extract::Query::<T>::try_from_uri(&parts.uri);
        query.map(|extract::Query(said)| Self(said)).map_err(|rejection| {
            let words = format!("query: {}", rejection.body_text());
            Problem::new(StatusCode::BAD_REQUEST, words)
        })
    }
}

/// A body of JSON that keeps to its schema.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + Checked> FromRequest<Api> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "the body must be of type application/json"));
        }
        let bytes = read(request, api).await?;
        parse(&bytes).map(Self)
    }
}

/// The body of a keepalive: JSON, or none at all. A body of another kind says nothing either: so it
/// was before there was anything to say.
///
/// It may be longer than others: a session that holds much has to name all of it, or would lose
/// what it does not name. There is room for some of these at a time.
pub struct Keep(pub KeepAlive);

impl FromRequest<Api> for Keep {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let json = is_json(request.headers());
        let room = room_for_long(&request, api)?;
        let max = if room.is_some() { KEEPALIVE_MAX } else { BODY_MAX };
        let bytes = read_up_to(max, request, api).await?;
        if !json || bytes.trim_ascii().is_empty() {
            return Ok(Self(KeepAlive::default()));
        }
        parse(&bytes).map(Self)
    }
}

/// A body that says nothing. It is read all the same: the next request on the connection begins
/// behind it.
pub struct NoBody;

impl FromRequest<Api> for NoBody {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        read(request, api).await.map(|_| Self)
    }
}

fn parse<T: DeserializeOwned + Checked>(bytes: &[u8]) -> Result<T, Problem> {
    if bytes.trim_ascii_start().starts_with(b"[") {
        // Fields would be taken by their order, which is nobody's promise.
        return Err(Problem::new(StatusCode::BAD_REQUEST, "body: an array is no object"));
    }
    let request: T = serde_json::from_slice(bytes)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("body: {error}")))?;
    request.check().map_err(Refusal::from)?;
    Ok(request)
}

/// Room for a body that says that it is longer than most may be, if it does.
fn room_for_long<'a>(
    request: &Request,
    api: &'a Api,
) -> Result<Option<SemaphorePermit<'a>>, Problem> {
    if said_length(request).is_none_or(|length| length <= BODY_MAX as u64) {
        return Ok(None);
    }
    let full = |_| refusal::unavailable("too many long keepalives are under way at this node");
    Ok(Some(api.long_bodies.try_acquire().map_err(full)?))
}

/// How long a body is, as its request says.
fn said_length(request: &Request) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn read(request: Request, api: &Api) -> Result<Bytes, Problem> {
    read_up_to(BODY_MAX, request, api).await
}

async fn read_up_to(max: usize, request: Request, api: &Api) -> Result<Bytes, Problem> {
    if said_length(&request).is_some_and(|length| length > max as u64) {
        return Err(too_large(max));
    }
    let reading = to_bytes(request.into_body(), max);
    match tokio::time::timeout(api.config.limits.body, reading).await {
        Ok(Ok(bytes)) => Ok(bytes),
        // The limit, or a connection that broke: then nobody reads the answer.
        Ok(Err(_)) => Err(too_large(max)),
        Err(_) => {
            tracing::debug!("a client was too slow with the body of its request");
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"))
        }
    }
}

fn too_large(max: usize) -> Problem {
    refusal::refuse(Code::TooLarge, format!("this body has at most {max} bytes")).into()
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()) else {
        return false;
    };
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
