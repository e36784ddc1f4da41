//! Sessions: who holds, waits or leads, for as long as it is heard of.

use conclave_api as api;
use conclave_api::limits::REQUESTS_MAX;
use conclave_core::Ticks;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// What a remembered request was about: a lock or an election, and the name and the id.
pub type About = (Kind, String, String);

/// Locks and elections may have the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// A lock.
    Lock,
    /// An election.
    Election,
}

/// What the disk keeps of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// How long it lives unheard.
    pub ttl: Ticks,
    /// What people see.
    pub label: String,
    /// The id of the request that opened it.
    pub request_id: Option<String>,
}

/// One session.
pub struct Session {
    /// What the disk keeps.
    pub record: Record,
    /// When it ends, by the lease clock.
    pub until: Ticks,
    granted: BTreeMap<About, api::Grant>,
    released: BTreeMap<About, api::Released>,
    order: VecDeque<About>,
}

impl Session {
    /// A session that is heard of just now.
    pub fn new(record: Record, now: Ticks) -> Self {
        let until = now + record.ttl;
        let (granted, released) = (BTreeMap::new(), BTreeMap::new());
        Self { record, until, granted, released, order: VecDeque::new() }
    }

    /// What came of an acquire or a campaign of that id.
    pub fn granted(&self, about: &About) -> Option<&api::Grant> {
        self.granted.get(about)
    }

    /// What came of a release of that id.
    pub fn released(&self, about: &About) -> Option<&api::Released> {
        self.released.get(about)
    }

    /// Keeps what came of an acquire or a campaign.
    pub fn remember_grant(&mut self, about: About, grant: api::Grant) {
        self.granted.insert(about.clone(), grant);
        self.remember(about);
    }

    /// Keeps what came of a release.
    pub fn remember_release(&mut self, about: About, released: api::Released) {
        self.released.insert(about.clone(), released);
        self.remember(about);
    }

    /// Nothing came of it after all: a repeat asks anew.
    pub fn forget_grant(&mut self, about: &About) {
        self.granted.remove(about);
    }

    fn remember(&mut self, about: About) {
        self.order.push_back(about);
        if self.order.len() > REQUESTS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.granted.remove(&oldest);
            self.released.remove(&oldest);
        }
    }
}

/// What others see of a session id: it says nothing about the id, but tells sessions apart.
pub fn short_hash(id: &str) -> String {
    format!("{:016x}", conclave_core::hash(id))[..8].to_string()
}
