//! How many questions are answered at once, and for how long.

use crate::Problem;
use crate::lab::translate::Tongue;
use axum::http::StatusCode;
use conclave_lab::player::Patience;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many questions are answered at once; the next waits for a moment, then is told to come again.
const AT_ONCE: usize = 4;
/// So many searches and comparisons: each takes a core for itself.
const LONG_AT_ONCE: usize = 1;
/// So long a question waits for its turn.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whose turn it is.
#[derive(Clone)]
pub struct Turns {
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
    /// How long a turn may take.
    time: Duration,
}

impl Turns {
    /// Nobody has asked anything; each question that is not a long one may take so long.
    pub fn new(time: Duration) -> Self {
        let short = Arc::new(Semaphore::new(AT_ONCE));
        Self { short, long: Arc::new(Semaphore::new(LONG_AT_ONCE)), time }
    }

    /// Works something out on a thread of its own, when its turn comes, and as long as the asker is
    /// made to wait for it.
    pub async fn short<T: Send + 'static>(
        &self,
        tongue: Tongue,
        work: impl FnOnce(Patience) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = wait(&self.short, tongue).await?;
        let patience = Patience::until(Instant::now() + self.time);
        on_a_thread(turn, tongue, move || work(patience)).await
    }

    /// The same for what takes long.
    pub async fn long<T: Send + 'static>(
        &self,
        tongue: Tongue,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.long_turn(tongue).await?;
        on_a_thread(turn, tongue, work).await
    }

    /// A turn for what takes long, to be given back when it is over.
    pub async fn long_turn(&self, tongue: Tongue) -> Result<OwnedSemaphorePermit, Problem> {
        wait(&self.long, tongue).await
    }
}

async fn wait(room: &Arc<Semaphore>, tongue: Tongue) -> Result<OwnedSemaphorePermit, Problem> {
    let turn = tokio::time::timeout(PATIENCE, Arc::clone(room).acquire_owned()).await;
    turn.ok().and_then(Result::ok).ok_or_else(|| {
        Problem::busy(tongue.say("too many questions are being answered; ask again"))
    })
}

async fn on_a_thread<T: Send + 'static>(
    turn: OwnedSemaphorePermit,
    tongue: Tongue,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let worked = tokio::task::spawn_blocking(move || {
        let answer = work();
        drop(turn); // Kept until here, also if nobody waits for the answer any more.
        answer
    });
    let failed = |_| {
        let words = tongue.say("this question could not be answered");
        Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, words))
    };
    worked.await.unwrap_or_else(failed)
}
