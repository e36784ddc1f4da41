//! The body of a request, and whether it was read to its end: only then is the connection kept
//! (keep-alive), for the next request begins behind it.

use super::head_timeout::HeadTimer;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body as the routes get it; the connection knows when it was read.
pub fn watched(body: Incoming, timer: &HeadTimer) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    Body::new(Watched { body, timer: timer.clone() })
}

struct Watched {
    body: Incoming,
    timer: HeadTimer,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() {
            self.timer.body_read();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
