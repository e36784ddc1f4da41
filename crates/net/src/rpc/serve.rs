//! The server side of remote procedure calls: one connection, and the requests under way on it.

use super::error::Fault;
use super::frame::{Failure, Head};
use super::outgoing::{NotAdded, Outgoing};
use super::state::RpcState;
use super::{Purpose, RpcServer};
use crate::link::error::ConnectionError;
use crate::link::expiry::expired;
use crate::link::wire::{Reader, Wire};
use conclave_core::NodeId;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

/// Answers what the peer asks until the connection ends, and says why it did.
pub(super) async fn serve(
    node: &RpcState,
    from: NodeId,
    purpose: Purpose,
    mut wire: Wire,
) -> Fault {
    let limits = &node.config.limits;
    let desk = Arc::new(Desk {
        server: Arc::clone(&node.server),
        from,
        purpose,
        outgoing: Outgoing::new(limits.frame_max(purpose), limits.bytes_max),
        work: Mutex::default(),
    });
    let _clear = Clear(&desk);
    tokio::select! {
        biased;
        Err(fault) = take(node, &desk, &mut wire.reader) => fault,
        Err(fault) = desk.outgoing.write(&mut wire.writer, limits.ping) => fault.into(),
        fault = expired(wire.end) => fault.into(),
    }
}

/// Where the requests of one connection are worked on.
struct Desk {
    server: Arc<dyn RpcServer>,
    from: NodeId,
    purpose: Purpose,
    outgoing: Outgoing,
    work: Mutex<Work>,
}

#[derive(Default)]
struct Work {
    /// The number of the last request.
    last: u64,
    /// The requests under way.
    tasks: BTreeMap<u64, Task>,
    /// How many bytes they have.
    bytes: usize,
}

struct Task {
    bytes: usize,
    /// Once it has begun.
    abort: Option<AbortHandle>,
}

/// Takes requests, each into a task of its own.
async fn take(node: &RpcState, desk: &Arc<Desk>, reader: &mut Reader) -> Result<Infallible, Fault> {
    loop {
        let frame = reader.next().await?;
        let (head, body) = Head::decode(&frame)?;
        match head {
            Head::Request { number, millis } => begin(node, desk, number, millis, body)?,
            Head::Cancel { number } => desk.cancel(number),
            Head::Ping => {}
            other @ (Head::Hello(_)
            | Head::Welcome(_)
            | Head::Refuse(_)
            | Head::Answer { .. }
            | Head::Fail { .. }) => return Err(other.out_of_place().into()),
        }
    }
}

/// Begins to work on a request, unless too much is under way.
fn begin(
    node: &RpcState,
    desk: &Arc<Desk>,
    number: u64,
    millis: u32,
    request: &[u8],
) -> Result<(), Fault> {
    let limits = &node.config.limits;
    let mut work = desk.work();
    if number <= work.last {
        let last = work.last;
        let words = format!("request {number} comes after request {last}");
        return Err(ConnectionError::Nonsense(words).into());
    }
    work.last = number;
    let bytes = request.len();
    if work.tasks.len() >= limits.requests_max || work.bytes + bytes > limits.bytes_max {
        drop(work);
        return desk.outgoing.push_short(&Head::Fail { number, failure: Failure::Busy });
    }
    work.tasks.insert(number, Task { bytes, abort: None });
    work.bytes += bytes;
    // A runtime that shuts down drops a task where it is spawned, and with it the reply, which
    // looks at the list.
    drop(work);
    let deadline = Instant::now() + Duration::from_millis(millis.into());
    // Here and not in the task, for tasks may begin in any order.
    let answer = desk.server.serve(desk.from, desk.purpose, request.to_vec(), deadline);
    let reply = Reply { desk: Arc::clone(desk), number };
    let task = node.tasks.spawn(async move {
        if let Ok(answer) = timeout_at(deadline, answer).await {
            reply.send(&answer);
        }
    });
    // It may have ended by now. It cannot have been given up: that is read here, too.
    if let Some(begun) = desk.work().tasks.get_mut(&number) {
        begun.abort = Some(task.abort_handle());
    }
    Ok(())
}

impl Desk {
    /// Nobody waits for the answer any more. It may also have been sent already.
    fn cancel(&self, number: u64) {
        if let Some(task) = self.work().remove(number) {
            task.give_up();
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Task {
    fn give_up(&self) {
        if let Some(abort) = &self.abort {
            abort.abort();
        }
    }
}

impl Work {
    fn remove(&mut self, number: u64) -> Option<Task> {
        let task = self.tasks.remove(&number)?;
        self.bytes -= task.bytes;
        Some(task)
    }
}

/// What a request gets in any case: its answer, or the word that there will be none.
struct Reply {
    desk: Arc<Desk>,
    number: u64,
}

impl Reply {
    fn send(self, answer: &[u8]) {
        let desk = &self.desk;
        let number = self.number;
        if desk.work().remove(number).is_none() {
            return; // It was given up.
        }
        let failure = match desk.outgoing.push(&Head::Answer { number }, answer) {
            Ok(_) => return,
            Err(NotAdded::Full) => Failure::NoRoom,
            Err(NotAdded::Long) => {
                let Desk { from, purpose, .. } = **desk;
                let length = answer.len();
                tracing::error!("a {purpose} answer to node {from} of {length} bytes was not sent");
                Failure::LongAnswer
            }
        };
        // Should there be no room for this either, the connection is about to end.
        let _ = desk.outgoing.push_short(&Head::Fail { number, failure });
    }
}

impl Drop for Reply {
    /// The time was up, or whoever worked on it has panicked.
    fn drop(&mut self) {
        let number = self.number;
        let unanswered = self.desk.work().remove(number).is_some();
        if unanswered {
            let failure = Failure::Unanswered;
            let _ = self.desk.outgoing.push_short(&Head::Fail { number, failure });
        }
    }
}

/// Gives up all that is under way when the connection ends.
struct Clear<'a>(&'a Desk);

impl Drop for Clear<'_> {
    fn drop(&mut self) {
        let tasks = std::mem::take(&mut self.0.work().tasks);
        tasks.values().for_each(|task| task.give_up());
    }
}
