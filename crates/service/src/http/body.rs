//! Request parts: a name in the path and JSON in the body, with limits on size and time.

use super::Api;
use super::problem::Problem;
use crate::desk::{Refusal, refusal};
use axum::body::{Bytes, to_bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{self, FromRequest, FromRequestParts, Path, Request};
use axum::http::header::{self, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use conclave_api::limits::{BODY_MAX, KEEPALIVE_MAX};
use conclave_api::{Code, KeepAlive, Request as Checked};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::SemaphorePermit;

/// No request has more fields.
const FIELDS_MAX: usize = 16;

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
            let words = query_in_words(&rejection.body_text());
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
            return Err(no_json());
        }
        let bytes = read(request, api).await?;
        parse(&bytes).map(Self)
    }
}

/// The body of a keepalive: JSON, or none at all. It need not say that it is JSON, as it never had
/// to; what is said to be something else is refused.
///
/// It may be longer than others: a session that holds much has to name all of it, or would lose
/// what it does not name. There is room for some of these at a time.
pub struct Keep(pub KeepAlive);

impl FromRequest<Api> for Keep {
    type Rejection = Problem;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Problem> {
        let json = is_json(request.headers()) || !request.headers().contains_key(CONTENT_TYPE);
        let room = room_for_long(&request, api)?;
        let max = if room.is_some() { KEEPALIVE_MAX } else { BODY_MAX };
        let bytes = read_up_to(max, request, api).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(KeepAlive::default()));
        }
        if !json {
            return Err(no_json());
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
    let request: T = serde_json::from_slice(bytes).map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, body_in_words::<T>(bytes, &error))
    })?;
    request.check().map_err(Refusal::from)?;
    Ok(request)
}

fn no_json() -> Problem {
    let words = "the body must be of type application/json";
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, words)
}

/// What is wrong with a body, and with which field of it, in words of JSON.
fn body_in_words<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> String {
    let words = error.to_string();
    let words = match words.split_once("expected struct ") {
        Some((before, after)) => {
            let place = after.find(" at line ").map_or("", |place| &after[place..]);
            format!("{before}expected an object{place}")
        }
        None => words,
    };
    match wrong_field::<T>(bytes) {
        Some(field) => format!("body: {field}: {words}"),
        None => format!("body: {words}"),
    }
}

/// The field without which something else, or nothing, is wrong. Of one that is not known or is
/// missing the error tells the name itself.
fn wrong_field<T: DeserializeOwned>(bytes: &[u8]) -> Option<String> {
    let fields: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
    let wrong = |fields: &Map<String, Value>| {
        let parsed = serde_json::from_value::<T>(Value::Object(fields.clone()));
        parsed.err().map(|error| error.to_string())
    };
    let first = wrong(&fields).filter(|words| words.starts_with("invalid "))?;
    let guilty = |field: &&String| {
        let mut others = fields.clone();
        others.remove(*field);
        wrong(&others).as_ref() != Some(&first)
    };
    fields.keys().take(FIELDS_MAX).find(guilty).cloned()
}

/// What is wrong with a query, in words for whoever wrote it.
fn query_in_words(error: &str) -> String {
    let words = error.split_once("query string: ").map_or(error, |(_, words)| words);
    let takes = [
        ("invalid digit found in string", "takes a whole number"),
        ("cannot parse integer from empty string", "takes a whole number"),
        ("number too large to fit in target type", "takes a smaller number"),
        ("provided string was not `true` or `false`", "takes true or false"),
    ];
    let found = takes.iter().find_map(|(said, takes)| Some((words.strip_suffix(said)?, takes)));
    match found {
        Some((field, takes)) => format!("query: {field}{takes}"),
        None => format!("query: {words}"),
    }
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
    let Some(kind) = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()) else {
        return false;
    };
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_api::{NewSession, Page};

    #[test]
    fn a_body_that_is_wrong_is_told_which_field_and_what_it_takes() {
        for (body, told) in [
            (r#""x""#, r#"invalid type: string "x", expected an object at line 1 column 3"#),
            (r#"{"ttl_ms":"x"}"#, r#"ttl_ms: invalid type: string "x", expected a whole number"#),
            (r#"{"label":"a","ttl_ms":-1}"#, "ttl_ms: invalid type: integer `-1`, expected"),
            (r#"{"on_disconnect":5}"#, "on_disconnect: invalid type: integer `5`, expected an obj"),
            (r#"{"foo":1}"#, "unknown field `foo`, expected one of `ttl_ms`, `label`"),
            ("{", "EOF while parsing an object at line 1 column 1"),
        ] {
            let bytes = body.as_bytes();
            let error = serde_json::from_slice::<NewSession>(bytes).expect_err("it is wrong");
            let words = body_in_words::<NewSession>(bytes, &error);
            assert!(words.starts_with(&format!("body: {told}")), "{words}");
            assert!(!words.contains("struct"), "{words}");
        }
    }

    #[test]
    fn a_query_that_is_wrong_is_told_what_the_field_takes() {
        for (query, told) in [
            ("limit=x", "query: limit: takes a whole number"),
            ("limit=", "query: limit: takes a whole number"),
            ("stale=x", "query: stale: takes true or false"),
            (
                "sort=x",
                "query: sort: unknown variant `x`, expected one of `name`, `waiters`, `held`",
            ),
        ] {
            let uri = format!("/v1/locks?{query}").parse().expect("an address");
            let rejection = extract::Query::<Page>::try_from_uri(&uri).expect_err("it is wrong");
            assert_eq!(query_in_words(&rejection.body_text()), told);
        }
    }
}
