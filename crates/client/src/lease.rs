//! Leases: a session that is kept alive by keepalives, and whose loss is known in time.

use crate::api::{NewSession, limits};
use crate::cleanup::{self, Cleanups};
use crate::clock::{nap, since_boot};
use crate::deadline::LeaseDeadline;
use crate::keepalive;
use crate::{Client, Error};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
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

/// A session with a thread that keeps it alive. When the last clone is dropped, it ends.
#[derive(Clone, Debug)]
pub struct Lease {
    owner: Arc<Owner>,
}

/// The sessions that a client and its clones keep alive.
#[derive(Debug)]
pub(crate) struct Leases(Mutex<Option<Vec<Weak<Shared>>>>);

impl Leases {
    pub fn new() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }

    /// Knows one more, unless all were ended before.
    fn add(&self, lease: &Arc<Shared>) -> bool {
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(leases) = &mut *leases else { return false };
        leases.retain(|lease| lease.strong_count() > 0);
        leases.push(Arc::downgrade(lease));
        true
    }

    /// Ends them all, and whichever comes later.
    pub fn close(&self) {
        let leases = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        for lease in leases.iter().flatten().filter_map(Weak::upgrade) {
            lease.close();
        }
    }
}

/// What all clones own together.
#[derive(Debug)]
struct Owner(Arc<Shared>);

/// What the thread and the owners share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Of the one node that knows the session.
    pub client: Client,
    pub session: String,
    pub state: Mutex<State>,
    pub changed: Condvar,
}

#[derive(Debug)]
pub(crate) struct State {
    pub deadline: LeaseDeadline,
    /// When to send the next keepalive, unless one is answered before.
    pub keepalive_at: Duration,
    /// How many of the threads have asked, and not heard all that they asked for.
    pub asking: usize,
    pub loss: Option<Loss>,
    /// The owners are gone.
    pub closed: bool,
    /// What is held, by number.
    pub held: BTreeMap<u64, Held>,
    /// What is being waited for, by the id of the request.
    pub waiting: BTreeMap<String, (Kind, String)>,
    /// What nobody wants any more, and the node may still keep.
    pub cleanups: Cleanups,
    numbers: u64,
}

/// A lock or leadership, as the thread looks after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub kind: Kind,
    pub name: String,
    pub fence: u64,
    pub loss: Option<Loss>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lock,
    Election,
}

/// Knows when one thing that is held is lost, and can be given to another thread.
#[derive(Clone, Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    /// Of one thing held, or of the session itself.
    number: Option<u64>,
}

impl Client {
    /// Opens a session, and keeps it alive. The first of a client is opened at a node of chance, or
    /// the next after it that answers.
    pub fn open(&self, ttl: Duration, label: Option<&str>) -> Result<Lease, Error> {
        let request = NewSession {
            ttl_ms: Some(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX)),
            label: label.map(ToString::to_string),
            ..NewSession::default()
        };
        self.spread();
        let sent = since_boot();
        let (server, session) = self.open_session_whom(&request)?;
        let deadline = LeaseDeadline::new(Duration::from_millis(session.ttl_ms), sent);
        let shared = Arc::new(Shared {
            client: self.at(&server)?,
            session: session.session,
            state: Mutex::new(State::new(deadline)),
            changed: Condvar::new(),
        });
        if !self.leases.add(&shared) {
            shared.close();
            return Err(Error::Lost("this client was closed".to_string()));
        }
        Lease::kept_alive(shared, spawn_keepalive)
    }
}

/// One of the threads that keep a session alive.
fn spawn_keepalive(number: usize, kept: Arc<Shared>) -> io::Result<()> {
    let thread = thread::Builder::new().name("keepalive".into()).spawn(move || {
        keepalive::run(&kept);
        if number == 0 {
            keepalive::end_if_only_waiting(&kept);
        }
    });
    thread.map(drop)
}

impl Lease {
    /// The owner is there before the threads: if one of them cannot be had, it ends the session,
    /// which the others would keep alive for nobody.
    fn kept_alive(
        shared: Arc<Shared>,
        spawn: impl Fn(usize, Arc<Shared>) -> io::Result<()>,
    ) -> Result<Self, Error> {
        let lease = Self { owner: Arc::new(Owner(shared)) };
        for number in 0..keepalive::THREADS {
            let spawned = spawn(number, Arc::clone(lease.shared()));
            spawned.map_err(|error| Error::Lost(format!("no thread to keep it alive: {error}")))?;
        }
        Ok(lease)
    }

