//! The HTTP server of `up`: the page, the API of whichever node lives, and what can be done to
//! nodes. It has a thread of its own and outlives them all.

use super::actions::{self, Caller, Desk};
use super::health::keep_asking;
use super::recording::recording;
use super::reverse_proxy::pass_on;
use anyhow::Context;
use axum::Router;
use axum::routing::{any, get, post};
use conclave_page::{Page, WriteTimeout, guarded, prepare};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

/// How many connections are open at once; the next waits until one ends.
const CONNECTIONS_MAX: usize = 512;
/// How long the head of a request may take, from when the connection is free for it.
const HEAD_TIME: Duration = Duration::from_secs(60);
/// Who takes nothing of its answer for so long is let go.
const WRITE_TIME: Duration = Duration::from_secs(10);
/// The longest head of a request, in bytes.
const HEAD_MAX: usize = 32 << 10;
/// Two are enough for a page and its cluster.
const WORKERS: usize = 2;

/// A server that runs until it is dropped.
pub struct Server {
    _runtime: Background,
}

/// A runtime that is not waited for.
struct Background(Option<Runtime>);

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Serves on this listener from now on.
pub fn serve(listener: TcpListener, own: SocketAddr, desk: Desk) -> anyhow::Result<Server> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .thread_name("page")
        .enable_all()
        .build()
        .context("cannot serve the page")?;
    for node in desk.roster.nodes() {
        runtime.spawn(keep_asking(desk.roster.clone(), node.id, node.api));
    }
    let router = router(desk, own);
    let entered = runtime.enter();
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(entered);
    runtime.spawn(accept(listener, router));
    Ok(Server { _runtime: Background(Some(runtime)) })
}

/// Where what is served. The guard has the checks of Host and Origin, and the headers, for all.
fn router(desk: Desk, own: SocketAddr) -> Router {
    let api = Router::new()
        .route("/v1/{*path}", any(pass_on))
        .route("/openapi.json", get(pass_on))
        .with_state(desk.roster.clone());
    let up = Router::new()
        .route("/up/nodes", get(actions::nodes))
        .route("/up/recording", get(recording))
        .route("/up/nodes/{id}/metrics", get(actions::api_of))
        .route("/up/nodes/{id}/v1/{*path}", any(actions::api_of))
        .route("/up/nodes/{id}/{action}", post(actions::act))
        .with_state(desk);
    let page = Page { lab: true, cluster: true, up: true };
    guarded(page.router().merge(api).merge(up), vec![own.to_string()])
}

async fn accept(listener: tokio::net::TcpListener, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    serve_one(stream, peer, router).await;
                    drop(place);
                });
            }
            // Out of descriptors, or a caller that is gone: the next may do better.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve_one(stream: TcpStream, peer: SocketAddr, router: Router) {
    prepare(&stream);
    let stream = WriteTimeout::new(stream, WRITE_TIME);
    let router = router.layer(axum::Extension(Caller(peer)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let _ = connection.await; // What a caller does wrong is its own affair.
}
