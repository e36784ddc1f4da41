//! What can happen next in a state.

use crate::explorer::Explorer;
use crate::global::{Budget, Global};
use crate::local::Phase;
use crate::space::Slot;
use crate::state::State;
use crate::words::{Ask, Family};
use crate::workings::{Face, Input};
use conclave_core::Timing;
use std::rc::Rc;

/// Something that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// A message of a link arrives: this one of those that can.
    Deliver { slot: Slot, take: u16 },
    /// It arrives, and will arrive again.
    Repeat { slot: Slot, take: u16 },
    /// It is lost.
    Lose { slot: Slot, take: u16 },
    /// A timer fires.
    Fire { node: u16, timer: u8 },
    /// A user does something.
    Ask { node: u16, ask: Ask },
    /// A node stops.
    Crash { node: u16 },
    /// A node comes back.
    Restart { node: u16, amnesia: bool },
    /// A detector suspects, rightly or not.
    Suspect { by: u16, of: u8, wrong: bool },
    /// A detector trusts again.
    Trust { by: u16, of: u8 },
}

/// Something that can happen, and whether it must, sooner or later, if it can all the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub act: Act,
    pub due: bool,
}

impl Turn {
    fn due(act: Act) -> Self {
        Self { act, due: true }
    }

    fn free(act: Act) -> Self {
        Self { act, due: false }
    }
}

impl Explorer<'_> {
    /// Everything that can happen next.
    pub fn turns(&mut self, state: &State, turns: &mut Vec<Turn>) {
        turns.clear();
        let global = Rc::clone(self.global(state.global));
        let silent = self.deliveries(state, &global, turns);
        let faults = global.crashes > 0 || global.restarts > 0 || global.amnesia > 0;
        for node in 0..state.nodes.len() {
            let node = node as u16;
            let face = self.face(state, node);
            if face.up {
                self.user_turns(face, node, &global, turns);
                if self.space.bounds.timing == Timing::AnyMoment {
                    timer_turns(face, node, turns);
                }
                if self.listens {
                    self.detector_turns(state, node, &global, turns);
                }
            }
            if faults {
                self.fault_turns(state, node, &global, turns);
            }
        }
        if silent && self.space.bounds.timing == Timing::Synchronous {
            self.synchronous_turns(state, turns);
        }
    }

    /// Whether nothing is under way.
    fn deliveries(&self, state: &State, global: &Global, turns: &mut Vec<Turn>) -> bool {
        let mut silent = true;
        for (slot, &content) in state.links.iter().enumerate() {
            if content == 0 {
                continue;
            }
            silent = false;
            let to = self.slots[slot].1.0 as u16;
            let (slot, up) = (slot as Slot, self.face(state, to).up);
            for take in 0..self.contents[content as usize].takes.len() {
                let take = take as u16;
                turns.push(Turn::due(Act::Deliver { slot, take }));
                if up && global.losses > 0 {
                    turns.push(Turn::free(Act::Lose { slot, take }));
                }
                if up && global.duplicates > 0 {
                    turns.push(Turn::free(Act::Repeat { slot, take }));
                }
            }
        }
        silent
    }

    fn user_turns(&self, face: &Face, node: u16, global: &Global, turns: &mut Vec<Turn>) {
        if u32::from(node) >= self.clients {
            return;
        }
        let ask = |ask| Act::Ask { node, ask };
        match (self.family, face.phase) {
            (Family::Mutex, Phase::Idle) if face.may_ask => {
                turns.push(Turn::free(ask(Ask::Acquire)));
            }
            (Family::Mutex, Phase::Idle) => {}
            (Family::Mutex, Phase::Waiting) if global.cancels > 0 => {
                turns.push(Turn::free(ask(Ask::Cancel)));
            }
            (Family::Mutex, Phase::Waiting) => {}
            (Family::Mutex, Phase::Inside) => {
                turns.push(Turn { act: ask(Ask::Release), due: !self.space.bounds.stays });
            }
            (Family::Election, _) => {
                if may_campaign(face) {
                    turns.push(Turn::due(ask(Ask::Campaign)));
                }
            }
        }
    }

    /// A timer can be the first to fire if none other must fire before it can.
    fn synchronous_turns(&self, state: &State, turns: &mut Vec<Turn>) {
        let Some(limit) = self.first_deadline(state) else { return };
        for node in 0..state.nodes.len() as u16 {
            let face = self.face(state, node);
            if !face.up || !face.may_fire {
                continue;
            }
            for (timer, &(earliest, _)) in face.timers.iter().enumerate() {
                if earliest <= limit {
                    turns.push(Turn::due(Act::Fire { node, timer: timer as u8 }));
                }
            }
        }
    }

    /// When the first of all timers must have fired.
    pub(crate) fn first_deadline(&self, state: &State) -> Option<u64> {
        let nodes = 0..state.nodes.len() as u16;
        let running = nodes.map(|node| self.face(state, node)).filter(|face| face.may_fire);
        running.flat_map(|face| face.timers.iter().map(|&(_, latest)| latest)).min()
    }

    /// A detector finds out about every crash, and about every mistake of its own.
    fn detector_turns(&self, state: &State, by: u16, global: &Global, turns: &mut Vec<Turn>) {
        let suspects = self.face(state, by).suspects;
        for of in 0..self.clients as u16 {
            if of == by {
                continue;
            }
            let (up, suspected) = (self.face(state, of).up, suspects >> of & 1 == 1);
            let of = of as u8;
            match (up, suspected) {
                (false, false) => turns.push(Turn::due(Act::Suspect { by, of, wrong: false })),
                (true, true) => turns.push(Turn::due(Act::Trust { by, of })),
                (true, false) if global.suspicions > 0 => {
                    turns.push(Turn::free(Act::Suspect { by, of, wrong: true }));
                }
                (true, false) | (false, true) => {}
            }
        }
    }

    fn fault_turns(&mut self, state: &State, node: u16, global: &Global, turns: &mut Vec<Turn>) {
        let up = self.face(state, node).up;
        if up && global.crashes > 0 {
            turns.push(Turn::free(Act::Crash { node }));
        }
        if global.restarts > 0 {
            let local = state.nodes[usize::from(node)];
            let down = if up { self.steps(local, Input::Crash).first().local } else { local };
            if self.faces[down as usize].returns {
                turns.push(Turn::free(Act::Restart { node, amnesia: false }));
            }
        }
        if global.amnesia > 0 {
            turns.push(Turn::free(Act::Restart { node, amnesia: true }));
        }
    }
}

