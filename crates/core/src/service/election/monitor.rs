//! Monitor of leader election (one leader per term, agreement in the end): watches whom each node
//! follows, says which properties were kept, and counts leaders at the same time (split brain).

use crate::{NodeId, NodeSet, Property, Ticks, Verdict, Violation};
use std::collections::BTreeMap;

/// Beliefs of more nodes than this are not listed.
const LISTED_MAX: usize = 10_000;

/// Watches whom each node follows. Every call is O(1) but for the last.
#[derive(Clone, Debug)]
pub struct Monitor {
    up: NodeSet,
    /// Who crashed and came up again.
    came_back: NodeSet,
    beliefs: Vec<Option<NodeId>>,
    /// By leader: how many nodes follow it.
    followers: Vec<u32>,
    /// How many leaders are followed by anybody.
    leaders: u32,
    following: u32,
    /// How many nodes follow themselves.
    reigning: u32,
    at_once_max: u32,
    leaders_seen: Vec<NodeId>,
    seen: NodeSet,
    /// Who was said to lead in each term.
    terms: BTreeMap<u64, NodeId>,
    changes: u64,
    last_change: Ticks,
    violations: Vec<Violation>,
    verdicts: [Verdict; 2],
}

impl Monitor {
    /// A monitor for `n` nodes, all of which are up and follow nobody.
    pub fn new(n: u32) -> Self {
        Self {
            up: (0..n).map(NodeId).collect(),
            came_back: NodeSet::default(),
            beliefs: vec![None; n as usize],
            followers: vec![0; n as usize],
            leaders: 0,
            following: 0,
            reigning: 0,
            at_once_max: 0,
            leaders_seen: Vec::new(),
            seen: NodeSet::default(),
            terms: BTreeMap::new(),
            changes: 0,
            last_change: Ticks::ZERO,
            violations: Vec::new(),
            verdicts: [Verdict::Unknown; 2],
        }
    }

    /// A node learns of a leader.
    pub fn elected(&mut self, node: NodeId, leader: NodeId, term: u64, at: Ticks) {
        let known = *self.terms.entry(term).or_insert(leader);
        if known != leader {
            let what = format!("{} and {} both lead in term {term}", known.mark(), leader.mark());
            self.report(Property::E1Term, at, what);
        }
        let before = self.beliefs[node.index()];
        if before == Some(leader) {
            return;
        }
        self.changes += u64::from(before.is_some());
        self.turn(node, Some(leader), at);
        if self.seen.insert(leader) {
            self.leaders_seen.push(leader);
        }
    }

    /// A node that led no longer does, and follows nobody for now.
    pub fn deposed(&mut self, node: NodeId, at: Ticks) {
        self.turn(node, None, at);
    }

