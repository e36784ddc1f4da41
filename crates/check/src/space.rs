//! The state space as all threads of a search share it: every link content, every global state and
//! all that a step can do to others, once, by number.

use crate::global::Global;
use crate::intern::{Interner, Plain, mix};
use crate::outcome::{Outcome, Outcomes};
use crate::poison::held;
use crate::workings::{Effects, Input, LocalId, PacketId, Workings};
use conclave_core::{Bounds, Hasher, Network, NodeId};
use std::hash::BuildHasher;
use std::sync::RwLock;

/// The number of what is under way on a link; 0 is nothing.
pub type ContentId = u32;
/// The number of a global state.
pub type GlobalId = u32;
/// The number of what a step does to others.
pub type EffectsId = u32;
/// The number of a link that has ever been used.
pub type Slot = u16;

/// What is under way on a link.
#[derive(Clone, Debug)]
pub struct Content {
    /// The same for the same content in every run of this program.
    pub hash: u64,
    /// The messages: the oldest first, or in a bag in one fixed order.
    pub packets: Vec<PacketId>,
    /// What can arrive next: which message, and what is then left.
    pub takes: Vec<(PacketId, ContentId)>,
}

/// A step that was worked out.
#[derive(Clone, Debug)]
pub struct Step {
    /// The state of the node.
    pub local: LocalId,
    /// The code of what happens to it.
    pub input: u64,
    pub outcomes: Outcomes,
}

/// What the laws must remember. Each multiplies the states, so only what is asked for is watched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch {
    /// The largest fence.
    pub fences: bool,
    /// The leader of each term.
    pub terms: bool,
    /// Which request happened before which.
    pub order: bool,
}

/// What all threads of a search share.
pub struct Space<'a> {
    pub workings: &'a dyn Workings,
    pub bounds: &'a Bounds,
    /// What the laws must remember.
    pub watch: Watch,
    contents: RwLock<Contents>,
    globals: RwLock<Interner<Global>>,
    effects: RwLock<Interner<Effects>>,
    /// In the order in which they were worked out; one may be there twice.
    steps: RwLock<Vec<Step>>,
    /// The links that have been used, in the order in which they first were.
    slots: RwLock<Vec<(NodeId, NodeId)>>,
}

struct Contents {
    numbers: Interner<Vec<PacketId>>,
    contents: Vec<Content>,
}

impl<'a> Space<'a> {
    pub fn new(workings: &'a dyn Workings, bounds: &'a Bounds, watch: Watch) -> Self {
        let mut numbers = Interner::new();
        numbers.intern(0, Vec::new());
        let mut effects = Interner::new();
        effects.intern(Plain::default().hash_one(Effects::default()), Effects::default());
        let nothing = Content { hash: 0, packets: Vec::new(), takes: Vec::new() };
        Self {
            workings,
            bounds,
            watch,
            contents: RwLock::new(Contents { numbers, contents: vec![nothing] }),
            globals: RwLock::new(Interner::new()),
            effects: RwLock::new(effects),
            steps: RwLock::new(Vec::new()),
            slots: RwLock::new(Vec::new()),
        }
    }

    /// The number of this content of a link. `hashes` are those of all messages.
    pub fn content(&self, mut packets: Vec<PacketId>, hashes: &[u64]) -> ContentId {
        if packets.is_empty() {
            return 0;
        }
        let bag = self.bounds.network == Network::Bag;
        if bag {
            packets.sort_unstable_by_key(|&packet| hashes[packet as usize]);
        }
        let mut hasher = Hasher::default();
        for &packet in &packets {
            hasher.write_u64(hashes[packet as usize]);
        }
        let hash = hasher.finish();
        if let Some(known) = held(self.contents.read()).numbers.find(hash, &packets) {
            return known;
        }
        let mut rests = Vec::new();
        let takes = if bag { packets.len() } else { 1 };
        for place in 0..takes {
            if place > 0 && packets[place] == packets[place - 1] {
                continue;
            }
            let mut rest = packets.clone();
            let taken = rest.remove(place);
            rests.push((taken, self.content(rest, hashes)));
        }
        let mut contents = held(self.contents.write());
        let (number, fresh) = contents.numbers.intern(hash, packets.clone());
        if fresh {
            contents.contents.push(Content { hash, packets, takes: rests });
        }
        number
    }

    /// All contents of links from this number on.
    pub fn contents(&self, from: usize) -> Vec<Content> {
        held(self.contents.read()).contents[from..].to_vec()
    }

    /// The number of a global state.
    pub fn global(&self, global: Global) -> GlobalId {
        held(self.globals.write()).intern(mixed(&global), global).0
    }

    /// All global states from this number on, and their hashes.
    pub fn globals(&self, from: usize) -> Vec<(Global, u64)> {
        let globals = held(self.globals.read());
        globals.from(from).iter().map(|global| (global.clone(), mixed(global))).collect()
    }

    /// Works out a step.
    pub fn take(&self, local: LocalId, input: Input) {
        let done = self.workings.take(local, input);
        let mut known = held(self.effects.write());
        let number = |(local, effects)| {
            let hash = Plain::default().hash_one(&effects);
            Outcome { local, effects: known.intern(hash, effects).0 }
        };
        let outcomes: Vec<Outcome> = done.into_iter().map(number).collect();
        drop(known);
        let step = Step { local, input: input.code(), outcomes: Outcomes::new(&outcomes) };
        held(self.steps.write()).push(step);
    }

    /// All steps that were worked out, from this number on.
    pub fn steps(&self, from: usize) -> Vec<Step> {
        held(self.steps.read())[from..].to_vec()
    }

    /// All that steps did to others from this number on.
    pub fn effects(&self, from: usize) -> Vec<Effects> {
        held(self.effects.read()).from(from).to_vec()
    }

    /// The number of a link, which it gets when it is first used.
    pub fn slot(&self, from: NodeId, to: NodeId) -> Slot {
        let known = |slots: &[(NodeId, NodeId)]| {
            slots.iter().position(|&link| link == (from, to)).map(|place| place as Slot)
        };
        if let Some(slot) = known(&held(self.slots.read())) {
            return slot;
        }
        let mut slots = held(self.slots.write());
        known(&slots).unwrap_or_else(|| {
            slots.push((from, to));
            (slots.len() - 1) as Slot
        })
    }

    /// The links that have been used.
    pub fn slots(&self) -> Vec<(NodeId, NodeId)> {
        held(self.slots.read()).clone()
    }
}

fn mixed(global: &Global) -> u64 {
    mix(conclave_core::hash(global))
}
