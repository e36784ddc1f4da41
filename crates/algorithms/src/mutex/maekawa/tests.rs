//! The rules one by one, then whole runs in unit time.

use super::*;
use crate::mutex::quorums::Quorums;
use conclave_core::Effect;
use conclave_core::testkit::{act, message, run, send};
use std::collections::VecDeque;

const ACQUIRE: Event<Maekawa> = Event::Request(Request::Acquire);
const RELEASE: Event<Maekawa> = Event::Request(Request::Release);
const CANCEL: Event<Maekawa> = Event::Request(Request::Cancel);
const GRANT: Body = Body::Grant { fence: 0 };

fn node(me: u32) -> Maekawa {
    with_rule(me, true)
}

fn with_rule(me: u32, sanders: bool) -> Maekawa {
    // Node 0 has {0, 1, 3}, node 3 has {3, 4, 6}.
    let quorums = Quorums::plane(7).expect("a plane is known");
    Maekawa::new(NodeId(me), 7, quorums.of(NodeId(me)).to_vec(), sanders)
}

/// What `node` does when `from` says this about its request of that time.
fn hears(node: &mut Maekawa, from: u32, request: u64, body: Body) -> Vec<Effect<Maekawa>> {
    run(node, message(from, Message { request, clock: request, body }))
}

/// The node is told something, and says this.
fn says(to: u32, request: u64, clock: u64, body: Body) -> Effect<Maekawa> {
    send(to, Message { request, clock, body })
}

fn entered(fence: u64) -> Effect<Maekawa> {
    Effect::Indicate(Indication::Entered { fence })
}

/// An arbiter that voted for (5, node 2), with (4, node 6) first in its queue.
fn busy_arbiter(sanders: bool) -> Maekawa {
    let mut arbiter = with_rule(0, sanders);
    assert_eq!(hears(&mut arbiter, 2, 5, Body::Request), [says(2, 5, 5, GRANT)]);
    assert_eq!(hears(&mut arbiter, 6, 4, Body::Request), [says(2, 5, 5, Body::Inquire)]);
    arbiter
}

#[test]
fn alone_it_enters_at_once() {
    let mut node = Maekawa::new(NodeId(0), 1, vec![NodeId(0)], true);
    assert_eq!(act(NodeId(0), &mut node, ACQUIRE), [entered(1)]);
    assert_eq!(act(NodeId(0), &mut node, RELEASE), []);
    assert_eq!(act(NodeId(0), &mut node, ACQUIRE), [entered(2)]);
}

#[test]
fn it_enters_with_the_votes_of_its_whole_quorum_and_the_largest_fence() {
    let mut node = node(0);
    let asked = act(NodeId(0), &mut node, ACQUIRE);
    assert_eq!(asked, [says(1, 1, 1, Body::Request), says(3, 1, 1, Body::Request)]);
    assert_eq!(hears(&mut node, 1, 1, Body::Grant { fence: 8 }), []);
    assert_eq!(hears(&mut node, 3, 1, Body::Grant { fence: 4 }), [entered(9)]);
    let released = Body::Release { fence: 9 };
    let left = act(NodeId(0), &mut node, RELEASE);
    assert_eq!(left, [says(1, 1, 1, released), says(3, 1, 1, released)]);
}

#[test]
fn an_arbiter_tells_whoever_is_not_first_that_it_failed() {
    let mut arbiter = busy_arbiter(true);
    assert_eq!(hears(&mut arbiter, 6, 9, Body::Request), [says(6, 9, 9, Body::Failed)], "later");
    let beats_only_the_vote = hears(&mut arbiter, 0, 5, Body::Request);
    assert_eq!(beats_only_the_vote, [says(0, 5, 9, Body::Failed)]);
}

#[test]
fn a_displaced_head_is_told_only_under_sanders_rule() {
    let better = |mut arbiter| hears(&mut arbiter, 0, 3, Body::Request);
    assert_eq!(better(busy_arbiter(true)), [says(6, 4, 5, Body::Failed)]);
    assert_eq!(better(busy_arbiter(false)), []);
}

#[test]
fn a_yielded_vote_goes_to_the_first_and_comes_back_in_turn() {
    let mut arbiter = busy_arbiter(true);
    assert_eq!(hears(&mut arbiter, 2, 5, Body::Yield), [says(6, 4, 5, GRANT)]);
    assert_eq!(hears(&mut arbiter, 2, 5, Body::Yield), [], "the vote is elsewhere by now");
    let after = hears(&mut arbiter, 6, 4, Body::Release { fence: 3 });
    assert_eq!(after, [says(2, 5, 5, Body::Grant { fence: 3 })]);
}

#[test]
fn a_withdrawn_request_leaves_the_queue() {
    let mut arbiter = busy_arbiter(true);
    assert_eq!(hears(&mut arbiter, 6, 4, Body::Release { fence: 0 }), []);
    assert_eq!(hears(&mut arbiter, 2, 5, Body::Yield), [says(2, 5, 5, GRANT)], "nobody else");
}

#[test]
fn a_request_that_comes_twice_changes_nothing() {
    let mut arbiter = busy_arbiter(true);
    let before = arbiter.clone();
    assert_eq!(hears(&mut arbiter, 2, 5, Body::Request), []);
    assert_eq!(hears(&mut arbiter, 6, 4, Body::Request), []);
    assert_eq!(arbiter, before);
}