    /// A node crashed, or was never there.
    pub fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.turn(node, None, at);
        self.up.remove(node);
    }

    /// A crashed node came back, and follows nobody yet.
    pub fn returned(&mut self, node: NodeId) {
        self.up.insert(node);
        self.came_back.insert(node);
    }

    /// Who is up.
    pub fn up(&self) -> &NodeSet {
        &self.up
    }

    /// The node that all live nodes follow, if they do and it lives.
    pub fn leader(&self) -> Option<NodeId> {
        let all_follow_one = self.leaders == 1 && self.following == self.up.len();
        let anybody = self.up.iter().next().filter(|_| all_follow_one)?;
        self.beliefs[anybody.index()].filter(|&leader| self.up.contains(leader))
    }

    /// Everybody whom anybody ever followed, in order.
    pub fn leaders_seen(&self) -> &[NodeId] {
        &self.leaders_seen
    }

    /// The most nodes that believed at one time that they lead.
    pub fn at_once_max(&self) -> u32 {
        self.at_once_max
    }

    /// How often a node turned from one leader to another.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// When a node last changed its mind.
    pub fn last_change(&self) -> Ticks {
        self.last_change
    }

    /// Whom each node follows; empty if there are too many.
    pub fn beliefs(&self) -> Vec<Option<NodeId>> {
        if self.beliefs.len() <= LISTED_MAX { self.beliefs.clone() } else { Vec::new() }
    }

    /// The run is over. `winner` is whom the algorithm's rule names, where it names anybody in
    /// particular. A run cut short counts as stalled if nobody has changed its mind for `patience`.
    pub fn end(
        &mut self,
        winner: Option<Option<NodeId>>,
        at: Ticks,
        complete: bool,
        patience: Ticks,
    ) {
        let settled = complete || at.since(self.last_change) >= patience;
        let disagreement = self.disagreement(winner);
        let ignorant = self.up.iter().find(|node| self.beliefs[node.index()].is_none());
        let judged = |broken: bool| match (broken, settled) {
            (false, _) => Verdict::Holds,
            (true, true) => Verdict::Violated,
            (true, false) => Verdict::Unknown,
        };
        self.verdicts = [judged(disagreement.is_some()), judged(ignorant.is_some())];
        // It has been so since somebody last changed its mind, not since the run was given up. If
        // nobody ever did, or the node is new, all that is known is that it is so now.
        let since = if self.last_change == Ticks::ZERO { at } else { self.last_change };
        if let Some(what) = disagreement.filter(|_| settled) {
            self.report(Property::E1, since, what);
        }
        if let Some(node) = ignorant.filter(|_| settled) {
            let since = if self.came_back.contains(node) { at } else { since };
            self.report(Property::E2, since, format!("{} knows of no leader", node.mark()));
        }
    }

    /// What became of a property.
    pub fn verdict(&self, property: Property) -> Verdict {
        match property {
            Property::E1 => self.verdicts[0],
            Property::E2 => self.verdicts[1],
            Property::E1Term => {
                let broken = self.violations.iter().any(|seen| seen.property == property);
                if broken { Verdict::Violated } else { Verdict::Holds }
            }
            Property::S1
            | Property::S1Eff
            | Property::V1
            | Property::V2
            | Property::BW
            | Property::HB
            | Property::HBExact
            | Property::F1
            | Property::D1
            | Property::D2 => Verdict::NotChecked,
        }
    }

    /// The violated properties, first first.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// What is wrong with whom the live nodes follow, if anything is. Who follows nobody is no
    /// matter of agreement.
    fn disagreement(&self, winner: Option<Option<NodeId>>) -> Option<String> {
        let mut following = self
            .up
            .iter()
            .filter_map(|node| self.beliefs[node.index()].map(|leader| (node, leader)));
        let (first, leader) = following.next()?;
        if let Some((node, other)) = following.find(|(_, other)| *other != leader) {
            let first = first.mark();
            let leader = leader.mark();
            return Some(format!(
                "{first} follows {leader}, {} follows {}",
                node.mark(),
                other.mark()
            ));
        }
        if !self.up.contains(leader) {
            return Some(format!("all follow {}, which is down", leader.mark()));
        }
        match winner {
            Some(Some(winner)) if winner != leader => {
                Some(format!("all follow {}, where {} should lead", leader.mark(), winner.mark()))
            }
            Some(_) | None => None,
        }
    }

    fn turn(&mut self, node: NodeId, to: Option<NodeId>, at: Ticks) {
        let before = std::mem::replace(&mut self.beliefs[node.index()], to);
        if before == to {
            return;
        }
        if let Some(leader) = before {
            let followers = &mut self.followers[leader.index()];
            *followers -= 1;
            self.leaders -= u32::from(*followers == 0);
            self.following -= 1;
            self.reigning -= u32::from(leader == node);
        }
        if let Some(leader) = to {
            let followers = &mut self.followers[leader.index()];
            self.leaders += u32::from(*followers == 0);
            *followers += 1;
            self.following += 1;
            self.reigning += u32::from(leader == node);
        }
        self.at_once_max = self.at_once_max.max(self.reigning);
        self.last_change = at;
    }

    fn report(&mut self, property: Property, at: Ticks, what: String) {
        self.violations.push(Violation { property, at, what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Ticks = Ticks::units(1_000);

    fn monitor(n: u32, follows: &[(u32, u32)]) -> Monitor {
        let mut monitor = Monitor::new(n);
        for &(node, leader) in follows {
            monitor.elected(NodeId(node), NodeId(leader), u64::from(leader), Ticks::UNIT);
        }
        monitor
    }

    #[test]
    fn all_who_follow_the_right_node_agree() {
        let mut monitor = monitor(3, &[(0, 2), (1, 2), (2, 2)]);
        monitor.end(Some(Some(NodeId(2))), Ticks::units(9), true, PATIENCE);
        assert_eq!(monitor.leader(), Some(NodeId(2)));
        assert_eq!(Property::ELECTION.map(|p| monitor.verdict(p)), [Verdict::Holds; 3]);
    }

    #[test]
    fn two_leaders_in_the_end_break_e1_and_are_counted() {
        let mut monitor = monitor(4, &[(0, 1), (1, 1), (2, 3), (3, 3)]);
        monitor.end(None, Ticks::units(9), true, PATIENCE);
        assert_eq!(monitor.verdict(Property::E1), Verdict::Violated);
        assert_eq!(monitor.verdict(Property::E2), Verdict::Holds);
        assert_eq!((monitor.at_once_max(), monitor.leader()), (2, None));
        assert_eq!(monitor.violations()[0].what, "{0} follows {1}, {2} follows {3}");
        assert_eq!(monitor.violations()[0].at, Ticks::UNIT, "since the last change of mind");
    }

    #[test]
    fn whoever_knows_no_leader_breaks_e2_but_not_e1() {
        let mut monitor = monitor(3, &[(0, 2)]);
        monitor.end(None, Ticks::units(9), true, PATIENCE);
        assert_eq!(monitor.verdict(Property::E1), Verdict::Holds);
        assert_eq!(monitor.verdict(Property::E2), Verdict::Violated);
        assert_eq!(monitor.violations()[0].at, Ticks::UNIT, "it waits since then");
    }

    #[test]
    fn a_wrong_or_dead_leader_breaks_e1() {
        let mut wrong = monitor(2, &[(0, 0), (1, 0)]);
        wrong.end(Some(Some(NodeId(1))), Ticks::units(9), true, PATIENCE);
        assert_eq!(wrong.verdict(Property::E1), Verdict::Violated);
        let mut dead = monitor(3, &[(0, 2), (1, 2), (2, 2)]);
        dead.crashed(NodeId(2), Ticks::units(2));
        dead.end(None, Ticks::units(9), true, PATIENCE);
        assert_eq!(dead.verdict(Property::E1), Verdict::Violated);
    }

    #[test]
    fn two_leaders_of_one_term_break_e1_term_at_once() {
        let mut monitor = Monitor::new(3);
        monitor.elected(NodeId(0), NodeId(0), 7, Ticks::UNIT);
        monitor.elected(NodeId(1), NodeId(1), 7, Ticks::units(2));
        assert_eq!(monitor.verdict(Property::E1Term), Verdict::Violated);
        assert_eq!(monitor.violations()[0].at, Ticks::units(2));
    }

    #[test]
    fn a_run_cut_short_while_minds_change_says_nothing() {
        let mut monitor = monitor(3, &[(0, 2)]);
        monitor.end(None, Ticks::units(9), false, PATIENCE);
        assert_eq!(monitor.verdict(Property::E2), Verdict::Unknown);
    }

    #[test]
    fn changes_count_turns_from_one_leader_to_another() {
        let mut monitor = monitor(2, &[(0, 0), (1, 0)]);
        monitor.elected(NodeId(0), NodeId(1), 3, Ticks::units(3));
        monitor.elected(NodeId(1), NodeId(1), 3, Ticks::units(4));
        assert_eq!((monitor.changes(), monitor.last_change()), (2, Ticks::units(4)));
        assert_eq!(monitor.leaders_seen(), [NodeId(0), NodeId(1)]);
    }

    #[test]
    fn patience_counts_from_the_last_change_of_mind() {
        let verdict_at = |at| {
            let mut monitor = monitor(3, &[(0, 2), (0, 2)]);
            monitor.elected(NodeId(0), NodeId(2), 2, Ticks::units(500)); // It knew.
            monitor.end(None, at, false, PATIENCE);
            monitor.verdict(Property::E2)
        };
        assert_eq!(verdict_at(Ticks::units(1_000)), Verdict::Unknown);
        assert_eq!(verdict_at(Ticks::units(1_001)), Verdict::Violated);
    }

    #[test]
    fn a_leader_may_be_told_of_twice_and_lead_in_many_terms() {
        let mut monitor = Monitor::new(2);
        for (term, node) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
            monitor.elected(NodeId(node), NodeId(0), term, Ticks::UNIT);
        }
        assert_eq!(monitor.verdict(Property::E1Term), Verdict::Holds);
        assert_eq!((monitor.changes(), monitor.leaders_seen()), (0, &[NodeId(0)][..]));
    }

    #[test]
    fn only_who_follows_itself_reigns_and_a_deposed_one_no_longer() {
        let mut monitor = monitor(3, &[(0, 1), (1, 1), (2, 2)]);
        assert_eq!(monitor.at_once_max(), 2);
        let mut handed_over = self::monitor(3, &[(0, 1), (1, 1)]);
        handed_over.deposed(NodeId(1), Ticks::units(2));
        handed_over.elected(NodeId(2), NodeId(2), 2, Ticks::units(2));
        assert_eq!((handed_over.at_once_max(), handed_over.changes()), (1, 0));
        monitor.deposed(NodeId(2), Ticks::units(2));
        monitor.end(None, Ticks::units(9), true, PATIENCE);
        assert_eq!(monitor.verdict(Property::E1), Verdict::Holds);
        assert_eq!(monitor.verdict(Property::E2), Verdict::Violated);
    }

    #[test]
    fn who_is_down_need_not_follow_and_who_came_back_must() {
        let mut monitor = monitor(3, &[(0, 2), (1, 0), (2, 2)]);
        monitor.crashed(NodeId(1), Ticks::units(2));
        assert_eq!(monitor.leader(), Some(NodeId(2)));
        monitor.returned(NodeId(1));
        assert_eq!(monitor.leader(), None, "it follows nobody yet");
        monitor.elected(NodeId(1), NodeId(2), 2, Ticks::units(3));
        assert_eq!(monitor.leader(), Some(NodeId(2)));
        monitor.crashed(NodeId(2), Ticks::units(4));
        assert_eq!(monitor.leader(), None, "all follow one that is down");
    }
}
