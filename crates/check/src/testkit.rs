//! A small lock for the unit tests of this crate, and every state that it can come to.

use crate::explorer::Explorer;
use crate::machine::Machine;
use crate::moves;
use crate::space::{Space, Watch};
use crate::state::State;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Bounds, Cluster, Context, Event, Named, Never, NodeId, Process};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Asks the next node of a ring, and enters when it is answered. It keeps nobody out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Asker {
    me: NodeId,
    entered: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Letter {
    Question,
    Answer,
}

impl Named for Letter {
    fn name(&self) -> &'static str {
        "LETTER"
    }
}

impl Process for Asker {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Letter;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) => ctx.send(self.me.successor(2), Letter::Question),
            Event::Message { from, message: Letter::Question } => ctx.send(from, Letter::Answer),
            Event::Message { message: Letter::Answer, .. } => {
                self.entered += 1;
                ctx.indicate(Indication::Entered { fence: self.entered });
            }
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

/// Two nodes whose users ask once, with whatever faults the bounds allow.
pub fn with_space(bounds: &Bounds, test: impl FnOnce(&Space<'_>)) {
    let cluster = Cluster::of_equals(2, |me| Asker { me, entered: 0 });
    let watch = Watch { fences: true, ..Watch::default() };
    let machine = Machine::new(&cluster, bounds, watch);
    test(&Space::new(&machine, bounds, watch));
}

/// Every state that can be come to, each handed to `look` once.
pub fn for_every_state(
    explorer: &mut Explorer<'_>,
    mut look: impl FnMut(&mut Explorer<'_>, &State),
) {
    let mut open = explorer.initial();
    let mut known: HashSet<u64> = open.iter().map(|state| state.hash).collect();
    let mut enabled = Vec::new();
    while let Some(state) = open.pop() {
        look(explorer, &state);
        moves::enabled(explorer, &state, &mut enabled);
        for &moves::Enabled { action, .. } in &enabled {
            for &outcome in explorer.outcomes(&state, action).iter() {
                let mut next = State::default();
                explorer.advance(&state, action, outcome, &mut next);
                if known.insert(next.hash) {
                    open.push(next);
                }
            }
        }
    }
}
