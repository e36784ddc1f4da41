//! The HTTP server: connections, how many, how slow, and how they end.

use super::answer_room::AnswerRoom;
use super::authorize::Shown;
use super::head_timeout::{HeadTimer, TimedStream};
use super::metrics::ApiMetrics;
use super::places::{Place, Places, Room};
use super::request_body::watched;
use super::stream_limit::StreamLimit;
use super::wire::Wire;
use super::{Api, HttpConfig, HttpLimits, LISTS_MAX, LONG_BODIES_MAX, Shared, routes};
use crate::desk::Command;
use crate::rights::Principal;
use crate::tokens::TokenFile;
use axum::Router;
use axum::body::HttpBody;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use conclave_net::{ApiTls, RateLimitedLog};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

/// After the system refused a connection, for want of files perhaps, it is left alone this long.
const BREATH: Duration = Duration::from_millis(50);
/// The longest head of a request, in bytes: a name of 256 and a few headers fit many times over.
const HEAD_MAX: usize = 32 << 10;
/// Whoever has a reserved place leaves it to the next; so does whoever had a stream of events. And
/// behind a body that nobody read, no next request can be found.
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// The API of a node, being served.
pub struct Server {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// Takes no more connections, lets requests under way finish for a moment, and ends.
    pub async fn stop(self) {
        // If nobody listens, it has stopped already.
        let _ = self.stop.send(());
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the API did not stop cleanly");
        }
    }
}

/// Serves the API of a node until it is told to stop. Must be called within a tokio runtime.
pub fn serve(listener: TcpListener, config: HttpConfig, commands: mpsc::Sender<Command>) -> Server {
    let (stop, stopped) = oneshot::channel();
    let limits = config.limits;
    let streams = StreamLimit::new(limits.streams);
    let session_streams = StreamLimit::new(limits.streams);
    let lists = Semaphore::new(LISTS_MAX);
    let long_bodies = Semaphore::new(LONG_BODIES_MAX);
    if let Some(tokens) = &config.tokens {
        TokenFile::follow(tokens);
    }
    let places = Places::new(limits.connections, limits.reserved);
    let metrics = ApiMetrics::new(Arc::clone(&places));
    let config = Arc::new(config);
    let served = Arc::clone(&config);
    let shared =
        Shared { config: served, commands, streams, session_streams, lists, long_bodies, metrics };
    let api = Api { shared: Arc::new(shared), who: Principal::default() };
    let task = tokio::spawn(run(listener, routes::router(api), places, config, stopped));
    Server { stop, task }
}

async fn run(
    listener: TcpListener,
    router: Router,
    places: Arc<Places>,
    config: Arc<HttpConfig>,
    mut stopped: oneshot::Receiver<()>,
) {
    let limits = config.limits;
    let graceful = GracefulShutdown::new();
    let warnings = Arc::new(RateLimitedLog::new("client at"));
    let answers = AnswerRoom::new(limits.answers);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            // A dropped handle stops the server as well.
            _ = &mut stopped => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted.map(|accepted| (accepted, places.enter())) {
            Ok(((stream, peer), Some(place))) => {
                let warnings = Arc::clone(&warnings);
                let answers = answers.clone();
                let tls = config.tls.clone();
                let client = Client { peer, limits, warnings, answers, tls };
                let served = client.serve(stream, router.clone(), graceful.watcher(), place);
                connections.spawn(served);
            }
            Ok(((_, peer), None)) => full(&warnings, peer, limits),
            Err(error) => {
                warnings.say(format_args!("a client's connection cannot be accepted: {error}"));
                tokio::time::sleep(BREATH).await;
            }
        }
    }
    drop(listener);
    // Streams and long waits do not end by themselves: dropping the rest does it.
    let _ = tokio::time::timeout(limits.drain, graceful.shutdown()).await;
}

/// Whoever is at the other end of a connection.
struct Client {
    peer: SocketAddr,
    limits: HttpLimits,
    warnings: Arc<RateLimitedLog>,
    answers: AnswerRoom,
    tls: Option<ApiTls>,
}

/// There is no room for this connection.
fn full(warnings: &RateLimitedLog, peer: SocketAddr, limits: HttpLimits) {
    let open = limits.connections;
    warnings.about(peer, format_args!("closed: {open} connections are open"));
}

/// The answer, with word of what becomes of its connection.
fn marked(mut answer: Response, room: Room, timer: &HeadTimer) -> Response {
    let is_stream = answer.body().size_hint().exact().is_none();
    if room == Room::Reserved || is_stream || timer.is_body_unread() {
        answer.headers_mut().insert(header::CONNECTION, CLOSE);
    }
    // A stream of events is being served for as long as it lasts.
    if !is_stream {
        timer.served();
    }
    answer
}

impl Client {
    /// Greets, then serves; both in the time that the head of a first request may take.
    async fn serve(self, stream: TcpStream, router: Router, watcher: Watcher, place: Place) {
        conclave_page::prepare(&stream);
        let greeted = tokio::select! {
            greeted = Wire::greet(stream, self.tls.as_ref(), self.limits.write) => greeted,
            () = place.timer.too_slow(self.limits.head) => return self.too_slow(),
            () = place.evicted() => return full(&self.warnings, self.peer, self.limits),
        };
        match greeted {
            Ok((wire, shown)) => self.serve_greeted(wire, shown, router, watcher, place).await,
            Err(error) => self.warnings.about(self.peer, format_args!("closed: {error}")),
        }
    }

    async fn serve_greeted(
        self,
        wire: Wire,
        shown: Shown,
        router: Router,
        watcher: Watcher,
        place: Place,
    ) {
        let timer = place.timer.clone();
        let io = TokioIo::new(TimedStream::new(wire, timer.clone()));
        let service = TowerToHyperService::new(router);
        let heard = timer.clone();
        let room = place.room;
        let answers = self.answers.clone();
        let served = service_fn(move |mut request: hyper::Request<Incoming>| {
            heard.serving(!request.body().is_end_stream());
            request.extensions_mut().insert(room);
            request.extensions_mut().insert(shown.clone());
            let answer = service.call(request.map(|body| watched(body, &heard)));
            let heard = heard.clone();
            let answers = answers.clone();
            async move {
                let answer = answers.admit(answer.await?).await;
                Ok::<_, std::convert::Infallible>(marked(answer, room, &heard))
            }
        });
        let serving = http1::Builder::new()
            .timer(TokioTimer::new())
            .max_buf_size(HEAD_MAX)
            .header_read_timeout(self.limits.idle)
            .serve_connection(io, served);
        tokio::select! {
            // How a client breaks off is its own affair.
            ended = watcher.watch(serving) => if let Err(error) = ended {
                tracing::debug!(peer = %self.peer, %error, "a connection ended");
            },
            () = timer.too_slow(self.limits.head) => self.too_slow(),
            () = place.evicted() => full(&self.warnings, self.peer, self.limits),
        }
    }

    fn too_slow(&self) {
        let what = "closed: the head of a request did not come in time";
        self.warnings.about(self.peer, what);
    }
}
