//! The state of a host in memory, and what its application can do with it.

use super::link::Link;
use super::timers::Timers;
use super::warnings::RateLimitedWarnings;
use crate::recording::{Entry, Restored};
use crate::store::{Batch, Kept, KeptMachine, KeptPeer, encode};
use crate::{
    AnyIndication, AnyRequest, Automaton, HostContext, Input, Key, Lane, Order, Packet, Peer,
    Survival,
};
use conclave_core::{NodeId, Ticks};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// So many delivered messages may stay on disk before a transaction is made only to remove them.
const DELIVERED_MAX: usize = 256;

/// A machine of this node.
pub(super) struct Resident {
    pub(super) automaton: Box<dyn Automaton>,
    pub(super) survival: Survival,
    /// Its row as the disk has it; empty if it has none.
    row: Vec<u8>,
    sent: BTreeMap<String, u64>,
}

impl Resident {
    pub(super) fn new(automaton: Box<dyn Automaton>) -> Self {
        let survival = automaton.survival();
        Self { automaton, survival, row: Vec::new(), sent: BTreeMap::new() }
    }

    pub(super) fn lane(&self) -> Lane {
        match self.survival {
            Survival::Whole => Lane::Durable,
            Survival::Returns | Survival::Forgets => Lane::Transient,
        }
    }
}

/// Something that is to happen to a machine.
pub(super) struct Work {
    pub(super) key: Key,
    pub(super) input: Input,
    /// For a message: how it came, and its number.
    pub(super) arrival: Option<(Lane, u64)>,
}

impl Work {
    /// Whether it is the empty message of [`HostContext::open`], for which a machine is only made.
    pub(super) fn only_opens(&self) -> bool {
        matches!(&self.input, Input::Message { bytes, .. } if bytes.is_empty())
    }
}

/// What a batch has gathered, to be let go once it is on disk.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) orders: Vec<Order>,
    pub(super) acknowledgements: BTreeMap<NodeId, u64>,
    pub(super) afterwards: Vec<Box<dyn FnOnce() + Send>>,
    pub(super) entries: Vec<Entry>,
}

pub(super) struct HostState {
    pub(super) me: NodeId,
    pub(super) now: Ticks,
    pub(super) machines: BTreeMap<Key, Resident>,
    pub(super) timers: Timers,
    pub(super) links: Vec<Link>,
    pub(super) queue: VecDeque<Work>,
    pub(super) wake: Option<Ticks>,
    pub(super) warnings: RateLimitedWarnings,
    pub(super) recording: bool,
    pub(super) gathered: Gathered,
    batch: Batch,
    /// Machines that took a step in this batch.
    touched: BTreeSet<Key>,
    /// Machines that others are to make as well, once this node has made its own.
    opening: BTreeSet<Key>,
    /// Delivered messages that are still on disk.
    delivered: usize,
}

impl HostState {
    pub(super) fn new(me: NodeId, n: u32, incarnation: u32, seed: u64, kept: &Kept) -> Self {
        let link = |node| {
            let kept = kept.peers.get(&node).copied().unwrap_or_default();
            Link::new(kept, incarnation)
        };
        let mut node = Self {
            me,
            now: Ticks::ZERO,
            machines: BTreeMap::new(),
            timers: Timers::new(seed),
            links: (0..n).map(NodeId).map(link).collect(),
            queue: VecDeque::new(),
            wake: None,
            warnings: RateLimitedWarnings::default(),
            recording: false,
            gathered: Gathered::default(),
            batch: Batch::default(),
            touched: BTreeSet::new(),
            opening: BTreeSet::new(),
            delivered: 0,
        };
        node.tell_links(kept);
        node
    }

    /// The links learn where they stopped: what has arrived, and what may not have.
    fn tell_links(&mut self, kept: &Kept) {
        for (from, KeptPeer { received: number, .. }) in kept.peers.clone() {
            self.gathered.orders.push(Order::Acknowledge { from, number });
        }
        for (to, packet) in kept.outbox.clone() {
            if let Some(link) = self.links.get_mut(to.index()) {
                link.wait_for(packet.number, packet.bytes.len());
                self.gathered.orders.push(Order::Send { to, packet });
            }
        }
    }

    /// A machine is back from disk. Its timers run again, with their full delays.
    pub(super) fn restored(&mut self, key: &Key, mut resident: Resident, kept: &KeptMachine) {
        resident.row = encode(kept);
        self.machines.insert(key.clone(), resident);
        let set = |(name, after): &(Vec<u8>, _)| {
            (name.clone(), self.timers.set(self.now, key, name, *after))
        };
        let timers = kept.timers.iter().map(set).collect();
        if self.recording {
            let key = key.clone();
            let saved = kept.saved.clone();
            self.gathered.entries.push(Entry::Restored(Restored { key, saved, timers }));
        }
        if kept.survival == Survival::Returns {
            let key = key.clone();
            let input = Input::Restart;
            self.queue.push_back(Work { key, input, arrival: None });
        }
    }

    pub(super) fn touch(&mut self, key: &Key) {
        self.touched.insert(key.clone());
    }

