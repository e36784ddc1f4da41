//! A random walk, and beside it the same walk among normal states; and all of these, counted.

use super::world::{Faults, Move, World};
use conclave_algorithms::catalog::{Cluster, Visitor};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{Normal, Oracle, Process};
use std::collections::BTreeSet;

/// Only mutual exclusion is looked at here.
macro_rules! others {
    () => {
        fn election<P>(self, _: Cluster<P>) -> Self::Output
        where
            P: Process<Provides = Election, Uses: Oracle>,
        {
            unreachable!("this is an election")
        }

        fn detector<P>(self, _: Cluster<P>) -> Self::Output
        where
            P: Process<Provides = Detector, Uses: Oracle>,
        {
            unreachable!("this is a detector")
        }

        fn clock<P>(self, _: Cluster<P>) -> Self::Output
        where
            P: Process<Provides = Timekeeping, Uses: Oracle>,
        {
            unreachable!("this is a clock")
        }
    };
}
pub(crate) use others;

/// Walks so many steps.
pub struct Walk {
    pub name: String,
    pub steps: usize,
    pub seed: u64,
    pub faults: Faults,
}

/// Counts all normal states that can be reached without faults, up to so many.
pub struct Count {
    pub most: usize,
}

impl Visitor for Walk {
    type Output = ();

    fn mutex<P>(self, cluster: Cluster<P>)
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        let normal = cluster.normal.unwrap_or_else(|| panic!("{} has no normal form", self.name));
        let mut random = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut raw = World::new(&cluster);
        let mut kept = normalised(&raw, normal);
        for step in 0..self.steps {
            let moves = raw.moves(self.faults);
            if moves.is_empty() {
                break; // All wait for what was lost.
            }
            let happens = moves[(next(&mut random) % moves.len() as u64) as usize];
            let luck = next(&mut random);
            let before = raw.clone();
            raw.apply(happens, luck);
            let after = normalised(&raw, normal);
            assert!(normalised(&after, normal) == after, "{} {step}: not idempotent", self.name);
            kept = corresponding(&before, &kept, happens)
                .into_iter()
                .map(|happens| {
                    let mut kept = kept.clone();
                    if let Some(happens) = happens {
                        kept.apply(happens, luck);
                    }
                    normalised(&kept, normal)
                })
                .find(|kept| *kept == after)
                .unwrap_or_else(|| {
                    panic!("{} {step}: {happens:?}\n{before:#?}\n{kept:#?}\n{after:#?}", self.name)
                });
        }
    }

    others!();
}

impl Visitor for Count {
    type Output = usize;

    fn mutex<P>(self, cluster: Cluster<P>) -> usize
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        let normal = cluster.normal.expect("only these are counted");
        let mut frontier = vec![normalised(&World::new(&cluster), normal)];
        let mut seen = BTreeSet::new();
        while let Some(world) = frontier.pop().filter(|_| seen.len() <= self.most) {
            for happens in world.moves(Faults::default()) {
                let mut world = world.clone();
                world.apply(happens, 0);
                normal(&mut world.snapshot);
                if seen.insert(world.hash()) {
                    frontier.push(world);
                }
            }
        }
        seen.len()
    }

    others!();
}

fn normalised<P: Process>(world: &World<P>, normal: Normal<P>) -> World<P> {
    let mut world = world.clone();
    normal(&mut world.snapshot);
    world
}

/// What corresponds to a move in a normal state. Where messages were forgotten, it is not known
/// which, so the one that arrives or is lost may be any that the link still has, or none at all.
fn corresponding<P: Process>(raw: &World<P>, kept: &World<P>, happens: Move) -> Vec<Option<Move>> {
    let (link, place) = match happens {
        Move::Deliver { link, place, .. } | Move::Lose { link, place } => (link, place),
        Move::Ask(..) | Move::Fire(..) | Move::Restart(_) | Move::Doubt { .. } => {
            return vec![Some(happens)];
        }
    };
    let (raw, kept) = (raw.snapshot.links[link].2.len(), kept.snapshot.links[link].2.len());
    let forgotten = raw - kept;
    let places = place.saturating_sub(forgotten)..kept.min(place + 1);
    let elsewhere = places.map(|place| match happens {
        Move::Deliver { link, copy, .. } => Some(Move::Deliver { link, place, copy }),
        Move::Lose { link, .. } => Some(Move::Lose { link, place }),
        Move::Ask(..) | Move::Fire(..) | Move::Restart(_) | Move::Doubt { .. } => Some(happens),
    });
    elsewhere.chain((forgotten > 0).then_some(None)).collect()
}

/// The next number of a xorshift generator.
pub fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
