//! Persistence: what the disk keeps of the desk. Waiters are not on it: their requests end with the
//! node.

use super::Desk;
use super::election_fence::Counter;
use super::locks::{Lock, Stage};
use super::queue::{Hold, Holder};
use super::sessions::{Granted, Kind, Record, Released, Session};
use super::values::Value;
use conclave_api::limits;
use conclave_core::Ticks;
use conclave_net::HostContext;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What the disk keeps of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LockRecord {
    stage: Stage,
    latest: Option<u64>,
    holder: Option<HolderRecord>,
}

/// What the disk keeps of a holder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct HolderRecord {
    session: String,
    fence: u64,
    /// The id of the request that led to each of its holds.
    holds: Vec<Option<String>>,
    given_back: Vec<(String, u32)>,
}

const COUNTER: &str = "leaderships";
/// Says that the node has been up before.
const BEGAN: &str = "began";

/// Whether any lock was held when this was written to the disk.
pub fn has_holds(saved: &[(String, Vec<u8>)]) -> bool {
    let locks = saved.iter().filter(|(key, _)| key.starts_with("lock/"));
    locks.filter_map(|(_, bytes)| load::<LockRecord>(bytes)).any(|lock| lock.holder.is_some())
}

/// Has a lock on disk.
pub fn save_lock(name: &str, lock: &Lock, host: &mut dyn HostContext) {
    let holder = lock.queue().holder().map(|holder| HolderRecord {
        session: holder.session.clone(),
        fence: holder.fence,
        holds: holder.holds.iter().map(|hold| hold.request_id.clone()).collect(),
        given_back: holder.given_back.iter().cloned().collect(),
    });
    let record = LockRecord { stage: lock.stage(), latest: lock.queue().latest(), holder };
    save(host, &format!("lock/{name}"), &record);
}

/// Has a session on disk, or removes it from there.
pub fn save_session(id: &str, session: Option<&Session>, host: &mut dyn HostContext) {
    let name = format!("session/{id}");
    match session {
        Some(session) => save(host, &name, session.record()),
        None => host.save(&name, None),
    }
}

/// Has a value on disk.
pub fn save_value(name: &str, value: Option<&Value>, host: &mut dyn HostContext) {
    if let Some(value) = value {
        save(host, &format!("value/{name}"), value);
    }
}

/// Has the fences of leaderships on disk.
pub fn save_counter(counter: &Counter, host: &mut dyn HostContext) {
    save(host, COUNTER, counter);
}

/// The node is up, and will have been up before from now on.
pub fn save_beginning(host: &mut dyn HostContext) {
    save(host, BEGAN, &true);
}

impl Desk {
    pub(super) fn save_queue(&self, kind: Kind, name: &str, host: &mut dyn HostContext) {
        match kind {
            Kind::Lock => {
                if let Some(lock) = self.queues.locks.get(name) {
                    save_lock(name, lock, host);
                }
            }
            Kind::Election => {} // Leaderships do not outlive the node.
        }
    }

    /// Takes up what the disk kept, sessions first: holds are theirs.
    pub(super) fn restore(&mut self, saved: Vec<(String, Vec<u8>)>) {
        let (sessions, others): (Vec<_>, Vec<_>) =
            saved.into_iter().partition(|(key, _)| key.starts_with("session/"));
        for (key, bytes) in sessions.iter().chain(&others) {
            let known = match key.split_once('/') {
                Some(("session", id)) => self.restore_session(id, bytes),
                Some(("lock", name)) => self.restore_lock(name, bytes),
                Some(("value", name)) => load(bytes).map(|value| self.values.restore(name, value)),
                _ if key == COUNTER => {
                    load(bytes).map(|counter| self.queues.elections.restore(counter))
                }
                _ if key == BEGAN => load(bytes).map(|began| self.leadership.restore(began)),
                _ => None,
            };
            if known.is_none() {
                // The key of a session is its secret.
                let kind = key.split('/').next().unwrap_or_default();
                tracing::error!(kind, "a record on disk cannot be read and is passed over");
            }
        }
    }

    fn restore_session(&mut self, id: &str, bytes: &[u8]) -> Option<()> {
        let record: Record = load(bytes)?;
        self.sessions.open(id.to_string(), record, self.timer.now());
        Some(())
    }

    /// A hold lasts only if its machine remembers being inside and its session is still there.
    fn restore_lock(&mut self, name: &str, bytes: &[u8]) -> Option<()> {
        let record: LockRecord = load(bytes)?;
        let lasts = self.queues.locks.restore(name, record.stage, record.latest);
        if let Some(holder) = record.holder.filter(|_| lasts) {
            self.restore_holder(name, holder);
        }
        Some(())
    }

    fn restore_holder(&mut self, name: &str, record: HolderRecord) {
        let now = self.timer.now();
        let fence = record.fence;
        let Some(session) = self.sessions.get_mut(&record.session) else { return };
        let holds = u32::try_from(record.holds.len()).unwrap_or(u32::MAX);
        let granted = Granted { fence, holds, waited: Ticks::ZERO, term: None };
        let request = |id: &String| (Kind::Lock, name.to_string(), id.clone());
        for id in record.holds.iter().flatten() {
            session.remember_grant(request(id), granted);
        }
        for (id, holds) in &record.given_back {
            session.remember_release(request(id), Released { fence, holds: *holds });
        }
        let holds = record.holds.into_iter().map(|request_id| Hold {
            request: self.replies.new_key(),
            request_id,
            since: now,
            claimed: true,
        });
        let holder = Holder {
            session: record.session,
            fence,
            since: now,
            holds: holds.collect(),
            given_back: record.given_back.into(),
            value: String::new(),
            lapsed: false,
        };
        if let Some(queue) = self.queues.locks.queue_mut(name) {
            queue.restore_holder(holder);
        }
    }
}

/// Names that the disk knows are names, unless it was tampered with.
fn load<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

fn save(host: &mut dyn HostContext, name: &str, record: &impl Serialize) {
    debug_assert!(name.len() <= limits::NAME_MAX + "session/".len());
    let bytes = serde_json::to_vec(record).expect("plain data with text for keys");
    host.save(name, Some(bytes));
}
