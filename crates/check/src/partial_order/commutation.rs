//! Commutation (independence): a message that can come before whatever else may come to its node,
//! and nothing would be different.
//!
//! Two moves at one node commute if both orders lead it to the same state and send the same
//! messages, in the same order over each link. A message that commutes with everything that could
//! come over the other links before it, and with the calls of the user, in every state that those
//! could bring the node to, can just as well come first.

use crate::explorer::Explorer;
use crate::moves::may_campaign;
use crate::outcome::{Outcome, Outcomes};
use crate::partial_order::reachable_inputs::ReachableInputs;
use crate::state::State;
use crate::vocabulary::{Ask, Word};
use crate::workings::{Input, LocalId, PacketId};

/// If others could bring the node to more states than this, nothing is said.
const STATES_MAX: usize = 1_000;

/// Tries out whether steps of a node commute.
pub struct Commutation<'e, 'a> {
    explorer: &'e mut Explorer<'a>,
}

impl<'e, 'a> Commutation<'e, 'a> {
    pub fn new(explorer: &'e mut Explorer<'a>) -> Self {
        Self { explorer }
    }

    /// Whether the next message of a link can come before everything else.
    pub fn comes_first(&mut self, state: &State, slot: u16) -> bool {
        let (from, to) = self.explorer.links()[usize::from(slot)];
        let content = self.explorer.content(state.link(slot));
        let message = Input::Deliver { from: from.0 as u16, packet: content.takes[0].0 };
        let link = (from.0 as u16, to.0 as u16);
        let prospects = ReachableInputs::without(self.explorer, state, link);
        prospects.is_some_and(|prospects| {
            let rivals = prospects.of(link.1);
            self.yields(state.nodes[to.index()], message, rivals).is_some()
        })
    }

    /// `None` if it makes a difference, or may do so.
    fn yields(&mut self, local: LocalId, message: Input, rivals: &[Input]) -> Option<()> {
        let mut reached = vec![local];
        let mut next = 0;
        while let Some(&local) = reached.get(next) {
            next += 1;
            let mine = self.certain(local, message)?;
            let face = self.explorer.local(local);
            let call = may_campaign(face).then_some(Input::Ask(Ask::Campaign));
            for rival in rivals.iter().copied().chain(call) {
                let theirs = self.certain(local, rival)?;
                self.makes_no_difference((message, mine), (rival, theirs))?;
                if !reached.contains(&theirs.local) {
                    reached.push(theirs.local);
                }
            }
            if reached.len() > STATES_MAX {
                return None;
            }
        }
        Some(())
    }

    /// What comes of an input, if only one thing can.
    fn certain(&mut self, local: LocalId, input: Input) -> Option<Outcome> {
        match self.explorer.steps(local, input) {
            Outcomes::One(only) => Some(only),
            Outcomes::Several(_) => None,
        }
    }

    fn makes_no_difference(
        &mut self,
        (mine, first): (Input, Outcome),
        (other, second): (Input, Outcome),
    ) -> Option<()> {
        let calls = matches!(other, Input::Ask(_));
        let still = !calls || may_campaign(self.explorer.local(first.local));
        let last = self.certain(first.local, other)?;
        let late = self.certain(second.local, mine)?;
        let same = last.local == late.local
            && self.sent([first, last]) == self.sent([second, late])
            && are_alike(&self.said([first, last]), &self.said([second, late]));
        (still && same).then_some(())
    }

    /// What is sent over each link, in order.
    fn sent(&self, outcomes: [Outcome; 2]) -> Vec<(u16, PacketId)> {
        let mut sends =
            outcomes.map(|outcome| self.explorer.effects(outcome).sends.as_slice()).concat();
        sends.sort_by_key(|(to, _)| *to);
        sends
    }

    fn said(&self, outcomes: [Outcome; 2]) -> Vec<Word> {
        outcomes.map(|outcome| self.explorer.effects(outcome).words.as_slice()).concat()
    }
}

/// Whether the same was said, in whatever order.
fn are_alike(some: &[Word], others: &[Word]) -> bool {
    let count = |words: &[Word], word| words.iter().filter(|said| *said == word).count();
    some.len() == others.len() && some.iter().all(|word| count(some, word) == count(others, word))
}
