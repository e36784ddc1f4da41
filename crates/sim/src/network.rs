//! The network model: latency, message loss, duplication, partitions. It decides what becomes of a
//! message on its way; where one is lost on purpose is `Network::carry`.

use crate::plan::{Action, Latency, MessageRule, Plan};
use crate::random::{Purpose, Stream};
use conclave_core::{Hasher, NodeId, NodeSet, Play, Ticks};
use std::collections::BTreeMap;

/// The network of one run.
pub(crate) struct Network {
    latency: Latency,
    loss: f64,
    duplicate: f64,
    serial: bool,
    rules: Vec<(MessageRule, u32)>,
    seed: u64,
    links: BTreeMap<(NodeId, NodeId), Link>,
    /// Whether a later message could overtake, and must not.
    kept_in_order: bool,
    /// When each sender is free again, where it emits one message at a time.
    free_at: BTreeMap<NodeId, Ticks>,
    /// By number, the groups that nothing passes between.
    cuts: BTreeMap<u32, Vec<NodeSet>>,
    next_cut: u32,
    /// How often something was cut or healed.
    changes: u64,
    /// The latency of all messages, where nothing else is done to them but by a cut.
    uniform: Option<Ticks>,
    /// The same, while nothing is cut.
    takes: Option<Ticks>,
}

/// What has passed from one node to another.
#[derive(Default)]
struct Link {
    last_arrival: Ticks,
    /// How many messages of each kind.
    sent: Vec<(&'static str, u64)>,
    /// Whether it was cut when it was last looked at, after so many changes.
    severed: Option<(u64, bool)>,
}

impl Link {
    /// One more of this kind; how many there were before.
    fn count(&mut self, kind: &'static str) -> u64 {
        match self.sent.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, sent)) => {
                *sent += 1;
                *sent - 1
            }
            None => {
                self.sent.push((kind, 1));
                0
            }
        }
    }
}

/// What chance has for one message.
struct Drawn {
    lost: bool,
    twice: bool,
    latency: Ticks,
    latency_again: Ticks,
}

/// When a message arrives: not at all, once, or twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub arrival: Option<Ticks>,
    pub again: Option<Ticks>,
}

impl Network {
    /// The network of a plan; what is played may have a standard latency of its own.
    pub fn new(plan: &Plan, play: Option<Play>) -> Self {
        let constant = match plan.latency {
            Latency::Standard => Some(play.map_or(Ticks::UNIT, |play| play.hop)),
            Latency::Constant(latency) => Some(latency),
            Latency::Uniform(..)
            | Latency::Exponential(_)
            | Latency::Normal { .. }
            | Latency::LogNormal { .. }
            | Latency::Pareto { .. }
            | Latency::Measured(_)
            | Latency::Links { .. } => None,
        };
        let alike = constant.is_some() && plan.rules.is_empty() && plan.duplicate == 0.0;
        let uniform = constant.filter(|_| alike && !plan.serial && plan.loss == 0.0);
        Self {
            latency: constant.map_or_else(|| plan.latency.clone(), Latency::Constant),
            loss: plan.loss,
            duplicate: plan.duplicate,
            serial: plan.serial,
            rules: plan.rules.iter().map(|rule| (rule.clone(), 0)).collect(),
            seed: plan.seed,
            links: BTreeMap::new(),
            kept_in_order: plan.fifo && !alike,
            free_at: BTreeMap::new(),
            cuts: BTreeMap::new(),
            next_cut: 0,
            changes: 0,
            uniform,
            takes: uniform,
        }
    }

    /// What every message takes, if they are all alike: nothing is lost, late or out of order.
    #[inline]
    pub fn takes(&self) -> Option<Ticks> {
        self.takes
    }

