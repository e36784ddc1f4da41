//! An engine that knows no crashes: it waits for whoever is away, and loses nothing.

use crate::cluster::{Cluster, N, wait_for};
use crate::on_hosts;
use crate::resource::{Resource, session, take};
use conclave_client::api;
use std::thread;

const ENGINE: [&str; 2] = ["--engine", "ricart-agrawala"];
const NAME: &str = "build";

/// What the lock waits for at this node, if it waits for anybody that is away.
fn blocked_at(cluster: &Cluster<'_>, node: u32) -> Option<api::Blocked> {
    cluster.client(node).lock_state(NAME).ok()?.blocked_on
}

#[test]
fn a_killed_node_is_waited_for_by_name_and_comes_back_as_a_slow_one() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &ENGINE);
        let resource = Resource::default();
        for node in 1..=N {
            resource.use_once(&session(&cluster, node), node, NAME);
        }
        cluster.kill(3);
        thread::scope(|scope| {
            let (lease, resource) = (session(&cluster, 1), &resource);
            let waiter = scope.spawn(move || resource.use_once(&lease, 1, NAME));
            wait_for("node 1 says that it waits for node 3", || {
                blocked_at(&cluster, 1).is_some_and(|blocked| {
                    assert!(blocked.message.starts_with("blocked on node 3, down "), "{blocked:?}");
                    blocked.nodes == [3]
                })
            });
            cluster.launch(3);
            waiter.join().expect("it gets in");
        });
        resource.use_once(&session(&cluster, 3), 3, NAME);
        assert_eq!(resource.entries(), N as usize + 2);
    });
}

#[test]
fn what_a_killed_node_holds_stays_held_until_it_is_back() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &ENGINE);
        let client = cluster.client(2);
        let session_at_2 = client.open_session(&api::NewSession::default()).expect("a session");
        let wanted = api::Acquire {
            session: session_at_2.session.clone(),
            wait_ms: Some(60_000),
            ..api::Acquire::default()
        };
        let held = client.acquire(NAME, &wanted).expect("it is free");
        cluster.kill(2);
        thread::scope(|scope| {
            let lease = session(&cluster, 1);
            let waiter = scope.spawn(move || take(&lease, 1, NAME).fence());
            wait_for("node 1 waits for node 2", || {
                blocked_at(&cluster, 1).is_some_and(|blocked| blocked.nodes == [2])
            });
            cluster.launch(2);
            wait_for("node 2 is back", || cluster.client(2).is_ready());
            let verified = client.verify(NAME, held.fence).expect("an answer");
            assert!(verified.valid, "it still holds what it held");
            let release = api::Release {
                session: session_at_2.session.clone(),
                fence: held.fence,
                ..api::Release::default()
            };
            client.release(NAME, &release).expect("it can be given back");
            assert!(waiter.join().expect("it gets in") > held.fence);
        });
    });
}

#[test]
fn a_node_without_its_disk_is_refused() {
    on_hosts(N, |lan| {
        let mut cluster = Cluster::start(lan, &ENGINE);
        let resource = Resource::default();
        resource.use_once(&session(&cluster, 4), 4, NAME);
        cluster.kill_and_wipe(4);
        cluster.launch(4);
        assert_eq!(cluster.ends(4), Some(1), "{}", cluster.log(4));
        let log = cluster.log(4);
        let last = log.lines().last().unwrap_or_default();
        // It calls on another, which refuses it; or another calls first, and it finds out itself.
        if last.starts_with("error: the data directory is an old copy: node ") {
            return;
        }
        assert!(last.starts_with("error: node "), "{last}");
        assert!(last.contains("lost its disk, or is a second node of the same name"), "{last}");
        let refused = |node: &u32| cluster.log(*node).contains("another node 4 was met before");
        wait_for("the others say so too", || [1, 2, 3, 5].iter().any(refused));
    });
}

#[test]
fn cables_that_are_cut_and_healed_lose_and_repeat_nothing() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &ENGINE);
        let (resource, rounds) = (Resource::default(), 10);
        thread::scope(|scope| {
            for node in 1..=N {
                let (cluster, resource) = (&cluster, &resource);
                scope.spawn(move || {
                    let lease = session(cluster, node);
                    for _ in 0..rounds {
                        resource.use_once(&lease, node, NAME);
                    }
                });
            }
            wait_for("some have entered", || resource.entries() >= 10);
            lan.cut(1, 2);
            lan.cut(3, 4);
            wait_for("all wait for each other", || blocked_at(&cluster, 1).is_some());
            let before = resource.entries();
            lan.heal(1, 2);
            lan.heal(3, 4);
            wait_for("it goes on", || resource.entries() > before);
        });
        assert_eq!(resource.entries(), N as usize * rounds);
    });
}
