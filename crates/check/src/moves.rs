//! Enabled moves: everything that can happen next in a state, faults included.
//!
//! Fault injection happens here: a message is lost ([`Action::Lose`]) or arrives twice
//! ([`Action::Repeat`]), a node crashes ([`Action::Crash`]), comes back ([`Action::Restart`]) or is
//! wrongly suspected ([`Action::Suspect`]), as often as the budgets of the bounds allow.

use crate::explorer::Explorer;
use crate::global::{Budget, Global};
use crate::local::Phase;
use crate::space::Slot;
use crate::state::State;
use crate::vocabulary::{Ask, Family};
use crate::workings::{Face, Input};
use conclave_core::Timing;
use std::rc::Rc;

/// Something that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
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

/// A move that is enabled in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enabled {
    pub action: Action,
    /// Whether fairness asks for it: it must happen, sooner or later, if it can all the time.
    pub due: bool,
}

/// Writes down all moves that are enabled in a state, in a fixed order.
pub fn enabled(explorer: &mut Explorer<'_>, state: &State, moves: &mut Vec<Enabled>) {
    moves.clear();
    let global = Rc::clone(explorer.global(state.global));
    let timing = explorer.space().bounds.timing;
    let faults = global.crashes > 0 || global.restarts > 0 || global.amnesia > 0;
    let mut list = List { explorer, state, global: &global, moves };
    let silent = list.add_deliveries();
    for node in 0..state.nodes.len() as u16 {
        if list.explorer.face(state, node).up {
            list.add_user(node);
            if timing == Timing::AnyMoment {
                list.add_timers(node);
            }
            if list.explorer.listens() {
                list.add_detector(node);
            }
        }
        if faults {
            list.add_faults(node);
        }
    }
    if silent && timing == Timing::Synchronous {
        list.add_first_timers();
    }
}

/// The moves that have been found to be enabled so far.
struct List<'e, 'a, 's> {
    explorer: &'e mut Explorer<'a>,
    state: &'s State,
    global: &'s Global,
    moves: &'s mut Vec<Enabled>,
}

impl List<'_, '_, '_> {
    #[inline]
    fn due(&mut self, action: Action) {
        self.moves.push(Enabled { action, due: true });
    }

    #[inline]
    fn free(&mut self, action: Action) {
        self.moves.push(Enabled { action, due: false });
    }

    /// Messages that arrive, arrive twice or are lost; whether nothing is under way.
    fn add_deliveries(&mut self) -> bool {
        let mut silent = true;
        for (slot, &content) in self.state.links.iter().enumerate() {
            if content == 0 {
                continue;
            }
            silent = false;
            let to = self.explorer.links()[slot].1.0 as u16;
            let up = self.explorer.face(self.state, to).up;
            let slot = slot as Slot;
            for take in 0..self.explorer.content(content).takes.len() as u16 {
                self.due(Action::Deliver { slot, take });
                if up && self.global.losses > 0 {
                    self.free(Action::Lose { slot, take });
                }
                if up && self.global.duplicates > 0 {
                    self.free(Action::Repeat { slot, take });
                }
            }
        }
        silent
    }

    fn add_user(&mut self, node: u16) {
        if u32::from(node) >= self.explorer.clients() {
            return;
        }
        let ask = |ask| Action::Ask { node, ask };
        let face = self.explorer.face(self.state, node);
        match (self.explorer.family(), face.phase) {
            (Family::Mutex, Phase::Idle) if face.may_ask => self.free(ask(Ask::Acquire)),
            (Family::Mutex, Phase::Idle) => {}
            (Family::Mutex, Phase::Waiting) if self.global.cancels > 0 => {
                self.free(ask(Ask::Cancel));
            }
            (Family::Mutex, Phase::Waiting) => {}
            (Family::Mutex, Phase::Inside) => {
                let due = !self.explorer.space().bounds.stays;
                self.moves.push(Enabled { action: ask(Ask::Release), due });
            }
            (Family::Election, _) => {
                if may_campaign(face) {
                    self.due(ask(Ask::Campaign));
                }
            }
        }
    }

    /// Any running timer may fire at any moment.
    fn add_timers(&mut self, node: u16) {
        let face = self.explorer.face(self.state, node);
        if face.may_fire {
            for timer in 0..face.timers.len() as u8 {
                self.due(Action::Fire { node, timer });
            }
        }
    }

    /// A timer can be the first to fire if none other must fire before it can.
    fn add_first_timers(&mut self) {
        let Some(limit) = self.explorer.first_deadline(self.state) else { return };
        for node in 0..self.state.nodes.len() as u16 {
            let face = self.explorer.face(self.state, node);
            if !face.up || !face.may_fire {
                continue;
            }
            for (timer, &(earliest, _)) in face.timers.iter().enumerate() {
                if earliest <= limit {
                    let action = Action::Fire { node, timer: timer as u8 };
                    self.moves.push(Enabled { action, due: true });
                }
            }
        }
    }

    /// A failure detector finds out about every crash, and about every mistake of its own unless
    /// mistakes may last.
    fn add_detector(&mut self, by: u16) {
        let suspects = self.explorer.face(self.state, by).suspects;
        let trusts_again = !self.explorer.space().bounds.lasting;
        for other in (0..self.explorer.clients() as u16).filter(|&other| other != by) {
            let up = self.explorer.face(self.state, other).up;
            let suspected = suspects >> other & 1 == 1;
            let of = other as u8;
            match (up, suspected) {
                (false, false) => self.due(Action::Suspect { by, of, wrong: false }),
                (true, true) => {
                    let action = Action::Trust { by, of };
                    self.moves.push(Enabled { action, due: trusts_again });
                }
                (true, false) if self.global.suspicions > 0 => {
                    self.free(Action::Suspect { by, of, wrong: true });
                }
                (true, false) | (false, true) => {}
            }
        }
    }

    fn add_faults(&mut self, node: u16) {
        let up = self.explorer.face(self.state, node).up;
        if up && self.global.crashes > 0 {
            self.free(Action::Crash { node });
        }
        if self.global.restarts > 0 {
            let local = self.state.nodes[usize::from(node)];
            let crashed = |explorer: &mut Explorer<'_>| explorer.steps(local, Input::Crash);
            let down = if up { crashed(self.explorer).first().local } else { local };
            if self.explorer.local(down).returns {
                self.free(Action::Restart { node, amnesia: false });
            }
        }
        if self.global.amnesia > 0 {
            self.free(Action::Restart { node, amnesia: true });
        }
    }
}

