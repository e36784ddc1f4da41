//! Admission control at the door: how many connections may be in the middle of their handshake.

use crate::RateLimitedLog;
use crate::cable::cable;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

/// Accepts connections and greets each in a task of its own, for ever. When too many have yet to
/// introduce themselves, the one that has had the longest time for it gives way: a crowd at the
/// door must not keep out a node that comes back.
pub(crate) async fn greet_strangers<Stream, Accepting, Greeting>(
    accept: impl Fn() -> Accepting,
    limit: usize,
    warnings: &RateLimitedLog,
    greet: impl Fn(Stream, SocketAddr) -> Greeting,
) where
    Accepting: Future<Output = io::Result<(Stream, SocketAddr)>>,
    Greeting: Future<Output = ()> + Send + 'static,
{
    let mut strangers = JoinSet::new();
    let mut greeted: VecDeque<(SocketAddr, AbortHandle)> = VecDeque::new();
    loop {
        while strangers.try_join_next().is_some() {}
        cable().plugged_in().await;
        let (stream, address) = match accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // No file handles left, most likely: they come back when others close.
                warnings.say(format_args!("cannot accept a connection: {error}"));
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        greeted.retain(|(_, task)| !task.is_finished());
        if greeted.len() >= limit
            && let Some((oldest, task)) = greeted.pop_front()
        {
            task.abort();
            let others = format!("closed: {limit} others have yet to introduce themselves");
            warnings.about(oldest, others);
        }
        let task = strangers.spawn(greet(stream, address));
        greeted.push_back((address, task));
    }
}