    /// Decides when a message sent now arrives.
    pub fn carry(&mut self, now: Ticks, from: NodeId, to: NodeId, kind: &'static str) -> Fate {
        let departure = self.departure(now, from);
        let ruled = self.ruled(from, to, kind);
        let drawn = self.draw(from, to, kind);
        if ruled == Some(Action::Drop) || drawn.lost || self.is_cut(from, to) {
            return Fate { arrival: None, again: None };
        }
        let latency = match ruled {
            Some(Action::Delay(latency)) => latency,
            Some(Action::Drop | Action::Duplicate | Action::Again(_)) | None => drawn.latency,
        };
        let arrival = self.in_order(from, to, departure + latency);
        let latency_again = match ruled {
            Some(Action::Again(latency)) => Some(latency),
            Some(Action::Duplicate) => Some(drawn.latency_again),
            Some(Action::Drop | Action::Delay(_)) | None => {
                drawn.twice.then_some(drawn.latency_again)
            }
        };
        let again = latency_again.map(|latency| self.in_order(from, to, departure + latency));
        Fate { arrival: Some(arrival), again }
    }

    /// What chance has for a message: always all of it, under the message's own key.
    fn draw(&mut self, from: NodeId, to: NodeId, kind: &'static str) -> Drawn {
        let nth = self.links.entry((from, to)).or_default().count(kind);
        let mut name = Hasher::default();
        name.write(kind.as_bytes());
        let key = [u64::from(from.0), u64::from(to.0), name.finish(), nth];
        let mut random = Stream::keyed(self.seed, Purpose::Network, &key);
        Drawn {
            lost: random.fraction() < self.loss,
            twice: random.fraction() < self.duplicate,
            latency: latency(&self.latency, from, to, &mut random),
            latency_again: latency(&self.latency, from, to, &mut random),
        }
    }

    /// Starts losing what passes between the groups; the number ends it.
    pub fn cut(&mut self, groups: &[Vec<NodeId>]) -> u32 {
        self.next_cut += 1;
        self.changes += 1;
        self.takes = None;
        self.cuts.insert(self.next_cut, sides(groups));
        self.next_cut
    }

    pub fn heal(&mut self, number: u32) {
        self.changes += 1;
        self.cuts.remove(&number);
        self.takes = self.uniform.filter(|_| self.cuts.is_empty());
    }

    /// Looked up once for each link until something is cut or healed: cuts may be many.
    pub fn is_cut(&mut self, from: NodeId, to: NodeId) -> bool {
        if self.cuts.is_empty() {
            return false;
        }
        let link = self.links.entry((from, to)).or_default();
        match link.severed {
            Some((changes, severed)) if changes == self.changes => severed,
            Some(_) | None => {
                let severed = self.cuts.values().any(|groups| separates(groups, from, to));
                link.severed = Some((self.changes, severed));
                severed
            }
        }
    }

    fn departure(&mut self, now: Ticks, from: NodeId) -> Ticks {
        if !self.serial {
            return now;
        }
        let free_at = self.free_at.entry(from).or_default();
        let departure = now.max(*free_at);
        *free_at = departure + Ticks::UNIT;
        departure
    }

    /// The first rule that speaks of this message. Every rule counts what it matches.
    fn ruled(&mut self, from: NodeId, to: NodeId, kind: &str) -> Option<Action> {
        let mut action = None;
        for (rule, matched) in &mut self.rules {
            let matches = rule.from.is_none_or(|node| node == from)
                && rule.to.is_none_or(|node| node == to)
                && rule.kind.as_deref().is_none_or(|wanted| wanted == kind);
            if matches {
                *matched += 1;
                if action.is_none() && rule.nth.is_none_or(|nth| nth == *matched) {
                    action = Some(rule.action);
                }
            }
        }
        action
    }

    fn in_order(&mut self, from: NodeId, to: NodeId, arrival: Ticks) -> Ticks {
        if !self.kept_in_order {
            return arrival;
        }
        let link = self.links.entry((from, to)).or_default();
        link.last_arrival = arrival.max(link.last_arrival);
        link.last_arrival
    }
}

/// The groups of a partition, to be asked quickly who is in which.
pub(crate) fn sides(groups: &[Vec<NodeId>]) -> Vec<NodeSet> {
    groups.iter().map(|group| group.iter().copied().collect()).collect()
}

/// Whether two nodes are in different groups. Who is in none reaches everybody.
pub(crate) fn separates(groups: &[NodeSet], from: NodeId, to: NodeId) -> bool {
    let group = |node| groups.iter().position(|group| group.contains(node));
    matches!((group(from), group(to)), (Some(a), Some(b)) if a != b)
}

