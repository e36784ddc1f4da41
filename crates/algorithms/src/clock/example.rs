//! Worked examples of logical clocks from textbooks, which nodes with clocks can play.

use conclave_core::{NodeId, Ticks};
use serde::{Deserialize, Serialize};

/// What the nodes do with their clocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Example {
    /// What they are asked to.
    Exchange,
    /// A task goes from process to process, as its digits say, and back to the application.
    Task(Task),
    /// Messages are sent at certain ticks of clocks that run at different rates.
    Letters(Vec<Letter>),
}

/// A task: each of its steps is done by one process, which holds it for a while.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Task {
    /// Who does each step.
    pub steps: Vec<NodeId>,
    /// Who hands it out and gets the answer.
    pub application: NodeId,
}

impl Task {
    /// When the application hands it out.
    pub const SUBMITTED: Ticks = Ticks::units(500);
    /// How long each process holds it.
    pub const HOLD: Ticks = Ticks::units(2_000);
    /// How long it takes from one to the next.
    pub const HOP: Ticks = Ticks::units(10);
    /// How long the processes' clocks take from tick to tick.
    pub const TICK: Ticks = Ticks::units(1_000);
    /// A longer task would one day arrive at the very moment of a tick.
    pub const STEPS_MAX: usize = 48;

    /// How often the clocks tick before the answer is there.
    pub fn ticks(&self) -> u32 {
        let steps = self.steps.len() as u64;
        let answered = Self::SUBMITTED.0 + steps * (Self::HOLD.0 + Self::HOP.0) + Self::HOP.0;
        (answered / Self::TICK.0) as u32
    }
}

/// A message of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Letter {
    /// At which tick of its sender it leaves.
    pub tick: u32,
    /// From whom.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
}

impl Letter {
    /// How long after its tick a letter leaves: it arrives after the tick of its receiver, and not
    /// at the same moment.
    pub const AFTER: Ticks = Ticks(500);
    /// How often the clocks tick in the example.
    pub const TICKS: u32 = 10;

    /// The four messages of the textbook's three clocks.
    pub fn four() -> Vec<Self> {
        let letter = |tick, from, to| Self { tick, from: NodeId(from), to: NodeId(to) };
        vec![letter(1, 0, 1), letter(3, 1, 2), letter(6, 2, 1), letter(8, 1, 0)]
    }
}
