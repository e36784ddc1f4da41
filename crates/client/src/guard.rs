//! Guards (RAII): a lock or a leadership that is held, and released when the guard is dropped.

use crate::Error;
use crate::api::{Acquire, Grant, Released, limits};
use crate::cleanup::{self, Cleanup};
use crate::clock::nap;
use crate::lease::{Kind, Lease, Loss, Watch};
use crate::obtain::{PAUSE, Until};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The longest wait that a server takes; then the same request asks again.
const WAIT_MAX: Duration = Duration::from_millis(limits::WAIT_MS_MAX);

/// What is wanted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How long to wait for it: `None` for as long as it takes.
    pub wait: Option<Duration>,
    /// How long the session lives without a keepalive.
    pub ttl: Duration,
    /// What people see of the session.
    pub label: Option<String>,
    /// `exclusive` if not said.
    pub mode: Option<String>,
    /// How many may hold it at once: 1 if not said.
    pub permits: Option<u32>,
    /// Elections: what the leader wants to be known by.
    pub value: Option<String>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            wait: Some(Duration::ZERO),
            ttl: Duration::from_millis(limits::TTL_MS_DEFAULT),
            label: None,
            mode: None,
            permits: None,
            value: None,
        }
    }
}

/// A lock held, or a leadership. To drop it is to give it back.
#[derive(Debug)]
pub struct Guard {
    kind: Kind,
    grant: Grant,
    /// The id of the request that led to it.
    id: String,
    watch: Watch,
    lease: Lease,
    given_back: bool,
}

impl Lease {
    /// Acquires a lock. A connection that breaks meanwhile is made anew: the request keeps its id,
    /// and so its place in the queue.
    pub fn acquire(&self, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        self.request(Kind::Lock, name, wanted)
    }

    /// Stands for an election at the node of this session.
    pub fn stand(&self, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        self.request(Kind::Election, name, wanted)
    }

    fn request(&self, kind: Kind, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        let until = Until::new(wanted.wait);
        loop {
            let id = self.shared().new_id();
            let grant = self.request_once(kind, name, wanted, &until, &id)?;
            if !grant.released {
                let watch = self.hold(kind, name, grant.fence);
                let lease = self.clone();
                return Ok(Guard { kind, grant, id, watch, lease, given_back: false });
            }
            // Only a repeat is told so: the grant was taken back before it was asked for again.
            if until.left_is_zero() {
                return Err(Error::Lost("it was granted and taken back unnoticed".to_string()));
            }
            thread::sleep(PAUSE);
        }
    }

    /// One request, under one id, until it has an answer.
    fn request_once(
        &self,
        kind: Kind,
        name: &str,
        wanted: &Wanted,
        until: &Until,
        id: &str,
    ) -> Result<Grant, Error> {
        let shared = self.shared();
        shared.lock().waiting.insert(id.to_string(), (kind, name.to_string()));
        let answer = self.ask_until(kind, name, wanted, until, id);
        shared.lock().waiting.remove(id);
        answer.inspect_err(|error| {
            let forgotten = error.is_farewell();
            if error.is_undecided() && !forgotten && self.watch().lost().is_none() {
                // The node may know the request though it said nothing.
                let cleanup = Cleanup::Request { kind, name: name.to_string(), id: id.to_string() };
                shared.clean_up(cleanup, &shared.client);
            }
        })
    }

    fn ask_until(
        &self,
        kind: Kind,
        name: &str,
        wanted: &Wanted,
        until: &Until,
        id: &str,
    ) -> Result<Grant, Error> {
        loop {
            let request = self.words(wanted, until.at_most(WAIT_MAX), id);
            match self.ask_while_alive(kind, name, request) {
                Err(error) if error.is_farewell() => return Err(error),
                Err(error) if error.is_transient() && !until.left_is_zero() => thread::sleep(PAUSE),
                answer => return answer,
            }
        }
    }

    /// Waits for the answer for no longer than the session lives: a node that stands still neither
    /// answers nor hangs up.
    fn ask_while_alive(&self, kind: Kind, name: &str, request: Acquire) -> Result<Grant, Error> {
        let session = self.watch();
        let (sender, answers) = mpsc::channel();
        let asked = self.shared().client.clone();
        let name = name.to_string();
        let asking = thread::Builder::new().name("asks".into()).spawn(move || {
            let _ = sender.send(cleanup::ask(&asked, kind, &name, &request)); // Too late, perhaps.
        });
        asking.map_err(|error| Error::Lost(format!("no thread to ask: {error}")))?;
        loop {
            let answer = answers.recv_timeout(nap(session.left()));
            if let Some(loss) = session.lost() {
                return Err(Error::Lost(loss.to_string()));
            }
            match answer {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Lost("the thread that asked is gone".to_string()));
                }
            }
        }
    }

    fn words(&self, wanted: &Wanted, wait: Duration, id: &str) -> Acquire {
        Acquire {
            session: self.shared().session.clone(),
            wait_ms: Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            mode: wanted.mode.clone(),
            permits: wanted.permits,
            request_id: Some(id.to_string()),
            value: wanted.value.clone(),
            ..Acquire::default()
        }
    }
}

impl Guard {
    /// What is held.
    pub fn name(&self) -> &str {
        &self.grant.name
    }

    /// The number of this entry, for whatever is protected: it refuses a smaller one than it has
    /// seen. This protects even from a holder that was stopped and does not know that it lost.
    pub fn fence(&self) -> u64 {
        self.grant.fence
    }

    /// All that the node said when it granted this.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// Why it is lost, if it is.
    pub fn lost(&self) -> Option<Loss> {
        self.watch.lost()
    }

    /// Knows when it is lost, in other threads too.
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    /// Gives it back, and says whether that was done. If nobody answers, it is tried again for as
    /// long as the session lives.
    pub fn release(mut self) -> Result<Released, Error> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<Released, Error> {
        self.given_back = true;
        let shared = self.lease.shared();
        let kind = self.kind;
        let name = &self.grant.name;
        let release = shared.release_of(&self.grant, &self.id);
        let released = cleanup::give_back(&shared.client, kind, name, &release);
        self.watch.forget();
        released.inspect_err(|error| {
            if error.is_undecided() && self.lease.watch().lost().is_none() {
                shared.clean_up_later(Cleanup::Hold { kind, name: name.clone(), release });
            }
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        match self.lost() {
            _ if self.given_back => {}
            // The end of the session gives it back.
            Some(Loss::Silence) => self.watch.forget(),
            // A node that says that it was lost still waits for whoever was inside to leave.
            Some(Loss::Told(_)) | None => drop(self.give_back()),
        }
    }
}

impl Wanted {
    pub(crate) fn within(&self, wait: Option<Duration>) -> Self {
        Self { wait, ..self.clone() }
    }
}
