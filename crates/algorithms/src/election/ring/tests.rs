use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};
use std::slice;

const CAMPAIGN: Event<Ring> = Event::Request(Request::Campaign);

fn ranking(n: u32) -> Ranking {
    Ranking::by_key(n, |node| node)
}

fn node(me: u32, n: u32) -> Ring {
    Ring::new(NodeId(me), ranking(n), None)
}

fn list(nodes: &[u32]) -> Box<[NodeId]> {
    nodes.iter().copied().map(NodeId).collect()
}

fn election(counter: u64, nodes: &[u32]) -> Message {
    Message::Election { counter, list: list(nodes) }
}

fn coordinator(round: u64, leader: u32, origin: u32, nodes: &[u32]) -> Message {
    let leader = NodeId(leader);
    let origin = NodeId(origin);
    Message::Coordinator(Announcement { round, leader, origin, list: list(nodes) })
}

fn suspect(node: u32) -> Event<Ring> {
    Event::Indication(detector::Indication::Suspect(NodeId(node)))
}

fn trust(node: u32) -> Event<Ring> {
    Event::Indication(detector::Indication::Trust(NodeId(node)))
}

fn elected(leader: u32, term: u64) -> Effect<Ring> {
    Effect::Indicate(Indication::Elected { leader: NodeId(leader), term })
}

#[test]
fn alone_it_leads_at_once() {
    assert_eq!(run(&mut node(0, 1), CAMPAIGN), [elected(0, 1)]);
    let mut widow = node(0, 2);
    run(&mut widow, suspect(1));
    assert_eq!(run(&mut widow, CAMPAIGN), [elected(0, 2)]);
}

#[test]
fn a_node_that_is_in_the_list_closes_it_and_cuts_off_who_began_and_died() {
    let mut node = node(1, 4);
    let closed = run(&mut node, message(0, election(3, &[3, 1, 2])));
    assert_eq!(closed, [elected(2, 18), send(2, coordinator(4, 2, 1, &[1, 2]))]);
}

#[test]
fn an_announcement_ends_where_it_was_seen_even_if_its_origin_is_dead() {
    let mut node = node(1, 4);
    let told = coordinator(1, 3, 0, &[0, 1, 3]);
    let first = run(&mut node, message(0, told.clone()));
    assert_eq!(first, [elected(3, 7), send(2, told.clone())]);
    assert_eq!(run(&mut node, message(0, told)), []);
}

#[test]
fn known_dead_successors_are_skipped() {
    let mut node = node(2, 5);
    run(&mut node, suspect(3));
    assert_eq!(run(&mut node, CAMPAIGN), [send(4, election(0, &[2]))]);
    run(&mut node, suspect(4));
    assert_eq!(run(&mut node, CAMPAIGN), [send(0, election(0, &[2]))]);
}

#[test]
fn what_was_last_sent_to_a_successor_that_died_goes_to_the_next() {
    let mut node = node(0, 4);
    run(&mut node, CAMPAIGN);
    assert_eq!(run(&mut node, suspect(1))[1..], [send(2, election(0, &[0]))]);
    assert_eq!(run(&mut node, suspect(3)).len(), 1, "nothing was sent to it");
}

#[test]
fn only_the_node_before_the_leader_begins_when_it_dies() {
    let mut before = Ring::new(NodeId(1), ranking(4), Some(NodeId(3)));
    assert_eq!(run(&mut before, suspect(3)).len(), 1, "there is one between");
    assert_eq!(run(&mut before, suspect(2))[1..], [send(0, election(1, &[1]))]);
}

#[test]
fn of_two_results_the_later_round_counts_and_then_the_better_leader() {
    let mut node = node(0, 5);
    run(&mut node, message(4, coordinator(2, 3, 1, &[])));
    let effects = run(&mut node, message(4, coordinator(2, 4, 2, &[])));
    assert_eq!(effects[0], elected(4, 14));
    assert_eq!(run(&mut node, message(4, coordinator(2, 3, 3, &[]))), []);
    let effects = run(&mut node, message(4, coordinator(3, 3, 3, &[])));
    assert_eq!(effects[0], elected(3, 18));
}

#[test]
fn who_is_better_than_the_announced_begins_and_does_not_pass_it_on() {
    let mut node = node(3, 5);
    let effects = run(&mut node, message(2, coordinator(2, 1, 1, &[1, 2])));
    assert_eq!(effects, [send(4, election(2, &[3]))]);
}

#[test]
fn a_successor_that_comes_back_is_told_who_leads() {
    let mut node = Ring::new(NodeId(0), ranking(3), Some(NodeId(2)));
    run(&mut node, suspect(1));
    assert_eq!(run(&mut node, trust(1))[1..], [send(1, coordinator(1, 2, 2, &[0, 1, 2]))]);
    assert_eq!(run(&mut node, trust(2)).len(), 1, "it never left");
}

