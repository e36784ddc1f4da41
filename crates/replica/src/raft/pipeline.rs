//! Pipelining: entries go to a follower while earlier ones are not acknowledged yet.
//!
//! One connection keeps their order, and so does whoever answers (see [`super::serve`]). Only a few
//! entries are under way like this: they are somebody's whose turn it is, and who should not wait
//! for the sync of what others have asked for before. Where there are many, they go together as
//! soon as those before are acknowledged, and are synced together.

use crate::raft_types::TypeConfig;
use futures_util::stream::{Fuse, FuturesOrdered, Stream, StreamExt, unfold};
use openraft::errors::RPCError;
use openraft::raft::{AppendEntriesRequest, AppendEntriesResponse, StreamAppendResult};
use std::future::Future;
use std::pin::Pin;

/// With so many entries under way the next ones wait.
const FEW: usize = 2;

/// So many requests may be under way.
const DEPTH: usize = 2;

type Request = AppendEntriesRequest<TypeConfig>;
type Failed = RPCError<TypeConfig>;
/// What a follower says.
type Said = Result<AppendEntriesResponse<TypeConfig>, Failed>;
/// What is told to the consensus engine of one request.
pub type Answer = Result<StreamAppendResult<TypeConfig>, Failed>;

/// Sends requests in their order, and yields the answers in the same. `append` must have sent its
/// request when it is polled first.
pub fn piped<'a, S, A, F>(input: S, append: A) -> Pin<Box<dyn Stream<Item = Answer> + Send + 'a>>
where
    S: Stream<Item = Request> + Send + Unpin + 'a,
    A: Fn(Request) -> F + Send + 'a,
    F: Future<Output = Said> + Send + 'a,
{
    let pipe = Pipe { input: input.fuse(), append, asking: FuturesOrdered::new(), entries: 0 };
    Box::pin(unfold(Some(pipe), |pipe| async move {
        let mut pipe = pipe?;
        let answered = pipe.next().await?;
        Some((answered.answer, answered.whole.then_some(pipe)))
    }))
}

struct Pipe<'a, S, A> {
    input: Fuse<S>,
    append: A,
    asking: FuturesOrdered<Asking<'a>>,
    /// How many entries are under way.
    entries: usize,
}

/// A request under way.
type Asking<'a> = Pin<Box<dyn Future<Output = Answered> + Send + 'a>>;

struct Answered {
    entries: usize,
    answer: Answer,
    /// Whether all of it was taken, so that what follows makes sense.
    whole: bool,
}

impl<'a, S, A, F> Pipe<'a, S, A>
where
    S: Stream<Item = Request> + Unpin,
    A: Fn(Request) -> F,
    F: Future<Output = Said> + Send + 'a,
{
    /// The next answer; nothing when nothing is left to be asked.
    async fn next(&mut self) -> Option<Answered> {
        loop {
            let room = self.asking.len() < DEPTH && self.entries < FEW && !self.input.is_done();
            tokio::select! {
                biased;
                Some(answered) = self.asking.next(), if !self.asking.is_empty() => {
                    self.entries -= answered.entries;
                    return Some(answered);
                }
                request = self.input.next(), if room => if let Some(request) = request {
                    self.send(request);
                },
                else => return None,
            }
        }
    }

    fn send(&mut self, request: Request) {
        let entries = request.entries.len();
        let previous = request.prev_log_id;
        let last = request.entries.last().map(|entry| entry.log_id).or(previous);
        let said = (self.append)(request);
        self.entries += entries;
        self.asking.push_back(Box::pin(async move {
            let said = said.await;
            let whole = match &said {
                Ok(AppendEntriesResponse::Success) => true,
                Ok(AppendEntriesResponse::PartialSuccess(taken)) => *taken == last,
                Ok(AppendEntriesResponse::Conflict | AppendEntriesResponse::HigherVote(_))
                | Err(_) => false,
            };
            let answer = said.map(|said| said.into_stream_result(previous, last));
            Answered { entries, answer, whole }
        }));
    }
}

#[cfg(test)]
mod tests;
