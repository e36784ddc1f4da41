//! Message matching: pairs each message that was received with the one that was sent.

use super::{Place, Tapes};
use conclave_core::NodeId;
use conclave_net::recording::Step;
use conclave_net::{Deed, Input, Lane};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};

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
                self.check_unseen(tapes, letter, place)?;
                continue;
            };
            let there = tapes.step(sent).and_then(|step| {
                let same = |(sent, _): &(Letter, &[u8])| sent == letter;
                Letter::sent(letter.from, step).find(same).map(|(_, bytes)| (&step.key, bytes))
            });
            let here = match &step.input {
                Input::Message { bytes, .. } => Some((&step.key, bytes.as_slice())),
                Input::Start
                | Input::Restart
                | Input::Request(_)
                | Input::Indication(_)
                | Input::Timer(_) => None,
            };
            if here != there {
                let what = format!("{} says something else than was sent", letter.told());
                return Err(different(place, what));
            }
        }
        Ok(())
    }

    /// A message whose sending is on no tape was sent in a gap.
    fn check_unseen(&self, tapes: &Tapes, letter: &Letter, place: Place) -> Result<(), Difference> {
        let (after, before) = self.around(letter);
        if tapes.has_gap(letter.from, after, before) {
            return Ok(());
        }
        let maybe = match before {
            // That a node was started once more is on none of its tapes.
            None => format!("; or a recording of a later start of node {} is missing", letter.from),
            Some(_) => String::new(),
        };
        Err(different(place, format!("{} arrives, and was never sent{maybe}", letter.told())))
    }

    /// The tapes on which its sender sent what came before and after it on the same way. It must
    /// have been sent in between, for numbers rise from start to start.
    pub fn around(&self, letter: &Letter) -> (Option<usize>, Option<usize>) {
        let first = Letter { number: 0, ..*letter };
        let last = Letter { number: u64::MAX, ..*letter };
        let before = self.sent.range(first..*letter).next_back();
        let after = self.sent.range((Excluded(*letter), Included(last))).next();
        (before.map(|(_, place)| place.tape), after.map(|(_, place)| place.tape))
    }

    /// On one way numbers only rise, and nothing that must arrive is left out.
    fn check_order(&self, tapes: &Tapes) -> Result<(), Difference> {
        let way = |letter: &Letter| (letter.from, letter.to, letter.lane);
        let mut before: Option<(Letter, Place)> = None;
        for (letter, &place) in &self.received {
            let last = before.filter(|(last, _)| way(last) == way(letter));
            if let Some((last, earlier)) = last
                && place < earlier
            {
                let what = format!("{} arrives before message {}", letter.told(), last.number);
                return Err(different(place, what));
            }
            if letter.lane == Lane::Durable
                && let Some(skipped) = self.skipped(last.map(|(last, _)| last), letter)
                && !tapes.has_gap(letter.to, last.map(|(_, place)| place.tape), Some(place.tape))
            {
                let what = format!("{} arrives, but {} did not", letter.told(), skipped.number);
                return Err(different(place, what));
            }
            before = Some((*letter, place));
        }
        Ok(())
    }

    /// What was sent on the way of a message before it, and after the last that arrived there. The
    /// first durable message of a way must arrive as any other: who counts from 1 waits for it.
    fn skipped(&self, last: Option<Letter>, letter: &Letter) -> Option<Letter> {
        let from = match last {
            Some(last) => Excluded(last),
            None => Included(Letter { number: 0, ..*letter }),
        };
        self.sent.range((from, Excluded(*letter))).next().map(|(skipped, _)| *skipped)
    }
}

pub(super) fn different(place: Place, what: String) -> Difference {
    Difference { place, what }
}
