//! Channels: what one thread knows of the links between nodes and of the messages under way there.

use crate::intern::{Plain, mix};
use crate::space::{Content, ContentId, Slot, Space};
use crate::workings::PacketId;
use conclave_core::NodeId;
use std::collections::HashMap;

/// The two ends of a link: from whom, to whom.
pub type Ends = (NodeId, NodeId);

/// What one thread knows of links and of what can be under way on them.
///
/// Invariants: contents and hashes of messages are a prefix of those that all threads share, and
/// every message in a known content is known; `salts` has one entry for each known link.
pub struct Links {
    nodes: usize,
    contents: Vec<Content>,
    /// The links that have ever been used, by slot.
    ends: Vec<Ends>,
    /// By slot: what the link adds to the hash of its content.
    salts: Vec<u64>,
    /// By both ends: the slot.
    slot_of: Vec<Option<Slot>>,
    /// The hashes of messages.
    packets: Vec<u64>,
    pushes: HashMap<(ContentId, PacketId), ContentId, Plain>,
}

impl Links {
    pub fn new(space: &Space<'_>, nodes: usize) -> Self {
        Self {
            nodes,
            contents: space.contents(0),
            ends: Vec::new(),
            salts: Vec::new(),
            slot_of: vec![None; nodes * nodes],
            packets: Vec::new(),
            pushes: HashMap::default(),
        }
    }

    /// All links that are known, by slot.
    #[inline]
    pub fn all(&self) -> &[Ends] {
        &self.ends
    }

    #[inline]
    pub fn ends(&self, slot: Slot) -> Ends {
        self.ends[usize::from(slot)]
    }

    /// To whom a link leads.
    #[inline]
    pub fn receiver(&self, slot: Slot) -> u16 {
        self.ends(slot).1.0 as u16
    }

    #[inline]
    pub fn content(&self, content: ContentId) -> &Content {
        &self.contents[content as usize]
    }

    /// What a link adds to the hash of a state. An empty one adds nothing, so that it does not
    /// matter which links are known.
    #[inline]
    pub fn hash(&self, slot: Slot, content: ContentId) -> u64 {
        if content == 0 {
            return 0;
        }
        mix(self.content(content).hash.wrapping_add(self.salts[usize::from(slot)]))
    }

    /// The slot of a link, which it gets when it is first used.
    #[inline]
    pub fn slot(&mut self, space: &Space<'_>, from: u16, to: u16) -> Slot {
        match self.slot_of[usize::from(from) * self.nodes + usize::from(to)] {
            Some(slot) => slot,
            None => self.find_slot(space, from, to),
        }
    }

    #[cold]
    fn find_slot(&mut self, space: &Space<'_>, from: u16, to: u16) -> Slot {
        let slot = space.slot(NodeId(u32::from(from)), NodeId(u32::from(to)));
        self.slot_of[usize::from(from) * self.nodes + usize::from(to)] = Some(slot);
        self.learn_links(space);
        slot
    }

    /// What is under way on a link after one more message was sent.
    #[inline]
    pub fn push(&mut self, space: &Space<'_>, content: ContentId, packet: PacketId) -> ContentId {
        if let Some(&known) = self.pushes.get(&(content, packet)) {
            return known;
        }
        let mut packets = self.content(content).packets.clone();
        packets.push(packet);
        let pushed = self.intern(space, packets);
        self.pushes.insert((content, packet), pushed);
        pushed
    }

    /// The number of a content with these messages, all of which are known.
    pub fn intern(&mut self, space: &Space<'_>, packets: Vec<PacketId>) -> ContentId {
        let content = space.content(packets, &self.packets);
        self.learn_contents(space);
        content
    }

    /// Takes over the links that others have found.
    pub fn learn_links(&mut self, space: &Space<'_>) {
        self.ends = space.slots();
        let salt = |&(from, to): &Ends| mix((u64::from(from.0) << 32) | (u64::from(to.0) + 1));
        self.salts = self.ends.iter().map(salt).collect();
    }

    /// Takes over the messages that others have sent.
    pub fn learn_packets(&mut self, space: &Space<'_>) {
        self.packets.extend(space.workings.packets(self.packets.len()));
    }

    /// Takes over the contents that others have found, then the messages in them: another thread
    /// may have been the first to send those.
    pub fn learn_contents(&mut self, space: &Space<'_>) {
        self.contents.extend(space.contents(self.contents.len()));
        self.learn_packets(space);
    }
}