fn latency(of: &Latency, from: NodeId, to: NodeId, random: &mut Stream) -> Ticks {
    match of {
        Latency::Standard => Ticks::UNIT,
        Latency::Constant(latency) => *latency,
        Latency::Uniform(min, max) => random.delay(conclave_core::Delay { min: *min, max: *max }),
        Latency::Exponential(mean) => random.exponential(*mean),
        Latency::Normal { mean, deviation } => random.normal(*mean, *deviation),
        Latency::LogNormal { median, sigma } => random.log_normal(*median, *sigma),
        Latency::Pareto { min, shape } => random.pareto(*min, *shape),
        Latency::Measured(times) => times[random.below(times.len() as u64) as usize],
        Latency::Links { others, links } => {
            latency(links.get(&(from, to)).unwrap_or(others), from, to, random)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    fn arrivals(plan: &Plan, count: usize) -> Vec<Option<Ticks>> {
        let mut network = Network::new(plan, None);
        (0..count).map(|_| network.carry(Ticks(0), A, B, "M").arrival).collect()
    }

    #[test]
    fn first_in_first_out_unless_told_otherwise() {
        let mut plan =
            Plan { latency: Latency::Uniform(Ticks(1), Ticks(1_000)), ..Plan::default() };
        assert!(arrivals(&plan, 100).is_sorted());
        plan.fifo = false;
        assert!(!arrivals(&plan, 100).is_sorted());
    }

    #[test]
    fn an_example_takes_its_own_time_unless_told_otherwise() {
        let play = Play { hop: Ticks(250), application: false };
        let takes = |latency| {
            let mut network = Network::new(&Plan { latency, ..Plan::default() }, Some(play));
            network.carry(Ticks(0), A, B, "M").arrival
        };
        assert_eq!(takes(Plan::default().latency), Some(play.hop));
        assert_eq!(takes(Latency::Constant(Ticks::UNIT)), Some(Ticks::UNIT));
    }

    #[test]
    fn what_becomes_of_one_message_changes_nothing_of_another() {
        let uniform = Latency::Uniform(Ticks(1), Ticks(20_000));
        let base = Plan { latency: uniform, loss: 0.3, duplicate: 0.3, ..Plan::default() };
        let base = Plan { fifo: false, seed: 3, ..base };
        let fates = |plan: &Plan| -> Vec<Fate> {
            let mut network = Network::new(plan, None);
            let links = [(A, B), (B, A), (A, NodeId(2))];
            let sent = (0..60).map(|number| (links[number % 3], ["M", "OK"][number % 2]));
            sent.map(|((from, to), kind)| network.carry(Ticks(0), from, to, kind)).collect()
        };
        for action in [Action::Drop, Action::Duplicate, Action::Delay(Ticks(99_000))] {
            let first = MessageRule { from: None, to: None, kind: None, nth: Some(1), action };
            let ruled = Plan { rules: vec![first], ..base.clone() };
            assert_eq!(fates(&ruled)[1..], fates(&base)[1..], "{action:?}");
        }
        let unlike: std::collections::BTreeSet<_> =
            fates(&base).into_iter().filter_map(|fate| fate.arrival).collect();
        assert!(unlike.len() > 20, "each has a draw of its own: {unlike:?}");
    }

    #[test]
    fn a_serial_sender_emits_one_message_per_unit() {
        let plan = Plan { serial: true, ..Plan::default() };
        let units = [1, 2, 3].map(|unit| Some(Ticks::units(unit)));
        assert_eq!(arrivals(&plan, 3), units);
    }

    #[test]
    fn a_rule_speaks_of_the_nth_message_of_its_kind() {
        let rule = |nth, action| MessageRule {
            from: Some(A),
            to: None,
            kind: Some("M".into()),
            nth: Some(nth),
            action,
        };
        let rules = vec![rule(1, Action::Drop), rule(2, Action::Delay(Ticks(5)))];
        let plan = Plan { rules, fifo: false, ..Plan::default() };
        assert_eq!(arrivals(&plan, 3), [None, Some(Ticks(5)), Some(Ticks::UNIT)]);
    }

    #[test]
    fn a_cut_loses_what_crosses_it_until_it_heals() {
        let mut network = Network::new(&Plan::default(), None);
        let number = network.cut(&[vec![A], vec![B]]);
        assert_eq!(network.carry(Ticks(0), A, B, "M").arrival, None);
        assert!(network.carry(Ticks(0), A, NodeId(2), "M").arrival.is_some());
        network.heal(number);
        assert!(network.carry(Ticks(0), A, B, "M").arrival.is_some());
    }

    #[test]
    fn a_link_that_is_cut_twice_is_cut_until_both_heal() {
        let mut network = Network::new(&Plan::default(), None);
        assert_eq!(network.takes(), Some(Ticks::UNIT));
        let first = network.cut(&[vec![A], vec![B]]);
        let second = network.cut(&[vec![A, NodeId(2)], vec![B]]);
        network.heal(first);
        assert!(network.is_cut(A, B) && network.is_cut(B, A) && network.is_cut(NodeId(2), B));
        assert!(!network.is_cut(A, NodeId(2)));
        assert_eq!(network.takes(), None);
        network.heal(second);
        assert!(!network.is_cut(A, B));
        assert_eq!(network.takes(), Some(Ticks::UNIT));
    }

    #[test]
    fn only_where_nothing_is_done_to_messages_do_all_take_the_same() {
        let takes = |plan: Plan| Network::new(&plan, None).takes();
        let rule =
            MessageRule { from: None, to: None, kind: None, nth: Some(9), action: Action::Drop };
        assert_eq!(takes(Plan { fifo: false, ..Plan::default() }), Some(Ticks::UNIT));
        assert_eq!(takes(Plan { rules: vec![rule], ..Plan::default() }), None);
        assert_eq!(takes(Plan { loss: 0.1, ..Plan::default() }), None);
        assert_eq!(takes(Plan { duplicate: 0.1, ..Plan::default() }), None);
        assert_eq!(takes(Plan { serial: true, ..Plan::default() }), None);
        let latency = Latency::Uniform(Ticks(1), Ticks(2));
        assert_eq!(takes(Plan { latency, ..Plan::default() }), None);
    }

    #[test]
    fn every_rule_counts_what_it_matches_and_the_first_that_speaks_is_followed() {
        let rule = |nth, action| MessageRule { from: None, to: Some(B), kind: None, nth, action };
        let rules = vec![rule(Some(1), Action::Drop), rule(Some(2), Action::Delay(Ticks(5)))];
        let also = [rule(Some(2), Action::Drop), rule(Some(3), Action::Duplicate)];
        let plan = Plan { rules: [rules, also.to_vec()].concat(), fifo: false, ..Plan::default() };
        let mut network = Network::new(&plan, None);
        let mut fate = |to| network.carry(Ticks(0), A, to, "M");
        assert_eq!(fate(NodeId(2)).arrival, Some(Ticks::UNIT), "to somebody else");
        assert_eq!(fate(B), Fate { arrival: None, again: None });
        assert_eq!(fate(B), Fate { arrival: Some(Ticks(5)), again: None });
        assert_eq!(fate(B), Fate { arrival: Some(Ticks::UNIT), again: Some(Ticks::UNIT) });
        assert_eq!(fate(B), Fate { arrival: Some(Ticks::UNIT), again: None });
    }

    #[test]
    fn a_rule_may_say_when_the_copy_comes() {
        let action = Action::Again(Ticks(7_000));
        let first = MessageRule { from: None, to: None, kind: None, nth: Some(1), action };
        let mut network =
            Network::new(&Plan { rules: vec![first], fifo: false, ..Plan::default() }, None);
        let fate = network.carry(Ticks(100), A, B, "M");
        assert_eq!(fate, Fate { arrival: Some(Ticks(1_100)), again: Some(Ticks(7_100)) });
        assert_eq!(network.carry(Ticks(100), A, B, "M").again, None);
    }

    #[test]
    fn a_copy_does_not_overtake_where_messages_arrive_in_order() {
        let latency = Latency::Uniform(Ticks(1), Ticks(1_000));
        let plan = Plan { latency, duplicate: 1.0, ..Plan::default() };
        let mut network = Network::new(&plan, None);
        let mut last = Ticks::ZERO;
        for _ in 0..100 {
            let fate = network.carry(Ticks(0), A, B, "M");
            assert!(fate.arrival >= Some(last) && fate.again >= fate.arrival);
            last = fate.again.expect("each comes twice");
        }
    }
}
