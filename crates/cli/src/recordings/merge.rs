//! One order for all that happened to one machine on all nodes.

use super::post::{Difference, Letter, different};
use super::{Clocks, Place, Post, Tapes};
use conclave_core::{NodeId, Ticks};
use conclave_net::Key;
use conclave_net::recording::{Entry, Restored};
use std::collections::{BTreeMap, VecDeque};

/// A node that is silent for longer than this, while others are not, has stopped. What it did last
/// may be up to a second behind on its tape.
const SILENCE: i64 = 2_000_000;

/// Something that happened to the machine on one node.
#[derive(Clone, Copy, Debug)]
pub enum Happening<'a> {
    /// It took a step.
    Step(Place),
    /// Its node stopped; and whether it came back.
    Gone(bool),
    /// Its node came back, and brought this from its disk.
    Back(usize, Option<&'a Restored>),
    /// It sent a message that arrived there, and that is on no tape of its own.
    Unseen(Letter, Place),
}

/// All that happened, in an order in which it can have happened.
#[derive(Debug)]
pub struct Merged<'a> {
    /// What, on which node, and when.
    pub happenings: Vec<(Ticks, NodeId, Happening<'a>)>,
    /// When each message arrives, of those that do.
    pub arrivals: BTreeMap<Letter, Ticks>,
    /// By how much the latest of events that no even clock explains was put off.
    pub strained: Ticks,
    /// When time 0 was, in microseconds since 1970.
    pub zero: i64,
    /// How long messages usually are under way.
    pub usual: Ticks,
    /// By node: whether it may have received what is on no tape.
    pub blind: Vec<bool>,
}

/// Lays out what happened to one machine.
pub fn merge<'a>(
    tapes: &'a Tapes,
    post: &Post,
    clocks: &Clocks,
    key: &Key,
) -> Result<Merged<'a>, Difference> {
    let lanes = Lanes { tapes, post, clocks, key };
    let mut waiting: Vec<VecDeque<(i64, Happening<'a>)>> =
        tapes.nodes().map(|node| lanes.of(node)).collect();
    let zero = waiting.iter().filter_map(|lane| lane.front()).map(|(at, _)| *at).min();
    let zero = zero.unwrap_or_default();
    let mut merged = lanes.empty(zero);
    let mut sent: BTreeMap<Letter, i64> = BTreeMap::new();
    let mut last = vec![i64::MIN; waiting.len()];
    while let Some((index, at)) = next(&lanes, &waiting, &sent, &last)? {
        let Some((wanted, happening)) = waiting[index].pop_front() else { break };
        let node = NodeId(index as u32);
        last[index] = at;
        let time = |at: i64| Ticks((at - zero).unsigned_abs());
        match happening {
            Happening::Step(place) => {
                merged.strained = merged.strained.max(Ticks(at.abs_diff(wanted)));
                let Some(step) = tapes.step(place) else { continue };
                sent.extend(Letter::sent(node, step).map(|(letter, _)| (letter, at)));
                let taken = Letter::taken(node, step).map(|letter| (letter, time(at)));
                merged.arrivals.extend(taken);
            }
            Happening::Unseen(letter, _) => {
                sent.insert(letter, at);
            }
            Happening::Gone(_) | Happening::Back(..) => {}
        }
        merged.happenings.push((time(at), node, happening));
    }
    Ok(merged)
}

