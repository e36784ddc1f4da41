//! Routing between state machines: the failure detector speaks to the election and to locks, the
//! election to locks.

use super::timing::milliseconds;
use super::{Desk, detector_key, election_key};
use crate::{ELECTION, Hears, LOCK};
use conclave_core::NodeId;
use conclave_net::{AnyIndication, AnyRequest, HostContext, Key};

impl Desk {
    /// Passes on what the detector says.
    pub(super) fn detector_told(&mut self, told: AnyIndication, host: &mut dyn HostContext) {
        let news = self.connectivity.detector_told(told, host.now());
        if self.config.election_hears == Hears::Detector {
            host.tell(&election_key(), told);
        }
        self.tell_locks(Hears::Detector, told, host);
        if news {
            self.note_suspicion(told, host);
            self.ask_for_election(host);
        }
    }

    /// Passes on what the election says.
    pub(super) fn election_told(&mut self, told: AnyIndication, host: &mut dyn HostContext) {
        match told {
            AnyIndication::Elected { leader, term } => self.elected(leader, term, host),
            AnyIndication::Deposed { term } => self.deposed(term, host),
            AnyIndication::Suspect(_) | AnyIndication::Trust(_) => {
                self.connectivity.election_told(told)
            }
            AnyIndication::Entered { .. } => {}
        }
        self.tell_locks(Hears::Election, told, host);
    }

    fn elected(&mut self, leader: NodeId, term: u64, host: &mut dyn HostContext) {
        let news = self.leadership.elected(leader, term);
        self.handed_over_to(leader, term, host);
        if news {
            let words = format!("node {} leads the cluster in term {term}", leader.0 + 1);
            self.journal.note(host, "leader", None, words);
            self.counts.leaders += 1;
        }
        if leader != self.config.me {
            self.lose_leaderships(host);
        } else if self.leadership.is_late() && news {
            self.lead_soon();
        }
    }

    fn deposed(&mut self, term: u64, host: &mut dyn HostContext) {
        if self.leadership.deposed(term) {
            let words = "this node leads the cluster no longer".to_string();
            self.journal.note(host, "leader", None, words);
            self.lose_leaderships(host);
        }
        self.ask_for_election(host);
    }

    /// A machine that came late hears what the others know.
    pub(super) fn introduce(&mut self, key: &Key, host: &mut dyn HostContext) {
        let hears = match &**key {
            name if name.starts_with(LOCK) => self.config.lock_hears,
            ELECTION => self.config.election_hears,
            _ => Hears::Nothing,
        };
        let suspects = match hears {
            Hears::Nothing => return,
            Hears::Detector => self.connectivity.suspects(),
            Hears::Election => self.connectivity.passed_on(),
        };
        if hears == Hears::Election
            && let Some(news) = self.leadership.news()
        {
            host.tell(key, news);
        }
        for node in suspects {
            host.tell(key, AnyIndication::Suspect(node));
        }
    }

    /// Asks for an election, if it is this node's turn to do so and it is not about to stop.
    pub(super) fn ask_for_election(&mut self, host: &mut dyn HostContext) {
        if self.handover.is_none() && self.leadership.is_to_campaign(&self.connectivity, host.now())
        {
            host.ask(&election_key(), AnyRequest::Campaign);
        }
    }

    /// Whether a node leads that hears this one, and is heard by it. What is said to a node goes by
    /// a connection of its own, so one may stand without the other.
    pub(super) fn is_in_touch(&self, host: &dyn HostContext) -> bool {
        let heard = |leader: NodeId| leader == self.config.me || host.peer(leader).connected;
        self.leadership.is_led(&self.connectivity)
            && self.leadership.leader().is_some_and(|(leader, _)| heard(leader))
    }

    /// What exists from the start, asked for or not.
    pub(super) fn start_machines(&mut self, host: &mut dyn HostContext) {
        // Neither knows this request: they are only made.
        host.ask(&detector_key(), AnyRequest::Acquire);
        host.ask(&election_key(), AnyRequest::Acquire);
        self.ask_for_election(host);
    }

    fn tell_locks(&self, hears: Hears, told: AnyIndication, host: &mut dyn HostContext) {
        if self.config.lock_hears != hears {
            return;
        }
        for key in host.machines() {
            if key.starts_with(LOCK) {
                host.tell(&key, told);
            }
        }
    }

    fn note_suspicion(&mut self, told: AnyIndication, host: &mut dyn HostContext) {
        let at = milliseconds(host.now());
        let (kind, words) = match told {
            AnyIndication::Suspect(node) => {
                ("suspected", format!("node {} seems to be down", node.0 + 1))
            }
            AnyIndication::Trust(node) => {
                ("trusted", format!("node {} seems to be up", node.0 + 1))
            }
            AnyIndication::Entered { .. }
            | AnyIndication::Elected { .. }
            | AnyIndication::Deposed { .. } => return,
        };
        tracing::info!(at, "{words}");
        self.journal.note(host, kind, None, words);
    }
}
