//! The limit of event streams. They last until somebody ends them, so they must not take all
//! connections.
//!
//! When there are too many, the oldest ends, and the newest is served: a stream that somebody has
//! forgotten would otherwise shut out everybody who comes later. Whoever still watches comes back,
//! and says with `Last-Event-ID` what it has seen.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// All event streams of a node.
#[derive(Debug)]
pub struct StreamLimit {
    most: usize,
    /// Those that are open, oldest first.
    open: Mutex<VecDeque<Arc<Notify>>>,
}

/// The place of one stream, free again when dropped.
#[derive(Debug)]
pub struct StreamPlace {
    limit: Arc<StreamLimit>,
    over: Arc<Notify>,
}

impl StreamLimit {
    /// So many may be open at once.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// A place for a new stream; the oldest gives way if need be.
    pub fn enter(self: &Arc<Self>) -> StreamPlace {
        let over = Arc::new(Notify::new());
        let mut open = self.lock();
        open.push_back(Arc::clone(&over));
        while open.len() > self.most {
            if let Some(oldest) = open.pop_front() {
                oldest.notify_one();
            }
        }
        StreamPlace { limit: Arc::clone(self), over }
    }

    /// A place for a new stream, if there is one: nobody gives way.
    pub fn enter_if_free(self: &Arc<Self>) -> Option<StreamPlace> {
        let over = Arc::new(Notify::new());
        let mut open = self.lock();
        if open.len() >= self.most {
            return None;
        }
        open.push_back(Arc::clone(&over));
        Some(StreamPlace { limit: Arc::clone(self), over })
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Notify>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamPlace {
    /// Returns when a newer stream needs the place.
    pub async fn over(self) {
        self.over.notified().await;
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.limit.lock().retain(|one| !Arc::ptr_eq(one, &self.over));
    }
}