/// The node to which something happens next, and when: the earliest of all that can happen.
fn next(
    lanes: &Lanes<'_, '_>,
    waiting: &[VecDeque<(i64, Happening<'_>)>],
    sent: &BTreeMap<Letter, i64>,
    last: &[i64],
) -> Result<Option<(usize, i64)>, Difference> {
    let mut first: Option<(usize, i64)> = None;
    let mut stuck = None;
    for (index, lane) in waiting.iter().enumerate() {
        let Some((wanted, happening)) = lane.front() else { continue };
        let mut at = (*wanted).max(last[index]);
        if let Happening::Step(place) = happening
            && let Some(step) = lanes.tapes.step(*place)
            && let Some(letter) = Letter::taken(NodeId(index as u32), step)
        {
            match sent.get(&letter) {
                Some(sent) => at = at.max(sent + 1),
                None => {
                    stuck = Some(*place);
                    continue;
                }
            }
        }
        if first.is_none_or(|(_, least)| at < least) {
            first = Some((index, at));
        }
    }
    match (first, stuck) {
        (None, Some(place)) => {
            let what = "arrives before it can have been sent, in whichever order".to_string();
            Err(different(place, what))
        }
        (first, _) => Ok(first),
    }
}

/// What happened on each node, in its own order.
struct Lanes<'a, 'b> {
    tapes: &'a Tapes,
    post: &'b Post,
    clocks: &'b Clocks,
    key: &'b Key,
}

impl<'a> Lanes<'a, '_> {
    /// Nothing has happened yet.
    fn empty(&self, zero: i64) -> Merged<'a> {
        Merged {
            happenings: Vec::new(),
            arrivals: BTreeMap::new(),
            strained: Ticks::ZERO,
            zero,
            usual: Ticks(self.usual().unsigned_abs()),
            blind: self.tapes.nodes().map(|node| self.is_blind(node)).collect(),
        }
    }

    fn of(&self, node: NodeId) -> VecDeque<(i64, Happening<'a>)> {
        let mut lane = VecDeque::new();
        let unseen = self.unseen(node);
        let before = |tape: Option<usize>| unseen.get(&tape).into_iter().flatten().copied();
        lane.extend(before(None));
        let mut existed = !lane.is_empty();
        for (place, tape) in self.tapes.of(node) {
            let restored = tape.recording.entries.iter().find_map(|entry| match entry {
                Entry::Restored(restored) if restored.key == *self.key => Some(restored),
                Entry::Restored(_) | Entry::Step(_) | Entry::Stopped(_) => None,
            });
            let steps = tape.steps().filter(|(_, step)| step.key == *self.key);
            let steps: Vec<_> = steps.collect();
            if restored.is_some() || existed && !steps.is_empty() {
                let back = self.clocks.at(place, Ticks::ZERO);
                lane.push_back((back, Happening::Back(place, restored)));
            }
            existed |= restored.is_some() || !steps.is_empty();
            lane.extend(steps.iter().map(|&(entry, step)| {
                let happening = Happening::Step(Place { tape: place, entry });
                (self.clocks.at(place, step.at), happening)
            }));
            lane.extend(before(Some(place)));
            let returns = self.tapes.next_of_same_node(place).is_some();
            if existed && (returns || self.falls_silent_after(place)) {
                lane.push_back((self.clocks.at(place, tape.end()), Happening::Gone(returns)));
            }
        }
        lane
    }

    /// Whether others went on when this tape was over.
    fn falls_silent_after(&self, tape: usize) -> bool {
        let end = |tape: usize| self.clocks.at(tape, self.tapes.tapes[tape].end());
        let others = (0..self.tapes.tapes.len()).map(end).max().unwrap_or_default();
        others > end(tape) + SILENCE
    }

    /// Whether a node may have gone on without a tape.
    fn is_blind(&self, node: NodeId) -> bool {
        let last = self.tapes.of(node).last();
        last.is_none_or(|(place, tape)| tape.recording.cut && !self.falls_silent_after(place))
    }

    /// What others received of a node without its being on a tape, by the tape after which it must
    /// have been sent. It is taken to have been under way for as long as messages usually are.
    fn unseen(&self, node: NodeId) -> BTreeMap<Option<usize>, Vec<(i64, Happening<'a>)>> {
        let usual = self.usual();
        let mut unseen: BTreeMap<Option<usize>, Vec<(i64, Happening<'a>)>> = BTreeMap::new();
        for (letter, &place) in &self.post.received {
            let Some(step) = self.tapes.step(place) else { continue };
            let known = self.post.sent.contains_key(letter);
            if letter.from != node || step.key != *self.key || known {
                continue;
            }
            let at = self.clocks.at(place.tape, step.at).saturating_sub(usual);
            let after = self.tape_before(letter, at);
            unseen.entry(after).or_default().push((at, Happening::Unseen(*letter, place)));
        }
        unseen.values_mut().for_each(|list| list.sort_by_key(|(at, _)| *at));
        unseen
    }

    /// The tape of the sender after which this was sent: it has smaller numbers, or was over.
    fn tape_before(&self, letter: &Letter, at: i64) -> Option<usize> {
        let smaller = Letter { number: 0, ..*letter }..*letter;
        let known = self.post.sent.range(smaller).next_back().map(|(_, place)| place.tape);
        let over = |&(place, tape): &(usize, &super::Tape)| {
            self.tapes.is_open_after(place) && self.clocks.at(place, tape.end()) <= at
        };
        known.max(self.tapes.of(letter.from).filter(over).last().map(|(place, _)| place))
    }

    /// How long messages usually are under way: the middle one of all.
    fn usual(&self) -> i64 {
        let took = |(letter, place): (&Letter, &Place)| {
            let sent = self.post.sent.get(letter)?;
            let at = |place: &Place| {
                let step = self.tapes.step(*place)?;
                Some(self.clocks.at(place.tape, step.at))
            };
            Some((at(place)? - at(sent)?).max(0))
        };
        let mut all: Vec<i64> = self.post.received.iter().filter_map(took).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or(1_000)
    }
}
