//! The operator of the cluster: replaces one node after the other (membership changes), whatever
//! else goes wrong. A node is removed, comes again with an empty disk, is added as a learner and
//! gets its vote.

use crate::chance::Chance;
use crate::network::{Presence, address};
use crate::world::World;
use conclave_api::{Members, NewMember};
use conclave_service::Command;
use conclave_service::desk::{Answer, MemberChange, Replicated};
use tokio::sync::oneshot::{self, error::TryRecvError};

/// How long an answer is waited for, in milliseconds.
const PATIENCE: u64 = 3_000;
/// When it asks again.
const AGAIN: u64 = 200;

/// Whoever replaces nodes.
pub struct Operator {
    chance: Chance,
    stage: Stage,
    /// When it goes on.
    next: u64,
    asked: Option<oneshot::Receiver<Answer<Members>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Rests,
    /// This node is to leave.
    Removes(usize),
    /// It has left, and is to be a member again.
    Returns(usize),
}

/// What all others know a node as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Voter,
    Learner,
    Stranger,
    /// They do not know the same.
    Unsettled,
}

impl Operator {
    pub fn new(seed: u64) -> Self {
        let chance = Chance::new(seed, 4);
        Self { chance, stage: Stage::Rests, next: 3_000, asked: None }
    }

    /// Whether it has finished what it began.
    pub fn rests(&self) -> bool {
        self.stage == Stage::Rests
    }

    /// Goes on, if it is time for that.
    pub fn step(&mut self, world: &mut World) {
        let answer = self.asked.as_mut().map(oneshot::Receiver::try_recv);
        if let Some(Ok(_) | Err(TryRecvError::Closed)) = answer {
            self.asked = None;
            self.next = world.now + AGAIN;
        }
        if world.now < self.next {
            return;
        }
        self.next = world.now + AGAIN;
        match self.stage {
            Stage::Rests if world.doors.lock().closing => {}
            Stage::Rests => self.stage = Stage::Removes(self.chance.below(world.nodes.len())),
            Stage::Removes(node) => self.remove(world, node),
            Stage::Returns(node) => self.take_back(world, node),
        }
    }

    /// Its disk is emptied only when all others know that it has left: else that may be undone by
    /// another leader, and its vote is needed.
    fn remove(&mut self, world: &mut World, node: usize) {
        world.replaced = Some(node);
        if known(world, node) == Known::Stranger {
            self.stage = Stage::Returns(node);
            return world.replace(node, self.chance.between(100, 1_500));
        }
        self.ask(world, node, MemberChange::Remove(node as u32 + 1));
    }

    fn take_back(&mut self, world: &mut World, node: usize) {
        let id = node as u32 + 1;
        match known(world, node) {
            Known::Stranger => {
                let (peer, api) = (address(node), format!("10.0.0.{id}:8000"));
                self.ask(world, node, MemberChange::Add(NewMember { id, peer, api, disk: None }));
            }
            Known::Learner => {
                world.replaced = None;
                self.ask(world, node, MemberChange::Promote(id));
            }
            Known::Voter => {
                self.stage = Stage::Rests;
                world.replaced = None;
                world.recording.lock().replaced += 1;
                self.next = world.now + self.chance.between(300, 2_500);
            }
            Known::Unsettled => {}
        }
    }

    /// Asks any node but the one that it is about.
    fn ask(&mut self, world: &World, about: usize, change: MemberChange) {
        let nodes = world.nodes.len();
        let node = (about + 1 + self.chance.below(nodes - 1)) % nodes;
        let Some(door) = world.doors.lock().nodes[node].clone() else { return };
        let (reply, answer) = oneshot::channel();
        let _ = door.try_send(Command::Replicated(Replicated::Members { change, reply }));
        self.asked = Some(answer);
        self.next = world.now + PATIENCE;
    }
}

fn known(world: &World, node: usize) -> Known {
    let others = || (0..world.nodes.len()).filter(|other| *other != node);
    let all = |voter| others().all(|other| world.nodes[other].knows(node, voter));
    match () {
        () if all(Some(true)) => Known::Voter,
        () if all(Some(false)) => Known::Learner,
        () if all(None) => Known::Stranger,
        () => Known::Unsettled,
    }
}

impl World {
    /// A node that was removed comes again with an empty disk.
    fn replace(&mut self, node: usize, after: u64) {
        self.crash(node, Presence::Refuses, after);
        self.nodes[node].empty_disk();
    }
}
