//! Asking for a lock or a leadership under one request id, at one node or at one after the other,
//! until there is an answer.

use crate::api::{Acquire, AcquireAll, Code, Failure, Grant, WantedLock, limits};
use crate::calls::PATIENCE;
use crate::cleanup::Cleanup;
use crate::clock::nap;
use crate::guard::Wanted;
use crate::lease::Lease;
use crate::obtain::{PAUSE, Until};
use crate::session::{Kind, Shared, Waiting};
use crate::{Client, Error};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The longest wait that a server takes; then the same request asks again.
const WAIT_MAX: Duration = Duration::from_millis(limits::WAIT_MS_MAX);
/// One request is asked at so many nodes at once, at most.
const ASKED_MAX: usize = 3;

/// What a session asks for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub kind: Kind,
    /// One, or several locks: all or none.
    pub locks: Vec<WantedLock>,
}

impl Asked {
    pub fn one(kind: Kind, name: &str, wanted: &Wanted) -> Self {
        let lock = WantedLock {
            name: name.to_string(),
            mode: wanted.mode.clone(),
            permits: wanted.permits,
        };
        Self { kind, locks: vec![lock] }
    }

    /// The name of the first.
    pub fn name(&self) -> &str {
        self.locks.first().map_or("", |lock| &lock.name)
    }
}

/// The words of a request.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    One(Kind, String, Acquire),
    All(AcquireAll),
}

impl Words {
    /// Asks, and waits for as long as the words say.
    pub fn ask(&self, client: &Client) -> Result<Vec<Grant>, Error> {
        match self {
            Self::One(Kind::Lock, name, words) => client.acquire(name, words).map(|it| vec![it]),
            Self::One(Kind::Election, name, words) => {
                client.campaign(name, words).map(|it| vec![it])
            }
            Self::All(words) => client.acquire_all(words).map(|it| it.grants),
        }
    }
}

/// What whoever waits for an answer is told.
#[derive(Debug)]
pub(crate) enum Heard {
    /// An answer, from a node that was asked.
    Answer(Result<Vec<Grant>, Error>),
    /// The session is at another node now.
    Moved,
}

impl Lease {
    /// One request, under one number, until it has an answer; with that number.
    pub(crate) fn ask_once(
        &self,
        asked: &Asked,
        wanted: &Wanted,
        until: &Until,
    ) -> Result<(u64, Vec<Grant>), Error> {
        let shared = self.shared();
        let (tell, heard) = mpsc::channel();
        let kind = asked.kind;
        let name = asked.name().to_string();
        let mut state = shared.lock();
        let number = state.requests.begin();
        state.waiting.insert(number, Waiting { kind, name: name.clone(), tell: tell.clone() });
        drop(state);
        let asking = Asking { shared, number, tell, heard };
        let answer = asking.ask_until(asked, wanted, until, self);
        let mut state = shared.lock();
        state.waiting.remove(&number);
        if state.void.remove(&number) && !matches!(answer, Err(Error::Lost(_))) {
            state.requests.settle(number);
            return Err(withdrawn(self.server()));
        }
        drop(state);
        match answer {
            Ok(grants) => Ok((number, grants)),
            Err(error) => {
                shared.lock().requests.settle(number);
                let forgotten = error.is_farewell() && !shared.of_cluster;
                if error.is_undecided() && !forgotten && self.watch().lost().is_none() {
                    // A node may know the request though it said nothing.
                    let cleanup = shared.withdrawal(kind, &name, number);
                    shared.clean_up(cleanup, &shared.client);
                }
                Err(error)
            }
        }
    }
}

/// What a server says of a request that was given up.
fn withdrawn(server: &str) -> Error {
    let failure = Box::new(Failure::new(Code::Withdrawn, "this request was withdrawn"));
    Error::Refused { server: server.to_string(), status: failure.status(), failure }
}

/// One request that is being asked.
struct Asking<'a> {
    shared: &'a Arc<Shared>,
    number: u64,
    tell: Sender<Heard>,
    heard: Receiver<Heard>,
}

