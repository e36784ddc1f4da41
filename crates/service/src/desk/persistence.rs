//! What the disk keeps of the desk. Waiters are not on it: their requests end with the node.

use super::locks::Stage;
use super::queue::{Claim, Hold, Holder};
use super::sessions::{self, Kind, Session};
use super::{Desk, election_fence};
use conclave_api::{self as api, limits};
use conclave_core::Ticks;
use conclave_net::{Hands, Survival};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What the disk keeps of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Lock {
    stage: Stage,
    latest: Option<u64>,
    holder: Option<Inside>,
}

/// What the disk keeps of a holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Inside {
    session: String,
    fence: u64,
    /// The request that led to each of its holds.
    holds: Vec<Option<String>>,
    given_back: Vec<(String, u32)>,
}

/// A value that node 1 keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Value {
    pub(super) value: serde_json::Value,
    pub(super) fence: u64,
}

const COUNTER: &str = "leaderships";
/// Says that the node has been up before.
const BEGAN: &str = "began";

/// Whether any lock was held when this was written to the disk.
pub fn has_holds(saved: &[(String, Vec<u8>)]) -> bool {
    let locks = saved.iter().filter(|(key, _)| key.starts_with("lock/"));
    locks.filter_map(|(_, bytes)| load::<Lock>(bytes)).any(|lock| lock.holder.is_some())
}

impl Desk {
    pub(super) fn save_lock(&self, name: &str, hands: &mut dyn Hands) {
        let Some(lock) = self.locks.get(name) else { return };
        let holder = lock.line.holder.as_ref().map(|holder| Inside {
            session: holder.session.clone(),
            fence: holder.fence,
            holds: holder.holds.iter().map(|hold| hold.request_id.clone()).collect(),
            given_back: holder.given_back.iter().cloned().collect(),
        });
        let record = Lock { stage: lock.stage, latest: lock.line.latest, holder };
        save(hands, &format!("lock/{name}"), &record);
    }

    pub(super) fn save_session(&self, id: &str, hands: &mut dyn Hands) {
        let name = format!("session/{id}");
        match self.sessions.get(id) {
            Some(session) => save(hands, &name, &session.record),
            None => hands.save(&name, None),
        }
    }

    pub(super) fn save_value(&self, name: &str, hands: &mut dyn Hands) {
        if let Some(value) = self.values.get(name) {
            save(hands, &format!("value/{name}"), value);
        }
    }

    pub(super) fn save_counter(&self, hands: &mut dyn Hands) {
        save(hands, COUNTER, &self.counter);
    }

    /// The first leader leads only for those who were there from the start.
    pub(super) fn note_beginning(&mut self, hands: &mut dyn Hands) {
        if !self.late {
            self.leader = self.config.first_leader;
        }
        save(hands, BEGAN, &true);
    }

    /// Takes up what the disk kept, sessions first: holds are theirs.
    pub(super) fn take_up(&mut self, saved: Vec<(String, Vec<u8>)>) {
        let (sessions, others): (Vec<_>, Vec<_>) =
            saved.into_iter().partition(|(key, _)| key.starts_with("session/"));
        for (key, bytes) in sessions.iter().chain(&others) {
            let known = match key.split_once('/') {
                Some(("session", id)) => self.take_up_session(id, bytes),
                Some(("lock", name)) => self.take_up_lock(name, bytes),
                Some(("value", name)) => load(bytes).map(|value| {
                    self.values.insert(name.to_string(), value);
                }),
                _ if key == COUNTER => load(bytes).map(|counter: election_fence::Counter| {
                    self.counter = counter;
                }),
                _ if key == BEGAN => load(bytes).map(|began| self.late = began),
                _ => None,
            };
            if known.is_none() {
                // The key of a session is its secret.
                let kind = key.split('/').next().unwrap_or_default();
                tracing::error!(kind, "a record on disk cannot be read and is passed over");
            }
        }
    }

    fn take_up_session(&mut self, id: &str, bytes: &[u8]) -> Option<()> {
        let record: sessions::Record = load(bytes)?;
        if let Some(request_id) = &record.request_id {
            self.opened_by.insert(request_id.clone(), id.to_string());
        }
        self.sessions.insert(id.to_string(), Session::new(record, self.clock.now()));
        Some(())
    }

    /// A hold lasts only if its machine remembers being inside and its session is still there.
    fn take_up_lock(&mut self, name: &str, bytes: &[u8]) -> Option<()> {
        let record: Lock = load(bytes)?;
        let lock = self.locks.entry(name.to_string()).or_default();
        lock.line.latest = record.latest;
        if lock.survival == Survival::Whole {
            lock.stage = record.stage;
            if let Some(inside) = record.holder {
                self.take_up_hold(name, inside);
            }
        }
        Some(())
    }

    fn take_up_hold(&mut self, name: &str, inside: Inside) {
        let (now, fence) = (self.clock.now(), inside.fence);
        let holds = u32::try_from(inside.holds.len()).unwrap_or(u32::MAX);
        let grant = self.grant_view(name, fence, holds, Ticks::ZERO, None);
        let Some(session) = self.sessions.get_mut(&inside.session) else { return };
        let about = |id: &String| (Kind::Lock, name.to_string(), id.clone());
        for id in inside.holds.iter().flatten() {
            session.remember_grant(about(id), grant.clone());
        }
        for (id, holds) in &inside.given_back {
            let released = api::Released { name: name.to_string(), fence, holds: *holds };
            session.remember_release(about(id), released);
        }
        let claimed = |request_id| Hold { request_id, since: now, claim: Claim::made() };
        let holder = Holder {
            session: inside.session,
            fence,
            since: now,
            holds: inside.holds.into_iter().map(claimed).collect(),
            given_back: inside.given_back.into(),
            value: String::new(),
            lapsed: false,
        };
        if let Some(lock) = self.locks.get_mut(name) {
            lock.line.holder = Some(holder);
        }
    }
}

/// Names that the disk knows are names, unless it was tampered with.
fn load<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

fn save(hands: &mut dyn Hands, name: &str, record: &impl Serialize) {
    debug_assert!(name.len() <= limits::NAME_MAX + "session/".len());
    let bytes = serde_json::to_vec(record).expect("plain data with text for keys");
    hands.save(name, Some(bytes));
}
