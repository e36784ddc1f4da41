//! One thread's view of the space: takes a state and a move to the states that come of it.

mod lookup;
mod steps;

use crate::global::{Broken, Budget, Global};
use crate::intern::Plain;
use crate::local::Phase;
use crate::moves::Act;
use crate::outcome::{Outcome, Outcomes};
use crate::space::{Content, ContentId, GlobalId, Slot, Space};
use crate::state::State;
use crate::words::{Family, Word};
use crate::workings::{Effects, Face, Input, LocalId, PacketId};
use conclave_core::{NodeId, Start, Timing};
use std::collections::HashMap;
use std::rc::Rc;
use steps::Steps;

/// One thread's view of the space: what it has looked up, it keeps.
pub struct Explorer<'a> {
    pub space: &'a Space<'a>,
    pub family: Family,
    pub nodes: usize,
    pub clients: u32,
    pub listens: bool,
    pub faces: Vec<Face>,
    /// The hashes of the states of nodes, which are needed more often than all else of them.
    hashes: Vec<u64>,
    pub contents: Vec<Content>,
    pub slots: Vec<(NodeId, NodeId)>,
    /// What a link adds to the hash of its content.
    salts: Vec<u64>,
    slot_of: Vec<Option<Slot>>,
    packets: Vec<u64>,
    globals: Vec<(Rc<Global>, u64)>,
    steps: Steps,
    effects: Vec<Rc<Effects>>,
    pushes: HashMap<(ContentId, PacketId), ContentId, Plain>,
    /// States of nodes after some time has passed, at least and at most so much.
    whiles: HashMap<(LocalId, u64, u64), LocalId, Plain>,
    charges: HashMap<(GlobalId, Budget), GlobalId, Plain>,
    /// Whether nodes can go down, and then stay down.
    for_good: bool,
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
            faces: Vec::new(),
            hashes: Vec::new(),
            contents: space.contents(0),
            slots: Vec::new(),
            salts: Vec::new(),
            slot_of: vec![None; nodes * nodes],
            packets: Vec::new(),
            globals: Vec::new(),
            steps: Steps::default(),
            effects: Vec::new(),
            pushes: HashMap::default(),
            whiles: HashMap::default(),
            charges: HashMap::default(),
            for_good: bounds.crashes > 0 && bounds.restarts == 0 && bounds.amnesia == 0,
        }
    }

    /// The states in which a run may begin: every node was started. In an election there is one for
    /// every set of nodes that will call for one.
    pub fn initial(&mut self) -> Vec<State> {
        let global = self.space.global(Global::new(self.space.bounds));
        let mut state = State { nodes: self.space.workings.fresh(), global, ..State::default() };
        self.rehash(&mut state);
        let mut states = vec![state];
        for node in 0..self.space.workings.nodes() as u16 {
            states = self.each(&states, node, Input::Start);
        }
        match self.family {
            Family::Mutex => states,
            Family::Election => self.sets_of_initiators(&states),
        }
    }

    fn sets_of_initiators(&mut self, started: &[State]) -> Vec<State> {
        let together = self.space.bounds.start != Start::Any;
        let sets: Vec<u64> = match &self.space.bounds.start {
            Start::Any | Start::Together => (1..1 << self.clients).collect(),
            Start::These(nodes) => vec![nodes.iter().map(|node| 1 << node.0).sum()],
        };
        let mut all = Vec::new();
        for set in sets {
            let mut states = started.to_vec();
            for node in (0..self.clients as u16).filter(|node| set >> node & 1 == 1) {
                states = self.each(&states, node, Input::Appoint);
            }
            for node in (0..self.clients as u16).filter(|node| together && set >> node & 1 == 1) {
                let campaign = Input::Ask(crate::words::Ask::Campaign);
                states = self.each(&states, node, campaign);
            }
            all.extend(states);
        }
        all
    }

    /// What comes of all these states when this happens to a node.
    fn each(&mut self, states: &[State], node: u16, input: Input) -> Vec<State> {
        let mut after = Vec::new();
        for state in states {
            for &outcome in self.steps(state.nodes[usize::from(node)], input).iter() {
                let mut next = state.clone();
                self.carry_out(&mut next, node, outcome);
                after.push(next);
            }
        }
        after
    }

    pub fn face(&self, state: &State, node: u16) -> &Face {
        &self.faces[state.nodes[usize::from(node)] as usize]
    }

    /// What can come of a move: one outcome for each way to answer the choices it asks for.
    pub fn outcomes(&mut self, state: &State, act: Act) -> Outcomes {
        let (node, input) = match act {
            Act::Deliver { slot, take } | Act::Repeat { slot, take } => {
                let (from, to) = self.slots[usize::from(slot)];
                let content = &self.contents[state.link(usize::from(slot)) as usize];
                let packet = content.takes[usize::from(take)].0;
                (to.0 as u16, Input::Deliver { from: from.0 as u16, packet })
            }
            Act::Lose { slot, .. } => {
                let to = self.slots[usize::from(slot)].1;
                return Outcomes::One(Outcome::none(state.nodes[to.index()]));
            }
            Act::Fire { node, timer } => {
                let local = self.after_a_while(state, node, timer, node);
                return self.steps(local, Input::Fire(timer));
            }
            Act::Ask { node, ask } => (node, Input::Ask(ask)),
            Act::Crash { node } => (node, Input::Crash),
            Act::Restart { node, amnesia } => (node, Input::Restart { amnesia }),
            Act::Suspect { by, of, .. } => (by, Input::Suspect(of)),
            Act::Trust { by, of } => (by, Input::Trust(of)),
        };
        let arrives = matches!(input, Input::Deliver { .. });
        let local = state.nodes[usize::from(node)];
        if arrives && !self.faces[local as usize].up {
            return Outcomes::One(Outcome::none(local));
        }
        self.steps(local, input)
    }

    /// The state of a node when a timer of some node fires.
    fn after_a_while(&mut self, state: &State, firing: u16, timer: u8, node: u16) -> LocalId {
        let local = state.nodes[usize::from(node)];
        if self.space.bounds.timing == Timing::AnyMoment
            || self.faces[local as usize].timers.is_empty()
        {
            return local;
        }
        let least = self.face(state, firing).timers[usize::from(timer)].0;
        let most = self.first_deadline(state).unwrap_or(least);
        if most == 0 {
            return local;
        }
        if let Some(&known) = self.whiles.get(&(local, least, most)) {
            return known;
        }
        let later = self.space.workings.later(local, least, most);
        self.learn();
        self.whiles.insert((local, least, most), later);
        later
    }

    /// Moves on: `next` becomes the state after `state` when this comes of a move.
    pub fn advance(&mut self, state: &State, act: Act, outcome: Outcome, next: &mut State) {
        next.copy_from(state);
        if self.global(state.global).broken != Broken::default() {
            self.go_on(next);
        }
        if let Some(budget) = act.budget() {
            self.charge(next, budget);
        }
        let node = match act {
            Act::Deliver { slot, take } | Act::Lose { slot, take } => {
                let content = &self.contents[state.link(usize::from(slot)) as usize];
                let rest = content.takes[usize::from(take)].1;
                self.set_link(next, slot, rest);
                self.slots[usize::from(slot)].1.0 as u16
            }
            Act::Repeat { slot, .. } => self.slots[usize::from(slot)].1.0 as u16,
            Act::Fire { node, timer } => {
                for other in 0..state.nodes.len() as u16 {
                    let local = self.after_a_while(state, node, timer, other);
                    self.set_node(next, other, local);
                }
                node
            }
            Act::Crash { node } => {
                self.forget_messages_to(next, node);
                node
            }
            Act::Ask { node, .. } | Act::Restart { node, .. } => node,
            Act::Suspect { by, .. } | Act::Trust { by, .. } => by,
        };
        self.carry_out(next, node, outcome);
    }

    fn carry_out(&mut self, next: &mut State, node: u16, outcome: Outcome) {
        self.set_node(next, node, outcome.local);
        let effects = Rc::clone(&self.effects[outcome.effects as usize]);
        for &(to, packet) in &effects.sends {
            if self.for_good && !self.face(next, to).up {
                continue; // It would only be lost.
            }
            let slot = self.slot(node, to);
            let content = self.push(next.link(usize::from(slot)), packet);
            self.set_link(next, slot, content);
        }
        for &word in &effects.words {
            self.hear(next, node, word);
        }
    }

    /// The laws remember what users were told.
    fn hear(&mut self, next: &mut State, node: u16, word: Word) {
        let watched = match word {
            Word::Entered { .. } => self.space.watch.fences || self.space.watch.order,
            Word::Elected { .. } => self.space.watch.terms,
            Word::Deposed => false,
        };
        if !watched {
            return;
        }
        let mut global = Global::clone(self.global(next.global));
        match word {
            Word::Entered { fence } => {
                let mut others = (0..self.clients as u16).filter(|&other| other != node);
                let inside = |other| self.face(next, other).phase == Phase::Inside;
                if self.space.watch.fences {
                    global.entered(fence, others.clone().any(inside));
                }
                let overtaken = others.any(|other| self.overtakes(next, node, other));
                global.broken.order |= overtaken;
            }
            Word::Elected { leader, term } => global.elected(leader, term),
            Word::Deposed => {}
        }
        let changed = self.space.global(global);
        self.set_global(next, changed);
    }

    /// Whether a node that enters asked only after another that still waits, and because of it.
    fn overtakes(&self, state: &State, node: u16, other: u16) -> bool {
        let (mine, theirs) = (self.face(state, node), self.face(state, other));
        let place = usize::from(other);
        self.space.watch.order
            && theirs.phase == Phase::Waiting
            && mine.asked[place] >= theirs.asked[place]
    }

    /// A law that was broken by the move before is not broken by this one.
    fn go_on(&mut self, next: &mut State) {
        let mut global = Global::clone(self.global(next.global));
        global.go_on();
        let changed = self.space.global(global);
        self.set_global(next, changed);
    }

    fn charge(&mut self, next: &mut State, budget: Budget) {
        let key = (next.global, budget);
        let charged = match self.charges.get(&key) {
            Some(&known) => known,
            None => {
                let mut global = Global::clone(self.global(next.global));
                *global.left(budget) -= 1;
                let charged = self.space.global(global);
                self.charges.insert(key, charged);
                charged
            }
        };
        self.set_global(next, charged);
    }

    fn forget_messages_to(&mut self, next: &mut State, node: u16) {
        for slot in 0..next.links.len() {
            if self.for_good && self.slots[slot].1.0 == u32::from(node) {
                self.set_link(next, slot as Slot, 0);
            }
        }
    }
}
