//! What can befall a node, its cables and its disk; each fault ends before the next begins.

use super::chance::Chance;
use crate::cluster::{Cluster, N, wait_for};
use crate::disk::Disk;
use crate::lan::Lan;
use std::thread;
use std::time::Duration;

/// How long a fault lasts, in milliseconds, at most.
const LASTS_MAX: u64 = 6_000;
/// What a node does to others, and others to it.
const FAULTS: [&str; 10] = [
    "kill",
    "stop",
    "stop the leader",
    "freeze",
    "cut a cable",
    "isolate",
    "kill the leader",
    "flap",
    "deafen",
    "mute",
];
/// The same for its disk.
const FAULTS_OF_DISKS: [&str; 4] =
    ["freeze a disk", "freeze the leader's disk", "fill a disk", "fill the leader's disk"];

/// A cluster with all that can go wrong.
pub struct World<'a, 'b> {
    /// The nodes.
    pub cluster: &'a mut Cluster<'b>,
    /// Their cables.
    pub lan: &'a Lan,
    /// Their disks, if these can be harmed.
    pub disks: &'a [Disk],
}

impl World<'_, '_> {
    /// One fault, and its end; gives its name.
    pub fn inflict(&mut self, chance: &mut Chance) -> &'static str {
        let of_disks = if self.disks.is_empty() { &[][..] } else { &FAULTS_OF_DISKS };
        let drawn = chance.below((FAULTS.len() + of_disks.len()) as u64) as usize;
        let fault = *FAULTS.iter().chain(of_disks).nth(drawn).expect("below their number");
        let node = if fault.contains("leader") { self.leader() } else { chance.node() };
        let lasts = Duration::from_millis(chance.below(LASTS_MAX));
        match fault {
            "kill" => {
                self.cluster.kill(node);
                thread::sleep(lasts / 4);
                self.cluster.launch(node);
            }
            "stop" | "stop the leader" => self.cluster.restart(node),
            "kill the leader" => {
                self.cluster.kill(node);
                self.cluster.launch(node);
            }
            "freeze" => {
                self.cluster.freeze(node);
                thread::sleep(lasts);
                self.cluster.thaw(node);
            }
            "freeze a disk" | "freeze the leader's disk" => {
                let _frozen = self.disk(node).freeze();
                thread::sleep(lasts);
            }
            "fill a disk" | "fill the leader's disk" => self.fill_disk(node),
            "flap" => self.flap(node, chance),
            _ => self.cut(fault, node, lasts, chance),
        }
        fault
    }

    fn leader(&self) -> u32 {
        self.cluster.agreed(&(1..=N).collect::<Vec<_>>(), None)
    }

    fn disk(&self, node: u32) -> &Disk {
        &self.disks[node as usize - 1]
    }

    /// Ways to be cut off, in both directions or in one, from one other node or from all.
    fn cut(&self, fault: &str, node: u32, lasts: Duration, chance: &mut Chance) {
        let lan = self.lan;
        let all: Vec<u32> = (1..=N).filter(|other| *other != node).collect();
        let one = vec![chance.other(node)];
        let others = match fault {
            "cut a cable" => one,
            "isolate" => all,
            _ => [one, all][chance.below(2) as usize].clone(),
        };
        for other in &others {
            match fault {
                "deafen" => lan.deafen(node, *other),
                "mute" => lan.deafen(*other, node),
                _ => lan.cut(node, *other),
            }
        }
        thread::sleep(lasts);
        for other in &others {
            match fault {
                "deafen" => lan.undeafen(node, *other),
                "mute" => lan.undeafen(*other, node),
                _ => lan.heal(node, *other),
            }
        }
    }

    /// A cable that comes and goes.
    fn flap(&self, node: u32, chance: &mut Chance) {
        let other = chance.other(node);
        for _ in 0..chance.below(10) {
            self.lan.cut(node, other);
            thread::sleep(Duration::from_millis(chance.below(400)));
            self.lan.heal(node, other);
            thread::sleep(Duration::from_millis(chance.below(400)));
        }
    }

    /// A disk without room ends its node, as soon as something has to be written to it.
    fn fill_disk(&mut self, node: u32) {
        self.disk(node).fill();
        wait_for(&format!("node {node} ends, its disk is full"), || {
            self.cluster.snapshot(node); // It may not serve yet.
            self.cluster.has_ended(node)
        });
        assert_eq!(self.cluster.ends(node), Some(1), "{}", self.cluster.log(node));
        let log = self.cluster.log(node);
        let last = log.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: ") && last.contains("No space left on device"), "{log}");
        self.disk(node).make_room();
        self.cluster.launch(node);
    }
}