    /// The node that knows the session.
    pub fn server(&self) -> &str {
        self.shared().client.server()
    }

    /// Knows when the session is lost.
    pub fn watch(&self) -> Watch {
        Watch { shared: Arc::clone(self.shared()), number: None }
    }

    /// Has whatever is being waited for on this lease, in other threads, leave its queue at once:
    /// the wait ends with an error of the code `withdrawn`. What is held stays held.
    pub fn give_up(&self) {
        let waiting = self.shared().lock().waiting.clone();
        for (id, (kind, name)) in &waiting {
            let shared = self.shared();
            // It may have been granted before.
            let _ = cleanup::withdraw(&shared.client, *kind, name, id, &shared.session);
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.owner.0
    }

    /// From now on the thread looks after this too.
    pub(crate) fn hold(&self, kind: Kind, name: &str, fence: u64) -> Watch {
        let shared = Arc::clone(self.shared());
        let mut state = shared.lock();
        let number = state.next_number();
        state.held.insert(number, Held { kind, name: name.to_string(), fence, loss: None });
        state.keepalive_at = state.keepalive_at.min(state.next_keepalive());
        drop(state);
        shared.changed.notify_all();
        Watch { shared, number: Some(number) }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An id that no other request of this session has, in whichever thread.
    pub fn new_id(&self) -> String {
        format!("{:x}", self.lock().next_number())
    }

    /// Ends the session, if it has not ended yet.
    pub fn close(&self) {
        let mut state = self.lock();
        let alive = state.loss.is_none() && !state.closed;
        state.closed = true;
        drop(state);
        self.changed.notify_all();
        if alive {
            let _ = self.client.close_session(&self.session); // Else its time runs out.
        }
    }
}

impl State {
    fn new(deadline: LeaseDeadline) -> Self {
        Self {
            deadline,
            keepalive_at: deadline.next_keepalive(false),
            asking: 0,
            loss: None,
            closed: false,
            held: BTreeMap::new(),
            waiting: BTreeMap::new(),
            cleanups: Cleanups::default(),
            numbers: 0,
        }
    }

    /// When to send the next keepalive, if the last one was answered.
    pub fn next_keepalive(&self) -> Duration {
        self.deadline.next_keepalive(!self.held.is_empty())
    }

    fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Whether the session is lost by now. Once it is, it stays so.
    pub fn judge(&mut self, now: Duration) -> Option<Loss> {
        if self.loss.is_none() && self.deadline.left(now).is_zero() {
            self.loss = Some(Loss::Silence);
        }
        self.loss.clone()
    }
}

impl Watch {
    /// Why it is lost, if it is.
    pub fn lost(&self) -> Option<Loss> {
        self.judge(&mut self.shared.lock())
    }

    /// How long the session lives without a keepalive: what the node gave, which may be less than
    /// what was asked for.
    pub fn ttl(&self) -> Duration {
        self.shared.lock().deadline.ttl()
    }

    /// How long it can still be relied on, should nothing be heard any more.
    pub fn left(&self) -> Duration {
        let mut state = self.shared.lock();
        match self.judge(&mut state) {
            Some(_) => Duration::ZERO,
            None => state.deadline.left(since_boot()),
        }
    }

    /// Waits until it is lost, or given back: then there is no loss.
    pub fn wait(&self) -> Option<Loss> {
        let mut state = self.shared.lock();
        loop {
            let loss = self.judge(&mut state);
            if loss.is_some() || state.closed || self.is_over(&state) {
                return loss;
            }
            let left = state.deadline.left(since_boot());
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
        own.or(session)
    }

    fn is_over(&self, state: &State) -> bool {
        self.number.is_some_and(|number| !state.held.contains_key(&number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    #[test]
    fn a_session_that_lacks_a_thread_is_ended_and_not_kept_for_nobody() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let node = thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            write!(&stream, "HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            line
        });
        let deadline = LeaseDeadline::new(Duration::from_secs(600), since_boot());
        let shared = Arc::new(Shared {
            client: Client::new([address]).unwrap(),
            session: "5e55".to_string(),
            state: Mutex::new(State::new(deadline)),
            changed: Condvar::new(),
        });
        let spawn = |number, kept| match number {
            0 => spawn_keepalive(number, kept),
            _ => Err(io::Error::other("no room")),
        };
        let error = Lease::kept_alive(Arc::clone(&shared), spawn).unwrap_err();
        assert!(error.to_string().contains("no room"), "{error}");
        assert!(shared.lock().closed);
        assert!(node.join().unwrap().starts_with("DELETE /v1/sessions/5e55 "));
    }
}
