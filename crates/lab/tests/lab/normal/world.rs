//! Nodes, what is under way between them, their timers and their users.

use conclave_core::mutex::{Mutex, Request};
use conclave_core::{
    Choices, Cluster, Context, Effect, Event, NodeId, Oracle, Process, Recovery, Snapshot, hash,
};
use serde::Serialize;

/// What may happen besides the usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Messages of one link arrive in any order.
    pub reorders: bool,
    /// Who waits may withdraw.
    pub cancels: bool,
    /// Nodes crash, and are back with their disk in the same moment.
    pub restarts: bool,
    /// Messages are lost.
    pub losses: bool,
    /// Messages arrive more than once.
    pub duplicates: bool,
    /// Detectors suspect and trust whom they like.
    pub suspicions: bool,
}

/// One thing that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A node's user asks, withdraws or leaves.
    Ask(usize, Request),
    /// A timer of a node fires; timers by their place in its list.
    Fire(usize, usize),
    /// A node crashes and comes back with its disk.
    Restart(usize),
    /// A node's detector suspects another, or trusts it.
    Doubt { by: usize, of: usize, trust: bool },
    /// The message at this place of a link arrives, leaving a copy behind or not.
    Deliver { link: usize, place: usize, copy: bool },
    /// The message at this place of a link is lost.
    Lose { link: usize, place: usize },
}

/// What the user of a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum User {
    Idle,
    Waiting,
    Inside,
}

/// All that makes a state.
#[derive(Debug)]
pub struct World<P: Process> {
    pub snapshot: Snapshot<P>,
    pub timers: Vec<Vec<P::Timer>>,
    pub users: Vec<User>,
}

impl<P: Process> Clone for World<P> {
    fn clone(&self) -> Self {
        let (timers, users) = (self.timers.clone(), self.users.clone());
        Self { snapshot: self.snapshot.clone(), timers, users }
    }
}

impl<P: Process> PartialEq for World<P> {
    fn eq(&self, other: &Self) -> bool {
        self.snapshot.nodes == other.snapshot.nodes
            && self.snapshot.links == other.snapshot.links
            && self.timers == other.timers
            && self.users == other.users
    }
}

impl<P: Process<Provides = Mutex, Uses: Oracle>> World<P> {
    /// All nodes having started.
    pub fn new(cluster: &Cluster<P>) -> Self {
        let n = cluster.nodes();
        let links =
            (0..n).flat_map(|from| (0..n).map(move |to| (NodeId(from), NodeId(to), vec![])));
        let nodes = (0..n).map(|me| (cluster.fresh)(NodeId(me))).collect();
        let snapshot = Snapshot { nodes, links: links.collect() };
        let users = vec![User::Idle; cluster.clients as usize];
        let mut world = Self { snapshot, timers: vec![Vec::new(); n as usize], users };
        for node in 0..n as usize {
            world.act(node, Event::Start, 0);
        }
        world
    }

    /// A number that stands for this state.
    pub fn hash(&self) -> u64 {
        hash(&(&self.snapshot.nodes, &self.snapshot.links, &self.timers, &self.users))
    }

    /// Everything that can happen.
    pub fn moves(&self, faults: Faults) -> Vec<Move> {
        let mut moves = Vec::new();
        for (node, user) in self.users.iter().enumerate() {
            match user {
                User::Idle => moves.push(Move::Ask(node, Request::Acquire)),
                User::Waiting if faults.cancels => moves.push(Move::Ask(node, Request::Cancel)),
                User::Waiting => {}
                User::Inside => moves.push(Move::Ask(node, Request::Release)),
            }
        }
        for (node, timers) in self.timers.iter().enumerate() {
            moves.extend((0..timers.len()).map(|timer| Move::Fire(node, timer)));
            if faults.restarts {
                moves.push(Move::Restart(node));
            }
            if faults.suspicions && P::Uses::suspect(NodeId(0)).is_some() {
                moves.extend(self.doubts(node));
            }
        }
        for (link, (_, _, messages)) in self.snapshot.links.iter().enumerate() {
            let places = if faults.reorders { messages.len() } else { messages.len().min(1) };
            for place in 0..places {
                moves.push(Move::Deliver { link, place, copy: false });
                if faults.duplicates {
                    moves.push(Move::Deliver { link, place, copy: true });
                }
                if faults.losses {
                    moves.push(Move::Lose { link, place });
                }
            }
        }
        moves
    }

    fn doubts(&self, by: usize) -> impl Iterator<Item = Move> {
        let others = NodeId(by as u32).others(self.snapshot.nodes.len() as u32);
        let doubt = move |of: NodeId, trust| Move::Doubt { by, of: of.index(), trust };
        others.flat_map(move |of| [doubt(of, false), doubt(of, true)])
    }

    /// Lets one thing happen; choices get answers that follow from `luck`.
    pub fn apply(&mut self, happens: Move, luck: u64) {
        match happens {
            Move::Ask(node, request) => {
                self.users[node] = match request {
                    Request::Acquire => User::Waiting,
                    Request::Release | Request::Cancel | Request::Observe(_) => User::Idle,
                };
                self.act(node, Event::Request(request), luck);
            }
            Move::Fire(node, timer) => {
                let timer = self.timers[node].remove(timer);
                self.act(node, Event::Timer(timer), luck);
            }
            Move::Restart(node) => self.restart(node, luck),
            Move::Doubt { by, of, trust } => {
                let of = NodeId(of as u32);
                let told = if trust { P::Uses::trust(of) } else { P::Uses::suspect(of) };
                if let Some(told) = told {
                    self.act(by, Event::Indication(told), luck);
                }
            }
            Move::Deliver { link, place, copy } => {
                let (from, to, messages) = &mut self.snapshot.links[link];
                let message = messages[place].clone();
                if !copy {
                    messages.remove(place);
                }
                let (from, to) = (*from, to.index());
                self.act(to, Event::Message { from, message }, luck);
            }
            Move::Lose { link, place } => {
                self.snapshot.links[link].2.remove(place);
            }
        }
    }

    fn restart(&mut self, node: usize, luck: u64) {
        let Recovery::State(kept) = self.snapshot.nodes[node].after_crash() else {
            return; // Not of those that come back with a disk.
        };
        self.snapshot.nodes[node] = kept;
        self.timers[node].clear();
        if let Some(user) = self.users.get_mut(node) {
            *user = User::Idle;
        }
        self.act(node, Event::Restart, luck);
    }

    fn act(&mut self, node: usize, event: Event<P>, luck: u64) {
        let draw = move |bound: u32| (luck % u64::from(bound)) as u32;
        let mut ctx = Context::new(Choices::Drawn(Box::new(draw)));
        ctx.act(NodeId(node as u32), &mut self.snapshot.nodes[node], event);
        while let Some(effect) = ctx.pop() {
            let timers = &mut self.timers[node];
            match effect {
                Effect::Send { to, message } => {
                    let link = node * self.snapshot.nodes.len() + to.index();
                    self.snapshot.links[link].2.push(message);
                }
                Effect::SetTimer { timer, .. } if timers.contains(&timer) => {}
                Effect::SetTimer { timer, .. } => timers.push(timer),
                Effect::CancelTimer(timer) => timers.retain(|&running| running != timer),
                Effect::Indicate(_) => self.users[node] = User::Inside,
                Effect::Request(_) => unreachable!("an oracle is asked nothing"),
            }
        }
    }
}
