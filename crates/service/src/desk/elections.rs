//! Elections by name: at the node that leads the cluster, the first candidate in the queue leads.
//!
//! Leaderships do not outlive the node, and an election that nobody stands in is forgotten. Only
//! the counter of fences is kept, so that fences rise over restarts.

use super::election_fence::Counter;
use super::queue::Queue;
use conclave_core::Ticks;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The elections at this node.
#[derive(Debug, Default)]
pub struct Elections {
    queues: BTreeMap<String, Queue>,
    counter: Counter,
    /// How many leaderships were granted since the node started.
    granted: u64,
    /// From when on candidates at this node may lead, if it leads the cluster.
    lead_from: Ticks,
}

impl Elections {
    /// How many elections have a leader or candidates here.
    pub fn len(&self) -> usize {
        self.queues.len()
    }

    /// Whether this one has.
    pub fn contains(&self, name: &str) -> bool {
        self.queues.contains_key(name)
    }

    /// The queue of candidates; its holder is the leader.
    pub fn queue(&self, name: &str) -> Option<&Queue> {
        self.queues.get(name)
    }

    /// The same, to change it. Whoever does calls [`Elections::forget_if_empty`] afterwards.
    pub fn queue_mut(&mut self, name: &str) -> Option<&mut Queue> {
        self.queues.get_mut(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Queue)> {
        self.queues.iter()
    }

    /// The names of those that come after this one.
    pub fn after(&self, name: Option<&str>) -> impl Iterator<Item = &String> {
        let begin = name.map_or(Bound::Unbounded, Bound::Excluded);
        self.queues.range::<str, _>((begin, Bound::Unbounded)).map(|(name, _)| name)
    }

    /// The names of all.
    pub fn names(&self) -> Vec<String> {
        self.queues.keys().cloned().collect()
    }

    /// From now on this election is known.
    pub fn add(&mut self, name: &str) {
        self.queues.entry(name.to_string()).or_default();
    }

    /// Forgets an election, whoever leads or stands.
    pub fn remove(&mut self, name: &str) -> Option<Queue> {
        self.queues.remove(name)
    }

    /// Forgets an election that nobody leads or stands in.
    pub fn forget_if_empty(&mut self, name: &str) {
        if self.queues.get(name).is_some_and(Queue::is_empty) {
            self.queues.remove(name);
        }
    }

    /// Whether nobody leads in this election, though somebody may by now.
    pub fn is_vacant(&self, name: &str, now: Ticks) -> bool {
        now >= self.lead_from && self.queues.get(name).is_some_and(|queue| queue.holder().is_none())
    }

    /// The fence of a leadership that is granted now, in this term; `None` when they are used up.
    pub fn next_fence(&mut self, term: u64) -> Option<u64> {
        let fence = self.counter.next(term)?;
        self.granted += 1;
        Some(fence)
    }

    /// How many leaderships were granted since the node started.
    pub fn granted(&self) -> u64 {
        self.granted
    }

    /// What the disk keeps.
    pub fn counter(&self) -> &Counter {
        &self.counter
    }

    /// What the disk kept.
    pub fn restore(&mut self, counter: Counter) {
        self.counter = counter;
    }

    /// Nobody is to lead before this moment.
    pub fn wait_until(&mut self, moment: Ticks) {
        self.lead_from = moment;
    }

    /// When somebody may lead, if that is still to come.
    pub fn next_start(&self, now: Ticks) -> Option<Ticks> {
        (self.lead_from > now).then_some(self.lead_from)
    }

    /// Whether this session leads any.
    pub fn has_leader(&self, session: &str) -> bool {
        self.queues.values().any(|queue| queue.held_by(session).is_some())
    }

    /// How many have a leader here.
    pub fn leaderships(&self) -> usize {
        self.queues.values().filter(|queue| queue.holder().is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_election_is_forgotten() {
        let mut elections = Elections::default();
        elections.add("e");
        assert!(elections.contains("e"));
        elections.forget_if_empty("e");
        assert_eq!(elections.len(), 0);
    }

    #[test]
    fn nobody_leads_before_the_time_has_come() {
        let mut elections = Elections::default();
        elections.add("e");
        elections.wait_until(Ticks::units(5));
        assert!(!elections.is_vacant("e", Ticks::units(4)));
        assert_eq!(elections.next_start(Ticks::units(4)), Some(Ticks::units(5)));
        assert!(elections.is_vacant("e", Ticks::units(5)));
        assert_eq!(elections.next_start(Ticks::units(5)), None);
    }
}
