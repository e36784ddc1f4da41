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
    /// Keepalives come through again when a lease is about to end, and commits take long then.
    LastMoments,
    /// All of the first kind, and one node after the other is replaced.
    Members,
    /// Clients are few and come seldom, and whoever is let in reaches nobody after that.
    Idle,
}

/// Who uses the service.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    pub clients: usize,
    /// How long a client rests between two sessions, at most, in milliseconds.
    pub rest_max: u64,
    /// How many of a thousand stays are long ones.
    pub long_stays: u64,
}

/// What goes wrong in one run.
pub struct Nemesis {
    kinds: Faults,
    chance: Chance,
    next: u64,
    /// What happens when: a way is whole again, or a client goes on.
    later: Vec<(u64, Later)>,
}

#[derive(Clone, Copy)]
enum Later {
    /// All nodes reach each other again.
    Ways,
    /// All clients reach all nodes again.
    Doors,
    /// This one does.
    DoorsOf(usize),
    /// This client goes on.
    Resumed(usize),
    /// This client reaches no node from now on.
    Strand(usize),
    /// Whoever is inside does not.
    StrandHolders,
    /// The disks of all nodes stand still for so long.
    Disks(u64),
}

impl Faults {
    /// Who uses the service in a run. In some there is little traffic.
    pub fn crowd(self, seed: u64) -> Crowd {
        match self {
            Faults::Idle => Crowd { clients: 2, rest_max: 3_000, long_stays: 1_000 },
            Faults::All if seed.is_multiple_of(4) => {
                Crowd { clients: 2, rest_max: 2_000, long_stays: 500 }
            }
            Faults::Stalls | Faults::LastMoments => {
                Crowd { clients: 5, rest_max: 400, long_stays: 700 }
            }
            Faults::All | Faults::Deaths | Faults::Members => {
                Crowd { clients: 5, rest_max: 400, long_stays: 250 }
            }
        }
    }

    /// Seeds that found something once, and are tried ever since.
    pub fn found_something(self) -> &'static [u64] {
        match self {
            // A link to the disk that a node had before; the removal of that disk, met in the log.
            Faults::Members => &[50, 59],
            Faults::All | Faults::Deaths | Faults::Stalls | Faults::LastMoments | Faults::Idle => {
                &[]
            }
        }
    }

    pub fn begin(self, seed: u64) -> Nemesis {
        // The cluster has to be founded first.
        Nemesis { kinds: self, chance: Chance::new(seed, 3), next: 2_500, later: Vec::new() }
    }
}

impl Nemesis {
    /// Lets something go wrong, if it is time for that.
    pub fn step(&mut self, world: &mut World) {
        let now = world.now;
        let due: Vec<Later> =
            self.later.iter().filter(|(then, _)| *then <= now).map(|(_, what)| *what).collect();
        self.later.retain(|(then, _)| *then > now);
        due.into_iter().for_each(|what| happen(what, world));
        if self.kinds == Faults::Idle {
            return self.strand_who_enters(world);
        }
        if now < self.next {
            return;
        }
        self.next = now + self.chance.between(100, 1_500);
        match self.kinds {
            Faults::All | Faults::Members => self.strike(world),
            Faults::Deaths if self.chance.happens(700) => self.kill_client(world),
            Faults::Deaths => self.transfer(world),
            Faults::Stalls => self.stall(world),
            Faults::LastMoments => self.next = self.last_moment(world).unwrap_or(now) + 200,
            Faults::Idle => {}
        }
    }

    /// Too short for an election. By then keepalives wait at the leader to be read.
    fn stall(&mut self, world: &mut World) {
        let Some(leader) = world.nodes.iter().position(|node| node.leads()) else { return };
        let then = world.now + self.chance.between(300, 450);
        world.nodes[leader].pause_until(then);
        self.later.push((then + self.chance.between(80, 200), Later::StrandHolders));
        self.later.push((then + 4_000, Later::Doors));
        self.next = then + 4_200;
    }

