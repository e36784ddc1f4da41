//! Streams of sessions: quick detection of dead clients. A session that asked for it ends soon
//! after its stream does; and a stream ends with its session, so that a client knows at once.
//!
//! Only a client's own end of its stream counts: that this node stops is none. A stream is no
//! keepalive.

use super::caller::Caller;
use super::engine::ReplicatedEngine;
use super::hop::Patience;
use super::words;
use crate::desk::{Answer as Answered, Attached, refusal};
use conclave_api as api;
use conclave_table::{Change, Notice, Refusal, SessionEnd, SessionId, Text};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// So often is it tried to tell the leader that a stream has ended, or to ask it whether a session
/// has, for some seconds each time.
const TRIES: usize = 10;

/// The streams that clients have at this node, by session and number.
#[derive(Debug, Default)]
pub struct Streams {
    open: Mutex<BTreeMap<(SessionId, u64), Open>>,
}

#[derive(Debug, Default)]
struct Open {
    /// Whose it is: this node's table may not know yet who opened the session.
    principal: Text,
    /// Whether the table knows of it.
    counts: bool,
    fate: watch::Sender<Fate>,
}

/// What is known of the session of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Lives,
    /// This node got its table as a whole: what has ended meanwhile, it was not told.
    Unsure,
    Ended(SessionEnd),
}

impl Streams {
    /// A stream begins; nothing if this very one is there already. From now on it is told if its
    /// session ends.
    fn begin(
        &self,
        session: SessionId,
        stream: u64,
        principal: &Text,
    ) -> Option<watch::Receiver<Fate>> {
        let mut open = self.lock();
        let Entry::Vacant(place) = open.entry((session, stream)) else { return None };
        let principal = principal.clone();
        Some(place.insert(Open { principal, ..Open::default() }).fate.subscribe())
    }

    /// The table knows of it.
    fn counts(&self, session: SessionId, stream: u64) {
        if let Some(open) = self.lock().get_mut(&(session, stream)) {
            open.counts = true;
        }
    }

    /// A stream has ended; another one of the same session may be there.
    fn end(&self, session: SessionId, stream: u64) {
        self.lock().remove(&(session, stream));
    }

    /// Whose this stream is, if it is there; earlier ones of its session do not count any more.
    fn owner(&self, session: SessionId, stream: u64) -> Option<Text> {
        let open = self.lock();
        let all = open.range((session, 0)..=(session, u64::MAX));
        let ((_, number), latest) = all.rev().find(|(_, known)| known.counts)?;
        (*number == stream).then(|| latest.principal.clone())
    }

    /// Tells the streams of sessions that have ended.
    pub fn tell(&self, notices: &[Notice]) {
        for notice in notices {
            if let Notice::SessionEnded { session, why, .. } = notice {
                let open = self.lock();
                for (_, known) in open.range((*session, 0)..=(*session, u64::MAX)) {
                    known.fate.send_replace(Fate::Ended(*why));
                }
            }
        }
    }

    /// Has every stream ask the leader whether its session has ended.
    pub fn ask_again(&self) {
        for known in self.lock().values() {
            known.fate.send_if_modified(|fate| {
                let lives = !matches!(fate, Fate::Ended(_));
                *fate = if lives { Fate::Unsure } else { *fate };
                lives
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(SessionId, u64), Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Caller {
    /// A client's stream has begun. It ends when what is returned is dropped.
    pub async fn attach(&self, id: &str, stream: u64) -> Answered<Attached> {
        let session = words::session(id)?;
        let Some(engine) = self.itself() else {
            return Err(refusal::unavailable("this node is stopping"));
        };
        let mut stream = Stream::begin(engine, self.name(), session, stream)?;
        stream.attach().await?;
        Ok(Attached(Box::pin(stream.ended())))
    }

    /// Whether this node still has the stream.
    pub fn ping(&self, request: &api::Ping) -> Answered<()> {
        let session = words::session(&request.session)?;
        match self.streams().owner(session, request.stream) {
            Some(owner) if owner == self.name() => Ok(()),
            None if self.is_own(session) => {
                Err(refusal::not_found("this node has no such stream of this session"))
            }
            Some(_) | None => Err(words::no_session()),
        }
    }
}

impl ReplicatedEngine {
    async fn detach(&self, principal: Text, session: SessionId, stream: u64) {
        for _ in 0..TRIES {
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
    fate: watch::Receiver<Fate>,
    /// Whether its end is of interest to the table.
    counts: bool,
}

impl Stream {
    /// It is there before the table knows of it, so that no end of its session passes it by.
    fn begin(
        engine: Arc<ReplicatedEngine>,
        principal: Text,
        session: SessionId,
        stream: u64,
    ) -> Answered<Self> {
        let Some(fate) = engine.streams().begin(session, stream, &principal) else {
            return Err(super::answers::refuse("", &Refusal::StaleStream, None));
        };
        Ok(Self { engine, principal, session, stream, fate, counts: false })
    }

    async fn attach(&mut self) -> Answered<()> {
        let change = Change::Attach { session: self.session, stream: self.stream };
        let principal = self.principal.clone();
        let attached = self.engine.changed_by(principal, change, Patience::repeatable()).await;
        attached?.done("")?;
        self.engine.streams().counts(self.session, self.stream);
        self.counts = true;
        Ok(())
    }

    /// Waits until its session has ended, and says why.
    async fn ended(mut self) -> api::SessionEnded {
        let reason = loop {
            let fate = *self.fate.borrow_and_update();
            match fate {
                Fate::Ended(SessionEnd::Closed) => break "closed",
                Fate::Ended(SessionEnd::Expired) => break "expired",
                Fate::Ended(SessionEnd::Lapsed) => break "lapsed",
                Fate::Unsure if self.is_gone().await => break "unknown",
                Fate::Lives | Fate::Unsure => {}
            }
            if self.fate.changed().await.is_err() {
                std::future::pending().await // Nobody is left who could say.
            }
        };
        self.counts = false;
        api::SessionEnded { reason: reason.to_string() }
    }

    /// Asks the leader whether its session has ended: to attach once more changes nothing. Where
    /// nobody leads for long, keepalives will tell.
    async fn is_gone(&self) -> bool {
        for _ in 0..TRIES {
            let change = Change::Attach { session: self.session, stream: self.stream };
            let principal = self.principal.clone();
            let asked = self.engine.changed_by(principal, change, Patience::repeatable()).await;
            match asked.and_then(|changed| changed.done("")) {
                Err(refusal) if refusal.error.code == api::Code::NoSession => return true,
                Err(refusal) if refusal.error.retry => {}
                Ok(()) | Err(_) => return false,
            }
        }
        false
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let engine = Arc::clone(&self.engine);
        let (session, stream) = (self.session, self.stream);
        let principal = Text::clone(&self.principal);
        engine.streams().end(session, stream);
        let over = matches!(*self.fate.borrow(), Fate::Ended(_));
        if self.counts
            && !over
            && !*engine.stopping().borrow()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { engine.detach(principal, session, stream).await });
        }
    }
}

#[cfg(test)]
mod tests;
