//! The client side of remote procedure calls: requests that share one connection (multiplexing),
//! and their answers, in any order.

use super::error::{Fault, RpcError};
use super::frame::{Failure, Head};
use super::outgoing::{NotAdded, Outgoing};
use super::{Purpose, RpcLimits};
use crate::link::error::ConnectionError;
use crate::link::wire::Reader;
use conclave_core::NodeId;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// What comes of a request.
pub(super) type Outcome = Result<Vec<u8>, RpcError>;

/// One connection that this node has dialled.
pub(super) struct Asker {
    to: NodeId,
    /// The disk that the peer has.
    pub disk: u128,
    pub outgoing: Outgoing,
    body_max: usize,
    requests_max: usize,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    /// The number of the last request.
    last: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// Nothing can be asked any more.
    closed: bool,
}

struct Waiting {
    /// At which byte of the connection the request begins.
    start: u64,
    answer: oneshot::Sender<Outcome>,
}

/// The connection has ended, and the request was not sent.
pub(super) struct Closed;

impl Asker {
    pub fn new(to: NodeId, disk: u128, purpose: Purpose, limits: &RpcLimits) -> Self {
        Self {
            to,
            disk,
            outgoing: Outgoing::new(limits.frame_max(purpose), limits.bytes_max),
            body_max: limits.body_max(purpose),
            requests_max: limits.requests_max,
            asked: Mutex::default(),
        }
    }

    /// Asks, and waits for the answer until the deadline. The other side is told when the waiting
    /// is given up.
    pub async fn ask(
        self: &Arc<Self>,
        request: &[u8],
        deadline: Instant,
    ) -> Result<Outcome, Closed> {
        let to = self.to;
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Err(RpcError::Unreachable { to, reason: "its time was up".into() }));
        }
        let mut asking = match self.send(request, left)? {
            Ok(asking) => asking,
            Err(error) => return Ok(Err(error)),
        };
        Ok(match timeout_at(deadline, &mut asking.answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(self.unanswered("the connection has ended")),
            Err(_) => Err(self.unanswered("no answer came in time")),
        })
    }

    fn send(
        self: &Arc<Self>,
        request: &[u8],
        left: Duration,
    ) -> Result<Result<Asking, RpcError>, Closed> {
        let to = self.to;
        if request.len() > self.body_max {
            let error = RpcError::TooLarge { length: request.len(), max: self.body_max };
            return Ok(Err(error));
        }
        let mut asked = self.asked();
        if asked.closed {
            return Err(Closed);
        }
        if asked.waiting.len() >= self.requests_max {
            return Ok(Err(RpcError::Busy { to }));
        }
        let number = asked.last + 1;
        let head = Head::Request { number, millis: whole_millis(left) };
        let start = match self.outgoing.push(&head, request) {
            Ok(start) => start,
            Err(NotAdded::Full) => return Ok(Err(RpcError::Busy { to })),
            Err(NotAdded::Long) => {
                let error = RpcError::TooLarge { length: request.len(), max: self.body_max };
                return Ok(Err(error));
            }
        };
        asked.last = number;
        let (sender, answer) = oneshot::channel();
        asked.waiting.insert(number, Waiting { start, answer: sender });
        Ok(Ok(Asking { asker: Arc::clone(self), number, answer }))
    }

    /// Hands the answers that come to those who wait for them.
    pub async fn hear(&self, reader: &mut Reader) -> Result<Infallible, Fault> {
        loop {
            let frame = reader.next().await?;
            let (head, body) = Head::decode(&frame)?;
            match head {
                Head::Answer { number } => self.answered(number, Ok(body.to_vec()))?,
                Head::Fail { number, failure } => self.answered(number, Err(self.word(failure)))?,
                Head::Ping => {}
                other @ (Head::Hello(_)
                | Head::Welcome(_)
                | Head::Refuse(_)
                | Head::Request { .. }
                | Head::Cancel { .. }) => return Err(other.out_of_place().into()),
            }
        }
    }

    fn answered(&self, number: u64, outcome: Outcome) -> Result<(), Fault> {
        let mut asked = self.asked();
        if number == 0 || number > asked.last {
            let words = format!("it answers request {number}, which was never sent to it");
            return Err(ConnectionError::Nonsense(words).into());
        }
        // A request that nobody waits for was given up meanwhile.
        if let Some(waiting) = asked.waiting.remove(&number) {
            let _ = waiting.answer.send(outcome);
        }
        Ok(())
    }

    fn word(&self, failure: Failure) -> RpcError {
        match failure {
            Failure::Busy => RpcError::Busy { to: self.to },
            Failure::Unanswered => self.unanswered("it gave up"),
            Failure::LongAnswer => self.unanswered("the answer is too long"),
            Failure::NoRoom => self.unanswered("too many answers wait to be read"),
        }
    }

    /// The connection has ended: says so to all who wait.
    pub fn close(&self, reason: &str) {
        let mut asked = self.asked();
        asked.closed = true;
        let to = self.to;
        let reason: Arc<str> = reason.into();
        for (_, waiting) in std::mem::take(&mut asked.waiting) {
            let reason = Arc::clone(&reason);
            let error = if self.outgoing.has_left(waiting.start) {
                RpcError::Unanswered { to, reason }
            } else {
                RpcError::Unreachable { to, reason }
            };
            let _ = waiting.answer.send(Err(error));
        }
    }

    fn unanswered(&self, reason: &str) -> RpcError {
        RpcError::Unanswered { to: self.to, reason: reason.into() }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way. When this is dropped before the answer is there, the other side is told.
struct Asking {
    asker: Arc<Asker>,
    number: u64,
    answer: oneshot::Receiver<Outcome>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        let number = self.number;
        let gave_up = self.asker.asked().waiting.remove(&number).is_some();
        if gave_up {
            // Should there be no room, the deadline ends it.
            let _ = self.asker.outgoing.push_short(&Head::Cancel { number });
        }
    }
}

