//! Streams of sessions: quick detection of dead clients. A session that asked for it ends soon
//! after its stream does.
//!
//! Only a client's own end of its stream counts: that this node stops is none. A stream is no
//! keepalive.

use super::caller::Caller;
use super::engine::ReplicatedEngine;
use super::hop::Patience;
use super::words;
use crate::desk::{Answer as Answered, Attached, refusal};
use conclave_api as api;
use conclave_table::{Change, SessionId, Text};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// So often is it tried to tell that a stream has ended, for some seconds each time.
const DETACH_MAX: usize = 10;

/// The streams that clients have at this node, by session.
#[derive(Debug, Default)]
pub struct Streams {
    open: Mutex<BTreeMap<SessionId, u64>>,
}

impl Streams {
    fn begin(&self, session: SessionId, stream: u64) {
        self.lock().insert(session, stream);
    }

    /// A stream has ended; a later one of the same session may be there.
    fn end(&self, session: SessionId, stream: u64) {
        let mut open = self.lock();
        if open.get(&session) == Some(&stream) {
            open.remove(&session);
        }
    }

    fn is_open(&self, session: SessionId, stream: u64) -> bool {
        self.lock().get(&session) == Some(&stream)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<SessionId, u64>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Caller {
    /// A client's stream has begun. It ends when what is returned is dropped.
    pub async fn attach(&self, id: &str, stream: u64) -> Answered<Attached> {
        let session = words::session(id)?;
        let change = Change::Attach { session, stream };
        self.changed(change, Patience::repeatable()).await?.done("")?;
        let Some(engine) = self.itself() else {
            return Err(refusal::unavailable("this node is stopping"));
        };
        self.streams().begin(session, stream);
        Ok(Attached(Box::new(Stream { engine, principal: self.name(), session, stream })))
    }

    /// Whether this node still has the stream.
    pub fn ping(&self, request: &api::Ping) -> Answered<()> {
        let session = words::session(&request.session)?;
        if !self.is_own(session) {
            return Err(words::no_session());
        }
        match self.streams().is_open(session, request.stream) {
            true => Ok(()),
            false => Err(refusal::not_found("this node has no such stream of this session")),
        }
    }
}

impl ReplicatedEngine {
    async fn detach(&self, principal: Text, session: SessionId, stream: u64) {
        for _ in 0..DETACH_MAX {
            let change = Change::Detach { session, stream };
            let detached = self.changed_by(principal.clone(), change, Patience::repeatable());
            if detached.await.is_ok() {
                return;
            }
        }
    }
}

/// A stream, as long as its client reads it.
struct Stream {
    engine: Arc<ReplicatedEngine>,
    /// Whose session it is.
    principal: Text,
    session: SessionId,
    stream: u64,
}

impl Drop for Stream {
    fn drop(&mut self) {
        let engine = Arc::clone(&self.engine);
        let (session, stream) = (self.session, self.stream);
        let principal = Text::clone(&self.principal);
        engine.streams().end(session, stream);
        if !*engine.stopping().borrow()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { engine.detach(principal, session, stream).await });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_older_stream_is_not_that_of_a_later_one() {
        let streams = Streams::default();
        let session = SessionId([1; 16]);
        streams.begin(session, 1);
        streams.begin(session, 2);
        streams.end(session, 1);
        assert!(streams.is_open(session, 2));
        streams.end(session, 2);
        assert!(!streams.is_open(session, 2));
    }
}
