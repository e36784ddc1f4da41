//! Watches: whoever has one knows in time when a session, or something that it holds, is lost.

use crate::api::limits;
use crate::clock::{nap, since_boot};
use crate::session::{Shared, State};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Why something is no longer held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// No keepalive was answered in time: from now on somebody else may be granted it.
    Silence,
    /// The node says that it is gone, in these words.
    Told(String),
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Silence => f.write_str("no keepalive was answered in time"),
            Self::Told(reason) => f.write_str(&limits::shown(reason)),
        }
    }
}

/// Knows when one thing that is held is lost, and can be given to another thread.
#[derive(Clone, Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    /// Of what one request was granted, or of the session itself.
    number: Option<u64>,
}

impl Watch {
    pub(crate) fn new(shared: Arc<Shared>, number: Option<u64>) -> Self {
        Self { shared, number }
    }

    /// Why it is lost, if it is.
    pub fn lost(&self) -> Option<Loss> {
        self.judge(&mut self.shared.lock())
    }

    /// How long the session lives without a keepalive: what the node gave, which may be less than
    /// what was asked for.
    pub fn ttl(&self) -> Duration {
        self.shared.lock().deadline.ttl()
    }

    /// How long it can be relied on right after a sign of life was answered: for its time to live
    /// or, if the session has a stream, for the grace of that, whichever is less.
    pub fn lasts(&self) -> Duration {
        let state = self.shared.lock();
        let ttl = state.deadline.ttl();
        state.grace.as_ref().map_or(ttl, |grace| grace.span().min(ttl))
    }

    /// How long it can still be relied on, should nothing be heard any more.
    pub fn left(&self) -> Duration {
        let mut state = self.shared.lock();
        match self.judge(&mut state) {
            Some(_) => Duration::ZERO,
            None => state.left(since_boot()),
        }
    }

    /// How long whoever is inside has to leave: until the deadline that was known before a loss.
    /// What told of the loss gave the session more time, but not this.
    pub fn time_to_leave(&self) -> Duration {
        let state = self.shared.lock();
        let told = self.number.and_then(|number| state.held.get(&number)?.until);
        let until = told.map_or(state.ends(), |told| told.min(state.ends()));
        until.saturating_sub(since_boot())
    }

    /// Waits until it is lost, or given back: then there is no loss. Whoever closes its client
    /// loses all that was not given back before.
    pub fn wait(&self) -> Option<Loss> {
        let mut state = self.shared.lock();
        loop {
            let loss = self.judge(&mut state);
            if loss.is_some() || self.is_over(&state) {
                return loss;
            }
            let left = state.left(since_boot());
            let woken = self.shared.changed.wait_timeout(state, nap(left));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// It was given back: the thread looks after it no longer.
    pub(crate) fn forget(&self) {
        if let Some(number) = self.number {
            self.shared.lock().held.remove(&number);
            self.shared.changed.notify_all();
        }
    }

    fn judge(&self, state: &mut State) -> Option<Loss> {
        let session = state.judge(since_boot());
        let own = self.number.and_then(|number| state.held.get(&number)?.loss.clone());
        let closed = state.closed && !self.is_over(state);
        own.or(session).or_else(|| closed.then(|| Loss::Told("it was closed here".to_string())))
    }

    fn is_over(&self, state: &State) -> bool {
        self.number.is_some_and(|number| !state.held.contains_key(&number))
    }
}
