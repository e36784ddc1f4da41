use super::super::rank::Ranking;
use super::*;
use conclave_core::testkit::{message, run, send};
use conclave_core::{Effect, Ticks};

const CAMPAIGN: Event<Bully> = Event::Request(Request::Campaign);

fn setup(n: u32) -> Setup {
    Setup::new(Ranking::by_key(n, |node| node))
}

fn node(me: u32, setup: &Setup) -> Bully {
    Bully::new(NodeId(me), setup.clone(), None)
}

fn suspect(node: u32) -> Event<Bully> {
    Event::Indication(detector::Indication::Suspect(NodeId(node)))
}

fn trust(node: u32) -> Event<Bully> {
    Event::Indication(detector::Indication::Trust(NodeId(node)))
}

#[test]
fn alone_it_leads_at_once() {
    let elected = Effect::Indicate(Indication::Elected { leader: NodeId(0), term: 1 });
    assert_eq!(run(&mut node(0, &setup(1)), CAMPAIGN), [elected]);
}

#[test]
fn a_greater_counter_is_needed_to_be_followed_where_terms_are_compared() {
    let setup = Setup { terms: true, ..setup(3) };
    let mut leader = node(1, &setup);
    run(&mut leader, CAMPAIGN);
    run(&mut leader, message(0, Message::Ok { counter: 7 }));
    leader.phase = Phase::AwaitOk;
    run(&mut leader, Event::Timer(Timer::Answer));
    let answer = send(2, Message::Coordinator { counter: 8 });
    assert_eq!(run(&mut leader, message(2, Message::Coordinator { counter: 1 })), [answer]);
    let mut better = node(2, &setup);
    let told = run(&mut better, message(1, Message::Coordinator { counter: 8 }));
    assert!(told.contains(&send(1, Message::Coordinator { counter: 9 })));
}

#[test]
fn suspecting_the_leader_starts_an_election_and_suspecting_another_does_not() {
    let mut follower = Bully::new(NodeId(0), setup(3), Some(NodeId(2)));
    assert_eq!(run(&mut follower, suspect(1)).len(), 1, "passed on");
    let effects = run(&mut follower, suspect(2));
    assert!(effects.contains(&send(2, Message::Election { counter: 1 })));
    let mut nobody = node(0, &setup(3));
    assert_eq!(run(&mut nobody, suspect(2)).len(), 1, "no leader is known");
}

#[test]
fn a_leader_tells_whom_it_beats_and_sees_come_back() {
    let mut leader = Bully::new(NodeId(2), setup(3), Some(NodeId(2)));
    run(&mut leader, suspect(0));
    let told = send(0, Message::Coordinator { counter: 1 });
    assert_eq!(run(&mut leader, trust(0))[1..], [told]);
    assert_eq!(run(&mut leader, trust(1)).len(), 1, "it never left");
}

#[test]
fn one_vote_per_counter_and_none_against_a_better_leader() {
    let setup = Setup { by_majority: true, ..setup(5) };
    let mut voter = node(0, &setup);
    let vote = |to, counter, granted| [send(to, Message::Vote { counter, granted })];
    let candidate = |from, counter| message(from, Message::Candidate { counter });
    assert_eq!(run(&mut voter, candidate(2, 1)), vote(2, 1, true));
    assert_eq!(run(&mut voter, candidate(2, 1)), vote(2, 1, true), "the same again");
    assert_eq!(run(&mut voter, candidate(3, 1)), vote(3, 1, false));
    assert_eq!(run(&mut voter, candidate(3, 2)), vote(3, 2, true));
    run(&mut voter, message(3, Message::Coordinator { counter: 2 }));
    assert_eq!(run(&mut voter, candidate(2, 3)), vote(2, 3, false));
    assert_eq!(run(&mut voter, candidate(4, 4)), vote(4, 4, true));
}

