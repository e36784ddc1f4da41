//! The transition relation of the state space, as one thread sees it: takes a state and a move to
//! the states that come of it.
//!
//! What a thread has looked up in the [`Space`] that all share, it keeps: the parts of states in
//! [`Parts`], the steps of nodes in [`Steps`]. Which moves are enabled is said in `moves`, what is
//! wrong with a state in `safety` and `deadlock`.

mod globals;
mod history;
mod initial;
mod links;
mod locals;
mod normal_form;
mod parts;
mod steps;

use crate::global::{Broken, Global};
use crate::moves::Action;
use crate::outcome::{Outcome, Outcomes};
use crate::space::{Content, ContentId, GlobalId, Slot, Space};
use crate::state::State;
use crate::vocabulary::Family;
use crate::workings::{Effects, Face, Input, LocalId};
use links::Ends;
use parts::Parts;
use std::rc::Rc;
use steps::Steps;

/// One thread's view of the state space.
///
/// Invariant: every local state and every message that a known step speaks of is known.
pub struct Explorer<'a> {
    space: &'a Space<'a>,
    family: Family,
    nodes: usize,
    clients: u32,
    listens: bool,
    /// Whether nodes can go down, and then stay down.
    for_good: bool,
    parts: Parts,
    steps: Steps,
}

impl<'a> Explorer<'a> {
    pub fn new(space: &'a Space<'a>) -> Self {
        let workings = space.workings;
        let nodes = workings.nodes() as usize;
        let bounds = space.bounds;
        Self {
            space,
            family: workings.family(),
            nodes,
            clients: workings.clients(),
            listens: workings.listens(),
            for_good: bounds.crashes > 0 && bounds.restarts == 0 && bounds.amnesia == 0,
            parts: Parts::new(space, nodes),
            steps: Steps::default(),
        }
    }

    /// The states in which a run may begin.
    pub fn initial(&mut self) -> Vec<State> {
        initial::states(self)
    }

    /// What can come of a move: one outcome for each way to answer the choices it asks for.
    pub fn outcomes(&mut self, state: &State, action: Action) -> Outcomes {
        let (node, input) = match action {
            Action::Deliver { slot, take } | Action::Repeat { slot, take } => {
                let (from, to) = self.parts.links.ends(slot);
                let (packet, _) = self.content(state.link(slot)).takes[usize::from(take)];
                let local = state.nodes[to.index()];
                if !self.parts.locals.face(local).up {
                    return Outcomes::One(Outcome::none(local));
                }
                (to.0 as u16, Input::Deliver { from: from.0 as u16, packet })
            }
            Action::Lose { slot, .. } => {
                let to = self.parts.links.receiver(slot);
                return Outcomes::One(Outcome::none(state.nodes[usize::from(to)]));
            }
            Action::Fire { node, timer } => {
                let local = self.parts.locals.when_fired(self.space, state, (node, timer), node);
                return self.steps(local, Input::Fire(timer));
            }
            Action::Ask { node, ask } => (node, Input::Ask(ask)),
            Action::Crash { node } => (node, Input::Crash),
            Action::Restart { node, amnesia } => (node, Input::Restart { amnesia }),
            Action::Suspect { by, of, .. } => (by, Input::Suspect(of)),
            Action::Trust { by, of } => (by, Input::Trust(of)),
        };
        self.steps(state.nodes[usize::from(node)], input)
    }

    /// Moves on: `next` becomes the state after `state` when this comes of a move.
    pub fn advance(&mut self, state: &State, action: Action, outcome: Outcome, next: &mut State) {
        next.copy_from(state);
        if self.global(state.global).broken != Broken::default() {
            history::forget_violations(self.space, &mut self.parts, next);
        }
        if let Some(budget) = action.budget() {
            let charged = self.parts.globals.charged(self.space, next.global, budget);
            self.parts.set_global(next, charged);
        }
        match action {
            Action::Deliver { slot, take } | Action::Lose { slot, take } => {
                let (_, rest) = self.content(state.link(slot)).takes[usize::from(take)];
                self.parts.set_link(next, slot, rest);
            }
            Action::Fire { node, timer } => self.let_time_pass(state, (node, timer), next),
            Action::Crash { node } => self.drop_messages_to(next, node),
            Action::Repeat { .. }
            | Action::Ask { .. }
            | Action::Restart { .. }
            | Action::Suspect { .. }
            | Action::Trust { .. } => {}
        }
        self.carry_out(next, self.node_of(action), outcome);
    }

    /// Time passes for all nodes until a timer fires.
    fn let_time_pass(&mut self, state: &State, fired: (u16, u8), next: &mut State) {
        for node in 0..state.nodes.len() as u16 {
            let local = self.parts.locals.when_fired(self.space, state, fired, node);
            self.parts.set_node(next, node, local);
        }
    }

    /// What is under way to a node that never comes back would only be lost.
    fn drop_messages_to(&self, next: &mut State, node: u16) {
        for slot in 0..next.links.len() as Slot {
            if self.for_good && self.parts.links.receiver(slot) == node {
                self.parts.set_link(next, slot, 0);
            }
        }
    }

