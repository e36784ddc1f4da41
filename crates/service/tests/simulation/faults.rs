//! Faults (a nemesis): what goes wrong, when, and for how long, as the seed has it.

use crate::chance::Chance;
use crate::network::Presence;
use crate::world::World;
use conclave_service::Command;
use conclave_service::desk::{MemberChange, Replicated};
use tokio::sync::oneshot;

/// Which kinds of faults there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faults {
    /// Of nodes, disks, ways and clients.
    All,
    /// Clients die, and the leader changes now and then; nothing else.
    Deaths,
    /// The leader stands still for a moment, and whoever is inside reaches nobody after that.
    Stalls,
}

/// What goes wrong in one run.
pub struct Nemesis {
    kinds: Faults,
    chance: Chance,
    next: u64,
    /// When a way is whole again, or a client goes on.
    ends: Vec<(u64, End)>,
}

#[derive(Clone, Copy)]
enum End {
    Ways,
    Doors,
    Pause(usize),
    /// Whoever is inside reaches no node from now on.
    Inside,
}

impl Faults {
    pub fn begin(self, seed: u64) -> Nemesis {
        // The cluster has to be founded first.
        Nemesis { kinds: self, chance: Chance::new(seed, 3), next: 2_500, ends: Vec::new() }
    }
}

impl Nemesis {
    /// Lets something go wrong, if it is time for that.
    pub fn step(&mut self, world: &mut World) {
        let now = world.now;
        let due: Vec<End> =
            self.ends.iter().filter(|(then, _)| *then <= now).map(|(_, end)| *end).collect();
        self.ends.retain(|(then, _)| *then > now);
        due.into_iter().for_each(|end| finish(end, world));
        if now < self.next {
            return;
        }
        self.next = now + self.chance.between(100, 1_500);
        match self.kinds {
            Faults::All => self.strike(world),
            Faults::Deaths if self.chance.happens(700) => self.kill_client(world),
            Faults::Deaths => self.transfer(world),
            Faults::Stalls => self.stall(world),
        }
    }

    /// Too short for an election. By then keepalives wait at the leader to be read.
    fn stall(&mut self, world: &mut World) {
        let Some(leader) = world.nodes.iter().position(|node| node.leads()) else { return };
        let then = world.now + self.chance.between(300, 450);
        world.nodes[leader].pause_until(then);
        self.ends.push((then + self.chance.between(80, 200), End::Inside));
        self.ends.push((then + 4_000, End::Doors));
        self.next = then + 4_200;
    }

    fn strike(&mut self, world: &mut World) {
        match self.chance.below(13) {
            0 | 1 => self.crash(world),
            2 => self.torn(world),
            3 => self.pause(world),
            4 | 5 => self.isolate(world),
            6 => self.cut_one_way(world),
            7 => self.disk(world),
            8 => self.transfer(world),
            9 => self.kill_client(world),
            10 | 11 => self.client(world),
            _ => self.reset(world),
        }
    }

    /// The leader, more often than not.
    fn victim(&mut self, world: &World) -> usize {
        let leader = world.nodes.iter().position(|node| node.leads());
        match leader.filter(|_| self.chance.happens(500)) {
            Some(leader) => leader,
            None => self.chance.below(world.nodes.len()),
        }
    }

    fn crash(&mut self, world: &mut World) {
        let node = self.victim(world);
        let presence = match self.chance.happens(700) {
            true => Presence::Refuses,
            false => Presence::Silent,
        };
        let longest = if self.chance.happens(250) { 8_000 } else { 2_500 };
        let back_after = self.chance.between(50, longest);
        if world.nodes[node].is_up() {
            world.crash(node, presence, back_after);
        }
    }

    /// It crashes while it writes.
    fn torn(&mut self, world: &mut World) {
        let node = self.victim(world);
        world.nodes[node].die_at_next_sync();
    }

    fn pause(&mut self, world: &mut World) {
        let node = self.victim(world);
        let long = self.chance.between(50, 2_500);
        world.nodes[node].pause_until(world.now + long);
    }

    fn isolate(&mut self, world: &mut World) {
        let node = self.victim(world);
        let mut network = world.network.lock();
        for other in (0..world.nodes.len()).filter(|other| *other != node) {
            network.cut(node, other);
            network.cut(other, node);
        }
        drop(network);
        self.ends.push((world.now + self.chance.between(300, 4_000), End::Ways));
    }

    fn cut_one_way(&mut self, world: &mut World) {
        let from = self.victim(world);
        let to = (from + 1 + self.chance.below(world.nodes.len() - 1)) % world.nodes.len();
        world.network.lock().cut(from, to);
        self.ends.push((world.now + self.chance.between(300, 4_000), End::Ways));
    }

    fn disk(&mut self, world: &mut World) {
        let node = self.victim(world);
        match self.chance.happens(800) {
            true => {
                let long = self.chance.between(50, 1_500);
                world.nodes[node].stall(world.now, long);
            }
            false => world.nodes[node].fill_disk(),
        }
    }

    /// Another node is to lead.
    fn transfer(&mut self, world: &mut World) {
        let node = self.chance.below(world.nodes.len());
        let to = Some(self.chance.below(world.nodes.len()) as u32 + 1);
        let Some(door) = world.doors.lock().nodes[node].clone() else { return };
        let (reply, _) = oneshot::channel();
        let change = MemberChange::Transfer(to);
        let _ = door.try_send(Command::Replicated(Replicated::Members { change, reply }));
    }

    fn kill_client(&mut self, world: &mut World) {
        let client = self.chance.below(world.people.len());
        world.people[client].doom.notify_waiters();
    }

    /// A client stands still, or cannot reach some nodes.
    fn client(&mut self, world: &mut World) {
        let client = self.chance.below(world.people.len());
        let then = world.now + self.chance.between(200, 4_000);
        if self.chance.happens(500) {
            world.people[client].pause(true);
            self.ends.push((then, End::Pause(client)));
            return;
        }
        let mut doors = world.doors.lock();
        let likely = if self.chance.happens(500) { 1_000 } else { 600 };
        for node in 0..world.nodes.len() {
            if self.chance.happens(likely) {
                doors.cut.insert((client, node));
            }
        }
        self.ends.push((then, End::Doors));
    }

    fn reset(&mut self, world: &mut World) {
        let one = self.victim(world);
        let other = (one + 1 + self.chance.below(world.nodes.len() - 1)) % world.nodes.len();
        world.network.lock().reset_between(one, other);
    }

    /// All goes well from now on.
    pub fn heal(self, world: &mut World) {
        finish(End::Ways, world);
        finish(End::Doors, world);
        (0..world.people.len()).for_each(|client| finish(End::Pause(client), world));
        for node in 0..world.nodes.len() {
            world.nodes[node].pause_until(0);
            if !world.nodes[node].is_up() {
                world.start(node);
            }
        }
    }
}

fn finish(end: End, world: &mut World) {
    match end {
        End::Ways => world.network.lock().heal(),
        End::Doors => world.doors.lock().cut.clear(),
        End::Pause(client) => world.people[client].pause(false),
        End::Inside => {
            let inside = world.recording.lock().inside();
            let ways = |client| (0..world.nodes.len()).map(move |node| (client, node));
            world.doors.lock().cut.extend(inside.into_iter().flat_map(ways));
        }
    }
}
