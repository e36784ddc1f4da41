use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{codes, message, run, send, why};

const CAMPAIGN: Event<Majority> = Event::Request(Request::Campaign);

fn setup(n: u32) -> Setup {
    Setup { n, timeout: Ticks::units(10), heartbeat: Ticks::units(3), prevote: false }
}

fn node(me: u32, n: u32) -> Majority {
    Majority::new(NodeId(me), setup(n), None)
}

fn vote(from: u32, term: u64) -> Event<Majority> {
    message(from, Message::Vote { term, granted: true })
}

fn sends(effects: &[Effect<Majority>]) -> Vec<&Effect<Majority>> {
    effects.iter().filter(|effect| matches!(effect, Effect::Send { .. })).collect()
}

fn indications(effects: &[Effect<Majority>]) -> Vec<Indication> {
    let told = |effect: &Effect<Majority>| match effect {
        Effect::Indicate(told) => Some(*told),
        Effect::Send { .. }
        | Effect::SetTimer { .. }
        | Effect::CancelTimer(_)
        | Effect::Request(_) => None,
    };
    effects.iter().filter_map(told).collect()
}

#[test]
fn alone_it_leads_at_once_and_two_must_agree() {
    let elected = Indication::Elected { leader: NodeId(0), term: 1 };
    let effects = run(&mut node(0, 1), CAMPAIGN);
    assert_eq!((indications(&effects), sends(&effects).len()), (vec![elected], 0));
    let mut of_two = node(0, 2);
    assert_eq!(indications(&run(&mut of_two, CAMPAIGN)), []);
    assert_eq!(indications(&run(&mut of_two, vote(1, 1))), [elected]);
}

#[test]
fn a_vote_is_given_once_per_term_and_again_to_the_same() {
    let mut voter = node(0, 3);
    let ask = |from, term| message(from, Message::RequestVote { term });
    let answer = |to, term, granted| send(to, Message::Vote { term, granted });
    assert_eq!(run(&mut voter, ask(1, 4)).last(), Some(&answer(1, 4, true)));
    assert_eq!(run(&mut voter, ask(1, 4)).last(), Some(&answer(1, 4, true)), "a duplicate");
    assert_eq!(run(&mut voter, ask(2, 4)), [answer(2, 4, false)]);
    assert_eq!(run(&mut voter, ask(2, 3)), [answer(2, 4, false)], "an old term");
    assert_eq!(run(&mut voter, ask(2, 5)).last(), Some(&answer(2, 5, true)));
}

#[test]
fn the_same_vote_twice_is_one_vote_and_an_old_one_none() {
    let mut candidate = node(0, 5);
    run(&mut candidate, CAMPAIGN);
    run(&mut candidate, Event::Timer(Timer::Election));
    assert_eq!(run(&mut candidate, vote(1, 1)), [], "of the term before");
    assert_eq!(run(&mut candidate, vote(1, 2)), []);
    assert_eq!(run(&mut candidate, vote(1, 2)), []);
    assert_eq!(indications(&run(&mut candidate, vote(2, 2))).len(), 1);
    assert_eq!(run(&mut candidate, vote(3, 2)), [], "one more than needed");
}

#[test]
fn a_follower_is_told_at_the_first_heartbeat_of_the_term() {
    let mut follower = node(0, 3);
    let beat = |number| message(2, Message::Heartbeat { term: 3, number });
    let elected = Indication::Elected { leader: NodeId(2), term: 3 };
    let first = run(&mut follower, beat(1));
    assert_eq!(indications(&first), [elected]);
    assert!(first.contains(&send(2, Message::HeartbeatAck { term: 3, number: 1 })));
    assert_eq!(indications(&run(&mut follower, beat(2))), []);
}

#[test]
fn a_candidate_follows_the_leader_of_its_term_and_a_stale_leader_is_told() {
    let mut candidate = node(0, 3);
    run(&mut candidate, CAMPAIGN);
    run(&mut candidate, message(2, Message::Heartbeat { term: 1, number: 1 }));
    assert_eq!(candidate.role, Role::Follower);
    run(&mut candidate, message(1, Message::RequestVote { term: 2 }));
    let stale = run(&mut candidate, message(2, Message::Heartbeat { term: 1, number: 2 }));
    assert_eq!(stale, [send(2, Message::HeartbeatAck { term: 2, number: 2 })]);
}

#[test]
fn a_greater_term_deposes_a_leader() {
    let mut leader = Majority::new(NodeId(0), setup(3), Some(NodeId(0)));
    run(&mut leader, Event::Start);
    let told = run(&mut leader, message(1, Message::HeartbeatAck { term: 2, number: 1 }));
    assert_eq!(indications(&told), [Indication::Deposed { term: 1 }]);
    assert_eq!((leader.role, leader.term, leader.voted_for), (Role::Follower, 2, None));
}

