//! Reachable inputs: what could come to a node, in whatever order. An over-approximation.
//!
//! Every message that a node may send is given to every state that its receiver may be in, and so
//! are the calls of users, again and again, until nothing new comes of it. That ignores how often
//! and in which order things happen, so it is more than can really come, and it is cheap: no state
//! of the whole is looked at. Where it has no end, as with counters that rise, there is none.

use crate::explorer::Explorer;
use crate::moves::may_campaign;
use crate::state::State;
use crate::vocabulary::{Ask, Family};
use crate::workings::{Input, LocalId, PacketId};
use std::collections::HashSet;

/// An estimate that takes more steps than this is given up.
const STEPS_MAX: usize = 20_000;

/// By node: every message that could come to it, and from whom.
pub struct ReachableInputs(Vec<Vec<Input>>);

impl ReachableInputs {
    /// What could come to a node over its links.
    pub fn of(&self, node: u16) -> &[Input] {
        &self.0[usize::from(node)]
    }

    /// Whether there is an estimate for every state of the runs that begin like this.
    pub fn exist(explorer: &mut Explorer<'_>, initial: &[State]) -> bool {
        Self::estimate(explorer, initial, None).is_some()
    }

    /// What could come after this, as long as nothing arrives over this link.
    pub fn without(explorer: &mut Explorer<'_>, state: &State, link: (u16, u16)) -> Option<Self> {
        Self::estimate(explorer, std::slice::from_ref(state), Some(link))
    }

    /// Only of elections without timers: who wants to enter comes with counters.
    fn estimate(
        explorer: &mut Explorer<'_>,
        states: &[State],
        closed: Option<(u16, u16)>,
    ) -> Option<Self> {
        if explorer.family() != Family::Election {
            return None;
        }
        let nodes = explorer.space().workings.nodes() as usize;
        let mut estimate = Estimate {
            explorer,
            closed,
            locals: vec![Vec::new(); nodes],
            messages: vec![Vec::new(); nodes],
            known: HashSet::new(),
            to_try: Vec::new(),
        };
        for state in states {
            estimate.begin(state)?;
        }
        for _ in 0..STEPS_MAX {
            let Some((local, input)) = estimate.to_try.pop() else {
                return Some(Self(estimate.messages));
            };
            estimate.attempt(local, input)?;
        }
        None
    }
}

struct Estimate<'e, 'a> {
    explorer: &'e mut Explorer<'a>,
    /// Over this link nothing comes.
    closed: Option<(u16, u16)>,
    /// By node: the states it may be in, and the messages that may come.
    locals: Vec<Vec<LocalId>>,
    messages: Vec<Vec<Input>>,
    known: HashSet<Item>,
    /// What has not been given to whom yet.
    to_try: Vec<(LocalId, Input)>,
}

#[derive(PartialEq, Eq, Hash)]
enum Item {
    Local(LocalId),
    Message { from: u16, to: u16, packet: PacketId },
}

impl Estimate<'_, '_> {
    fn begin(&mut self, state: &State) -> Option<()> {
        for (node, &local) in state.nodes.iter().enumerate() {
            self.may_be_in(node as u16, local)?;
        }
        for (slot, &content) in state.links.iter().enumerate() {
            let (from, to) = self.explorer.links()[slot];
            for packet in self.explorer.content(content).packets.clone() {
                self.may_come(from.0 as u16, to.0 as u16, packet);
            }
        }
        Some(())
    }

    fn attempt(&mut self, local: LocalId, input: Input) -> Option<()> {
        let node = self.explorer.local(local).node;
        for &outcome in self.explorer.steps(local, input).iter() {
            for (to, packet) in self.explorer.effects(outcome).sends.clone() {
                self.may_come(node, to, packet);
            }
            self.may_be_in(node, outcome.local)?;
        }
        Some(())
    }

    /// `None` if a timer runs there.
    fn may_be_in(&mut self, node: u16, local: LocalId) -> Option<()> {
        let face = self.explorer.local(local);
        if !face.timers.is_empty() {
            return None;
        }
        if self.known.insert(Item::Local(local)) {
            let place = usize::from(node);
            let call = may_campaign(face).then_some(Input::Ask(Ask::Campaign));
            let inputs = self.messages[place].iter().copied().chain(call);
            self.to_try.extend(inputs.map(|input| (local, input)));
            self.locals[place].push(local);
        }
        Some(())
    }

    fn may_come(&mut self, from: u16, to: u16, packet: PacketId) {
        let is_closed = self.closed == Some((from, to));
        if !is_closed && self.known.insert(Item::Message { from, to, packet }) {
            let place = usize::from(to);
            let message = Input::Deliver { from, packet };
            self.to_try.extend(self.locals[place].iter().map(|&local| (local, message)));
            self.messages[place].push(message);
        }
    }
}
