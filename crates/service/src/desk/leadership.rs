//! Leadership of the cluster: which node leads and in which term, as far as this one knows, and
//! when to ask for an election.

use super::connectivity::Connectivity;
use super::timing::CAMPAIGN_AGAIN;
use conclave_core::{NodeId, Ticks};
use conclave_net::AnyIndication;

/// What this node knows of the leader.
#[derive(Debug)]
pub struct Leadership {
    me: NodeId,
    /// The node that leads from the start and its term, where the election has such a one.
    first: Option<(NodeId, u64)>,
    leader: Option<(NodeId, u64)>,
    /// The term in which this node was deposed, if nobody was elected since.
    deposed: Option<u64>,
    /// Whether the first leader has been replaced, or this node has come back.
    late: bool,
    /// When this node may next ask for an election.
    campaign_at: Ticks,
}

impl Leadership {
    /// Nobody leads yet.
    pub fn new(me: NodeId, first: Option<(NodeId, u64)>) -> Self {
        let campaign_at = Ticks::ZERO;
        Self { me, first, leader: None, deposed: None, late: false, campaign_at }
    }

    /// What the disk kept: whether this node has been up before.
    pub fn restore(&mut self, been_up: bool) {
        self.late = been_up;
    }

    /// The node starts. The first leader leads only for those who were there from the start. A node
    /// that comes back will mostly hear of the leader before it is time to ask for an election.
    pub fn begin(&mut self, alone: bool, now: Ticks) {
        if !self.late {
            self.leader = self.first;
        }
        let patience = if alone { Ticks::ZERO } else { Ticks(CAMPAIGN_AGAIN.0 / 2) };
        self.campaign_at = now + patience;
    }

    /// The leader and its term.
    pub fn leader(&self) -> Option<(NodeId, u64)> {
        self.leader
    }

    /// The term of the leader; 0 without one.
    pub fn term(&self) -> u64 {
        self.leader.map_or(0, |(_, term)| term)
    }

    /// The term in which this node leads the cluster, if it does.
    pub fn own_term(&self) -> Option<u64> {
        self.leader.filter(|(leader, _)| *leader == self.me).map(|(_, term)| term)
    }

    /// Whether the first leader has been replaced, or this node has come back.
    pub fn is_late(&self) -> bool {
        self.late
    }

    /// A node was elected. Whether that is news.
    pub fn elected(&mut self, leader: NodeId, term: u64) -> bool {
        let known = self.leader.replace((leader, term));
        self.deposed = None;
        self.late |= self.first != Some((leader, term));
        known != Some((leader, term))
    }

    /// Whoever led in this term does so no longer. Whether that was this node.
    pub fn deposed(&mut self, term: u64) -> bool {
        self.deposed = Some(term);
        self.late = true;
        let was_this = self.own_term().is_some_and(|led| led <= term);
        if was_this {
            self.leader = None;
        }
        was_this
    }

    /// What a machine that came late has to be told.
    pub fn news(&self) -> Option<AnyIndication> {
        match (self.leader, self.deposed) {
            _ if !self.late => None,
            (Some((leader, term)), _) => Some(AnyIndication::Elected { leader, term }),
            (None, Some(term)) => Some(AnyIndication::Deposed { term }),
            (None, None) => None,
        }
    }

    /// Whether a node leads that does not seem to be dead.
    pub fn is_led(&self, connectivity: &Connectivity) -> bool {
        self.leader.is_some_and(|(leader, _)| connectivity.suspected_since(leader).is_none())
    }

    /// Whether this node is to ask for an election now: while nobody leads, or the leader seems to
    /// be dead, the first node that seems to be alive does so again and again.
    pub fn is_to_campaign(&mut self, connectivity: &Connectivity, now: Ticks) -> bool {
        let first = connectivity.first_alive() == Some(self.me);
        let campaigns = !self.is_led(connectivity) && first && now >= self.campaign_at;
        if campaigns {
            self.campaign_at = now + CAMPAIGN_AGAIN;
        }
        campaigns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: NodeId = NodeId(0);

    #[test]
    fn the_first_leader_leads_only_for_who_was_there() {
        let first = Some((NodeId(2), 1));
        for (been_up, leader) in [(false, first), (true, None)] {
            let mut leadership = Leadership::new(ME, first);
            leadership.restore(been_up);
            leadership.begin(false, Ticks::ZERO);
            assert_eq!(leadership.leader(), leader);
        }
    }

    #[test]
    fn an_old_dismissal_takes_nothing_away() {
        let mut leadership = Leadership::new(ME, None);
        assert!(leadership.elected(ME, 5));
        assert!(!leadership.elected(ME, 5), "known");
        assert!(!leadership.deposed(3));
        assert_eq!(leadership.own_term(), Some(5));
        assert!(leadership.deposed(5));
        assert_eq!(leadership.news(), Some(AnyIndication::Deposed { term: 5 }));
    }

    #[test]
    fn an_election_is_asked_for_again_after_a_while() {
        let connectivity = Connectivity::new(ME, 3, Ticks::units(100));
        let mut leadership = Leadership::new(ME, None);
        leadership.begin(true, Ticks::ZERO);
        assert!(leadership.is_to_campaign(&connectivity, Ticks::ZERO));
        assert!(!leadership.is_to_campaign(&connectivity, Ticks(CAMPAIGN_AGAIN.0 - 1)));
        assert!(leadership.is_to_campaign(&connectivity, CAMPAIGN_AGAIN));
        leadership.elected(NodeId(1), 1);
        assert!(!leadership.is_to_campaign(&connectivity, Ticks(CAMPAIGN_AGAIN.0 * 9)));
    }
}
