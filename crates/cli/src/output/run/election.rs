//! What there is to say about an election.

use super::{COLUMN, Report};
use crate::output::labelled;
use crate::output::numbers::{decimal, of};
use crate::texts::tr;
use conclave_core::NodeId;
use conclave_sim::Leading;
use std::collections::BTreeMap;

impl Report<'_> {
    /// Who leads, who else did, and how often minds changed.
    pub(super) fn leading(&self, leading: &Leading) -> String {
        let mut text = labelled("leader", COLUMN, &self.leader(leading));
        text += &self.time();
        if leading.leaders_seen.len() > 1 {
            let seen = self.nodes(&leading.leaders_seen);
            let told = format!("{seen}; at most {} at once", leading.at_once);
            text += &labelled("leaders", COLUMN, &told);
        }
        if leading.changes > 0 {
            let turns = of(leading.changes, "turn");
            text += &labelled("stability", COLUMN, &format!("{turns} from one leader to another"));
        }
        text
    }

    fn leader(&self, leading: &Leading) -> String {
        if self.many {
            let times = leading.time_to_leader.summary();
            let times = times.map_or(String::new(), |times| {
                let mean = decimal(times.mean);
                let max = decimal(times.max);
                format!(", after {mean} units on average, {max} at most")
            });
            let agreed =
                if leading.agreed { "agreed on in every run" } else { "not always agreed on" };
            return format!("{agreed}{times}");
        }
        match (leading.leader, leading.time_to_leader.summary()) {
            (Some(leader), Some(times)) => {
                let name = self.experiment.names.name(leader);
                format!("{name}, known to all at {}", decimal(times.max))
            }
            (Some(_) | None, _) => self.beliefs(leading),
        }
    }

    /// Whom the nodes follow, where they do not agree.
    fn beliefs(&self, leading: &Leading) -> String {
        let mut camps: BTreeMap<Option<NodeId>, Vec<NodeId>> = BTreeMap::new();
        for (index, belief) in leading.beliefs.iter().enumerate() {
            camps.entry(*belief).or_default().push(NodeId(index as u32));
        }
        let camp = |(leader, followers): (&Option<NodeId>, &Vec<NodeId>)| {
            let leader =
                leader.map_or("nobody".to_string(), |leader| self.experiment.names.name(leader));
            let follow = if followers.len() == 1 { "follows" } else { "follow" };
            tr(&format!("{} {follow} {leader}", self.nodes(followers))).into_owned()
        };
        let camps: Vec<String> = camps.iter().map(camp).collect();
        if camps.is_empty() { "not agreed on".to_string() } else { camps.join("; ") }
    }
}