impl Asking<'_> {
    fn ask_until(
        &self,
        asked: &Asked,
        wanted: &Wanted,
        until: &Until,
        lease: &Lease,
    ) -> Result<Vec<Grant>, Error> {
        let of_cluster = self.shared.of_cluster;
        // A repeat in a cluster has the same words; a node alone is told what is left of the wait.
        let whole = until.at_most(WAIT_MAX);
        loop {
            let wait = if of_cluster { whole } else { until.at_most(WAIT_MAX) };
            match self.ask_while_alive(asked, wanted, wait, until, lease) {
                Err(error) if error.is_farewell() && !of_cluster => return Err(error),
                Err(error)
                    if error.is_transient()
                        && !until.left_is_zero()
                        && !self.shared.is_void(self.number) =>
                {
                    thread::sleep(error.retry_after().map_or(PAUSE, |after| after.min(PAUSE)));
                }
                answer => return answer,
            }
        }
    }

    /// Waits for the answer for no longer than the session lives: a node that stands still neither
    /// answers nor hangs up. When the session moves to another node, that one is asked too.
    fn ask_while_alive(
        &self,
        asked: &Asked,
        wanted: &Wanted,
        wait: Duration,
        until: &Until,
        lease: &Lease,
    ) -> Result<Vec<Grant>, Error> {
        let session = lease.watch();
        let words = || self.words(asked, wanted, wait);
        self.spawn(words(), self.shared.client.clone())?;
        let mut under_way = 1;
        loop {
            let heard = self.heard.recv_timeout(nap(session.left()));
            if let Some(loss) = session.lost() {
                return Err(Error::Lost(loss.to_string()));
            }
            match heard {
                Ok(Heard::Answer(Err(error))) if under_way > 1 && error.is_undecided() => {
                    under_way -= 1;
                }
                Ok(Heard::Answer(answer)) => return answer,
                Ok(Heard::Moved) if under_way < ASKED_MAX => {
                    self.spawn(words(), self.shared.client.glance(Duration::MAX))?;
                    under_way += 1;
                }
                Ok(Heard::Moved) => {}
                Err(RecvTimeoutError::Timeout) if until.is_over_since(PATIENCE) => {
                    return Err(Error::Unreachable("any node, in time".to_string()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Lost("the thread that asked is gone".to_string()));
                }
            }
        }
    }

    fn spawn(&self, words: Words, client: Client) -> Result<(), Error> {
        let tell = self.tell.clone();
        let asking = thread::Builder::new().name("asks".into()).spawn(move || {
            let _ = tell.send(Heard::Answer(words.ask(&client))); // Too late, perhaps.
        });
        asking.map(drop).map_err(|error| Error::Lost(format!("no thread to ask: {error}")))
    }

    fn words(&self, asked: &Asked, wanted: &Wanted, wait: Duration) -> Words {
        let session = self.shared.session.clone();
        let wait_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let request_id = Some(self.number.to_string());
        let lowest_open = self.shared.lowest_open();
        let owner = wanted.owner.clone();
        match &*asked.locks {
            [lock] => {
                let mode = lock.mode.clone();
                let permits = lock.permits;
                let value = wanted.value.clone();
                let words = Acquire {
                    session,
                    wait_ms,
                    mode,
                    permits,
                    request_id,
                    lowest_open,
                    owner,
                    value,
                };
                Words::One(asked.kind, lock.name.clone(), words)
            }
            locks => {
                let locks = locks.to_vec();
                let words = AcquireAll { session, locks, wait_ms, request_id, lowest_open, owner };
                Words::All(words)
            }
        }
    }
}

impl Shared {
    /// What has a request leave its queue, or gives back what it was granted.
    pub fn withdrawal(&self, kind: Kind, name: &str, number: u64) -> Cleanup {
        let own = self.of_cluster.then(|| self.lock().requests.begin());
        Cleanup::Request { kind, name: name.to_string(), number, own }
    }
}
