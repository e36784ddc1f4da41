//! Leases: a session that is kept alive by keepalives, and whose loss is known in time.

use crate::api::{NewSession, OnDisconnect};
use crate::clock::since_boot;
use crate::deadline::LeaseDeadline;
use crate::keepalive;
use crate::session::{Held, Shared, State};
use crate::stream::{self, Grace};
use crate::watch::Watch;
use crate::{Client, Error};
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// A session with threads that keep it alive. When the last clone is dropped, it ends.
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

impl Client {
    /// Opens a session, and keeps it alive. The first of a client is opened at a node of chance, or
    /// the next after it that answers. With the replicated engine it belongs to the cluster: when
    /// its node fails it goes on at another of this client's servers.
    pub fn open(&self, ttl: Duration, label: Option<&str>) -> Result<Lease, Error> {
        self.open_with(ttl, label, None)
    }

    /// The same. With a grace it ends so soon after this process does, by a stream that it keeps at
    /// a node: replicated engine. With a grace below the time of a fail-over, the loss of that node
    /// is a loss of the session: see [`Watch::lost`].
    pub fn open_with(
        &self,
        ttl: Duration,
        label: Option<&str>,
        grace: Option<Duration>,
    ) -> Result<Lease, Error> {
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let request = NewSession {
            on_disconnect: grace.map(|grace| OnDisconnect { grace_ms: ms(grace) }),
            ttl_ms: Some(ms(ttl)),
            label: label.map(ToString::to_string),
            request_id: opening_id(),
        };
        self.spread();
        let sent = since_boot();
        let (server, session) = self.open_session_whom(&request)?;
        let deadline = LeaseDeadline::new(Duration::from_millis(session.ttl_ms), sent);
        let of_cluster = session.is_of_cluster();
        let mut state = State::new(deadline, of_cluster, &server);
        state.grace = grace.map(Grace::new);
        let shared = Arc::new(Shared {
            client: if of_cluster { self.clone() } else { self.at(&server)? },
            session: session.session,
            of_cluster,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        if !self.leases.add(&shared) {
            shared.close();
            return Err(Error::Lost("this client was closed".to_string()));
        }
        let lease = Lease::kept_alive(shared, spawn_keepalive)?;
        if let Some(grace) = grace {
            stream::begin(lease.shared(), grace)?;
        }
        Ok(lease)
    }
}

/// An id that nobody else comes up with: a repeat at another node then opens no second session. It
/// can be done without.
fn opening_id() -> Option<String> {
    let mut drawn = [0; 16];
    let length = rustix::rand::getrandom(&mut drawn, rustix::rand::GetRandomFlags::empty()).ok()?;
    (length == drawn.len()).then(|| format!("{:032x}", u128::from_be_bytes(drawn)))
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

    /// The node that knows the session; of several, the one that answered last.
    pub fn server(&self) -> &str {
        self.shared().client.server()
    }

    /// Whether any node of the cluster knows the session.
    pub fn is_of_cluster(&self) -> bool {
        self.shared().of_cluster
    }

    /// Knows when the session is lost.
    pub fn watch(&self) -> Watch {
        Watch::new(Arc::clone(self.shared()), None)
    }

    /// Has whatever is being waited for on this lease, in other threads, leave its queue at once:
    /// the wait ends with an error of the code `withdrawn`. What is held stays held. A grant that
    /// is on its way is not held yet: it is given back, and nobody is told of it.
    pub fn give_up(&self) {
        let shared = self.shared();
        let mut state = shared.lock();
        let waiting = state.waiting.clone();
        state.void.extend(waiting.keys()); // Before anybody else can be let in.
        drop(state);
        for (number, waiting) in &waiting {
            let withdrawal = shared.withdrawal(waiting.kind, &waiting.name, *number);
            shared.clean_up(withdrawal, &shared.client);
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.owner.0
    }

    /// From now on the threads look after this too. Its request is answered, and held, at once: a
    /// keepalive that knew of neither would give it back.
    pub(crate) fn hold(&self, number: u64, mut held: Held) -> Watch {
        let shared = Arc::clone(self.shared());
        let mut state = shared.lock();
        let until = state.deadline.deadline();
        if state.void.remove(&number) {
            held.lose("it was taken away by force", until);
        }
        state.held.insert(number, held);
        state.requests.settle(number);
        state.keepalive_at = state.keepalive_at.min(state.next_keepalive());
        drop(state);
        shared.changed.notify_all();
        Watch::new(shared, Some(number))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
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
            of_cluster: false,
            state: Mutex::new(State::new(deadline, false, "")),
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
