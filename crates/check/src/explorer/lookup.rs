//! What one thread has looked up in the space, and the parts of a state.

use super::Explorer;
use crate::global::Global;
use crate::intern::mix;
use crate::space::{ContentId, GlobalId, Slot};
use crate::state::State;
use crate::workings::{LocalId, PacketId};
use conclave_core::NodeId;
use std::rc::Rc;

impl Explorer<'_> {
    pub fn global(&self, id: GlobalId) -> &Rc<Global> {
        &self.globals[id as usize].0
    }

    pub fn global_hash(&self, id: GlobalId) -> u64 {
        self.globals[id as usize].1
    }

    fn learn_globals(&mut self) {
        let more = self.space.globals(self.globals.len()).into_iter();
        self.globals.extend(more.map(|(global, hash)| (Rc::new(global), hash)));
    }

    /// Takes over what is new of states of nodes, of messages and of what steps do to others. That
    /// speaks of messages, so those are read after it: others go on finding new ones meanwhile.
    pub(super) fn learn(&mut self) {
        self.learn_effects();
        self.faces.extend(self.space.workings.faces(self.faces.len()));
        self.hashes.extend(self.faces[self.hashes.len()..].iter().map(|face| face.hash));
        self.packets.extend(self.space.workings.packets(self.packets.len()));
    }

    pub(super) fn slot(&mut self, from: u16, to: u16) -> Slot {
        let place = usize::from(from) * self.nodes + usize::from(to);
        if let Some(slot) = self.slot_of[place] {
            return slot;
        }
        let slot = self.space.slot(NodeId(u32::from(from)), NodeId(u32::from(to)));
        self.slot_of[place] = Some(slot);
        self.learn_slots();
        slot
    }

    /// Takes over the links that others have found.
    pub fn learn_slots(&mut self) {
        self.slots = self.space.slots();
        let salt =
            |&(from, to): &(NodeId, NodeId)| mix((u64::from(from.0) << 32) | (u64::from(to.0) + 1));
        self.salts = self.slots.iter().map(salt).collect();
    }

    pub(super) fn push(&mut self, content: ContentId, packet: PacketId) -> ContentId {
        if let Some(&known) = self.pushes.get(&(content, packet)) {
            return known;
        }
        let mut packets = self.contents[content as usize].packets.clone();
        packets.push(packet);
        let pushed = self.space.content(packets, &self.packets);
        self.learn_contents();
        self.pushes.insert((content, packet), pushed);
        pushed
    }

    fn learn_contents(&mut self) {
        self.contents.extend(self.space.contents(self.contents.len()));
        // Another thread may have been the first to send what is in them.
        self.packets.extend(self.space.workings.packets(self.packets.len()));
    }

    /// The content of a link with these messages.
    pub fn content(&mut self, packets: Vec<PacketId>) -> ContentId {
        self.learn();
        let content = self.space.content(packets, &self.packets);
        self.learn_contents();
        content
    }

    /// Takes over all parts of states that other threads have found.
    pub fn catch_up(&mut self) {
        self.learn();
        self.learn_slots();
        self.learn_contents();
        self.learn_globals();
    }

    pub(super) fn set_node(&mut self, state: &mut State, node: u16, local: LocalId) {
        let place = usize::from(node);
        let was = std::mem::replace(&mut state.nodes[place], local);
        let change = self.hashes[local as usize].wrapping_sub(self.hashes[was as usize]);
        state.hash = state.hash.wrapping_add(change);
    }

    pub fn set_link(&mut self, state: &mut State, slot: Slot, content: ContentId) {
        let place = usize::from(slot);
        if place >= state.links.len() {
            state.links.resize(place + 1, 0);
        }
        let was = std::mem::replace(&mut state.links[place], content);
        let change = self.link_hash(slot, content).wrapping_sub(self.link_hash(slot, was));
        state.hash = state.hash.wrapping_add(change);
    }

    pub(super) fn set_global(&mut self, state: &mut State, global: GlobalId) {
        let was = std::mem::replace(&mut state.global, global);
        if global as usize >= self.globals.len() {
            self.learn_globals();
        }
        let change = self.global_hash(global).wrapping_sub(self.global_hash(was));
        state.hash = state.hash.wrapping_add(change);
    }

    /// An empty link adds nothing, so that it does not matter which links are known.
    pub fn link_hash(&self, slot: Slot, content: ContentId) -> u64 {
        if content == 0 {
            return 0;
        }
        mix(self.contents[content as usize].hash.wrapping_add(self.salts[usize::from(slot)]))
    }

    /// Works out the hash of a state from its parts.
    pub fn rehash(&mut self, state: &mut State) {
        self.catch_up();
        let mut hash = self.global_hash(state.global);
        for &local in &state.nodes {
            hash = hash.wrapping_add(self.hashes[local as usize]);
        }
        for (slot, &content) in state.links.iter().enumerate() {
            hash = hash.wrapping_add(self.link_hash(slot as Slot, content));
        }
        state.hash = hash;
    }

    /// Puts the state in the place of this one that stands for all that differ only in counters.
    pub fn normalise(&mut self, state: &mut State) {
        let mut locals = state.nodes.clone();
        let used = |&slot: &usize| state.links[slot] != 0;
        let slots: Vec<usize> = (0..state.links.len()).filter(used).collect();
        let under_way = |&slot: &usize| {
            let (from, to) = self.slots[slot];
            (from, to, self.contents[state.links[slot] as usize].packets.clone())
        };
        let mut links: Vec<_> = slots.iter().map(under_way).collect();
        self.space.workings.normalise(&mut locals, &mut links);
        self.learn();
        for (node, local) in locals.into_iter().enumerate() {
            self.set_node(state, node as u16, local);
        }
        for (slot, (_, _, packets)) in slots.into_iter().zip(links) {
            let content = self.content(packets);
            self.set_link(state, slot as Slot, content);
        }
    }
}
