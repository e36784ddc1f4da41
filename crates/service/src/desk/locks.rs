//! Locks: one state machine of the algorithm per name, and the queue of this node's sessions in
//! front of it.
//!
//! A machine is asked only for what is its turn: acquire when it is idle, cancel when it waits,
//! release when it is inside. What a queue needs of its machine is asked for once, when all that
//! happens at one moment has happened ([`Locks::settle_all`]): a machine that was asked to enter
//! may be inside as soon as it takes its step, and must not be asked to cancel after that.

use super::queue::{Holder, Queue};
use super::{lock_key, persistence};
use conclave_net::{AnyRequest, HostContext, Survival};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// A lock as this node knows it.
pub struct Lock {
    queue: Queue,
    stage: Stage,
    /// Whether this node has its machine.
    made: bool,
    /// Whether the machine remembers a hold over a crash.
    survival: Survival,
}

/// Where the machine of a lock stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It wants nothing.
    #[default]
    Idle,
    /// It was asked to enter.
    Asked,
    /// It is inside.
    Inside,
}

impl Default for Lock {
    fn default() -> Self {
        let queue = Queue::default();
        let stage = Stage::Idle;
        Self { queue, stage, made: false, survival: Survival::Returns }
    }
}

impl Lock {
    /// Who holds it and who waits, among the sessions of this node.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Where its machine stands.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// How it looks from outside: whoever waits for the machine to be asked waits, too.
    pub fn state(&self) -> Stage {
        match self.stage {
            Stage::Idle if !self.queue.waiters().is_empty() => Stage::Asked,
            Stage::Idle | Stage::Asked | Stage::Inside => self.stage,
        }
    }
}

/// All locks that this node knows. None is ever forgotten: a machine once made stays.
#[derive(Default)]
pub struct Locks {
    locks: BTreeMap<String, Lock>,
    /// Those whose machines may have something to do.
    unsettled: BTreeSet<String>,
    /// Those that would ask to enter if this node could lend anything.
    held_up: BTreeSet<String>,
    /// Those whose holders have lost their lease; perhaps some more, until they are settled.
    lapsed: BTreeSet<String>,
}

