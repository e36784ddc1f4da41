//! Handlers of values. With a classic engine node 1 keeps them, and the other nodes forward what
//! they are asked, once.

use super::Api;
use super::authorize::Authenticated;
use super::body::{Body, Name, NoBody};
use super::problem::Problem;
use crate::desk::{Command, Question, Refusal, Replicated, refusal};
use axum::Json;
use axum::http::{HeaderMap, Method, Request, header};
use axum::response::{IntoResponse, Response};
use conclave_api::NewValue;
use conclave_api::limits::{self, VALUE_ANSWER_MAX};
use conclave_net::ApiTls;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Says that a request was passed on already.
const HOP: &str = "x-conclave-hop";
/// How long node 1 may take.
const PATIENCE: Duration = Duration::from_secs(5);

pub async fn get(
    Authenticated(api): Authenticated,
    headers: HeaderMap,
    Name(name): Name,
) -> Result<Response, Problem> {
    if let Some(keeper) = keeper(&api) {
        return forward(&api, keeper, &headers, Method::GET, &name, Bytes::new()).await;
    }
    Ok(Json(api.show(|reply| Question::Value { name, reply }).await?).into_response())
}

pub async fn put(
    Authenticated(api): Authenticated,
    headers: HeaderMap,
    Name(name): Name,
    Body(request): Body<NewValue>,
) -> Result<Response, Problem> {
    if let Some(keeper) = keeper(&api) {
        let body = serde_json::to_vec(&request).unwrap_or_default();
        return forward(&api, keeper, &headers, Method::PUT, &name, body.into()).await;
    }
    Ok(Json(api.ask(|reply| Command::SetValue { name, request, reply }).await?).into_response())
}

pub async fn forget(
    Authenticated(api): Authenticated,
    Name(name): Name,
    _: NoBody,
) -> Result<Response, Problem> {
    Ok(Json(api.ask(|reply| Command::Replicated(Replicated::DeleteValue { name, reply })).await?)
        .into_response())
}

/// Whoever keeps the values, if another node does.
fn keeper(api: &Api) -> Option<&str> {
    api.config.keeper.as_deref().filter(|_| api.config.node != 1)
}

async fn forward(
    api: &Api,
    keeper: &str,
    headers: &HeaderMap,
    method: Method,
    name: &str,
    body: Bytes,
) -> Result<Response, Problem> {
    limits::name(name).map_err(Refusal::from)?;
    if headers.contains_key(HOP) {
        let words = "this node was taken for node 1, which keeps the values";
        return Err(refusal::unavailable(words).into());
    }
    if !api.who.is_anyone() && !headers.contains_key(header::AUTHORIZATION) {
        let words = "node 1 keeps the values, and takes a token for a certificate shown elsewhere";
        return Err(refusal::unsupported(words).into());
    }
    let request = passed_on(keeper, headers, method, name, body)?;
    match tokio::time::timeout(PATIENCE, exchange(keeper, api.config.tls.as_ref(), request)).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => {
            tracing::warn!(%error, "node 1, which keeps the values, cannot be asked");
            Err(refusal::unavailable("node 1, which keeps the values, cannot be reached").into())
        }
        Err(_) => Err(refusal::unavailable("node 1, which keeps the values, is silent").into()),
    }
}

/// The request of whoever asks, to node 1.
fn passed_on(
    keeper: &str,
    headers: &HeaderMap,
    method: Method,
    name: &str,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, Problem> {
    // Of all letters that a name may have, only this one has a meaning in a path.
    let path = format!("/v1/values/{}", name.replace('/', "%2F"));
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, keeper)
        .header(header::CONTENT_TYPE, "application/json")
        .header(HOP, "1");
    // It is node 1 that says whether whoever asks may.
    if let Some(token) = headers.get(header::AUTHORIZATION) {
        request = request.header(header::AUTHORIZATION, token);
    }
    let odd = |_| refusal::bad("this cannot be passed on to node 1");
    Ok(request.body(Full::new(body)).map_err(odd)?)
}

/// Why node 1 did not answer.
type Unreachable = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(
    keeper: &str,
    tls: Option<&ApiTls>,
    request: Request<Full<Bytes>>,
) -> Result<Response, Unreachable> {
    let stream = TcpStream::connect(keeper).await?;
    let (host, _) = keeper.rsplit_once(':').unwrap_or((keeper, ""));
    let stream: Box<dyn ByteStream> = match tls {
        None => Box::new(stream),
        Some(tls) => Box::new(tls.connect(host, stream).await?),
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let answered = sender.send_request(request).await;
    let (head, body) = answered?.into_parts();
    let body = Limited::new(body, VALUE_ANSWER_MAX).collect().await?.to_bytes();
    connection.abort();
    Ok((head.status, [(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// A connection to node 1, plain or not.
trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}
