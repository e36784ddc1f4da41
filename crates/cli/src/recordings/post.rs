//! Which message that was received is which that was sent.

use super::{Place, Tapes};
use conclave_core::NodeId;
use conclave_net::recording::Step;
use conclave_net::{Deed, Input, Lane};
use std::collections::BTreeMap;

/// What no two messages share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter {
    /// Who sent it.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// How it went.
    pub lane: Lane,
    /// Its number on this way.
    pub number: u64,
}

/// Where every message was sent, and where it was received.
#[derive(Debug, Default)]
pub struct Post {
    /// Where it was sent, as far as that is on a tape.
    pub sent: BTreeMap<Letter, Place>,
    /// Where it was received.
    pub received: BTreeMap<Letter, Place>,
}

/// Something that cannot have happened, and where it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub place: Place,
    /// What is different.
    pub what: String,
}

impl Letter {
    /// The message that a step of this node takes, if it takes one.
    pub fn taken(to: NodeId, step: &Step) -> Option<Self> {
        match (&step.input, step.arrival) {
            (Input::Message { from, .. }, Some((lane, number))) => {
                Some(Self { from: *from, to, lane, number })
            }
            (_, _) => None,
        }
    }

    /// The messages that a step of this node sends, with what they say.
    pub fn sent(from: NodeId, step: &Step) -> impl Iterator<Item = (Self, &[u8])> {
        step.deeds.iter().filter_map(move |done| match (&done.deed, done.sent) {
            (Deed::Send { to, bytes, .. }, Some((lane, number))) => {
                Some((Self { from, to: *to, lane, number }, bytes.as_slice()))
            }
            (_, _) => None,
        })
    }

    fn told(&self) -> String {
        format!("message {} of node {} to node {}", self.number, self.from, self.to)
    }
}

impl Post {
    /// Finds them all, and sees whether links kept their promises.
    pub fn of(tapes: &Tapes) -> Result<Self, Difference> {
        let mut post = Self::default();
        for (place, step) in tapes.steps() {
            let node = tapes.tapes[place.tape].header().node;
            for (letter, _) in Letter::sent(node, step) {
                if post.sent.insert(letter, place).is_some() {
                    return Err(different(place, format!("{} is sent twice", letter.told())));
                }
            }
            if let Some(letter) = Letter::taken(node, step)
                && post.received.insert(letter, place).is_some()
            {
                return Err(different(place, format!("{} is received twice", letter.told())));
            }
        }
        post.check_contents(tapes)?;
        post.check_order(tapes)?;
        Ok(post)
    }

    /// What arrives is what was sent, unless the sending is on no tape.
    fn check_contents(&self, tapes: &Tapes) -> Result<(), Difference> {
        for (letter, &place) in &self.received {
            let Some(step) = tapes.step(place) else { continue };
            let Some(&sent) = self.sent.get(letter) else {
                if tapes.has_holes(letter.from) && !self.is_within_a_tape(letter) {
                    continue;
                }
                let what = format!("{} arrives, and was never sent", letter.told());
                return Err(different(place, what));
            };
            let there = tapes.step(sent).and_then(|step| {
                let same = |(sent, _): &(Letter, &[u8])| sent == letter;
                Letter::sent(letter.from, step).find(same).map(|(_, bytes)| (&step.key, bytes))
            });
            let here = match &step.input {
                Input::Message { bytes, .. } => Some((&step.key, bytes.as_slice())),
                Input::Start
                | Input::Restart
                | Input::Asked(_)
                | Input::Told(_)
                | Input::Timer(_) => None,
            };
            if here != there {
                let what = format!("{} says something else than was sent", letter.told());
                return Err(different(place, what));
            }
        }
        Ok(())
    }

    /// Numbers between two of one tape were given by the node while it recorded.
    fn is_within_a_tape(&self, letter: &Letter) -> bool {
        let same_way = Letter { number: 0, ..*letter }..Letter { number: u64::MAX, ..*letter };
        let mut ends: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (sent, place) in self.sent.range(same_way) {
            let (first, last) = ends.entry(place.tape).or_insert((sent.number, sent.number));
            (*first, *last) = ((*first).min(sent.number), (*last).max(sent.number));
        }
        ends.values().any(|(first, last)| (*first..=*last).contains(&letter.number))
    }

    /// On one way numbers only rise, and nothing that must arrive is left out.
    fn check_order(&self, tapes: &Tapes) -> Result<(), Difference> {
        let mut before: Option<(Letter, Place)> = None;
        for (letter, &place) in &self.received {
            let way = |letter: &Letter| (letter.from, letter.to, letter.lane);
            if let Some((last, earlier)) = before.filter(|(last, _)| way(last) == way(letter)) {
                if place < earlier {
                    let what = format!("{} arrives before message {}", letter.told(), last.number);
                    return Err(different(place, what));
                }
                let skipped = self.sent.range(last..*letter).nth(1).map(|(letter, _)| *letter);
                if let Some(skipped) = skipped
                    && letter.lane == Lane::Durable
                    && !tapes.has_holes(letter.to)
                {
                    let what = format!("{} arrives, but {} did not", letter.told(), skipped.number);
                    return Err(different(place, what));
                }
            }
            before = Some((*letter, place));
        }
        Ok(())
    }
}

pub(super) fn different(place: Place, what: String) -> Difference {
    Difference { place, what }
}