#[test]
fn a_vote_is_for_the_counter_that_asked_and_a_refusal_tells_the_greatest_heard_of() {
    let mut voter = node(0, &Setup { by_majority: true, ..setup(5) });
    run(&mut voter, message(1, Message::Ok { counter: 7 }));
    let vote = |to, counter, granted| [send(to, Message::Vote { counter, granted })];
    let candidate = |from| message(from, Message::Candidate { counter: 3 });
    assert_eq!(run(&mut voter, candidate(2)), vote(2, 3, true), "it has voted for nobody yet");
    assert_eq!(run(&mut voter, candidate(3)), vote(3, 7, false));
}

#[test]
fn with_hysteresis_a_leader_that_was_cut_off_says_nothing_to_anybody_for_a_while() {
    let setup = Setup { hysteresis: Ticks::units(20), ..setup(3) };
    let mut leader = Bully::new(NodeId(2), setup, Some(NodeId(2)));
    run(&mut leader, suspect(0));
    run(&mut leader, suspect(1));
    let waits =
        Effect::SetTimer { timer: Timer::Hysteresis, after: Delay::exactly(Ticks::units(20)) };
    assert_eq!(run(&mut leader, trust(0))[1..], [waits]);
    assert_eq!(run(&mut leader, trust(1))[1..], [], "nor to the second that is back");
    let told = run(&mut leader, Event::Timer(Timer::Hysteresis));
    let coordinator = |to| send(to, Message::Coordinator { counter: 1 });
    assert_eq!(told, [coordinator(0), coordinator(1)]);
}

#[test]
fn the_counter_and_the_vote_outlive_a_crash_and_the_first_leader_does_not() {
    let mut leader = Bully::new(NodeId(1), setup(2), Some(NodeId(1)));
    let Recovery::State(mut kept) = leader.after_crash() else { panic!("it comes back") };
    let elected = Effect::Indicate(Indication::Elected { leader: NodeId(1), term: 5 });
    assert_eq!(run(&mut kept, Event::Restart)[0], elected);
    let asked = run(&mut leader, Event::Restart);
    assert_eq!(asked[0], elected, "nor does it without a disk");
}

#[test]
fn strangers_and_those_who_may_not_lead_are_ignored() {
    let mut low = node(0, &setup(2));
    assert_eq!(run(&mut low, message(7, Message::Coordinator { counter: 1 })), []);
    assert_eq!(run(&mut low, message(1, Message::Election { counter: 1 })), [], "from a better");
    let only = Setup::new(setup(2).ranking.with_candidates([NodeId(0)].into_iter().collect()));
    assert_eq!(run(&mut node(0, &only), message(1, Message::Coordinator { counter: 1 })), []);
}

#[test]
fn an_announcement_that_a_later_one_has_overtaken_is_ignored() {
    let mut follower = node(0, &setup(3));
    let told = |counter| message(2, Message::Coordinator { counter });
    assert_eq!(run(&mut follower, told(5)).len(), 1);
    assert_eq!(run(&mut follower, told(3)), [], "overtaken");
    assert_eq!(run(&mut follower, told(5)), [], "the same again");
    let elected = Indication::Elected { leader: NodeId(2), term: 20 };
    assert_eq!(run(&mut follower, told(6)), [Effect::Indicate(elected)]);
}

#[test]
fn votes_of_an_earlier_candidacy_and_half_of_an_even_number_do_not_suffice() {
    let mut best = node(3, &Setup { by_majority: true, ..setup(4) });
    let vote = |from, counter| message(from, Message::Vote { counter, granted: true });
    run(&mut best, CAMPAIGN);
    assert_eq!(run(&mut best, vote(0, 1)), [], "two of four");
    run(&mut best, Event::Timer(Timer::Answer));
    let again = run(&mut best, Event::Timer(Timer::BackOff));
    assert!(again.contains(&send(0, Message::Candidate { counter: 2 })));
    assert_eq!(run(&mut best, vote(1, 1)), [], "for the first candidacy");
    assert_eq!(run(&mut best, vote(1, 2)), [], "two of four");
    let leads = run(&mut best, vote(2, 2));
    assert!(leads.contains(&send(0, Message::Coordinator { counter: 2 })));
}