#[test]
fn a_vote_that_is_forgotten_makes_two_leaders_of_one_term() {
    let mut one = node(0, 3);
    let mut two = node(1, 3);
    let mut voter = node(2, 3);
    let elected = |leader| [Indication::Elected { leader: NodeId(leader), term: 1 }];
    run(&mut one, CAMPAIGN);
    run(&mut two, CAMPAIGN);
    let yes = |to| send(to, Message::Vote { term: 1, granted: true });
    let ask = |from| message(from, Message::RequestVote { term: 1 });
    assert!(run(&mut voter, ask(0)).contains(&yes(0)));
    assert_eq!(indications(&run(&mut one, vote(2, 1))), elected(0));
    let Recovery::State(mut with_disk) = voter.after_crash() else { panic!("it comes back") };
    run(&mut with_disk, Event::Restart);
    assert!(!run(&mut with_disk, ask(1)).contains(&yes(1)));
    let mut without = node(2, 3);
    run(&mut without, Event::Restart);
    assert!(run(&mut without, ask(1)).contains(&yes(1)));
    assert_eq!(indications(&run(&mut two, vote(2, 1))), elected(1));
}

#[test]
fn who_may_not_lead_only_votes() {
    let mut voter = node(0, 3).standing(false);
    assert_eq!(run(&mut voter, Event::Start), []);
    assert_eq!(run(&mut voter, CAMPAIGN), []);
    let Recovery::State(kept) = voter.after_crash() else { panic!("it comes back") };
    assert!(!kept.candidate);
}

#[test]
fn a_restarted_first_leader_does_not_lead() {
    let mut leader = Majority::new(NodeId(0), setup(3), Some(NodeId(0)));
    assert_eq!(sends(&run(&mut leader, Event::Restart)).len(), 0);
    assert_eq!((leader.role, leader.leader), (Role::Follower, None));
}

#[test]
fn a_stranger_is_not_answered() {
    assert_eq!(run(&mut node(0, 2), message(2, Message::RequestVote { term: 9 })), []);
}

#[test]
fn a_vote_was_given_before_the_first_heartbeat_and_does_not_answer_it() {
    let third_beat = |answer: Option<Event<Majority>>| {
        let mut leader = node(0, 3);
        run(&mut leader, CAMPAIGN);
        run(&mut leader, vote(1, 1));
        answer.map(|answer| run(&mut leader, answer));
        run(&mut leader, Event::Timer(Timer::Heartbeat));
        run(&mut leader, Event::Timer(Timer::Heartbeat))
    };
    // Ten units after the heartbeat before the first, which is one after the third.
    let after = Delay::exactly(Ticks::units(1));
    let steps_down = Effect::SetTimer { timer: Timer::Quorum, after };
    assert!(third_beat(None).contains(&steps_down));
    let answer = message(1, Message::HeartbeatAck { term: 1, number: 1 });
    assert!(!third_beat(Some(answer)).contains(&steps_down));
}

/// A lock that has used up the fences of a term needs another, though nobody misses the leader.
#[test]
fn a_leader_that_is_to_campaign_stands_in_a_new_term_without_asking_first() {
    for prevote in [false, true] {
        let setup = Setup { prevote, ..setup(3) };
        let mut leader = Majority::new(NodeId(0), setup, Some(NodeId(0)));
        let mut follower = Majority::new(NodeId(1), setup, Some(NodeId(0)));
        run(&mut leader, Event::Start);
        run(&mut follower, message(0, Message::Heartbeat { term: 1, number: 1 }));
        let effects = run(&mut leader, CAMPAIGN);
        let ask = Message::RequestVote { term: 2 };
        assert_eq!(sends(&effects), [&send(1, ask), &send(2, ask)]);
        assert_eq!(indications(&effects), [Indication::Deposed { term: 1 }]);
        let yes = send(0, Message::Vote { term: 2, granted: true });
        assert_eq!(run(&mut follower, message(0, ask)).last(), Some(&yes));
        let elected = Indication::Elected { leader: NodeId(0), term: 2 };
        assert_eq!(indications(&run(&mut leader, vote(1, 2))), [elected]);
    }
}

#[test]
fn of_an_even_number_half_is_no_majority() {
    let mut candidate = node(0, 4);
    run(&mut candidate, CAMPAIGN);
    assert_eq!(run(&mut candidate, vote(1, 1)), [], "two of four");
    assert_eq!(indications(&run(&mut candidate, vote(2, 1))).len(), 1, "three of four");
}

#[test]
fn votes_of_an_earlier_candidacy_do_not_add_up_with_those_of_the_next() {
    let mut candidate = node(0, 5);
    run(&mut candidate, CAMPAIGN);
    run(&mut candidate, vote(1, 1));
    run(&mut candidate, Event::Timer(Timer::Election)); // Nobody has won: it stands again.
    assert_eq!(run(&mut candidate, vote(2, 2)), []);
    assert_eq!(run(&mut candidate, vote(1, 1)), [], "late");
    assert_eq!(indications(&run(&mut candidate, vote(3, 2))).len(), 1);
}

#[test]
fn a_refused_vote_is_none() {
    let mut candidate = node(0, 3);
    run(&mut candidate, CAMPAIGN);
    let refused = message(1, Message::Vote { term: 1, granted: false });
    assert_eq!(run(&mut candidate, refused), []);
    assert_eq!(indications(&run(&mut candidate, vote(2, 1))).len(), 1);
}

