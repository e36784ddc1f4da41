//! The replicated engine on five hosts: what is held stays held, whichever node is lost.

use crate::cluster::{Cluster, N, wait_for};
use crate::on_hosts;
use crate::resource::within;
use conclave_client::api::{Code, NewValue};
use conclave_client::{Client, Guard};
use std::time::Duration;

const REPLICATED: [&str; 2] = ["--engine", "replicated"];
const PATIENCE: Duration = Duration::from_secs(60);

fn take(client: &Client, name: &str) -> Guard {
    client.lock(name, &within(PATIENCE)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Whether the node says that this is held, as of now.
fn holds(cluster: &Cluster<'_>, node: u32, guard: &Guard) -> bool {
    let seen = cluster.client(node).verify(guard.name(), guard.fence());
    seen.is_ok_and(|seen| seen.valid)
}

fn all() -> Vec<u32> {
    (1..=N).collect()
}

fn others(node: u32) -> Vec<u32> {
    (1..=N).filter(|other| *other != node).collect()
}

#[test]
fn a_lock_outlives_every_node_in_turn() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &REPLICATED);
        let client = cluster.clients_from(1);
        let guard = take(&client, "build");
        for node in 1..=N {
            cluster.kill(node);
            let left = others(node);
            cluster.agreed(&left, Some(node));
            let asked = left[0];
            wait_for("it is held as before", || holds(&cluster, asked, &guard));
            assert_eq!(guard.lost(), None, "node {node} was killed");
            cluster.launch(node);
            cluster.agreed(&all(), None);
        }
        let fence = guard.fence();
        guard.release().expect("it is still held");
        assert!(take(&client, "build").fence() > fence);
    });
}

#[test]
fn a_leader_that_is_told_to_stop_or_killed_is_replaced_and_nothing_is_lost() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &REPLICATED);
        let client = cluster.clients_from(1);
        let mut latest = 0;
        for round in 0..4 {
            let guard = take(&client, "build");
            let fence = guard.fence();
            assert!(fence > latest, "{fence} after {latest}");
            latest = fence;
            let value = NewValue { value: round.into(), fence, ..NewValue::default() };
            client.set_value("build", &value).expect("a majority is there");
            let leader = cluster.agreed(&all(), None);
            match round % 2 {
                0 => cluster.stop(leader),
                _ => cluster.kill(leader),
            }
            cluster.agreed(&others(leader), Some(leader));
            let mut found = None;
            wait_for("the value is read", || {
                found = client.value("build").ok();
                found.is_some()
            });
            assert_eq!(found.map(|found| found.value), Some(round.into()));
            assert_eq!(guard.lost(), None);
            guard.release().expect("it is still held");
            cluster.launch(leader);
        }
    });
}

#[test]
fn a_leader_that_is_cut_off_grants_nothing_and_the_others_go_on() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &REPLICATED);
        let leader = cluster.agreed(&all(), None);
        let held = take(&cluster.clients_from(leader), "held");
        let rest = others(leader);
        rest.iter().for_each(|other| lan.cut(leader, *other));
        let next = cluster.agreed(&rest, Some(leader));
        assert_ne!(next, leader);
        let alone = cluster.client(leader);
        let refused = alone.verify("held", held.fence());
        assert!(refused.as_ref().is_err_and(|error| error.says(Code::NoLeader)), "{refused:?}");
        let beyond = take(&cluster.clients_from(rest[0]), "beyond");
        assert!(beyond.fence() > held.fence());
        wait_for("it is held as before", || holds(&cluster, rest[0], &held));
        rest.iter().for_each(|other| lan.heal(leader, *other));
        cluster.agreed(&all(), None);
        wait_for("the old leader has caught up", || holds(&cluster, leader, &beyond));
        assert_eq!(held.lost(), None, "its client found the others");
        held.release().expect("it is still held");
    });
}

#[test]
fn a_node_whose_disk_was_lost_does_not_come_back_under_its_old_name() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &REPLICATED);
        take(&cluster.clients_from(1), "build").release().expect("held");
        let leader = cluster.agreed(&all(), None);
        let victim = leader % N + 1;
        cluster.kill_and_wipe(victim);
        cluster.launch(victim);
        wait_for("it says what to do", || cluster.log(victim).contains("conclave cluster add"));
        assert!(!cluster.client(victim).is_ready());
        take(&cluster.clients_from(leader), "build").release().expect("held");
    });
}
