//! A time-out for slow clients (slowloris): how long the head of a request may take.
//!
//! Hyper has one time-out for the head of a request, which runs while a connection is idle too. It
//! is used for idleness; how long a head takes from its first byte is measured here.

use super::wire::Wire;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a connection is doing, shared between its stream, its service and the body of its request.
#[derive(Clone, Debug)]
pub struct HeadTimer(Arc<Doing>);

#[derive(Debug)]
struct Doing {
    state: Mutex<State>,
    /// Something of the body of the request that is being served was not read yet.
    unread: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// A head began to come, or should have, at this time.
    Head(Instant),
    /// A request is being served; its body may be coming.
    Serving,
    /// Nothing has come since the last answer, which was known at this time.
    Idle(Instant),
}

impl HeadTimer {
    /// A connection that was made just now: its first request is awaited.
    pub fn new() -> Self {
        let state = Mutex::new(State::Head(Instant::now()));
        Self(Arc::new(Doing { state, unread: AtomicBool::new(false) }))
    }

    /// The head has come, and says whether a body follows.
    pub fn serving(&self, has_body: bool) {
        self.0.unread.store(has_body, Ordering::Release);
        self.set(State::Serving);
    }

    /// The body was read to its end.
    pub fn body_read(&self) {
        self.0.unread.store(false, Ordering::Release);
    }

    /// Whether something of the body was not read.
    pub fn is_body_unread(&self) -> bool {
        self.0.unread.load(Ordering::Acquire)
    }

    /// The answer is known.
    pub fn served(&self) {
        self.set(State::Idle(Instant::now()));
    }

    /// For how long no request has been served; nothing while one is.
    pub fn idle(&self) -> Option<Duration> {
        match self.get() {
            State::Head(since) | State::Idle(since) => Some(since.elapsed()),
            State::Serving => None,
        }
    }

    /// Returns when a head takes longer than this.
    pub async fn too_slow(&self, patience: Duration) {
        loop {
            let began = match self.get() {
                State::Head(began) => Some(began),
                State::Serving | State::Idle(_) => None,
            };
            match began.map(|began| patience.saturating_sub(began.elapsed())) {
                Some(Duration::ZERO) => return,
                Some(left) => tokio::time::sleep(left).await,
                None => tokio::time::sleep(patience / 4).await,
            }
        }
    }

    fn bytes_came(&self) {
        if matches!(self.get(), State::Idle(_)) {
            self.set(State::Head(Instant::now()));
        }
    }

    fn get(&self) -> State {
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: State) {
        *self.0.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// A stream whose reads are noticed.
pub struct TimedStream {
    stream: Wire,
    timer: HeadTimer,
}

impl TimedStream {
    /// This stream, noticed by that timer.
    pub fn new(stream: Wire, timer: HeadTimer) -> Self {
        Self { stream, timer }
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.timer.bytes_came();
        }
        polled
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
