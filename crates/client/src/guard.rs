//! Guards (RAII): locks or a leadership that is held, and released when the guard is dropped.

use crate::Error;
use crate::api::{
    Code, Grant, HandOver, HandedOver, NewValue, Released, Value, WantedLock, limits,
};
use crate::asking::Asked;
use crate::cleanup::{self, Cleanup};
use crate::lease::Lease;
use crate::obtain::{PAUSE, Until};
use crate::session::{Held, Kind};
use crate::watch::{Loss, Watch};
use std::thread;
use std::time::Duration;

/// What is wanted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How long to wait for it: `None` for as long as it takes.
    pub wait: Option<Duration>,
    /// How long the session lives without a keepalive.
    pub ttl: Duration,
    /// Replicated engine: how soon the session ends after this process does, if that is to be
    /// sooner: see [`crate::Client::open_with`].
    pub grace: Option<Duration>,
    /// What people see of the session.
    pub label: Option<String>,
    /// `exclusive` if not said, or `shared`.
    pub mode: Option<String>,
    /// How many may hold it at once: 1 if not said.
    pub permits: Option<u32>,
    /// The thread of control that asks: it may enter again what it holds.
    pub owner: Option<String>,
    /// Elections: what the leader wants to be known by.
    pub value: Option<String>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            wait: Some(Duration::ZERO),
            ttl: Duration::from_millis(limits::TTL_MS_DEFAULT),
            grace: None,
            label: None,
            mode: None,
            permits: None,
            owner: None,
            value: None,
        }
    }
}

/// A lock held, or several, or a leadership. To drop it is to give it back.
#[derive(Debug)]
pub struct Guard {
    kind: Kind,
    /// At least one.
    grants: Vec<Grant>,
    /// The number of the request that led to it.
    number: u64,
    watch: Watch,
    lease: Lease,
    given_back: bool,
}

impl Lease {
    /// Acquires a lock. A connection that breaks meanwhile is made anew: the request keeps its id,
    /// and so its place in the queue.
    pub fn acquire(&self, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        self.request(&Asked::one(Kind::Lock, name, wanted), wanted)
    }

    /// Acquires several locks at once, all or none: replicated engine. How each is to be held, it
    /// says itself.
    pub fn acquire_all(&self, locks: &[WantedLock], wanted: &Wanted) -> Result<Guard, Error> {
        self.request(&Asked { kind: Kind::Lock, locks: locks.to_vec() }, wanted)
    }

    /// Stands for an election: with a classic engine, at the node of this session.
    pub fn stand(&self, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        self.request(&Asked::one(Kind::Election, name, wanted), wanted)
    }

    pub(crate) fn request(&self, asked: &Asked, wanted: &Wanted) -> Result<Guard, Error> {
        let kind = asked.kind;
        let until = Until::new(wanted.wait);
        loop {
            let (number, grants) = match self.ask_once(asked, wanted, &until) {
                // No server takes a longer wait than an hour; this one is longer.
                Err(error) if error.says(Code::Timeout) && until.has_time_left() => continue,
                answer => answer?,
            };
            if grants.iter().all(|grant| !grant.released) {
                let watch = self.hold(number, Held::new(kind, &grants));
                let lease = self.clone();
                return Ok(Guard { kind, grants, number, watch, lease, given_back: false });
            }
            self.shared().settle(Some(number));
            // Only a repeat is told so: the grant was taken back before it was asked for again.
            if until.left_is_zero() {
                return Err(Error::Lost("it was granted and taken back unnoticed".to_string()));
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Guard {
    /// What is held; of several, the first.
    pub fn name(&self) -> &str {
        &self.grant().name
    }

    /// The number of this entry, for whatever is protected: it refuses a smaller one than it has
    /// seen. This protects even from a holder that was stopped and does not know that it lost.
    pub fn fence(&self) -> u64 {
        self.grant().fence
    }

    /// The same, if it is held still by the clock of this machine.
    pub fn fence_if_held(&self) -> Result<u64, Error> {
        match self.lost() {
            None => Ok(self.fence()),
            Some(loss) => Err(Error::Lost(loss.to_string())),
        }
    }

    /// Writes a value with this fence. In a cluster a repeat, or a request that comes late, does
    /// not undo a later write of the same session.
    pub fn set_value(&self, name: &str, value: serde_json::Value) -> Result<Value, Error> {
        let fence = self.fence_if_held()?;
        let shared = self.lease.shared();
        let own = shared.of_cluster.then(|| shared.lock().requests.begin());
        let request = NewValue {
            value,
            fence,
            session: own.map(|_| shared.session.clone()),
            request_id: own.map(|own| own.to_string()),
            lowest_open: own.and_then(|_| shared.lowest_open()),
        };
        let answer = shared.client.set_value(name, &request);
        shared.settle(own);
        answer
    }

    /// All that the node said when it granted this; of several, the first.
    pub fn grant(&self) -> &Grant {
        &self.grants[0]
    }

    /// All that is held, in the order in which it was asked for: each with a fence of its own.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
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

    /// The leader lets the candidate with this label lead next, ahead of the queue: replicated
    /// engine. If there is none, it leads on; otherwise there is nothing left to give back.
    pub fn hand_over(&mut self, to: &str) -> Result<HandedOver, Error> {
        let shared = self.lease.shared();
        let own = shared.lock().requests.begin();
        let request = HandOver {
            session: shared.session.clone(),
            fence: self.fence(),
            to: to.to_string(),
            request_id: Some(own.to_string()),
            lowest_open: shared.lowest_open(),
        };
        let answer = shared.parting().hand_over(self.name(), &request);
        shared.settle(Some(own));
        if answer.is_ok() {
            self.given_back = true;
            self.watch.forget();
        }
        answer
    }

    /// Gives all back, one after the other. The answer is the first refusal, or else the last.
    fn give_back(&mut self) -> Result<Released, Error> {
        self.given_back = true;
        let mut answer = self.give_one_back(&self.grants[0]);
        for grant in &self.grants[1..] {
            let next = self.give_one_back(grant);
            answer = answer.and(next);
        }
        self.watch.forget();
        answer
    }

    fn give_one_back(&self, grant: &Grant) -> Result<Released, Error> {
        let shared = self.lease.shared();
        let kind = self.kind;
        let own = shared.of_cluster.then(|| shared.lock().requests.begin());
        let name = grant.name.clone();
        let release = shared.release_of(grant, self.number, own);
        let released = cleanup::give_back(&shared.parting(), kind, &name, &release);
        match &released {
            Err(error) if error.is_undecided() && self.lease.watch().lost().is_none() => {
                shared.clean_up_later(Cleanup::Hold { kind, name, release, own });
            }
            Ok(_) | Err(_) => shared.settle(own),
        }
        released
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        match self.lost() {
            _ if self.given_back => {}
            // The end of the session gives it back.
            _ if self.lease.shared().lock().closed => self.watch.forget(),
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
