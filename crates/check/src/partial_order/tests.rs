use crate::explorer::Explorer;
use crate::machine::Machine;
use crate::moves;
use crate::partial_order::reachable_inputs::ReachableInputs;
use crate::space::{Space, Watch};
use crate::state::State;
use conclave_core::election::{Election, Indication, Request};
use conclave_core::{Bounds, Cluster, Context, Event, Named, Never, NodeId, Process, Start};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};

const NODES: u32 = 3;

/// Follows rules that were drawn by lot, for as long as its messages have hops left.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Gambler {
    seed: u64,
    me: NodeId,
    mood: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Rumour {
    what: u64,
    hops: u8,
}

impl Named for Rumour {
    fn name(&self) -> &'static str {
        "RUMOUR"
    }
}

impl Process for Gambler {
    type Provides = Election;
    type Uses = Never;
    type Message = Rumour;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        let (from, what, hops) = match event {
            Event::Request(Request::Campaign) => (self.me, 9, 3),
            Event::Message { from, message } => (from, message.what, message.hops),
            Event::Start | Event::Restart | Event::Request(Request::Resign) => return,
        };
        let mut lot = conclave_core::hash(&(self.seed, self.me, self.mood, from, what));
        let mut draw = |bound: u64| {
            let drawn = lot % bound;
            lot /= bound;
            drawn
        };
        if draw(2) == 0 {
            self.mood = draw(4); // Many moves leave a node as it is: those can be exchanged.
        }
        if draw(8) == 0 {
            ctx.indicate(Indication::Elected { leader: NodeId(draw(2) as u32), term: 1 });
        }
        for step in 1..NODES {
            if hops > 0 && draw(5) < 2 {
                let to = NodeId((self.me.0 + step) % NODES);
                ctx.send(to, Rumour { what: draw(2), hops: hops - 1 });
            }
        }
    }
}

/// How many states were looked at, and those in which nothing more can happen.
fn explore(explorer: &mut Explorer<'_>, reduced: bool) -> (usize, BTreeSet<u64>) {
    let mut open: Vec<State> = explorer.initial();
    let foresees = reduced && ReachableInputs::exist(explorer, &open);
    let mut seen: HashSet<u64> = open.iter().map(|state| state.hash).collect();
    let mut ends = BTreeSet::new();
    let mut enabled = Vec::new();
    while let Some(state) = open.pop() {
        moves::enabled(explorer, &state, &mut enabled);
        if enabled.is_empty() {
            ends.insert(state.hash);
        }
        let first =
            if reduced { super::ample_set(explorer, &state, &mut enabled, foresees) } else { None };
        for enabled in &enabled[..first.unwrap_or(enabled.len())] {
            for &outcome in explorer.outcomes(&state, enabled.action).iter() {
                let mut next = State::default();
                explorer.advance(&state, enabled.action, outcome, &mut next);
                if seen.insert(next.hash) {
                    open.push(next);
                }
            }
        }
    }
    (seen.len(), ends)
}

/// Nobody knows these rules, so nobody can have made a reduction to suit them.
#[test]
fn whatever_the_rules_every_end_is_still_come_to() {
    let mut looked_at = 0;
    let mut all = 0;
    for seed in 0..300 {
        let cluster = Cluster::of_equals(NODES, move |me| Gambler { seed, me, mood: 0 });
        let bounds = Bounds { start: Start::Any, ..Bounds::default() };
        let machine = Machine::new(&cluster, &bounds, Watch::default());
        let watch = Watch { terms: true, ..Watch::default() };
        let space = Space::new(&machine, &bounds, watch);
        // The links that are ever used must be known before anything is left out.
        let (states, ends) = explore(&mut Explorer::new(&space), false);
        let (fewer, same) = explore(&mut Explorer::new(&space), true);
        assert_eq!(same, ends, "seed {seed}");
        looked_at += fewer;
        all += states;
    }
    assert!(looked_at * 3 < all * 2, "{looked_at} of {all}: hardly anything was left out");
}