#[test]
fn who_hears_what_it_announced_before_it_lost_its_disk_begins_again() {
    let mut forgetful = node(0, 2);
    run(&mut forgetful, suspect(1));
    assert_eq!(run(&mut forgetful, Event::Restart), [elected(0, 2)]);
    run(&mut forgetful, trust(1));
    let forgotten = message(1, coordinator(1, 1, 0, &[0, 1]));
    assert_eq!(run(&mut forgetful, forgotten), [send(1, election(1, &[0]))]);
}

#[test]
fn who_may_not_lead_is_in_the_list_and_not_elected() {
    let candidates: NodeSet = [0, 2].map(NodeId).into_iter().collect();
    let mut node = Ring::new(NodeId(4), ranking(5).with_candidates(candidates), None);
    assert_eq!(run(&mut node, CAMPAIGN), [send(0, election(0, &[4]))]);
    let closed = run(&mut node, message(3, election(0, &[4, 0, 1, 2, 3])));
    assert_eq!(closed[0], elected(2, 7));
}

#[test]
fn the_number_of_the_round_outlives_a_crash_and_the_first_leader_does_not() {
    let mut node = Ring::new(NodeId(0), ranking(3), Some(NodeId(2)));
    let Recovery::State(mut kept) = node.after_crash() else { panic!("it comes back") };
    assert_eq!(run(&mut kept, Event::Restart), [send(1, election(1, &[0]))]);
    assert_eq!(run(&mut node, Event::Restart), [send(1, election(1, &[0]))]);
    assert_eq!((kept.elected, node.elected), (None, None));
}

#[test]
fn what_no_ring_can_send_is_ignored() {
    let mut node = node(0, 2);
    assert_eq!(run(&mut node, message(1, election(1, &[1, 7]))), []);
    assert_eq!(run(&mut node, message(7, election(1, &[1]))), []);
    assert_eq!(run(&mut node, message(1, coordinator(1, 9, 1, &[]))), []);
}

#[test]
fn when_the_next_dies_in_the_same_round_the_one_after_it_gets_the_list() {
    let mut node = node(0, 4);
    run(&mut node, message(3, election(0, &[3])));
    assert_eq!(run(&mut node, suspect(1))[1..], [send(2, election(0, &[3, 0]))]);
    assert_eq!(run(&mut node, suspect(2))[1..], [send(3, election(0, &[3, 0]))]);
}

#[test]
fn a_list_that_an_announcement_has_overtaken_is_not_sent_again() {
    let repeated = |counter| {
        let mut node = node(0, 4);
        run(&mut node, message(3, election(counter, &[3])));
        run(&mut node, message(3, coordinator(1, 3, 2, &[2, 3])));
        run(&mut node, suspect(1))[1..].to_vec()
    };
    let told = send(2, coordinator(1, 3, 2, &[2, 3]));
    assert_eq!(repeated(0), slice::from_ref(&told), "it had met no more than the round before");
    assert_eq!(repeated(1), [send(2, election(1, &[3, 0])), told]);
}

#[test]
fn who_hears_that_a_dead_node_was_elected_begins_again() {
    let mut before = node(2, 4);
    run(&mut before, suspect(3));
    let told = coordinator(1, 3, 0, &[0, 3]);
    let effects = run(&mut before, message(1, told.clone()));
    assert_eq!(effects, [elected(3, 7), send(0, told), send(0, election(1, &[2]))]);
}

#[test]
fn who_is_not_next_to_one_that_is_back_leaves_it_to_others_to_tell_it() {
    let mut node = Ring::new(NodeId(0), ranking(4), Some(NodeId(3)));
    run(&mut node, suspect(2));
    assert_eq!(run(&mut node, trust(2)).len(), 1, "1 comes before it");
}

#[test]
fn as_the_slides_have_it_only_who_made_an_announcement_takes_it_from_the_ring() {
    let told = |origin| coordinator(1, 3, origin, &[0, 1, 3]);
    let again = |text, origin| {
        let mut node = node(1, 4).by(text);
        run(&mut node, message(0, told(origin)));
        run(&mut node, message(0, told(origin)))
    };
    assert_eq!(again(Text::Corrected, 0), []);
    assert_eq!(again(Text::Slides, 0), [send(2, told(0))], "0 may be dead");
    assert_eq!(again(Text::Slides, 1), [], "its own");
    let mut newer = node(1, 4).by(Text::Slides);
    run(&mut newer, message(0, coordinator(2, 3, 0, &[0, 1, 3])));
    assert_eq!(run(&mut newer, message(0, told(2))), [send(2, told(2))], "passed on, not believed");
    assert_eq!(newer.elected.map(|known| known.round), Some(2));
}