#[test]
fn who_failed_somewhere_yields_and_who_did_not_waits_and_sees() {
    let mut node = node(0);
    run(&mut node, ACQUIRE);
    hears(&mut node, 1, 1, GRANT);
    assert_eq!(hears(&mut node, 1, 1, Body::Inquire), [], "it may be first everywhere");
    assert_eq!(hears(&mut node, 3, 1, Body::Failed), [says(1, 1, 1, Body::Yield)]);
    hears(&mut node, 1, 1, GRANT);
    assert_eq!(hears(&mut node, 1, 1, Body::Inquire), [says(1, 1, 1, Body::Yield)]);
    assert_eq!(hears(&mut node, 1, 1, Body::Inquire), [], "one vote is yielded once");
}

#[test]
fn who_is_inside_does_not_yield() {
    let mut node = node(0);
    run(&mut node, ACQUIRE);
    for arbiter in [0, 1, 3] {
        hears(&mut node, arbiter, 1, GRANT);
    }
    assert_eq!(hears(&mut node, 1, 1, Body::Inquire), []);
}

#[test]
fn what_is_said_about_a_withdrawn_request_counts_for_nothing() {
    let mut node = node(0);
    run(&mut node, ACQUIRE);
    run(&mut node, CANCEL);
    run(&mut node, ACQUIRE);
    for arbiter in [0, 1, 3] {
        assert_eq!(hears(&mut node, arbiter, 1, GRANT), []);
    }
    hears(&mut node, 3, 1, Body::Failed);
    hears(&mut node, 1, 2, GRANT);
    assert_eq!(hears(&mut node, 1, 2, Body::Inquire), [], "the FAILED was about another");
}

#[test]
fn every_message_moves_the_clock() {
    let mut node = node(0);
    run(&mut node, message(5, Message { request: 1, clock: 40, body: Body::Failed }));
    assert_eq!(act(NodeId(0), &mut node, ACQUIRE)[0], says(1, 41, 41, Body::Request));
}

#[test]
fn a_restart_withdraws_and_keeps_the_vote() {
    let mut node = busy_arbiter(true);
    run(&mut node, ACQUIRE);
    let Recovery::State(mut disk) = node.after_crash() else { panic!("the disk keeps it") };
    assert_eq!(run(&mut disk, Event::Restart).len(), 3, "a RELEASE to each of the quorum");
    assert_eq!(hears(&mut disk, 4, 9, Body::Request), [says(4, 9, 9, Body::Failed)]);
}

/// Messages sent, and who entered when, if these ask at time 0 and stay inside for ten units.
fn run_all(mut nodes: Vec<Maekawa>, asking: u32, slow: &[(u32, u32)]) -> (u32, Vec<(u32, u32)>) {
    let mut agenda: Vec<VecDeque<(u32, Event<Maekawa>)>> = vec![VecDeque::new(); 1_000];
    agenda[0].extend((0..asking).map(|node| (node, ACQUIRE)));
    let mut sent = 0;
    let mut entries = Vec::new();
    for now in 0..900 {
        while let Some((me, event)) = agenda[now].pop_front() {
            for effect in act(NodeId(me), &mut nodes[me as usize], event) {
                if let Effect::Send { to, message: said } = effect {
                    sent += 1;
                    let is_slow = said.body == Body::Request && slow.contains(&(me, to.0));
                    let arrives = now + 1 + usize::from(is_slow);
                    agenda[arrives].push_back((to.0, message(me, said)));
                } else {
                    entries.push((now as u32, me));
                    agenda[now + 10].push_back((me, RELEASE));
                }
            }
        }
    }
    (sent, entries)
}

fn cluster(quorums: &Quorums, n: u32, sanders: bool) -> Vec<Maekawa> {
    let quorum = |node| quorums.of(node).to_vec();
    (0..n).map(NodeId).map(|node| Maekawa::new(node, n, quorum(node), sanders)).collect()
}

#[test]
fn all_at_once_costs_what_it_should() {
    let total = |quorums: &Quorums, n| run_all(cluster(quorums, n, true), n, &[]).0;
    for (n, messages) in [(3, 10), (7, 50), (13, 144), (21, 318), (31, 590)] {
        assert_eq!(
            total(&Quorums::plane(n).expect("a plane is known"), n),
            messages,
            "plane of {n}"
        );
    }
    for (n, messages) in [(2, 7), (4, 29), (9, 136), (16, 369)] {
        assert_eq!(total(&Quorums::grid(n), n), messages, "grid of {n}");
    }
}

#[test]
fn without_sanders_rule_four_nodes_wait_in_a_circle() {
    let plane = Quorums::plane(7).expect("a plane is known");
    let slow = [(0, 3), (3, 4)];
    assert_eq!(run_all(cluster(&plane, 7, false), 4, &slow), (13, vec![]));
    let (sent, entries) = run_all(cluster(&plane, 7, true), 4, &slow);
    assert_eq!((sent, entries), (26, vec![(4, 1), (15, 0), (27, 2), (38, 3)]));
}
