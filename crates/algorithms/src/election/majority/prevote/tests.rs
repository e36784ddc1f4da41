use super::super::{Setup, Timer};
use super::*;
use conclave_core::election::{Indication, Request};
use conclave_core::testkit::{message, run, send};
use conclave_core::{Effect, Event, Process, Recovery};

const CAMPAIGN: Event<Majority> = Event::Request(Request::Campaign);
const TIMEOUT: Event<Majority> = Event::Timer(Timer::Election);

fn node(me: u32, n: u32) -> Majority {
    let timeout = Ticks::units(10);
    let heartbeat = Ticks::units(3);
    Majority::new(NodeId(me), Setup { n, timeout, heartbeat, prevote: true }, None)
}

fn ask(from: u32, term: u64) -> Event<Majority> {
    message(from, Message::RequestPreVote { term })
}

fn yes(from: u32, term: u64) -> Event<Majority> {
    message(from, Message::PreVote { term, granted: true })
}

fn beat(from: u32, term: u64, number: u32) -> Event<Majority> {
    message(from, Message::Heartbeat { term, number })
}

/// What a node answers when it is asked about a term.
fn answer(node: &mut Majority, from: u32, term: u64) -> (u64, bool) {
    let before = node.clone();
    let effects = run(node, ask(from, term));
    assert_eq!(*node, before, "who is asked does not change");
    let [Effect::Send { to, message: Message::PreVote { term, granted } }] = &effects[..] else {
        panic!("one answer: {effects:?}")
    };
    assert_eq!(*to, NodeId(from));
    (*term, *granted)
}

fn sent(effects: &[Effect<Majority>]) -> Vec<Message> {
    let said = |effect: &Effect<Majority>| match effect {
        Effect::Send { message, .. } => Some(*message),
        Effect::SetTimer { .. }
        | Effect::CancelTimer(_)
        | Effect::Indicate(_)
        | Effect::Request(_) => None,
    };
    effects.iter().filter_map(said).collect()
}

fn on_disk(node: &Majority) -> Majority {
    let Recovery::State(kept) = node.after_crash() else { panic!("it comes back") };
    kept
}

#[test]
fn it_asks_for_the_next_term_and_writes_nothing_down() {
    let mut asker = node(0, 5);
    let before = on_disk(&asker);
    assert_eq!(sent(&run(&mut asker, CAMPAIGN)), [Message::RequestPreVote { term: 1 }; 4]);
    assert_eq!((asker.role, asker.term), (Role::Asker, 0));
    assert_eq!(on_disk(&asker), before);
}

/// So it waits for one to two timeouts in all, as without pre-votes.
#[test]
fn it_waits_for_a_timeout_until_it_doubts_and_for_a_part_of_one_until_it_asks() {
    let mut follower = node(0, 3);
    let set = |after| Effect::SetTimer { timer: Timer::Election, after };
    let timeout = Ticks::units(10);
    assert_eq!(run(&mut follower, Event::Start), [set(Delay::exactly(timeout))]);
    assert!(run(&mut follower, beat(2, 1, 1)).contains(&set(Delay::exactly(timeout))));
    let part = Delay::between(Ticks::ZERO, Ticks(timeout.0 - 1));
    assert_eq!(run(&mut follower, TIMEOUT), [set(part)]);
    assert_eq!(run(&mut follower, yes(1, 2)), [], "it has not asked yet");
    let asks = run(&mut follower, TIMEOUT);
    assert_eq!(sent(&asks), [Message::RequestPreVote { term: 2 }; 2]);
    assert!(asks.contains(&set(Delay::between(timeout, Ticks(2 * timeout.0 - 1)))), "and again");
}

