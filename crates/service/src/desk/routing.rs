//! Who hears whom: the detector speaks to the election and to locks, the election to locks.

use super::timing::{CAMPAIGN_AGAIN, milliseconds};
use super::{Desk, detector_key, election_key};
use crate::{ELECTION, Hears, LOCK};
use conclave_core::{NodeId, Ticks};
use conclave_net::{Asked, Hands, Key, Told};

impl Desk {
    /// Passes on what the detector says.
    pub(super) fn detector_told(&mut self, told: Told, hands: &mut dyn Hands) {
        let changed = match told {
            Told::Suspect(node) => self.suspects.insert(node, hands.now()).is_none(),
            Told::Trust(node) => self.suspects.remove(&node).is_some(),
            Told::Entered { .. } | Told::Elected { .. } | Told::Deposed { .. } => false,
        };
        if self.config.election_hears == Hears::Detector {
            hands.tell(&election_key(), told);
        }
        self.tell_locks(Hears::Detector, told, hands);
        if changed {
            self.note_suspicion(told, hands);
            self.ask_for_election(hands);
        }
    }

    /// Passes on what the election says.
    pub(super) fn election_told(&mut self, told: Told, hands: &mut dyn Hands) {
        match told {
            Told::Elected { leader, term } => self.elected(leader, term, hands),
            Told::Deposed { term } => self.deposed(term, hands),
            Told::Suspect(node) => drop(self.passed_on.insert(node)),
            Told::Trust(node) => drop(self.passed_on.remove(&node)),
            Told::Entered { .. } => {}
        }
        self.tell_locks(Hears::Election, told, hands);
    }

    fn elected(&mut self, leader: NodeId, term: u64, hands: &mut dyn Hands) {
        let known = self.leader.replace((leader, term));
        self.deposed = None;
        self.late |= self.config.first_leader != Some((leader, term));
        if known != Some((leader, term)) {
            let words = format!("node {} leads the cluster in term {term}", leader.0 + 1);
            self.journal.note(hands, "leader", None, words);
        }
        if leader != self.config.me {
            self.lose_leaderships(hands);
        } else if self.late && known != Some((leader, term)) {
            self.lead_soon();
        }
    }

    fn deposed(&mut self, term: u64, hands: &mut dyn Hands) {
        self.deposed = Some(term);
        self.late = true;
        if self.leads().is_some_and(|led| led <= term) {
            self.leader = None;
            let words = "this node leads the cluster no longer".to_string();
            self.journal.note(hands, "leader", None, words);
            self.lose_leaderships(hands);
        }
        self.ask_for_election(hands);
    }

    /// A machine that came late hears what the others know.
    pub(super) fn introduce(&mut self, key: &Key, hands: &mut dyn Hands) {
        let hears = match &**key {
            name if name.starts_with(LOCK) => self.config.lock_hears,
            ELECTION => self.config.election_hears,
            _ => Hears::Nothing,
        };
        let suspects: Vec<NodeId> = match hears {
            Hears::Nothing => return,
            Hears::Detector => self.suspects.keys().copied().collect(),
            Hears::Election => self.passed_on.iter().copied().collect(),
        };
        if hears == Hears::Election && self.late {
            match (self.leader, self.deposed) {
                (Some((leader, term)), _) => hands.tell(key, Told::Elected { leader, term }),
                (None, Some(term)) => hands.tell(key, Told::Deposed { term }),
                (None, None) => {}
            }
        }
        for node in suspects {
            hands.tell(key, Told::Suspect(node));
        }
    }

    /// While nobody leads, or the leader seems to be dead, somebody must ask for an election: the
    /// first node that seems to be alive.
    pub(super) fn ask_for_election(&mut self, hands: &mut dyn Hands) {
        if !self.is_led() && self.is_first() && hands.now() >= self.campaign_at {
            self.campaign_at = hands.now() + CAMPAIGN_AGAIN;
            hands.ask(&election_key(), Asked::Campaign);
        }
    }

    /// Whether a node leads that does not seem to be dead.
    pub(super) fn is_led(&self) -> bool {
        self.leader.is_some_and(|(leader, _)| !self.suspects.contains_key(&leader))
    }

    /// Whether a node leads that hears this one, and is heard by it. What is said to a node goes by
    /// a connection of its own, so one may stand without the other.
    pub(super) fn is_in_touch(&self, hands: &dyn Hands) -> bool {
        let me = self.config.me;
        let heard = |leader: NodeId| leader == me || hands.peer(leader).connected;
        self.is_led() && self.leader.is_some_and(|(leader, _)| heard(leader))
    }

    fn is_first(&self) -> bool {
        let mut nodes = (0..self.config.nodes.len() as u32).map(NodeId);
        nodes.find(|node| !self.suspects.contains_key(node)) == Some(self.config.me)
    }

    /// What exists from the start, asked for or not.
    pub(super) fn start_machines(&mut self, hands: &mut dyn Hands) {
        // Neither knows this request: they are only made.
        hands.ask(&detector_key(), Asked::Acquire);
        hands.ask(&election_key(), Asked::Acquire);
        let alone = self.config.nodes.len() == 1;
        let patience = if alone { Ticks::ZERO } else { Ticks(CAMPAIGN_AGAIN.0 / 2) };
        self.campaign_at = hands.now() + patience;
        self.ask_for_election(hands);
    }

    fn tell_locks(&self, hears: Hears, told: Told, hands: &mut dyn Hands) {
        if self.config.lock_hears != hears {
            return;
        }
        for key in hands.machines() {
            if key.starts_with(LOCK) {
                hands.tell(&key, told);
            }
        }
    }

    fn note_suspicion(&mut self, told: Told, hands: &mut dyn Hands) {
        let at = milliseconds(hands.now());
        let (kind, words) = match told {
            Told::Suspect(node) => ("suspected", format!("node {} seems to be down", node.0 + 1)),
            Told::Trust(node) => ("trusted", format!("node {} seems to be up", node.0 + 1)),
            Told::Entered { .. } | Told::Elected { .. } | Told::Deposed { .. } => return,
        };
        tracing::info!(at, "{words}");
        self.journal.note(hands, kind, None, words);
    }
}