/// Whether a user may call for an election. Who follows somebody has no reason to, unless that one
/// seems to be gone.
pub fn may_campaign(face: &Face) -> bool {
    let led = face.leader.is_some_and(|leader| face.suspects >> leader.0 & 1 == 0);
    face.to_begin && !led
}

impl Action {
    /// The fault budget that it draws on, if any.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{for_every_state, with_space};
    use conclave_core::Bounds;

    #[test]
    fn a_message_is_lost_or_doubled_only_while_the_budget_lasts() {
        let bounds = Bounds { losses: 1, duplicates: 1, ..Bounds::default() };
        with_space(&bounds, |space| {
            let mut lossy = 0;
            for_every_state(&mut Explorer::new(space), |explorer, state| {
                let mut moves = Vec::new();
                enabled(explorer, state, &mut moves);
                let count = |is: fn(&Action) -> bool| {
                    moves.iter().filter(|enabled| is(&enabled.action)).count()
                };
                let arrivals = count(|action| matches!(action, Action::Deliver { .. }));
                let left = explorer.global(state.global);
                let losses = count(|action| matches!(action, Action::Lose { .. }));
                assert_eq!(losses, if left.losses > 0 { arrivals } else { 0 });
                let repeats = count(|action| matches!(action, Action::Repeat { .. }));
                assert_eq!(repeats, if left.duplicates > 0 { arrivals } else { 0 });
                lossy += losses;
            });
            assert!(lossy > 0);
        });
    }

    #[test]
    fn fairness_asks_for_arrivals_and_exits_and_for_no_fault() {
        let bounds = Bounds { losses: 1, duplicates: 1, crashes: 1, ..Bounds::default() };
        with_space(&bounds, |space| {
            for_every_state(&mut Explorer::new(space), |explorer, state| {
                let mut moves = Vec::new();
                enabled(explorer, state, &mut moves);
                for Enabled { action, due } in moves {
                    let expected = match action {
                        Action::Ask { ask, .. } => ask == Ask::Release,
                        Action::Deliver { .. }
                        | Action::Fire { .. }
                        | Action::Trust { .. }
                        | Action::Suspect { wrong: false, .. } => true,
                        Action::Repeat { .. }
                        | Action::Lose { .. }
                        | Action::Crash { .. }
                        | Action::Restart { .. }
                        | Action::Suspect { wrong: true, .. } => false,
                    };
                    assert_eq!(due, expected, "{action:?}");
                }
            });
        });
    }
}