#[test]
fn a_majority_that_would_vote_for_it_makes_it_stand() {
    let mut asker = node(0, 5);
    run(&mut asker, CAMPAIGN);
    assert_eq!(run(&mut asker, yes(1, 1)), []);
    assert_eq!(run(&mut asker, yes(1, 1)), [], "the same one again");
    let no = message(3, Message::PreVote { term: 0, granted: false });
    assert_eq!(run(&mut asker, no), []);
    let stands = run(&mut asker, yes(2, 1));
    assert_eq!(sent(&stands), [Message::RequestVote { term: 1 }; 4]);
    assert_eq!((asker.role, asker.voted_for), (Role::Candidate, Some(NodeId(0))));
    assert_eq!(run(&mut asker, yes(4, 1)), [], "it stands already, and this is no vote");
    assert_eq!(asker.votes.len(), 1);
}

#[test]
fn alone_it_leads_at_once() {
    let elected = Effect::Indicate(Indication::Elected { leader: NodeId(0), term: 1 });
    assert!(run(&mut node(0, 1), CAMPAIGN).contains(&elected));
}

#[test]
fn who_hears_of_a_leader_says_no_until_its_timer_fires() {
    let mut voter = node(0, 3);
    assert_eq!(answer(&mut voter, 1, 1), (1, true), "it has never heard of a leader");
    run(&mut voter, beat(2, 1, 1));
    assert_eq!(answer(&mut voter, 1, 2), (1, false));
    assert_eq!(sent(&run(&mut voter, TIMEOUT)), []);
    assert_eq!(answer(&mut voter, 1, 2), (2, true), "it doubts");
    run(&mut voter, TIMEOUT);
    assert_eq!(answer(&mut voter, 1, 2), (2, true), "it asks itself");
    assert_eq!(voter.leader(), Some((NodeId(2), 1)), "nobody else leads as yet");
    let again = run(&mut voter, beat(2, 1, 2));
    assert!(!again.iter().any(|effect| matches!(effect, Effect::Indicate(_))), "nothing is new");
    assert_eq!(answer(&mut voter, 1, 2), (1, false));
}

#[test]
fn a_leader_says_no_and_goes_on_whatever_term_it_is_asked_about() {
    let setup = node(0, 3).setup;
    let mut leader = Majority::new(NodeId(0), setup, Some(NodeId(0)));
    run(&mut leader, Event::Start);
    assert_eq!(answer(&mut leader, 1, 2), (1, false));
    assert_eq!(answer(&mut leader, 1, 9), (1, false));
    assert_eq!(run(&mut leader, yes(1, 9)), [], "what nobody has begun deposes nobody");
    assert_eq!((leader.role, leader.term), (Role::Leader, 1));
}

#[test]
fn a_leader_that_lost_its_majority_says_yes_and_asks_in_the_term_it_has() {
    let setup = node(0, 3).setup;
    let mut leader = Majority::new(NodeId(0), setup, Some(NodeId(0)));
    run(&mut leader, Event::Start);
    run(&mut leader, Event::Timer(Timer::Quorum));
    assert_eq!(answer(&mut leader, 1, 2), (2, true));
    assert_eq!(sent(&run(&mut leader, TIMEOUT)), []);
    for _ in 0..3 {
        let asked = sent(&run(&mut leader, TIMEOUT));
        assert_eq!(asked, [Message::RequestPreVote { term: 2 }; 2], "the term does not rise");
    }
    run(&mut leader, beat(1, 2, 7));
    assert_eq!(leader.leader(), Some((NodeId(1), 2)), "back in touch, it follows");
}

#[test]
fn who_has_fallen_behind_is_told_the_term_and_asks_for_the_next() {
    let mut ahead = node(0, 3);
    let mut behind = node(1, 3);
    run(&mut ahead, message(2, Message::RequestVote { term: 5 }));
    run(&mut behind, CAMPAIGN);
    assert_eq!(answer(&mut ahead, 1, 5), (5, false), "it has begun already");
    run(&mut behind, message(0, Message::PreVote { term: 5, granted: false }));
    assert_eq!((behind.role, behind.term), (Role::Follower, 5));
    run(&mut behind, TIMEOUT);
    assert_eq!(sent(&run(&mut behind, TIMEOUT)), [Message::RequestPreVote { term: 6 }; 2]);
    assert_eq!(answer(&mut ahead, 1, 6), (6, true));
}

