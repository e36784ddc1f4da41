//! Cables that carry in one direction only, or now and then: a leader that nobody hears, and one
//! that hears nobody.

use crate::cluster::{Cluster, N, wait_for};
use crate::lan::Lan;
use crate::on_hosts;
use crate::resource::within;
use conclave_client::Guard;
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// As often does a cable come and go, each time for so long.
const FLAPS: u32 = 6;
const FLAP: Duration = Duration::from_millis(150);

fn all() -> Vec<u32> {
    (1..=N).collect()
}

fn others(node: u32) -> Vec<u32> {
    (1..=N).filter(|other| *other != node).collect()
}

/// A cluster under which something is held from the beginning to the end.
struct Trial<'a> {
    cluster: Cluster<'a>,
    held: Guard,
    latest: u64,
}

impl<'a> Trial<'a> {
    fn start(lan: &'a Lan) -> Self {
        let cluster = Cluster::start(lan, &["--engine", "replicated"]);
        cluster.agreed(&all(), None);
        let held = cluster.clients_from(1).lock("held", &within(PATIENCE)).expect("it is free");
        let latest = held.fence();
        Self { cluster, held, latest }
    }

    /// Somebody is let in by this node, with a larger fence than ever; and nothing was lost.
    fn goes_on(&mut self, node: u32) {
        let next = self.cluster.clients_from(node).lock("next", &within(PATIENCE));
        let next = next.unwrap_or_else(|error| panic!("at node {node}: {error}"));
        assert!(next.fence() > self.latest, "{} after {}", next.fence(), self.latest);
        self.latest = next.fence();
        next.release().expect("it was held");
        assert_eq!(self.held.lost(), None, "its client is well");
    }

    /// All are in touch again, and each knows what is held.
    fn recovers(&mut self) {
        self.cluster.wait_for_links();
        self.cluster.agreed(&all(), None);
        for node in all() {
            let client = self.cluster.client(node);
            wait_for(&format!("node {node} has caught up"), || {
                client.verify("held", self.held.fence()).is_ok_and(|seen| seen.valid)
            });
            self.goes_on(node);
        }
    }
}

#[test]
fn a_leader_that_hears_nobody_or_that_nobody_hears_is_replaced() {
    on_hosts(N, |lan| {
        let mut trial = Trial::start(lan);
        for hears_nobody in [true, false] {
            let leader = trial.cluster.agreed(&all(), None);
            let rest = others(leader);
            let pair = |other: &u32| match hears_nobody {
                true => (leader, *other),
                false => (*other, leader),
            };
            let cuts: Vec<(u32, u32)> = rest.iter().map(pair).collect();
            cuts.iter().for_each(|(to, from)| lan.deafen(*to, *from));
            trial.cluster.agreed(&rest, Some(leader));
            trial.goes_on(rest[0]);
            cuts.iter().for_each(|(to, from)| lan.undeafen(*to, *from));
            trial.recovers();
        }
        // One cable of the leader that comes and goes disturbs nobody else.
        let leader = trial.cluster.agreed(&all(), None);
        let rest = others(leader);
        for _ in 0..FLAPS {
            lan.cut(leader, rest[0]);
            thread::sleep(FLAP);
            lan.heal(leader, rest[0]);
            trial.goes_on(rest[1]);
        }
        trial.recovers();
    });
}
