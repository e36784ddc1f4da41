//! The queues of all locks and elections of this node.

use super::elections::Elections;
use super::locks::Locks;
use super::queue::Queue;
use super::sessions::Kind;
use std::collections::BTreeSet;

/// The queues of all locks and elections.
#[derive(Default)]
pub struct Queues {
    /// The locks.
    pub locks: Locks,
    /// The elections.
    pub elections: Elections,
}

impl Queues {
    /// One of them.
    pub fn get(&self, kind: Kind, name: &str) -> Option<&Queue> {
        match kind {
            Kind::Lock => self.locks.get(name).map(|lock| lock.queue()),
            Kind::Election => self.elections.queue(name),
        }
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, kind: Kind, name: &str) -> Option<&mut Queue> {
        match kind {
            Kind::Lock => self.locks.queue_mut(name),
            Kind::Election => self.elections.queue_mut(name),
        }
    }

    /// Those with anybody in them.
    pub fn occupied(&self) -> Vec<(Kind, String)> {
        let occupied = self.all().filter(|(_, _, queue)| !queue.is_empty());
        occupied.map(|(kind, name, _)| (kind, name.clone())).collect()
    }

    /// Where these sessions hold or wait: each session with each of its queues. One look at all
    /// queues is enough, however many sessions there are.
    pub fn of_sessions(&self, ids: &BTreeSet<String>) -> Vec<(String, Kind, String)> {
        let concerned = |(kind, name, queue): (Kind, &String, &Queue)| {
            let holder = queue.holder().into_iter().map(|holder| &holder.session);
            let here = holder.chain(queue.waiters().iter().map(|waiter| &waiter.session));
            let concerned: BTreeSet<&String> = here.filter(|id| ids.contains(*id)).collect();
            concerned.into_iter().map(|id| (id.clone(), kind, name.clone())).collect::<Vec<_>>()
        };
        self.all().flat_map(concerned).collect()
    }

    /// How many requests were granted since the node started, those of one session at once as one.
    pub fn entries(&self) -> u64 {
        let locks: u64 = self.locks.iter().map(|(_, lock)| lock.queue().entries()).sum();
        locks + self.elections.granted()
    }

    /// All of them, by kind and name.
    pub fn all(&self) -> impl Iterator<Item = (Kind, &String, &Queue)> {
        let locks = self.locks.iter().map(|(name, lock)| (Kind::Lock, name, lock.queue()));
        let elections = self.elections.iter().map(|(name, queue)| (Kind::Election, name, queue));
        locks.chain(elections)
    }
}