impl Locks {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.locks.len()
    }

    /// Whether this one is known.
    pub fn contains(&self, name: &str) -> bool {
        self.locks.contains_key(name)
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Lock> {
        self.locks.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Lock)> {
        self.locks.iter()
    }

    /// Those whose names come after this one, by name.
    pub fn after(&self, name: Option<&str>) -> impl Iterator<Item = (&String, &Lock)> {
        let begin = name.map_or(Bound::Unbounded, Bound::Excluded);
        self.locks.range::<str, _>((begin, Bound::Unbounded))
    }

    /// The names of all.
    pub fn names(&self) -> Vec<String> {
        self.locks.keys().cloned().collect()
    }

    /// The queue of a lock, to change it. Whoever does settles the lock afterwards.
    pub fn queue_mut(&mut self, name: &str) -> Option<&mut Queue> {
        self.locks.get_mut(name).map(|lock| &mut lock.queue)
    }

    /// From now on this lock is known.
    pub fn add(&mut self, name: &str) {
        self.locks.entry(name.to_string()).or_default();
    }

    /// Its machine was made, and survives a crash in this way.
    pub fn machine_made(&mut self, name: &str, survival: Survival) {
        let lock = self.locks.entry(name.to_string()).or_default();
        lock.survival = survival;
        lock.made = true;
    }

    /// Its machine is inside. False if there is no such lock.
    pub fn machine_entered(&mut self, name: &str) -> bool {
        let Some(lock) = self.locks.get_mut(name) else { return false };
        lock.stage = Stage::Inside;
        true
    }

    /// Takes up what the disk kept. Returns whether a hold lasts: its machine must remember it.
    pub fn restore(&mut self, name: &str, stage: Stage, latest: Option<u64>) -> bool {
        let lock = self.locks.entry(name.to_string()).or_default();
        lock.queue.restore_latest(latest);
        let lasts = lock.survival == Survival::Whole;
        if lasts {
            lock.stage = stage;
        }
        lasts
    }

    /// What the queue of this lock needs is asked for when all has happened.
    pub fn settle(&mut self, name: &str) {
        self.unsettled.insert(name.to_string());
    }

    /// Asks of each machine what its queue needs, once. Without `may_lend`, no machine is asked to
    /// enter. With `everywhere`, all nodes are to have a machine before it is asked for anything.
    pub fn settle_all(&mut self, may_lend: bool, everywhere: bool, host: &mut dyn HostContext) {
        if may_lend {
            self.unsettled.append(&mut self.held_up);
        }
        for name in std::mem::take(&mut self.unsettled) {
            if !self.settled(&name, may_lend, everywhere, host) {
                self.held_up.insert(name);
            }
        }
    }

    /// False if the queue has to wait until this node can lend something.
    fn settled(
        &mut self,
        name: &str,
        may_lend: bool,
        everywhere: bool,
        host: &mut dyn HostContext,
    ) -> bool {
        let Some(lock) = self.locks.get_mut(name) else { return true };
        if lock.queue.holder().is_none_or(|holder| !holder.lapsed) {
            self.lapsed.remove(name);
        }
        let before = lock.stage;
        let key = lock_key(name);
        if lock.stage == Stage::Inside && lock.queue.holder().is_none() {
            host.ask(&key, AnyRequest::Release);
            lock.stage = Stage::Idle;
        }
        let wanted = !lock.queue.waiters().is_empty();
        if lock.stage == Stage::Asked && !wanted {
            host.ask(&key, AnyRequest::Cancel);
            lock.stage = Stage::Idle;
        }
        let waits = lock.stage == Stage::Idle && wanted && !may_lend;
        if lock.stage == Stage::Idle && wanted && may_lend {
            if everywhere && !lock.made {
                host.open(&key);
            }
            host.ask(&key, AnyRequest::Acquire);
            lock.stage = Stage::Asked;
        }
        if lock.stage != before || before == Stage::Inside {
            persistence::save_lock(name, lock, host);
        }
        !waits
    }

    /// All holders lose their leases. Returns those that had not yet, with the names of the locks.
    pub fn lapse(&mut self) -> Vec<(String, Holder)> {
        let mut lost = Vec::new();
        for (name, lock) in &mut self.locks {
            if let Some(holder) = lock.queue.lapse() {
                lost.push((name.clone(), holder.clone()));
            }
        }
        self.lapsed.extend(lost.iter().map(|(name, _)| name.clone()));
        lost
    }

    /// Whether this session still holds something that it has lost the lease of.
    pub fn has_lapsed(&self, session: &str) -> bool {
        let queues = self.lapsed.iter().filter_map(|name| self.locks.get(name));
        queues.filter_map(|lock| lock.queue.held_by(session)).any(|holder| holder.lapsed)
    }

    /// Whether this session holds any lock.
    pub fn has_holder(&self, session: &str) -> bool {
        self.locks.values().any(|lock| lock.queue.held_by(session).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::Waiter;
    use super::super::replies::Replies;
    use super::super::tests::Idle;
    use super::*;
    use conclave_core::Ticks;

    /// The lock `x`, for which session `a` waits.
    fn wanted() -> Locks {
        let mut locks = Locks::default();
        locks.add("x");
        let waiter = Waiter {
            session: "a".to_string(),
            request: Replies::new().new_key(),
            request_id: None,
            since: Ticks::ZERO,
            until: Ticks::units(100),
            tries: false,
            value: String::new(),
        };
        locks.queue_mut("x").expect("it was added").join(waiter);
        locks.settle("x");
        locks
    }

    fn settled(locks: &mut Locks, may_lend: bool) -> Vec<AnyRequest> {
        let mut host = Idle::default();
        locks.settle_all(may_lend, false, &mut host);
        host.asked.into_iter().map(|(_, asked)| asked).collect()
    }

    #[test]
    fn a_machine_is_asked_only_for_what_is_its_turn() {
        let mut locks = wanted();
        assert_eq!(settled(&mut locks, true), [AnyRequest::Acquire]);
        locks.settle("x");
        assert_eq!(settled(&mut locks, true), [], "it was asked before");
        assert!(locks.machine_entered("x"));
        locks.queue_mut("x").expect("there").grant(7, Ticks::ZERO);
        locks.settle("x");
        assert_eq!(settled(&mut locks, true), [], "it is held");
        locks.queue_mut("x").expect("there").give_back(None, Ticks::ZERO);
        locks.settle("x");
        assert_eq!(settled(&mut locks, true), [AnyRequest::Release]);
    }

    #[test]
    fn a_request_that_is_gone_before_its_machine_was_asked_asks_for_nothing() {
        let mut locks = wanted();
        locks.queue_mut("x").expect("there").take_waiters(|_| true);
        assert_eq!(settled(&mut locks, true), []);
    }

    #[test]
    fn a_queue_that_nothing_can_be_lent_to_asks_later() {
        let mut locks = wanted();
        assert_eq!(settled(&mut locks, false), []);
        assert_eq!(locks.get("x").map(Lock::state), Some(Stage::Asked), "seen from outside");
        assert_eq!(settled(&mut locks, true), [AnyRequest::Acquire]);
    }

    #[test]
    fn a_lost_lease_is_remembered_until_it_is_given_back() {
        let mut locks = wanted();
        locks.machine_entered("x");
        locks.queue_mut("x").expect("there").grant(7, Ticks::ZERO);
        assert_eq!(locks.lapse().len(), 1);
        assert_eq!(locks.lapse(), []);
        assert!(locks.has_lapsed("a") && locks.has_holder("a"));
        locks.queue_mut("x").expect("there").give_back(None, Ticks::ZERO);
        assert!(!locks.has_lapsed("a") && !locks.has_holder("a"));
    }
}
