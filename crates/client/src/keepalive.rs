//! Keepalives: two threads that renew a session, look whether what it holds is still held, and
//! clean up what is owed.
//!
//! A node that is overrun answers late. Whoever gave up on each answer after a while would ask
//! again and again, and lose a session that the node has renewed every time. So an answer is
//! waited for as long as it is of use; if it does not come soon, the other thread asks too, over a
//! new connection: the first may be dead, and with it all that were kept for later use. A session
//! that belongs to a cluster is renewed by any node: then the other thread asks another one.

use crate::api::{Code, KeepAlive, Session};
use crate::clock::{nap, since_boot};
use crate::session::{Held, Kind, Shared, State};
use crate::watch::Loss;
use crate::{Client, Error};
use std::sync::PoisonError;
use std::time::Duration;

/// So many keepalives may be under way at once, each in a thread.
pub(crate) const THREADS: usize = 2;

/// In a cluster, whoever failed everywhere asks again at least this soon: somebody will lead.
const RETRY_MAX: Duration = Duration::from_millis(200);

/// Runs until the session is lost or closed.
pub(crate) fn run(shared: &Shared) {
    while let Some(turn) = next_turn(shared) {
        let Turn { sent, client, words, .. } = &turn;
        match client.keepalive_whom(&shared.session, words, turn.patience, Some(turn.until)) {
            Ok((server, session)) => {
                on_answer(shared, &turn, &session);
                shared.is_at_home(&server);
                check_holds(shared, client);
                clean_up(shared, client);
            }
            Err(error) if error.says(Code::NoSession) && is_gone(shared, &error) => {
                shared.lock().loss.get_or_insert(Loss::Told(error.to_string()));
            }
            Err(_) => {
                let mut state = shared.lock();
                let pause = state.deadline.retry_pause();
                let pause = if shared.of_cluster { pause.min(RETRY_MAX) } else { pause };
                let again = since_boot().max(*sent) + pause;
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

/// The session has more time, and the cluster has told what it holds.
fn on_answer(shared: &Shared, turn: &Turn, answer: &Session) {
    let ttl = Duration::from_millis(answer.ttl_ms);
    let mut state = shared.lock();
    let now = since_boot();
    let until = state.ends();
    state.deadline.renew(turn.sent, now, ttl);
    // Sooner where the node gives less time, later where nothing is held; and if the other thread
    // has asked since, that counts.
    let next = state.next_keepalive().max(now);
    let silent = state.next_if_silent(now);
    let asked_since = state.keepalive_at > state.next_if_silent(turn.sent);
    state.keepalive_at = if asked_since { state.keepalive_at.min(silent) } else { next };
    if let Some(holds) = &answer.holds {
        state.compare(holds, &turn.held, until);
        drop(state);
        shared.changed.notify_all();
    }
}

/// Whether the session is gone from its own cluster. An address may belong to another one by now,
/// which knows of no such session.
fn is_gone(shared: &Shared, error: &Error) -> bool {
    let Error::Refused { server, .. } = error else { return false };
    if !shared.of_cluster {
        return true;
    }
    let asked = shared.client.at(server).and_then(|client| client.within(LOOK).cluster());
    let own = asked.and_then(|cluster| {
        shared.client.pinned.check(server, &cluster.cluster_id, cluster.generation)
    });
    own.inspect_err(|_| shared.client.pass_over(server)).is_ok()
}

/// A look at which cluster answers takes no longer.
const LOOK: Duration = Duration::from_secs(1);

/// It is time to ask for more time, and one of the threads does.
struct Turn {
    /// Since when.
    sent: Duration,
    /// With its own connections, if the other thread still waits for an answer; in a cluster, at
    /// another node.
    client: Client,
    /// How long one node may take to answer.
    patience: Duration,
    /// The session is lost then, unless it was renewed: it is not renewed any more.
    until: Duration,
    words: KeepAlive,
    /// What was held when it was sent, by the numbers of the requests.
    held: Vec<u64>,
}

impl Turn {
    fn new(shared: &Shared, state: &mut State, now: Duration) -> Self {
        let alone = state.asking == 0;
        let client = match alone {
            true => shared.client.clone(),
            false if shared.of_cluster => shared.client.glance_elsewhere(),
            false => shared.client.glance(Duration::MAX),
        };
        let left = state.deadline.left(now);
        let patience = if shared.of_cluster { left.min(state.deadline.ttl() / 2) } else { left };
        let held = state.held.keys().copied().collect();
        let until = state.ends();
        Self { sent: now, client, patience, until, words: state.keepalive(), held }
    }
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
            state.keepalive_at = state.next_if_silent(now);
            state.cleanups.put_off(); // Not by both.
            let turn = Turn::new(shared, &mut state, now);
            state.asking += 1;
            return Some(turn);
        }
        let pause = moment.saturating_sub(now).min(state.left(now));
        let woken = shared.changed.wait_timeout(state, nap(pause));
        state = woken.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// A session may live on while something it holds is taken away: by force, or because the node
/// leads no longer. A node alone is asked; a cluster has told.
fn check_holds(shared: &Shared, client: &Client) {
    if shared.of_cluster {
        return;
    }
    let held: Vec<(u64, Held)> =
        shared.lock().held.iter().map(|(number, held)| (*number, held.clone())).collect();
    for (number, held) in held {
        if is_still_held(&until_keepalive(shared, client), &held) {
            continue;
        }
        let mut state = shared.lock();
        let until = state.deadline.deadline();
        if let Some(held) = state.held.get_mut(&number) {
            let what = match held.kind {
                Kind::Lock => "the node holds the lock for this session no longer",
                Kind::Election => "the node leads no longer, or another session does",
            };
            held.lose(what, until);
        }
    }
}

/// Only a clear answer counts: without one, the keepalives decide.
fn is_still_held(client: &Client, held: &Held) -> bool {
    held.names.iter().all(|(name, fence)| match held.kind {
        Kind::Lock => client.verify(name, *fence).map_or(true, |verified| verified.valid),
        Kind::Election => client
            .election(name)
            .map_or(true, |election| election.leader.is_some_and(|leader| leader.fence == *fence)),
    })
}
