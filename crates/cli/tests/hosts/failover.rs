//! The engine that survives its coordinator: killed, stopped, and cut off.

use crate::cluster::{Cluster, N, wait_for};
use crate::on_hosts;
use crate::resource::{Resource, session, take, within};
use conclave_client::Loss;
use std::thread;
use std::time::Duration;

const NAME: &str = "build";

fn all() -> Vec<u32> {
    (1..=N).collect()
}

fn but(one: u32) -> Vec<u32> {
    (1..=N).filter(|node| *node != one).collect()
}

/// Waits until somebody at this node waits for the lock, and the node has asked for it.
fn wait_for_waiter(cluster: &Cluster<'_>, node: u32) {
    wait_for(&format!("somebody waits at node {node}"), || {
        let state = cluster.client(node).lock_state(NAME);
        state.is_ok_and(|lock| lock.state == "waiting" && lock.waiters.len() == 1)
    });
}

#[test]
fn who_waits_gets_in_when_the_leader_is_killed() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &[]);
        let leader = cluster.agreed(&all(), None);
        let [holds, waits] = [but(leader)[0], but(leader)[1]];
        let holder = take(&session(&cluster, holds), holds, NAME);
        let fence = thread::scope(|scope| {
            let lease = session(&cluster, waits);
            let waiter = scope.spawn(move || take(&lease, waits, NAME).fence());
            wait_for_waiter(&cluster, waits);
            cluster.kill(leader);
            let next = cluster.agreed(&but(leader), Some(leader));
            assert_eq!(holder.lost(), None, "node {next} leads now, and has asked the holder");
            let first = holder.fence();
            holder.release().expect("it is still held");
            let second = waiter.join().expect("it gets in");
            assert!(second > first, "{second} after {first}");
            second
        });
        // It comes back as one of many, and the lock goes on where it was.
        cluster.launch(leader);
        cluster.agreed(&all(), Some(leader));
        let again = take(&session(&cluster, leader), leader, NAME);
        assert!(again.fence() > fence, "{} after {fence}", again.fence());
    });
}

#[test]
fn what_the_killed_leader_held_is_free_when_its_lease_is_over() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &[]);
        let leader = cluster.agreed(&all(), None);
        let holder = take(&session(&cluster, leader), leader, NAME);
        cluster.kill(leader);
        let waits = but(leader)[0];
        let next = take(&session(&cluster, waits), waits, NAME);
        assert!(next.fence() > holder.fence());
    });
}

#[test]
fn a_leader_that_sleeps_and_wakes_up_lets_no_second_holder_in() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &[]);
        let leader = cluster.agreed(&all(), None);
        let [holds, waits, other] = [but(leader)[0], but(leader)[1], but(leader)[2]];
        let resource = Resource::default();
        let holder = take(&session(&cluster, holds), holds, NAME);
        resource.enter(holds, holder.fence());
        thread::scope(|scope| {
            let (lease, resource) = (session(&cluster, waits), &resource);
            let waiter = scope.spawn(move || resource.use_once(&lease, waits, NAME));
            wait_for_waiter(&cluster, waits);
            cluster.freeze(leader);
            cluster.agreed(&but(leader), Some(leader));
            // Whoever leads now has settled what the old one knew: it grants what is free.
            take(&session(&cluster, other), other, "other");
            cluster.thaw(leader);
            cluster.agreed(&all(), Some(leader));
            take(&session(&cluster, leader), leader, "other");
            assert_eq!(holder.lost(), None);
            let held = cluster.client(holds).verify(NAME, holder.fence());
            assert!(held.expect("an answer").valid, "the holder is still the holder");
            wait_for_waiter(&cluster, waits);
            resource.leave(holds);
            holder.release().expect("it was held all the time");
            waiter.join().expect("then the next one gets in");
        });
        assert_eq!(resource.entries(), 2);
    });
}

#[test]
fn a_leader_that_is_cut_off_grants_nothing_and_the_others_go_on() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &[]);
        let leader = cluster.agreed(&all(), None);
        let resource = Resource::default();
        let leases: Vec<_> = all().into_iter().map(|node| session(&cluster, node)).collect();
        let at = |node: u32| &leases[node as usize - 1];
        for node in all() {
            resource.use_once(at(node), node, NAME);
        }
        but(leader).into_iter().for_each(|node| lan.cut(leader, node));
        for node in but(leader) {
            resource.use_once(at(node), node, NAME);
        }
        let error = at(leader).acquire(NAME, &within(Duration::from_secs(2)));
        let error = error.expect_err("a minority grants nothing");
        let blocked = error.failure().and_then(|failure| failure.blocked_on.clone());
        let blocked = blocked.unwrap_or_else(|| panic!("it says what it waits for: {error:?}"));
        assert_eq!(blocked.nodes, but(leader), "{}", blocked.message);
        but(leader).into_iter().for_each(|node| lan.heal(leader, node));
        cluster.agreed(&all(), Some(leader));
        for node in all() {
            resource.use_once(at(node), node, NAME);
        }
    });
}

#[test]
fn a_holder_at_a_node_that_is_cut_off_is_told_that_it_is_lost() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &[]);
        let leader = cluster.agreed(&all(), None);
        let [holds, waits] = [but(leader)[0], but(leader)[1]];
        let holder = take(&session(&cluster, holds), holds, NAME);
        but(holds).into_iter().for_each(|node| lan.cut(holds, node));
        let lost = holder.watch().wait();
        assert!(matches!(lost, Some(Loss::Told(_))), "{lost:?}");
        let next = take(&session(&cluster, waits), waits, NAME);
        assert!(next.fence() > holder.fence());
        but(holds).into_iter().for_each(|node| lan.heal(holds, node));
        cluster.wait_for_links();
        drop(next);
        let again = take(&session(&cluster, holds), holds, NAME);
        assert_eq!(again.lost(), None);
    });
}

/// The leader takes its lock away, since it does not hear of it; and it hears the leader all along.
#[test]
fn a_holder_whose_node_is_not_heard_by_the_leader_is_out_before_another_is_let_in() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &[]);
        let leader = cluster.agreed(&all(), None);
        let [holds, waits] = [but(leader)[0], but(leader)[1]];
        let holder = take(&session(&cluster, holds), holds, NAME);
        lan.mute(holds, leader, 7100);
        let next = take(&session(&cluster, waits), waits, NAME);
        assert!(holder.lost().is_some(), "two are inside");
        assert!(next.fence() > holder.fence());
    });
}
