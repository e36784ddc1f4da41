//! Merges the recordings of all nodes into one order of all that happened to one state machine.

use super::post::{Difference, Letter, different};
use super::{Clocks, Gap, Place, Post, Tape, Tapes};
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
    /// Its node came back, and there it says what the disk had of it.
    Back(Place, OnDisk<'a>),
    /// It sent a message in a gap, and there it arrived.
    Unseen(Letter, Place),
}

/// What the disk of a node that comes back has of a machine.
#[derive(Clone, Copy, Debug)]
pub enum OnDisk<'a> {
    /// This.
    Kept(&'a Restored),
    /// Nothing.
    Nothing,
    /// Its tape was cut off before it could say.
    Unknown,
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
    /// By node: whether it may have gone on in a gap at its end.
    pub goes_on: Vec<bool>,
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
            goes_on: self.tapes.nodes().map(|node| self.goes_on(node)).collect(),
        }
    }

    fn of(&self, node: NodeId) -> VecDeque<(i64, Happening<'a>)> {
        let mut lane = VecDeque::new();
        let unseen = self.unseen(node);
        let sent_in = |gap: Gap| unseen.get(&gap).into_iter().flatten().copied();
        lane.extend(sent_in(None));
        let mut existed = !lane.is_empty();
        for (place, tape) in self.tapes.of(node) {
            let steps = tape.steps().filter(|(_, step)| step.key == *self.key);
            let steps: Vec<_> = steps.collect();
            let (entry, on_disk) = self.on_disk(tape);
            let kept = matches!(on_disk, OnDisk::Kept(_));
            if existed || kept {
                let back = self.clocks.at(place, Ticks::ZERO);
                let said = Place { tape: place, entry };
                lane.push_back((back, Happening::Back(said, on_disk)));
            }
            existed |= kept || !steps.is_empty();
            lane.extend(steps.iter().map(|&(entry, step)| {
                let happening = Happening::Step(Place { tape: place, entry });
                (self.clocks.at(place, step.at), happening)
            }));
            lane.extend(sent_in(Some(place)));
            let returns = self.tapes.next_of_same_node(place).is_some();
            if existed && (returns || self.falls_silent_after(place)) {
                lane.push_back((self.clocks.at(place, tape.end()), Happening::Gone(returns)));
            }
        }
        lane
    }

    /// What a node that starts has of the machine on its disk, and by which entry.
    fn on_disk(&self, tape: &'a Tape) -> (usize, OnDisk<'a>) {
        let mut entries = tape.recording.entries.iter().enumerate();
        let restored = entries.find_map(|(entry, what)| match what {
            Entry::Restored(restored) if restored.key == *self.key => Some((entry, restored)),
            Entry::Restored(_) | Entry::Step(_) | Entry::Stopped(_) => None,
        });
        match restored {
            Some((entry, restored)) => (entry, OnDisk::Kept(restored)),
            None if tape.says_what_came_back() => (0, OnDisk::Nothing),
            None => (0, OnDisk::Unknown),
        }
    }

    /// Whether others went on when this tape was over.
    fn falls_silent_after(&self, tape: usize) -> bool {
        let end = |tape: usize| self.clocks.at(tape, self.tapes.tapes[tape].end());
        let others = (0..self.tapes.tapes.len()).map(end).max().unwrap_or_default();
        others > end(tape) + SILENCE
    }

    /// Whether a node may have gone on after its last tape.
    fn goes_on(&self, node: NodeId) -> bool {
        let last = self.tapes.of(node).last();
        last.is_none_or(|(place, tape)| tape.recording.cut && !self.falls_silent_after(place))
    }

    /// What others received of a node that it sent in gaps, by gap. It is taken to have been under
    /// way for as long as messages usually are.
    fn unseen(&self, node: NodeId) -> BTreeMap<Gap, Vec<(i64, Happening<'a>)>> {
        let usual = self.usual();
        let mut unseen: BTreeMap<Gap, Vec<(i64, Happening<'a>)>> = BTreeMap::new();
        for (letter, &place) in &self.post.received {
            let Some(step) = self.tapes.step(place) else { continue };
            let known = self.post.sent.contains_key(letter);
            if letter.from != node || step.key != *self.key || known {
                continue;
            }
            let at = self.clocks.at(place.tape, step.at).saturating_sub(usual);
            let gap = self.gap_of(letter, at);
            unseen.entry(gap).or_default().push((at, Happening::Unseen(*letter, place)));
        }
        unseen.values_mut().for_each(|list| list.sort_by_key(|(at, _)| *at));
        unseen
    }

    /// The gap in which this was sent: of those where its number fits, the last one that had begun
    /// by this time, as far as clocks can be relied on.
    fn gap_of(&self, letter: &Letter, at: i64) -> Gap {
        let (after, before) = self.post.around(letter);
        let end = |tape: usize| self.clocks.at(tape, self.tapes.tapes[tape].end());
        let began = |gap: &Gap| gap.is_none_or(|tape| end(tape) <= at);
        let gaps: Vec<Gap> = self.tapes.gaps(letter.from, after, before).collect();
        let found = gaps.iter().rfind(|gap| began(gap)).or(gaps.first());
        found.copied().flatten()
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
