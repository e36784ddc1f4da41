//! Write batching (group writes): what many tasks have to say on one connection is gathered in one
//! buffer and leaves in one write.

use super::error::Fault;
use super::frame::Head;
use crate::link::error::ConnectionError;
use crate::link::wire::{Writer, add_frame};
use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::timeout;

/// Room for short frames (cancellations, failures, pings) beyond the limit for all others.
const SHORT_FRAMES: usize = 1 << 20;

/// A buffer that has grown beyond this is given back once it was written.
const KEEP: usize = 1 << 20;

/// What waits to leave on one connection.
pub(super) struct Outgoing {
    queue: Mutex<Queue>,
    more: Notify,
    frame_max: usize,
    bytes_max: usize,
}

#[derive(Default)]
struct Queue {
    bytes: Vec<u8>,
    /// How many bytes the writer has taken and not yet written.
    leaving: usize,
    /// How many bytes the writer has ever taken.
    taken: u64,
}

/// Why a frame was not added.
#[derive(Debug)]
pub(super) enum NotAdded {
    Full,
    Long,
}

impl Outgoing {
    pub fn new(frame_max: usize, bytes_max: usize) -> Self {
        Self { queue: Mutex::default(), more: Notify::new(), frame_max, bytes_max }
    }

    /// Adds a frame, and says at which byte of the connection it begins.
    pub fn push(&self, head: &Head, body: &[u8]) -> Result<u64, NotAdded> {
        let mut queue = self.queue();
        if queue.waiting() + body.len() > self.bytes_max {
            return Err(NotAdded::Full);
        }
        let start = queue.taken + queue.bytes.len() as u64;
        add_frame(&mut queue.bytes, head, body, self.frame_max).map_err(|_| NotAdded::Long)?;
        drop(queue);
        self.more.notify_one();
        Ok(start)
    }

    /// Adds a frame without a body. For those there is always room, unless the other side makes us
    /// say more and more of them and takes none.
    pub fn push_short(&self, head: &Head) -> Result<(), Fault> {
        let mut queue = self.queue();
        let waiting = queue.waiting();
        if waiting > self.bytes_max + SHORT_FRAMES {
            return Err(Fault::Deaf(waiting));
        }
        add_frame(&mut queue.bytes, head, &[], self.frame_max)?;
        drop(queue);
        self.more.notify_one();
        Ok(())
    }

    /// Whether the writer has taken the frame that begins here: it may have arrived.
    pub fn has_left(&self, start: u64) -> bool {
        start < self.queue().taken
    }

    /// Writes all there is, and a ping when there has been nothing for a while.
    pub async fn write(
        &self,
        writer: &mut Writer,
        ping: Duration,
    ) -> Result<Infallible, ConnectionError> {
        let mut bytes = Vec::new();
        loop {
            self.take(&mut bytes);
            if !bytes.is_empty() {
                writer.write(&bytes).await?;
            } else if timeout(ping, self.more.notified()).await.is_ok() {
                // Whoever woke this task would see it run next: all others that are about to say
                // something come first, and one write takes it all.
                yield_now().await;
            } else {
                let mut queue = self.queue();
                add_frame(&mut queue.bytes, &Head::Ping, &[], self.frame_max)?;
            }
        }
    }

    /// What has been written gives way to what comes next.
    fn take(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.shrink_to(KEEP);
        let mut queue = self.queue();
        std::mem::swap(&mut queue.bytes, bytes);
        queue.leaving = bytes.len();
        queue.taken += bytes.len() as u64;
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn waiting(&self) -> usize {
        self.bytes.len() + self.leaving
    }
}
