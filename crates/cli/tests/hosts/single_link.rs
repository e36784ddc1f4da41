//! One cable is cut, between the leader and another node. All others hold.

use crate::cluster::{Cluster, N, wait_for};
use crate::on_hosts;
use crate::resource::{Resource, session};

const NAME: &str = "build";
/// Time enough for a busy machine: no node should miss the leader because it was not let run.
const PATIENT: [&str; 4] = ["--set", "timeout=3s", "--set", "lease=12s"];

/// How many messages of this kind the election of a node has sent.
fn sent(cluster: &Cluster<'_>, node: u32, kind: &str) -> u64 {
    let url = format!("{}/metrics", cluster.client(node).server());
    let mut page = ureq::get(&url).call().expect("it answers");
    let page = page.body_mut().read_to_string().expect("a text");
    let line = format!("conclave_messages_sent_total{{machine=\"election\",kind=\"{kind}\"}} ");
    let count = page.lines().find_map(|one| one.strip_prefix(&line));
    count.map_or(0, |count| count.parse().expect("a number"))
}

/// The leader, the first other node, and the term.
fn leader_and_outsider(cluster: &Cluster<'_>) -> (u32, u32, u64) {
    let leader = cluster.agreed(&(1..=N).collect::<Vec<_>>(), None);
    let outsider = if leader == 1 { 2 } else { 1 };
    (leader, outsider, cluster.seen_by(leader).term)
}

fn stood(cluster: &Cluster<'_>) -> Vec<u64> {
    (1..=N).map(|node| sent(cluster, node, "REQUEST_VOTE")).collect()
}

fn assert_led(cluster: &Cluster<'_>, node: u32, leader: u32, term: u64) {
    let seen = cluster.seen_by(node);
    assert_eq!((seen.leader, seen.term), (Some(leader), term), "node {node}");
}

/// A node that does not hear the leader asks again and again. Meanwhile all others get the lock,
/// under the same leader in the same term; gives these three.
fn asks_in_vain(
    cluster: &Cluster<'_>,
    resource: &Resource,
    cut: impl FnOnce(u32, u32),
) -> (u32, u32, u64) {
    let (leader, outsider, term) = leader_and_outsider(cluster);
    let (before, asked) = (stood(cluster), sent(cluster, outsider, "REQUEST_PREVOTE"));
    cut(leader, outsider);
    let others: Vec<u32> = (1..=N).filter(|node| *node != outsider).collect();
    for times in 1..=3 {
        wait_for("the node that is cut off asks again", || {
            sent(cluster, outsider, "REQUEST_PREVOTE") >= asked + times * u64::from(N - 1)
        });
        for node in &others {
            resource.use_once(&session(cluster, *node), *node, NAME);
        }
    }
    others.iter().for_each(|node| assert_led(cluster, *node, leader, term));
    assert_eq!(stood(cluster), before, "nobody stood for election");
    (leader, outsider, term)
}

#[test]
fn a_node_that_does_not_hear_the_leader_asks_the_others_and_deposes_nobody() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &PATIENT);
        let resource = Resource::default();
        let cut = |leader, outsider| lan.cut(leader, outsider);
        let (leader, outsider, term) = asks_in_vain(&cluster, &resource, cut);
        lan.heal(leader, outsider);
        resource.use_once(&session(&cluster, outsider), outsider, NAME);
        assert_led(&cluster, outsider, leader, term);
    });
}

#[test]
fn nor_does_one_that_the_leader_hears_all_along() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &PATIENT);
        let mute = |leader, outsider| lan.mute(leader, outsider, 7100);
        asks_in_vain(&cluster, &Resource::default(), mute);
    });
}

/// The control: the same cut, and nobody is asked first.
#[test]
fn without_asking_it_deposes_one_leader_after_the_other() {
    on_hosts(N, |lan| {
        let cluster = Cluster::start(lan, &[&PATIENT[..], &["--set", "prevote=off"]].concat());
        let (leader, outsider, term) = leader_and_outsider(&cluster);
        lan.cut(leader, outsider);
        let witness = if outsider == 2 { 3 } else { 2 };
        wait_for("the term rises and rises", || cluster.seen_by(witness).term >= term + 3);
        assert_eq!(sent(&cluster, outsider, "REQUEST_PREVOTE"), 0);
    });
}