fn timer_turns(face: &Face, node: u16, turns: &mut Vec<Turn>) {
    if face.may_fire {
        let timers = 0..face.timers.len() as u8;
        turns.extend(timers.map(|timer| Turn::due(Act::Fire { node, timer })));
    }
}

/// Whether a user may call for an election. Who follows somebody has no reason to, unless that one
/// seems to be gone.
pub fn may_campaign(face: &Face) -> bool {
    let led = face.leader.is_some_and(|leader| face.suspects >> leader.0 & 1 == 0);
    face.to_begin && !led
}

impl Act {
    /// Of what it takes away, if of anything.
    pub fn budget(self) -> Option<Budget> {
        match self {
            Self::Repeat { .. } => Some(Budget::Duplicate),
            Self::Lose { .. } => Some(Budget::Loss),
            Self::Ask { ask: Ask::Cancel, .. } => Some(Budget::Cancel),
            Self::Crash { .. } => Some(Budget::Crash),
            Self::Restart { amnesia: true, .. } => Some(Budget::Amnesia),
            Self::Restart { amnesia: false, .. } => Some(Budget::Restart),
            Self::Suspect { wrong: true, .. } => Some(Budget::Suspicion),
            Self::Deliver { .. }
            | Self::Fire { .. }
            | Self::Ask { .. }
            | Self::Suspect { .. }
            | Self::Trust { .. } => None,
        }
    }
}
