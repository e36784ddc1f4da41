//! Network isolation of this process: a cable that can be pulled, for whoever wants to see what a
//! partition does to a cluster on one machine.
//!
//! While it is out, nothing passes between this node and the others, in either direction, and
//! nobody is told: connections that stand fall silent, new ones do not come to be. What was under
//! way passes once it is in again, as with TCP on a real cable. A connection that is closed
//! instead would tell the other side at once, which is what a dead process looks like.
//!
//! There is one per process, as there is one network card. It is moved from within the process
//! only: `conclave node` does so for the parent that started it, over its standard input. No
//! request of any client or node comes here.

use crate::link::wire::Stream;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The cable of this process.
static CABLE: Cable = Cable::new();

/// Pulls the cable: from now on nothing passes between this node and the others.
pub fn isolate() {
    CABLE.pull();
}

/// Puts the cable back in.
pub fn heal() {
    CABLE.plug_in();
}

/// The cable of this process.
pub(crate) fn cable() -> &'static Cable {
    &CABLE
}

/// Something through which all connections pass.
#[derive(Debug)]
pub(crate) struct Cable {
    out: AtomicBool,
    /// Who waits for it to be in again.
    waiting: Mutex<Vec<Waker>>,
}

impl Cable {
    const fn new() -> Self {
        Self { out: AtomicBool::new(false), waiting: Mutex::new(Vec::new()) }
    }

    fn pull(&self) {
        self.out.store(true, Ordering::SeqCst);
    }

    fn plug_in(&self) {
        let mut waiting = self.lock();
        self.out.store(false, Ordering::SeqCst);
        waiting.drain(..).for_each(Waker::wake);
    }

    /// Returns when the cable is in.
    pub async fn plugged_in(&self) {
        std::future::poll_fn(|context| self.poll(context)).await;
    }

    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        if !self.out.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        let mut waiting = self.lock();
        // It may have been put back in just now, and then nobody would come to wake this one.
        if !self.out.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection through a cable.
pub(crate) struct Cabled {
    pub stream: Box<dyn Stream>,
    pub cable: &'static Cable,
}

impl AsyncRead for Cabled {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.cable.poll(context) {
            Poll::Ready(()) => Pin::new(&mut self.stream).poll_read(context, buffer),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncWrite for Cabled {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.cable.poll(context) {
            Poll::Ready(()) => Pin::new(&mut self.stream).poll_write(context, bytes),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.cable.poll(context) {
            Poll::Ready(()) => Pin::new(&mut self.stream).poll_flush(context),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Whoever closes its end does not wait for anybody.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(600);

    /// A cable of a test's own: that of the process belongs to all tests.
    fn cable() -> &'static Cable {
        Box::leak(Box::new(Cable::new()))
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_passes_while_it_is_out_and_all_of_it_once_it_is_in_again() {
        let cable = cable();
        let (near, mut far) = duplex(64);
        let mut near = Cabled { stream: Box::new(near), cable };
        far.write_all(b"before").await.unwrap();
        let mut bytes = [0; 6];
        near.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"before");
        cable.pull();
        far.write_all(b"during").await.unwrap();
        assert!(timeout(LONG, near.read(&mut bytes)).await.is_err(), "nothing comes in");
        assert!(timeout(LONG, near.write_all(b"answer")).await.is_err(), "nothing goes out");
        let reads = tokio::spawn(async move {
            near.read_exact(&mut bytes).await.unwrap();
            near.write_all(&bytes).await.unwrap();
            near
        });
        tokio::task::yield_now().await;
        cable.plug_in();
        let _near = reads.await.unwrap();
        far.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"during", "what was under way is not lost");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_it_goes_on_when_it_is_in() {
        let cable = cable();
        cable.plugged_in().await;
        cable.pull();
        assert!(timeout(LONG, cable.plugged_in()).await.is_err());
        let waits = tokio::spawn(cable.plugged_in());
        tokio::task::yield_now().await;
        cable.plug_in();
        waits.await.unwrap();
    }
}