    /// If the machine of this name is to be opened everywhere and this node has its own by now, has
    /// the others make theirs.
    pub(super) fn call_for(&mut self, key: &Key) {
        if self.machines.contains_key(key) && self.opening.remove(key) {
            for peer in self.me.others(self.links.len() as u32) {
                self.send(key, peer, "", &[]);
            }
        }
    }

    /// Numbers a message and lets it wait for the disk. `None` if there is no such node.
    pub(super) fn send(
        &mut self,
        key: &Key,
        to: NodeId,
        kind: &str,
        bytes: &[u8],
    ) -> Option<(Lane, u64)> {
        let resident = self.machines.get_mut(key)?;
        let lane = resident.lane();
        let number = self.links.get_mut(to.index())?.number(lane, bytes.len());
        match resident.sent.get_mut(kind) {
            _ if bytes.is_empty() => {} // Opens a machine; no algorithm has sent it.
            Some(count) => *count += 1,
            None => drop(resident.sent.insert(kind.to_string(), 1)),
        }
        let packet = Packet { lane, number, key: key.clone(), bytes: bytes.to_vec() };
        if lane == Lane::Durable {
            self.batch.outbox.push((to, packet.clone()));
        }
        self.gathered.orders.push(Order::Send { to, packet });
        Some((lane, number))
    }

    pub(super) fn acknowledged(&mut self, by: NodeId, number: u64) {
        if let Some(link) = self.links.get_mut(by.index()) {
            self.delivered += link.acknowledged(number);
        }
    }

    /// Who this node is; its own file says so.
    pub(super) fn is(&mut self, identity: u128) {
        self.links[self.me.index()].kept.identity = Some(identity);
    }

    pub(super) fn met(&mut self, peer: NodeId, identity: u128, incarnation: u32, nonce: u64) {
        if let Some(link) = self.links.get_mut(peer.index()) {
            // Who it was at first is who it is: links refuse anybody else, and older starts.
            link.kept.identity.get_or_insert(identity);
            link.kept.incarnation = incarnation;
            link.kept.nonce = Some(nonce);
            link.changed = true;
        }
    }

    /// All that has changed since the last call and has to be on disk; `None` if nothing has.
    /// Delivered messages go along when there is something else to write, or many of them.
    pub(super) fn changes(&mut self) -> Option<Batch> {
        for key in std::mem::take(&mut self.touched) {
            self.row_of(key);
        }
        let changed = |link: &&mut (NodeId, &mut Link)| link.1.changed;
        let mut links: Vec<(NodeId, &mut Link)> =
            (0..).map(NodeId).zip(self.links.iter_mut()).collect();
        for (node, link) in links.iter_mut().filter(changed) {
            link.changed = false;
            self.batch.peers.push((*node, link.kept));
        }
        if self.batch.can_wait() && self.delivered <= DELIVERED_MAX {
            return None;
        }
        let taken =
            links.iter_mut().filter_map(|(node, link)| Some((*node, link.delivered.take()?)));
        self.batch.delivered = taken.collect();
        self.delivered = 0;
        Some(std::mem::take(&mut self.batch))
    }

    /// The row of a machine, if the disk has another one.
    fn row_of(&mut self, key: Key) {
        let Some(resident) = self.machines.get_mut(&key) else { return };
        let timers = match resident.survival {
            Survival::Whole => self.timers.of(&key),
            Survival::Returns => Vec::new(),
            Survival::Forgets => return,
        };
        let saved = resident.automaton.saved();
        let row = encode(&KeptMachine { survival: resident.survival, saved, timers });
        if row != resident.row {
            resident.row.clone_from(&row);
            self.batch.machines.push((key, row));
        }
    }
}

impl HostContext for HostState {
    fn me(&self) -> NodeId {
        self.me
    }

    fn now(&self) -> Ticks {
        self.now
    }

    fn ask(&mut self, key: &Key, asked: AnyRequest) {
        let key = key.clone();
        let input = Input::Request(asked);
        self.queue.push_back(Work { key, input, arrival: None });
    }

    fn tell(&mut self, key: &Key, told: AnyIndication) {
        let key = key.clone();
        let input = Input::Indication(told);
        self.queue.push_back(Work { key, input, arrival: None });
    }

    fn open(&mut self, key: &Key) {
        self.opening.insert(key.clone());
        self.call_for(key);
    }

    fn machines(&self) -> Vec<Key> {
        self.machines.keys().cloned().collect()
    }

    fn save(&mut self, name: &str, value: Option<Vec<u8>>) {
        self.batch.application.push((name.to_string(), value));
    }

    fn afterwards(&mut self, deed: Box<dyn FnOnce() + Send>) {
        self.gathered.afterwards.push(deed);
    }

    fn wake_at(&mut self, at: Option<Ticks>) {
        self.wake = at;
    }

    fn identity(&self, node: NodeId) -> Option<u128> {
        self.links.get(node.index()).and_then(|link| link.kept.identity)
    }

    fn peer(&self, peer: NodeId) -> Peer {
        self.links.get(peer.index()).map(Link::as_peer).unwrap_or_default()
    }

    fn sent(&self, key: &Key) -> Vec<(String, u64)> {
        let counts = self.machines.get(key).map(|resident| resident.sent.clone());
        counts.unwrap_or_default().into_iter().collect()
    }
}