    /// A client reaches nobody but for a moment, when its lease is about to end. What it sends then
    /// is still on its way into the log, for the disks stand still, when by the leader's table the
    /// lease has ended: the expiry comes behind the keepalive. Says when that is over.
    fn last_moment(&mut self, world: &mut World) -> Option<u64> {
        let (client, renewed, ttl_ms) = self.holder(world)?;
        let ends = renewed + ttl_ms;
        // Its own deadline, at which it would end its session.
        let shut = ends - ttl_ms / 50 - 190;
        let open = shut - self.chance.between(60, 300);
        let still = shut - self.chance.between(0, 200);
        world.strand(client);
        self.later.push((open, Later::DoorsOf(client)));
        self.later.push((shut, Later::Strand(client)));
        self.later.push((still, Later::Disks(ends + self.chance.between(80, 250) - still)));
        self.later.push((ends + 800, Later::DoorsOf(client)));
        Some(ends + 800)
    }

    /// One who is inside, when it was last told that it may stay, and its time to live.
    fn holder(&mut self, world: &World) -> Option<(usize, u64, u64)> {
        let history = world.recording.lock();
        let inside: Vec<usize> = history.inside().into_iter().collect();
        let client = *inside.get(self.chance.below(inside.len().max(1)))?;
        let (renewed, ttl_ms) = history.lease(client)?;
        Some((client, renewed, ttl_ms))
    }

    /// Its session has just been opened, and is not renewed any more.
    fn strand_who_enters(&mut self, world: &mut World) {
        let entering = world.recording.lock().entering();
        for client in entering {
            if self.chance.happens(700) {
                world.strand(client);
                self.later.push((world.now + 4_000, Later::DoorsOf(client)));
            }
        }
    }

    fn strike(&mut self, world: &mut World) {
        match self.chance.below(16) {
            0 | 1 => self.crash(world),
            2 => self.torn(world),
            3 => self.pause(world),
            4 | 5 => self.isolate(world),
            6 => self.cut_one_way(world),
            7 => self.disk(world),
            8 => self.transfer(world),
            9 => self.kill_client(world),
            10 | 11 => self.client(world),
            12 => drop(self.last_moment(world)),
            13 => happen(Later::Disks(self.chance.between(50, 600)), world),
            14 => self.strand(world),
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
        self.later.push((world.now + self.chance.between(300, 4_000), Later::Ways));
    }

    fn cut_one_way(&mut self, world: &mut World) {
        let from = self.victim(world);
        let to = (from + 1 + self.chance.below(world.nodes.len() - 1)) % world.nodes.len();
        world.network.lock().cut(from, to);
        self.later.push((world.now + self.chance.between(300, 4_000), Later::Ways));
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
            self.later.push((then, Later::Resumed(client)));
            return;
        }
        let mut doors = world.doors.lock();
        let likely = if self.chance.happens(500) { 1_000 } else { 600 };
        for node in 0..world.nodes.len() {
            if self.chance.happens(likely) {
                doors.cut.insert((client, node));
            }
        }
        self.later.push((then, Later::Doors));
    }

    /// Whoever is inside reaches nobody for a while.
    fn strand(&mut self, world: &mut World) {
        happen(Later::StrandHolders, world);
        self.later.push((world.now + self.chance.between(500, 4_000), Later::Doors));
    }

    fn reset(&mut self, world: &mut World) {
        let one = self.victim(world);
        let other = (one + 1 + self.chance.below(world.nodes.len() - 1)) % world.nodes.len();
        world.network.lock().reset_between(one, other);
    }

    /// All goes well from now on.
    pub fn heal(self, world: &mut World) {
        happen(Later::Ways, world);
        happen(Later::Doors, world);
        (0..world.people.len()).for_each(|client| happen(Later::Resumed(client), world));
        for node in 0..world.nodes.len() {
            world.nodes[node].pause_until(0);
            if !world.nodes[node].is_up() {
                world.start(node);
            }
        }
    }
}

fn happen(what: Later, world: &mut World) {
    match what {
        Later::Ways => world.network.lock().heal(),
        Later::Doors => world.doors.lock().cut.clear(),
        Later::DoorsOf(client) => world.doors.lock().cut.retain(|(of, _)| *of != client),
        Later::Resumed(client) => world.people[client].pause(false),
        Later::Strand(client) => world.strand(client),
        Later::StrandHolders => {
            let inside = world.recording.lock().inside();
            inside.into_iter().for_each(|client| world.strand(client));
        }
        Later::Disks(long) => {
            let now = world.now;
            world.nodes.iter_mut().for_each(|node| node.stall(now, long));
        }
    }
}