/// As milliseconds, rounded up: what has a little time left is not told that it has none.
fn whole_millis(left: Duration) -> u32 {
    let millis = left.as_micros().div_ceil(1000);
    u32::try_from(millis).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_rounded_up_and_has_a_limit() {
        assert_eq!(whole_millis(Duration::from_micros(1)), 1);
        assert_eq!(whole_millis(Duration::from_millis(5)), 5);
        assert_eq!(whole_millis(Duration::from_secs(u64::MAX)), u32::MAX);
    }

    #[tokio::test]
    async fn a_request_that_never_left_is_known_not_to_have_taken_effect() {
        let asker = Arc::new(Asker::new(NodeId(1), 7, Purpose::Raft, &RpcLimits::default()));
        let deadline = Instant::now() + Duration::from_secs(60);
        let (outcome, ()) =
            tokio::join!(asker.ask(b"x", deadline), async { asker.close("broken") });
        let expected = RpcError::Unreachable { to: NodeId(1), reason: "broken".into() };
        assert!(matches!(outcome, Ok(Err(error)) if error == expected));
        assert!(matches!(asker.ask(b"x", deadline).await, Err(Closed)));
    }

    #[tokio::test]
    async fn too_many_requests_are_refused_one_by_one() {
        let limits = RpcLimits { requests_max: 1, ..RpcLimits::default() };
        let asker = Arc::new(Asker::new(NodeId(1), 7, Purpose::Raft, &limits));
        let minute = Duration::from_secs(60);
        let Ok(Ok(first)) = asker.send(b"x", minute) else { panic!("not sent") };
        let busy = asker.send(b"x", minute);
        assert!(matches!(busy, Ok(Err(RpcError::Busy { .. }))));
        drop(first);
        assert!(matches!(asker.send(b"x", minute), Ok(Ok(_))));
    }
}
