//! Keepalives: two threads that renew a session, look whether what it holds is still held, and
//! clean up what is owed.
//!
//! A node that is overrun answers late. Whoever gave up on each answer after a while would ask
//! again and again, and lose a session that the node has renewed every time. So an answer is
//! waited for as long as it is of use; if it does not come soon, the other thread asks too, over a
//! new connection: the first may be dead, and with it all that were kept for later use.

use crate::Client;
use crate::api::Code;
use crate::clock::{nap, since_boot};
use crate::lease::{Held, Kind, Loss, Shared};
use std::sync::PoisonError;
use std::time::Duration;

/// So many keepalives may be under way at once, each in a thread.
pub(crate) const THREADS: usize = 2;

/// Runs until the session is lost or closed.
pub(crate) fn run(shared: &Shared) {
    while let Some(Turn { sent, client }) = next_turn(shared) {
        let patience = shared.lock().deadline.left(sent);
        match client.keepalive(&shared.session, patience) {
            Ok(session) => {
                let ttl = Duration::from_millis(session.ttl_ms);
                let mut state = shared.lock();
                let now = since_boot();
                state.deadline.renew(sent, now, ttl);
                // Sooner where the node gives less time, later where nothing is held; and if the
                // other thread has asked since, that counts.
                let next = state.next_keepalive().max(now);
                let silent = state.deadline.next_if_silent(now);
                let asked_since = state.keepalive_at > state.deadline.next_if_silent(sent);
                state.keepalive_at =
                    if asked_since { state.keepalive_at.min(silent) } else { next };
                drop(state);
                check_holds(shared, &client);
                clean_up(shared, &client);
            }
            Err(error) if error.says(Code::NoSession) => {
                shared.lock().loss.get_or_insert(Loss::Told(error.to_string()));
            }
            Err(_) => {
                let mut state = shared.lock();
                let again = since_boot() + state.deadline.retry_pause();
                state.keepalive_at = state.keepalive_at.min(again);
            }
        }
        let mut state = shared.lock();
        state.cleanups.put_off();
        state.asking -= 1;
        drop(state);
        shared.changed.notify_all();
    }
}

/// It is time to ask for more time, and one of the threads does.
struct Turn {
    /// Since when.
    sent: Duration,
    /// With its own connections, if the other thread still waits for an answer.
    client: Client,
}

/// A session that was lost by silence may live on at a node that stood still, and be granted there
/// what nobody waits for any more. One that holds something is left to its own end: whoever is
/// inside may not have left yet.
pub(crate) fn end_if_only_waiting(shared: &Shared) {
    let state = shared.lock();
    let waiting = state.loss == Some(Loss::Silence) && state.held.is_empty();
    drop(state);
    if waiting {
        let _ = shared.client.close_session(&shared.session); // Else its time runs out.
    }
}

/// Does what is owed to a node that has just answered.
fn clean_up(shared: &Shared, client: &Client) {
    let cleanups = shared.lock().cleanups.take();
    for cleanup in cleanups {
        shared.clean_up(cleanup, &until_keepalive(shared, client));
    }
}

/// The same client, which waits for an answer only until the next keepalive.
fn until_keepalive(shared: &Shared, client: &Client) -> Client {
    let next = shared.lock().next_keepalive();
    client.within(next.saturating_sub(since_boot()))
}

/// When it is time to ask for more time, and this thread is to do it; `None` if there is nothing
/// left to keep alive. Whoever owes something speaks up earlier.
fn next_turn(shared: &Shared) -> Option<Turn> {
    let mut state = shared.lock();
    loop {
        let now = since_boot();
        if state.judge(now).is_some() || state.closed {
            shared.changed.notify_all();
            return None;
        }
        let owed = state.cleanups.due();
        let moment = owed.map_or(state.keepalive_at, |due| due.min(state.keepalive_at));
        if now >= moment {
            state.keepalive_at = state.deadline.next_if_silent(now);
            state.cleanups.put_off(); // Not by both.
            let alone = state.asking == 0;
            state.asking += 1;
            let client = &shared.client;
            let client = if alone { client.clone() } else { client.glance(Duration::MAX) };
            return Some(Turn { sent: now, client });
        }
        let pause = moment.saturating_sub(now).min(state.deadline.left(now));
        let woken = shared.changed.wait_timeout(state, nap(pause));
        state = woken.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// A session may live on while something it holds is taken away: by force, or because the node
/// leads no longer.
fn check_holds(shared: &Shared, client: &Client) {
    let held: Vec<(u64, Held)> =
        shared.lock().held.iter().map(|(number, held)| (*number, held.clone())).collect();
    for (number, held) in held {
        if is_still_held(&until_keepalive(shared, client), &held) {
            continue;
        }
        if let Some(held) = shared.lock().held.get_mut(&number) {
            let what = match held.kind {
                Kind::Lock => "the node holds the lock for this session no longer",
                Kind::Election => "the node leads no longer, or another session does",
            };
            held.loss.get_or_insert(Loss::Told(what.to_string()));
        }
    }
}

/// Only a clear answer counts: without one, the keepalives decide.
fn is_still_held(client: &Client, held: &Held) -> bool {
    match held.kind {
        Kind::Lock => client.verify(&held.name, held.fence).map_or(true, |verified| verified.valid),
        Kind::Election => client.election(&held.name).map_or(true, |election| {
            election.leader.is_some_and(|leader| leader.fence == held.fence)
        }),
    }
}
