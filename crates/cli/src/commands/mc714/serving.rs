//! A small HTTP server: bounded in connections, in time and in what it reads.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

/// More than may wait for access, so that a release always gets through. In the original five
/// waiters take all threads, and nobody can release any more.
const CONNECTIONS_MAX: usize = 1_024;
/// How long a request may take to arrive.
const ARRIVAL_MAX: Duration = Duration::from_secs(10);
/// The largest body.
const BODY_MAX: usize = 64 * 1024;

/// An answer that is no good: a status and one line that says why.
#[derive(Debug)]
pub struct Refused(pub StatusCode, pub String);

impl Refused {
    /// The request makes no sense.
    pub fn bad(why: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, why.into())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, self.1 + "\n").into_response()
    }
}

/// Listens at an address; the one that was found if the port is 0.
pub async fn listen(address: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let taken = |error| anyhow::anyhow!("--listen {address}: {error}; choose another address");
    let listener = TcpListener::bind(address).await.map_err(taken)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Serves until the task is dropped.
pub async fn serve(listener: TcpListener, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    serve_one(stream, router).await;
                    drop(place);
                });
            }
            // Out of descriptors, or a caller that is gone: the next may do better.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// One request and its answer. Whoever hangs up meanwhile drops the handler of its request.
async fn serve_one(stream: TcpStream, router: Router) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVAL_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let _ = connection.await; // What a caller does wrong is its own affair.
}

/// Serves until the work is done or somebody stops the program, which is no failure.
pub async fn serve_while<T>(
    listener: TcpListener,
    router: Router,
    work: impl Future<Output = T>,
) -> anyhow::Result<Option<T>> {
    let mut stopped = signal(SignalKind::terminate())?;
    tokio::select! {
        () = serve(listener, router) => Ok(None),
        _ = tokio::signal::ctrl_c() => Ok(None),
        _ = stopped.recv() => Ok(None),
        done = work => Ok(Some(done)),
    }
}

/// The parameters behind the `?`.
pub type Parameters = BTreeMap<String, String>;

/// A parameter that must be there.
pub fn parameter<'a>(parameters: &'a Parameters, name: &str) -> Result<&'a str, Refused> {
    let found = parameters.get(name).map(String::as_str);
    found.ok_or_else(|| Refused::bad(format!("the parameter {name} is missing")))
}

/// The body of a request as JSON.
pub async fn json_of(request: Request<Body>) -> Result<serde_json::Value, Refused> {
    let body = tokio::time::timeout(ARRIVAL_MAX, to_bytes(request.into_body(), BODY_MAX)).await;
    let body = match body {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let why = format!("the body is broken off, or longer than {BODY_MAX} bytes");
            return Err(Refused(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        Err(_) => {
            let why = format!("the body took longer than {} s", ARRIVAL_MAX.as_secs());
            return Err(Refused(StatusCode::REQUEST_TIMEOUT, why));
        }
    };
    serde_json::from_slice(&body).map_err(|error| Refused::bad(format!("not JSON: {error}")))
}
