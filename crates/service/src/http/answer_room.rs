//! Room for long answers. One that is being sent is kept until its client has taken it, and a list
//! of all locks can have megabytes: so all long answers together have a limit.

use super::problem::Problem;
use crate::desk::refusal;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A shorter answer needs no room: there are not so many connections. Longer ones are handed on in
/// pieces of this size, in bytes.
const PIECE: usize = 64 << 10;

/// How much of long answers may be under way.
#[derive(Clone, Debug)]
pub struct AnswerRoom(Arc<Semaphore>);

impl AnswerRoom {
    /// Room for so many bytes, rounded down to whole pieces.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / PIECE)))
    }

    /// The answer, which has its room until it was handed on; or a refusal, if there is none.
    pub async fn admit(&self, answer: Response) -> Response {
        let length = answer.body().size_hint().exact().unwrap_or(0);
        let Some(length) = usize::try_from(length).ok().filter(|length| *length > PIECE) else {
            return answer;
        };
        let pieces = u32::try_from(length.div_ceil(PIECE)).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(&self.0).try_acquire_many_owned(pieces) else {
            let words = "too many long answers are under way at this node";
            return Problem::from(refusal::unavailable(words)).into_response();
        };
        let (head, body) = answer.into_parts();
        // It is all there, and as long as it said.
        let bytes = to_bytes(body, length).await.unwrap_or_default();
        Response::from_parts(head, Body::new(Pieces { bytes, _room: room }))
    }
}

/// A long answer, piece by piece.
struct Pieces {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        let length = self.bytes.len().min(PIECE);
        // A copy: a part would keep the whole in memory.
        let piece = Bytes::copy_from_slice(&self.bytes.split_to(length));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;

    fn answer(length: usize) -> Response {
        "x".repeat(length).into_response()
    }

    #[tokio::test]
    async fn long_answers_wait_for_nobody_and_find_room_when_others_are_read() {
        let room = AnswerRoom::new(4 * PIECE);
        let first = room.admit(answer(3 * PIECE)).await;
        let second = room.admit(answer(2 * PIECE)).await;
        assert_eq!(second.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(room.admit(answer(PIECE)).await.status(), StatusCode::OK, "a short one");
        let read = to_bytes(first.into_body(), 4 * PIECE).await.expect("all of it");
        assert_eq!(read, "x".repeat(3 * PIECE));
        let third = room.admit(answer(4 * PIECE)).await;
        assert_eq!(third.status(), StatusCode::OK, "there is room again");
        assert_eq!(third.body().size_hint().exact(), Some(4 * PIECE as u64), "it says its length");
    }
}
