//! Connectivity: which nodes the failure detector suspects, since when this node is cut off from
//! the leader, and whether it was paused itself.

use conclave_core::{NodeId, Ticks};
use conclave_net::{AnyIndication, HostContext};
use std::collections::{BTreeMap, BTreeSet};

/// A time in which this node did nothing, or too little to notice anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pause {
    began: Ticks,
    ended: Ticks,
}

/// What this node knows of its connection with the others.
#[derive(Debug)]
pub struct Connectivity {
    me: NodeId,
    n: u32,
    /// How soon this node notices that it is cut off.
    notice: Ticks,
    /// Whom the detector suspects, and since when.
    suspects: BTreeMap<NodeId, Ticks>,
    /// Whom the election, passing that on, suspects.
    passed_on: BTreeSet<NodeId>,
    /// Since when no node leads that this one is in touch with.
    cut_off: Option<Ticks>,
    /// When this node last did nothing for a while.
    pause: Option<Pause>,
}

impl Connectivity {
    /// Nobody is suspected yet.
    pub fn new(me: NodeId, n: u32, notice: Ticks) -> Self {
        let suspects = BTreeMap::new();
        let passed_on = BTreeSet::new();
        Self { me, n, notice, suspects, passed_on, cut_off: None, pause: None }
    }

    /// The failure detector speaks. Whether that is news.
    pub fn detector_told(&mut self, told: AnyIndication, now: Ticks) -> bool {
        match told {
            AnyIndication::Suspect(node) => self.suspects.insert(node, now).is_none(),
            AnyIndication::Trust(node) => self.suspects.remove(&node).is_some(),
            AnyIndication::Entered { .. }
            | AnyIndication::Elected { .. }
            | AnyIndication::Deposed { .. } => false,
        }
    }

    /// The election passes on what the detector said.
    pub fn election_told(&mut self, told: AnyIndication) {
        match told {
            AnyIndication::Suspect(node) => drop(self.passed_on.insert(node)),
            AnyIndication::Trust(node) => drop(self.passed_on.remove(&node)),
            AnyIndication::Entered { .. }
            | AnyIndication::Elected { .. }
            | AnyIndication::Deposed { .. } => {}
        }
    }

    /// Since when the detector suspects this node, if it does.
    pub fn suspected_since(&self, node: NodeId) -> Option<Ticks> {
        self.suspects.get(&node).copied()
    }

    /// Whom the detector suspects.
    pub fn suspects(&self) -> Vec<NodeId> {
        self.suspects.keys().copied().collect()
    }

    /// Whom the election suspects.
    pub fn passed_on(&self) -> Vec<NodeId> {
        self.passed_on.iter().copied().collect()
    }

    /// The first node that nobody suspects.
    pub fn first_alive(&self) -> Option<NodeId> {
        (0..self.n).map(NodeId).find(|node| !self.suspects.contains_key(node))
    }

    /// All nodes but this one.
    pub fn peers(&self) -> impl Iterator<Item = NodeId> {
        self.me.others(self.n)
    }

    /// The nodes that are out of reach or suspected, and since when.
    pub fn down(&self, host: &dyn HostContext) -> Vec<(NodeId, Ticks)> {
        self.peers().filter_map(|peer| Some((peer, self.down_since(peer, host)?))).collect()
    }

    /// Since when a peer is out of reach or suspected, whichever came first.
    fn down_since(&self, peer: NodeId, host: &dyn HostContext) -> Option<Ticks> {
        let link = host.peer(peer);
        let unreachable = (!link.connected).then_some(link.since);
        unreachable.into_iter().chain(self.suspected_since(peer)).min()
    }

    /// Whether this node is in touch with so few that a majority may go on without it.
    pub fn is_in_minority(&self, host: &dyn HostContext) -> bool {
        let up = self.n as usize - self.down(host).len();
        2 * up <= self.n as usize
    }

    /// Whether this node is in touch with the leader, as of now.
    pub fn update(&mut self, in_touch: bool, now: Ticks) {
        self.cut_off = (!in_touch).then(|| self.cut_off.unwrap_or(now));
    }

    /// This node did nothing for this long, until now. Pauses that follow each other closely are
    /// one: in between, it had no time to notice anything.
    pub fn note_pause(&mut self, length: Ticks, now: Ticks) {
        let began = Ticks(now.0 - length.0);
        let began = self.paused_since(began).unwrap_or(began);
        self.pause = Some(Pause { began, ended: now });
    }

    /// Since when this node has been paused, on and off, if it would not have noticed yet that it
    /// is cut off.
    pub fn paused_since(&self, now: Ticks) -> Option<Ticks> {
        let Pause { began, ended } = self.pause?;
        (now < ended + self.notice).then_some(began)
    }

    /// Since when this node may not know what the others do: it is cut off, or was paused.
    pub fn uncertain_since(&self, now: Ticks) -> Option<Ticks> {
        self.cut_off.into_iter().chain(self.paused_since(now)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connectivity() -> Connectivity {
        Connectivity::new(NodeId(0), 3, Ticks::units(100))
    }

    #[test]
    fn a_suspicion_is_news_once_and_the_first_node_alive_changes_with_it() {
        let mut connectivity = connectivity();
        let suspect = AnyIndication::Suspect(NodeId(0));
        assert!(connectivity.detector_told(suspect, Ticks::units(1)));
        assert!(!connectivity.detector_told(suspect, Ticks::units(2)));
        assert_eq!(connectivity.first_alive(), Some(NodeId(1)));
        assert!(connectivity.detector_told(AnyIndication::Trust(NodeId(0)), Ticks::units(3)));
        assert!(!connectivity.detector_told(AnyIndication::Trust(NodeId(0)), Ticks::units(3)));
        assert_eq!(connectivity.first_alive(), Some(NodeId(0)));
    }

    #[test]
    fn being_cut_off_counts_from_its_beginning() {
        let mut connectivity = connectivity();
        for now in [5, 6, 7] {
            connectivity.update(false, Ticks::units(now));
        }
        assert_eq!(connectivity.uncertain_since(Ticks::units(9)), Some(Ticks::units(5)));
        connectivity.update(true, Ticks::units(9));
        assert_eq!(connectivity.uncertain_since(Ticks::units(9)), None);
    }

    #[test]
    fn pauses_that_follow_closely_are_one() {
        let mut connectivity = connectivity();
        connectivity.note_pause(Ticks::units(1_000), Ticks::units(2_000));
        connectivity.note_pause(Ticks::units(1_000), Ticks::units(3_050));
        assert_eq!(connectivity.paused_since(Ticks::units(3_149)), Some(Ticks::units(1_000)));
        assert_eq!(connectivity.paused_since(Ticks::units(3_150)), None, "it would have noticed");
        connectivity.note_pause(Ticks::units(10), Ticks::units(4_000));
        assert_eq!(connectivity.paused_since(Ticks::units(4_001)), Some(Ticks::units(3_990)));
    }
}
