//! A small HTTP server, with limits: how many connections, and how slow. Whatever is served with
//! it is behind [`crate::guarded`].

use crate::{WriteTimeout, prepare};
use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// So many connections at once; the next waits until one ends. A browser opens six.
const CONNECTIONS_MAX: usize = 256;
/// For the next head on a connection, the first included.
const HEAD: Duration = Duration::from_secs(30);
/// Who takes nothing of its answer for so long is let go.
const WRITE: Duration = Duration::from_secs(10);
/// For requests under way when the server stops.
const DRAIN: Duration = Duration::from_millis(500);
/// After the system refused a connection, for want of files perhaps, it is left alone this long.
const BREATH: Duration = Duration::from_millis(50);
/// The longest head of a request, in bytes.
const HEAD_MAX: usize = 32 << 10;

/// Serves until `stopped` is ready; then lets requests under way finish for a moment.
pub async fn serve(listener: TcpListener, router: Router, stopped: impl Future<Output = ()>) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut stopped = std::pin::pin!(stopped);
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => break,
            accepted = next(&listener, &room) => accepted,
        };
        while connections.try_join_next().is_some() {}
        let Some((stream, place)) = accepted else { continue };
        prepare(&stream);
        let service = TowerToHyperService::new(router.clone());
        let served = service_fn(move |request: hyper::Request<Incoming>| {
            service.call(request.map(Body::new))
        });
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .max_buf_size(HEAD_MAX)
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE)), served);
        let serving = graceful.watch(serving);
        connections.spawn(async move {
            // How a client breaks off is its own affair.
            let _ = serving.await;
            drop(place);
        });
    }
    drop(listener);
    // Streams do not end by themselves: dropping the rest does it.
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
}

/// The next connection, with its place.
async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            tracing::warn!(%error, "a connection cannot be accepted");
            tokio::time::sleep(BREATH).await;
            None
        }
    }
}
