//! Normal form of a state: one stands for all that differ only in how far counters have risen.

use super::Explorer;
use crate::space::Slot;
use crate::state::State;

/// Puts the normal form in the place of a state.
pub fn normalise(explorer: &mut Explorer<'_>, state: &mut State) {
    let space = explorer.space;
    let mut locals = state.nodes.clone();
    let used = |&slot: &usize| state.links[slot] != 0;
    let slots: Vec<usize> = (0..state.links.len()).filter(used).collect();
    let under_way = |&slot: &usize| {
        let (from, to) = explorer.links()[slot];
        (from, to, explorer.content(state.links[slot]).packets.clone())
    };
    let mut links: Vec<_> = slots.iter().map(under_way).collect();
    space.workings.normalise(&mut locals, &mut links);
    explorer.learn();
    for (node, local) in locals.into_iter().enumerate() {
        explorer.parts.set_node(state, node as u16, local);
    }
    for (slot, (_, _, packets)) in slots.into_iter().zip(links) {
        let content = explorer.parts.links.intern(space, packets);
        explorer.parts.set_link(state, slot as Slot, content);
    }
}