#[test]
fn a_leader_of_four_needs_two_answers_to_go_on() {
    let fourth_beat = |answering: &[u32]| {
        let mut leader = Majority::new(NodeId(0), setup(4), Some(NodeId(0)));
        run(&mut leader, Event::Start);
        for _ in 0..2 {
            run(&mut leader, Event::Timer(Timer::Heartbeat));
        }
        for &from in answering {
            run(&mut leader, message(from, Message::HeartbeatAck { term: 1, number: 3 }));
        }
        let beat = run(&mut leader, Event::Timer(Timer::Heartbeat));
        beat.iter().any(|effect| matches!(effect, Effect::SetTimer { timer: Timer::Quorum, .. }))
    };
    assert!(fourth_beat(&[]) && fourth_beat(&[1]), "half of all have not answered");
    assert!(!fourth_beat(&[1, 3]));
}

#[test]
fn an_election_is_explained_vote_by_vote() {
    let mut node = node(0, 5);
    assert_eq!(codes(&mut node, Event::Start), ["waits"]);
    let stands = ["misses-leader", "stands", "counts"];
    assert_eq!(codes(&mut node, Event::Timer(Timer::Election)), stands);
    assert_eq!(codes(&mut node, vote(1, 1)), ["counts"]);
    let refused = message(2, Message::Vote { term: 1, granted: false });
    assert_eq!(codes(&mut node, refused), ["refused"]);
    let again = ["split", "stands", "counts"];
    assert_eq!(codes(&mut node, Event::Timer(Timer::Election)), again);
    assert_eq!(codes(&mut node, vote(1, 1)), ["old-term"]);
    run(&mut node, vote(1, 2));
    assert_eq!(codes(&mut node, vote(2, 2)), ["elected", "beats"]);
    assert_eq!(codes(&mut node, vote(3, 2)), ["late-vote"]);
    let ack = |term, number| message(1, Message::HeartbeatAck { term, number });
    assert_eq!(codes(&mut node, ack(2, 1)), ["answered"]);
    assert_eq!(codes(&mut node, ack(2, 9)), ["never-sent"]);
    let two = message(4, Message::Heartbeat { term: 2, number: 1 });
    assert_eq!(codes(&mut node, two), ["two-leaders"]);
    assert_eq!(codes(&mut node, Event::Timer(Timer::Quorum)), ["lost-majority", "steps-down"]);
    assert_eq!(codes(&mut node, Event::Restart), ["came-back"]);
}

#[test]
fn a_voter_says_why_it_gives_or_keeps_its_vote() {
    let mut voter = node(0, 3);
    let ask = |from, term| message(from, Message::RequestVote { term });
    assert_eq!(codes(&mut voter, ask(1, 4)), ["newer-term", "votes"]);
    assert_eq!(codes(&mut voter, ask(2, 4)), ["voted-already"]);
    assert_eq!(codes(&mut voter, ask(2, 3)), ["old-request"]);
    let beat = |term| message(1, Message::Heartbeat { term, number: 1 });
    assert_eq!(codes(&mut voter, beat(4)), ["follows"]);
    assert_eq!(codes(&mut voter, beat(4)), ["still-follows"]);
    assert_eq!(codes(&mut voter, beat(3)), ["stale-leader"]);
    let told = why(&mut voter, ask(2, 4));
    let kept = "refuses {2}: has voted for {1} in term 4, and has one vote a term";
    assert_eq!(told[0].fill(told[0].why.english), kept);
}

#[test]
fn pre_votes_and_a_hand_over_are_explained() {
    let mut node = Majority::new(NodeId(0), Setup { prevote: true, ..setup(3) }, None);
    let asks = ["misses-leader", "asks-first", "pre-counts"];
    assert_eq!(codes(&mut node, Event::Timer(Timer::Election)), ["doubts"]);
    assert_eq!(codes(&mut node, Event::Timer(Timer::Election)), asks);
    let ask = |term| message(1, Message::RequestPreVote { term });
    let answer = |term, granted| message(1, Message::PreVote { term, granted });
    assert_eq!(codes(&mut node, ask(1)), ["pre-votes"]);
    assert_eq!(codes(&mut node, ask(0)), ["pre-vote-behind"]);
    assert_eq!(codes(&mut node, answer(0, false)), ["pre-refused"]);
    let again = ["asked-in-vain", "asks-first", "pre-counts"];
    assert_eq!(codes(&mut node, Event::Timer(Timer::Election)), again);
    assert_eq!(codes(&mut node, answer(1, true)), ["pre-elected", "stands", "counts"]);
    assert_eq!(codes(&mut node, answer(1, true)), ["late-pre-vote"]);
    assert_eq!(codes(&mut node, Event::Request(Request::Resign)), ["does-not-lead"]);
    run(&mut node, vote(2, 1));
    assert_eq!(codes(&mut node, ask(2)), ["hears-leader"]);
    assert_eq!(codes(&mut node, Event::Request(Request::Resign)), ["hands-over", "steps-down"]);
    let now = message(2, Message::TimeoutNow { term: 1 });
    assert_eq!(codes(&mut node, now), ["told-to-stand", "stands", "counts"]);
}
