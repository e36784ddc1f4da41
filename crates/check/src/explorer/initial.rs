//! Initial states: those in which a run may begin.

use super::Explorer;
use crate::global::Global;
use crate::state::State;
use crate::vocabulary::{Ask, Family};
use crate::workings::Input;
use conclave_core::Start;

/// The states in which a run may begin: every node was started. In an election there is one for
/// every set of nodes that will call for one.
pub fn states(explorer: &mut Explorer<'_>) -> Vec<State> {
    let space = explorer.space;
    let nodes = space.workings.fresh();
    explorer.catch_up();
    let global = explorer.parts.globals.intern(space, Global::new(space.bounds));
    let mut state = State { nodes, global, ..State::default() };
    state.hash = explorer.parts.hash(&state);
    let mut states = vec![state];
    for node in 0..space.workings.nodes() as u16 {
        states = after(explorer, &states, node, Input::Start);
    }
    match explorer.family() {
        Family::Mutex => states,
        Family::Election => sets_of_initiators(explorer, &states),
    }
}

fn sets_of_initiators(explorer: &mut Explorer<'_>, started: &[State]) -> Vec<State> {
    let start = &explorer.space.bounds.start;
    let together = *start != Start::Any;
    let sets: Vec<u64> = match start {
        Start::Any | Start::Together => (1..1 << explorer.clients()).collect(),
        Start::These(nodes) => vec![nodes.iter().map(|node| 1 << node.0).sum()],
    };
    let mut all = Vec::new();
    for set in sets {
        let members = (0..explorer.clients() as u16).filter(|node| set >> node & 1 == 1);
        let mut states = started.to_vec();
        for node in members.clone() {
            states = after(explorer, &states, node, Input::Appoint);
        }
        for node in members.filter(|_| together) {
            states = after(explorer, &states, node, Input::Ask(Ask::Campaign));
        }
        all.extend(states);
    }
    all
}

/// What comes of all these states when this happens to a node.
fn after(explorer: &mut Explorer<'_>, states: &[State], node: u16, input: Input) -> Vec<State> {
    let mut after = Vec::new();
    for state in states {
        for &outcome in explorer.steps(state.nodes[usize::from(node)], input).iter() {
            let mut next = state.clone();
            explorer.carry_out(&mut next, node, outcome);
            after.push(next);
        }
    }
    after
}