#[test]
fn a_late_yes_counts_for_its_term_only_and_not_when_a_leader_was_heard_of() {
    let mut asker = node(0, 3);
    run(&mut asker, CAMPAIGN);
    run(&mut asker, message(1, Message::RequestVote { term: 1 }));
    run(&mut asker, CAMPAIGN);
    assert_eq!(run(&mut asker, yes(2, 1)), [], "that term has begun");
    run(&mut asker, TIMEOUT);
    let stands = sent(&run(&mut asker.clone(), yes(2, 2)));
    assert_eq!(stands, [Message::RequestVote { term: 2 }; 2], "whichever time it was asked for");
    run(&mut asker, beat(1, 1, 1));
    assert_eq!(run(&mut asker, yes(2, 2)), []);
}

#[test]
fn when_all_ask_at_once_all_stand() {
    let mut nodes = [0, 1, 2].map(|me| node(me, 3));
    nodes.iter_mut().for_each(|node| drop(run(node, CAMPAIGN)));
    for asks in 0..3 {
        let voter = &mut nodes[(asks + 1) % 3];
        assert_eq!(answer(voter, asks as u32, 1), (1, true));
    }
    for (me, node) in nodes.iter_mut().enumerate() {
        run(node, yes((me as u32 + 1) % 3, 1));
        assert_eq!((node.role, node.term), (Role::Candidate, 1));
    }
}

#[test]
fn a_candidate_that_did_not_win_asks_before_it_stands_again() {
    let mut candidate = node(0, 3);
    run(&mut candidate, CAMPAIGN);
    run(&mut candidate, yes(1, 1));
    assert_eq!(answer(&mut candidate, 2, 2), (2, true), "it does not lead yet");
    assert_eq!(sent(&run(&mut candidate, TIMEOUT)), [Message::RequestPreVote { term: 2 }; 2]);
    let late = message(1, Message::Vote { term: 1, granted: true });
    assert_eq!(run(&mut candidate, late), [], "it stands no longer");
}

#[test]
fn who_may_not_lead_doubts_and_does_not_ask() {
    let mut voter = node(0, 3).standing(false);
    let waits = run(&mut voter, Event::Start);
    assert!(matches!(&waits[..], [Effect::SetTimer { timer: Timer::Election, .. }]), "{waits:?}");
    run(&mut voter, beat(2, 1, 1));
    assert_eq!(answer(&mut voter, 1, 2), (1, false));
    assert_eq!(run(&mut voter, TIMEOUT), []);
    assert_eq!(answer(&mut voter, 1, 2), (2, true));
    assert_eq!(run(&mut voter, yes(1, 2)), [], "it never asked");
    assert_eq!(voter.role, Role::Doubter);
}

#[test]
fn who_came_back_says_yes_until_it_hears_of_a_leader() {
    let mut voter = node(0, 3);
    run(&mut voter, beat(2, 1, 1));
    let mut back = on_disk(&voter);
    run(&mut back, Event::Restart);
    assert_eq!(answer(&mut back, 1, 2), (2, true));
    run(&mut back, beat(2, 1, 2));
    assert_eq!(answer(&mut back, 1, 2), (1, false));
}

#[test]
fn a_heartbeat_ends_the_doubt_and_is_answered() {
    let mut asker = node(0, 3);
    run(&mut asker, CAMPAIGN);
    let told = run(&mut asker, beat(2, 1, 1));
    assert!(told.contains(&send(2, Message::HeartbeatAck { term: 1, number: 1 })));
    assert_eq!((asker.role, asker.leader()), (Role::Follower, Some((NodeId(2), 1))));
}