    #[inline]
    fn carry_out(&mut self, next: &mut State, node: u16, outcome: Outcome) {
        let Self { space, parts, steps, .. } = self;
        parts.set_node(next, node, outcome.local);
        let effects = steps.effects(outcome);
        for &(to, packet) in &effects.sends {
            if self.for_good && !parts.locals.of(next, to).up {
                continue; // It would only be lost.
            }
            let slot = parts.links.slot(space, node, to);
            let content = parts.links.push(space, next.link(slot), packet);
            parts.set_link(next, slot, content);
        }
        for &word in &effects.words {
            history::remember(space, parts, next, node, word);
        }
    }

    /// Puts the state in the place of this one that stands for all that differ only in counters.
    pub fn normalise(&mut self, state: &mut State) {
        normal_form::normalise(self, state);
    }
}

/// What becomes of single nodes.
impl Explorer<'_> {
    /// What becomes of a node.
    #[inline]
    pub fn steps(&mut self, local: LocalId, input: Input) -> Outcomes {
        match self.steps.get(local, input.code()) {
            Some(known) => known.clone(),
            None => self.work_out(local, input),
        }
    }

    #[cold]
    fn work_out(&mut self, local: LocalId, input: Input) -> Outcomes {
        let code = input.code();
        self.learn_steps();
        if self.steps.get(local, code).is_none() {
            self.space.take(local, input);
            self.learn_steps();
        }
        self.steps.get(local, code).expect("it was worked out").clone()
    }

    /// Takes over the steps that were worked out by whichever thread, and what comes of them.
    fn learn_steps(&mut self) {
        for step in self.steps.fresh(self.space) {
            let is_known = |outcome: &Outcome| {
                self.steps.knows_effects(outcome) && self.parts.locals.knows(outcome.local)
            };
            if !step.outcomes.iter().all(is_known) {
                self.learn();
            }
            self.steps.keep(step);
        }
    }

    /// Takes over what is new of local states, of messages and of what steps do to others. That
    /// speaks of messages, so those are read after it: others go on finding new ones meanwhile.
    fn learn(&mut self) {
        self.steps.learn_effects(self.space);
        self.parts.locals.learn(self.space);
        self.parts.links.learn_packets(self.space);
    }

    /// Takes over all parts of states that other threads have found.
    pub fn catch_up(&mut self) {
        self.learn();
        self.parts.links.learn_links(self.space);
        self.parts.links.learn_contents(self.space);
        self.parts.globals.learn(self.space);
    }

    /// What an outcome does to others.
    #[inline]
    pub fn effects(&self, outcome: Outcome) -> &Effects {
        self.steps.effects(outcome)
    }
}

/// What is known of a state and of its parts.
impl<'a> Explorer<'a> {
    pub fn space(&self) -> &'a Space<'a> {
        self.space
    }

    #[inline]
    pub fn family(&self) -> Family {
        self.family
    }

    /// How many nodes there are.
    #[inline]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many of them have users: the first ones.
    #[inline]
    pub fn clients(&self) -> u32 {
        self.clients
    }

    /// Whether the algorithm listens to a failure detector.
    #[inline]
    pub fn listens(&self) -> bool {
        self.listens
    }

    /// What can be seen of a node in a state.
    #[inline]
    pub fn face(&self, state: &State, node: u16) -> &Face {
        self.parts.locals.of(state, node)
    }

    /// What can be seen of a local state.
    #[inline]
    pub fn local(&self, local: LocalId) -> &Face {
        self.parts.locals.face(local)
    }

    /// The links that have ever been used, by slot.
    #[inline]
    pub fn links(&self) -> &[Ends] {
        self.parts.links.all()
    }

    #[inline]
    pub fn content(&self, content: ContentId) -> &Content {
        self.parts.links.content(content)
    }

    #[inline]
    pub fn global(&self, id: GlobalId) -> &Rc<Global> {
        self.parts.globals.get(id)
    }

    #[inline]
    pub fn global_hash(&self, id: GlobalId) -> u64 {
        self.parts.globals.hash(id)
    }

    /// Whether no link has more messages under way than the bounds allow.
    #[inline]
    pub fn is_within_bounds(&self, state: &State) -> bool {
        let Some(most) = self.space.bounds.in_flight else { return true };
        let under_way = |content: &ContentId| self.content(*content).packets.len();
        state.links.iter().all(|content| under_way(content) <= most as usize)
    }

    /// When the first of all timers must have fired.
    pub fn first_deadline(&self, state: &State) -> Option<u64> {
        self.parts.locals.first_deadline(state)
    }

    /// At which node a move happens.
    #[inline]
    pub fn node_of(&self, action: Action) -> u16 {
        match action {
            Action::Deliver { slot, .. }
            | Action::Repeat { slot, .. }
            | Action::Lose { slot, .. } => self.parts.links.receiver(slot),
            Action::Fire { node, .. }
            | Action::Ask { node, .. }
            | Action::Crash { node }
            | Action::Restart { node, .. } => node,
            Action::Suspect { by, .. } | Action::Trust { by, .. } => by,
        }
    }
}

#[cfg(test)]
mod tests;