#[test]
fn a_leader_of_an_even_number_steps_down_when_half_are_gone() {
    let setup = Setup { by_majority: true, ..setup(4) };
    let mut leader = Bully::new(NodeId(3), setup, Some(NodeId(3)));
    assert_eq!(run(&mut leader, suspect(0)).len(), 1, "three of four are a majority");
    let deposed = run(&mut leader, suspect(1));
    let term = Ranking::by_key(4, |node| node).term(1, NodeId(3));
    assert!(deposed.contains(&Effect::Indicate(Indication::Deposed { term })));
}

#[test]
fn a_timer_that_rings_after_all_is_settled_begins_nothing() {
    let mut follower = node(0, &setup(3));
    run(&mut follower, message(2, Message::Coordinator { counter: 1 }));
    for timer in [Timer::Announcement, Timer::Answer, Timer::BackOff, Timer::Hysteresis] {
        assert_eq!(run(&mut follower, Event::Timer(timer)), [], "{timer:?}");
    }
}

#[test]
fn a_leader_that_follows_a_better_one_has_nothing_to_look_at_again() {
    let mut deposed = Bully::new(NodeId(1), setup(3), Some(NodeId(1)));
    run(&mut deposed, suspect(0));
    let waits = run(&mut deposed, trust(0));
    assert!(matches!(waits[1], Effect::SetTimer { timer: Timer::Recheck, .. }));
    let follows = run(&mut deposed, message(2, Message::Coordinator { counter: 2 }));
    assert!(follows.contains(&Effect::CancelTimer(Timer::Recheck)));
    assert_eq!(run(&mut deposed, Event::Timer(Timer::Recheck)), [], "whom it would have told");
}

#[test]
fn who_came_back_is_told_by_the_best_that_is_there() {
    let told = |better_is_gone: bool| {
        let mut leader = Bully::new(NodeId(1), setup(3), Some(NodeId(1)));
        if better_is_gone {
            run(&mut leader, suspect(2));
        }
        run(&mut leader, suspect(0));
        run(&mut leader, trust(0));
        run(&mut leader, Event::Timer(Timer::Recheck))
    };
    let coordinator = |to| send(to, Message::Coordinator { counter: 1 });
    assert_eq!(told(false), [coordinator(2)], "it is for 2 to tell 0");
    assert_eq!(told(true), [coordinator(0)]);
}

/// Nobody else would ever call another election.
#[test]
fn who_voted_for_one_that_crashes_before_it_has_won_begins_an_election() {
    let begins = |wins: bool| {
        let mut voter = node(0, &Setup { by_majority: true, ..setup(4) });
        run(&mut voter, message(2, Message::Candidate { counter: 1 }));
        if wins {
            run(&mut voter, message(2, Message::Coordinator { counter: 1 }));
            run(&mut voter, message(3, Message::Coordinator { counter: 2 }));
        }
        run(&mut voter, suspect(2)).contains(&send(3, Message::Election { counter: 1 }))
    };
    assert!(begins(false));
    assert!(!begins(true), "another leads since");
}

/// The rule that the slides leave out is the second time limit, and only that.
#[test]
fn as_the_slides_have_it_who_is_asked_begins_and_who_got_an_answer_waits_for_ever() {
    let after_the_answer = |text| {
        let mut asked = node(1, &Setup { text, ..setup(3) });
        let begun = run(&mut asked, message(0, Message::Election { counter: 0 }));
        assert_eq!(begun.contains(&send(2, Message::Election { counter: 0 })), text != Text::Seed);
        run(&mut asked, message(2, Message::Ok { counter: 0 }));
        run(&mut asked, Event::Timer(Timer::Answer)).len()
    };
    assert_eq!(after_the_answer(Text::Corrected), 1, "it waits for the announcement");
    assert_eq!(after_the_answer(Text::Slides), 0);
}
