use super::*;
use crate::mutex::epoch::{Ballot, Mode};
use conclave_core::election::Indication::{Elected, Suspect};
use conclave_core::testkit::{codes, message, run, send};
use conclave_core::{Effect, FenceLayout};
use std::slice;

type Node = TokenRingRegenerating;
const ACQUIRE: Event<Node> = Event::Request(Request::Acquire);
const RELEASE: Event<Node> = Event::Request(Request::Release);
const ZERO: Epoch = Epoch { term: 0, round: 0 };
const TWO: Epoch = Epoch { term: 2, round: 0 };
const _: () = assert!(size_of::<Event<Node>>() <= 48);

fn setup(mode: Mode) -> Setup {
    let lease = Ticks::units(50);
    let retransmit = Ticks::units(25);
    let ballot = Ballot::Majority;
    let notice = Ticks::units(10);
    let fences = FenceLayout::default();
    Setup { n: 5, mode, ballot, lease, retransmit, notice, certain: true, fences }
}

fn node(me: u32) -> Node {
    Node::new(NodeId(me), setup(Mode::Strict))
}

fn token(epoch: Epoch, hop: u64, entries: u32) -> Message {
    Message::Token(Token { epoch, hop, entries })
}

fn ack(epoch: Epoch, hop: u64) -> Message {
    Message::TokenAck { epoch, hop }
}

fn suspect(node: u32) -> Event<Node> {
    Event::Indication(Suspect(NodeId(node)))
}

/// What is sent and who enters; timers have tests of their own.
fn seen(effects: Vec<Effect<Node>>) -> Vec<Effect<Node>> {
    let timer =
        |effect: &Effect<Node>| matches!(effect, Effect::SetTimer { .. } | Effect::CancelTimer(_));
    effects.into_iter().filter(|effect| !timer(effect)).collect()
}

#[test]
fn the_first_token_waits_a_tick_for_whoever_asks_at_the_start() {
    let mut first = node(0);
    let rests = Effect::SetTimer { timer: Timer::Departure, after: Delay::exactly(Ticks(1)) };
    assert_eq!(run(&mut first, Event::Start), [rests]);
    let entered = Effect::Indicate(Indication::Entered { fence: 1 });
    assert_eq!(seen(run(&mut first, ACQUIRE)), [entered]);
    assert_eq!(seen(run(&mut first, RELEASE)), [send(1, token(ZERO, 1, 1))]);
    assert_eq!(run(&mut node(0), Event::Restart), []);
}

#[test]
fn an_unwanted_token_stays_as_long_as_it_should_and_can_be_used_meanwhile() {
    let hold = Ticks::units(5);
    let mut middle = node(1).holding(hold);
    let rests = Effect::SetTimer { timer: Timer::Departure, after: Delay::exactly(hold) };
    let arrives = message(0, token(ZERO, 1, 0));
    assert_eq!(run(&mut middle, arrives.clone()), [send(0, ack(ZERO, 1)), rests]);
    let mut used = middle.clone();
    assert_eq!(run(&mut middle, Event::Timer(Timer::Departure))[0], send(2, token(ZERO, 2, 0)));
    let effects = run(&mut used, ACQUIRE);
    assert_eq!(effects[0], Effect::CancelTimer(Timer::Departure));
    assert!(effects.contains(&Effect::Indicate(Indication::Entered { fence: 1 })));
}

#[test]
fn a_token_is_acknowledged_and_sent_again_until_it_is() {
    let mut middle = node(1);
    let hands_on = [send(0, ack(ZERO, 1)), send(2, token(ZERO, 2, 0))];
    assert_eq!(seen(run(&mut middle, message(0, token(ZERO, 1, 0)))), hands_on);
    assert_eq!(seen(run(&mut middle, Event::Timer(Timer::Retry))), hands_on[1..]);
    run(&mut middle, message(2, ack(ZERO, 2)));
    assert_eq!(run(&mut middle, Event::Timer(Timer::Retry)), []);
}

#[test]
fn a_second_copy_and_a_replaced_token_die_where_they_arrive() {
    let mut middle = node(1);
    run(&mut middle, message(0, token(ZERO, 1, 0)));
    run(&mut middle, ACQUIRE);
    assert_eq!(run(&mut middle, message(0, token(ZERO, 1, 0))), [send(0, ack(ZERO, 1))]);
    run(&mut middle, message(4, Message::Freeze { epoch: TWO }));
    let fenced = send(0, Message::Fenced { epoch: TWO });
    assert_eq!(run(&mut middle, message(0, token(ZERO, 6, 0))), [send(0, ack(ZERO, 6)), fenced]);
}

#[test]
fn a_dead_successor_is_skipped_only_before_the_token_is_sent() {
    let mut first = node(1);
    run(&mut first, suspect(2));
    let skips = [send(0, ack(ZERO, 1)), send(3, token(ZERO, 2, 0))];
    assert_eq!(seen(run(&mut first, message(0, token(ZERO, 1, 0)))), skips);
    run(&mut first, Event::Indication(Elected { leader: NodeId(4), term: 1 }));
    let lost = send(4, Message::Probe { epoch: ZERO });
    assert_eq!(seen(run(&mut first, suspect(3))), [lost]);
}

/// Node 4 leads in term 2 and has been told that the token is lost; node 3 has crashed.
fn leader(mode: Mode) -> Node {
    let mut leader = Node::new(NodeId(4), setup(mode));
    run(&mut leader, Event::Indication(Elected { leader: NodeId(4), term: 2 }));
    run(&mut leader, suspect(3));
    let freeze = Message::Freeze { epoch: TWO };
    let effects = seen(run(&mut leader, message(0, Message::Probe { epoch: ZERO })));
    assert_eq!(effects, [0, 1, 2, 3].map(|to| send(to, freeze)));
    leader
}

fn answer(from: u32, inside: bool, fence: u64) -> Event<Node> {
    message(from, Message::FreezeAck { epoch: TWO, inside, fence })
}

#[test]
fn when_everybody_has_answered_the_leader_makes_a_new_token() {
    let mut leader = leader(Mode::Strict);
    assert_eq!(seen(run(&mut leader, answer(0, false, 3))), []);
    assert_eq!(seen(run(&mut leader, answer(1, false, 3))), []);
    assert_eq!(seen(run(&mut leader, answer(2, false, 3))), [send(0, token(TWO, 2, 4096))]);
}

#[test]
fn who_is_inside_gets_the_new_token_in_place_of_its_own() {
    let mut leader = leader(Mode::Strict);
    run(&mut leader, answer(0, false, 3));
    run(&mut leader, answer(1, true, 4));
    let restamp = token(TWO, 1, 4096);
    assert_eq!(seen(run(&mut leader, answer(2, false, 3))), [send(1, restamp)]);
    let mut holder = node(1);
    run(&mut holder, ACQUIRE);
    run(&mut holder, message(0, token(ZERO, 1, 3)));
    let inside = Message::FreezeAck { epoch: TWO, inside: true, fence: 4 };
    let freeze = message(4, Message::Freeze { epoch: TWO });
    assert_eq!(run(&mut holder, freeze), [send(4, inside)]);
    let mut early = holder.clone();
    assert_eq!(run(&mut holder, message(4, restamp)), [send(4, ack(TWO, 1))]);
    assert_eq!(seen(run(&mut holder, RELEASE)), [send(2, token(TWO, 2, 4096))]);
    assert_eq!(seen(run(&mut early, RELEASE)), [], "the old token is void at the exit");
}

#[test]
fn the_mode_says_how_long_the_silent_are_waited_for() {
    let made = send(0, token(TWO, 2, 4096));
    for mode in [Mode::Strict, Mode::Fence, Mode::Lease] {
        let mut leader = leader(mode);
        run(&mut leader, answer(0, false, 0));
        run(&mut leader, answer(1, false, 0));
        let after_round = seen(run(&mut leader, Event::Timer(Timer::Round)));
        assert_eq!(after_round.contains(&made), mode == Mode::Fence, "{mode:?}");
        let last = match mode {
            Mode::Strict => seen(run(&mut leader, suspect(2))),
            Mode::Lease => seen(run(&mut leader, Event::Timer(Timer::Lease))),
            Mode::Fence => continue,
        };
        assert_eq!(last, slice::from_ref(&made), "{mode:?}");
    }
}

#[test]
fn a_freeze_of_an_older_epoch_is_stale_and_the_leader_tries_a_later_round() {
    let mut middle = node(1);
    run(&mut middle, message(4, Message::Freeze { epoch: TWO }));
    let stale = send(0, Message::Stale { epoch: TWO });
    assert_eq!(run(&mut middle, message(0, Message::Freeze { epoch: ZERO })), [stale]);
    let mut leader = leader(Mode::Strict);
    let effects =
        run(&mut leader, message(1, Message::Stale { epoch: Epoch { term: 2, round: 3 } }));
    let again = Message::Freeze { epoch: Epoch { term: 2, round: 4 } };
    assert_eq!(seen(effects), [0, 1, 2, 3].map(|to| send(to, again)));
}

#[test]
fn a_leader_never_makes_the_token_of_an_epoch_that_is_not_its_own() {
    let three = Epoch { term: 3, round: 0 };
    let epoch = three;
    for said in [Message::Fenced { epoch }, Message::Probe { epoch }, token(three, 1, 4096)] {
        let mut leader = leader(Mode::Strict);
        run(&mut leader, answer(0, false, 3));
        run(&mut leader, answer(1, false, 3));
        run(&mut leader, message(1, said));
        assert_eq!(seen(run(&mut leader, suspect(2))), [], "after {said:?}");
    }
}

#[test]
fn who_cannot_reach_a_majority_destroys_its_token() {
    let mut first = node(0);
    run(&mut first, Event::Start);
    for other in 1..4 {
        run(&mut first, suspect(other));
    }
    assert_eq!(seen(run(&mut first, ACQUIRE)), []);
}

#[test]
fn a_token_accepted_before_a_crash_is_not_accepted_again() {
    let mut middle = node(1);
    run(&mut middle, message(0, token(ZERO, 1, 0)));
    let Recovery::State(mut middle) = middle.after_crash() else { panic!("kept nothing") };
    run(&mut middle, Event::Restart);
    assert_eq!(run(&mut middle, message(0, token(ZERO, 1, 0))), [send(0, ack(ZERO, 1))]);
}

/// A token skips 4,096 fences when it is made, so no smaller field has room for two.
const SMALL: u32 = 13;
const LAST: u32 = (1 << SMALL) - 1;

fn small(me: u32, ballot: Ballot) -> Node {
    let fences = FenceLayout::new(SMALL);
    Node::new(NodeId(me), Setup { ballot, fences, ..setup(Mode::Strict) })
}

#[test]
fn a_token_that_has_used_up_its_term_lets_in_nobody_and_is_reported_lost() {
    let mut middle = small(1, Ballot::Majority);
    run(&mut middle, ACQUIRE);
    let mut last = middle.clone();
    let entered = Effect::Indicate(Indication::Entered { fence: LAST.into() });
    let arrives = |entries| message(0, token(ZERO, 1, entries));
    assert_eq!(seen(run(&mut last, arrives(LAST - 1))), [send(0, ack(ZERO, 1)), entered]);
    let lost = send(4, Message::Probe { epoch: ZERO });
    assert_eq!(seen(run(&mut middle, arrives(LAST))), [send(0, ack(ZERO, 1)), lost]);
    assert!(middle.token.is_none());
}

/// Node 4 leads in term 2 and makes a new token. The last fence of `term` is known to node 2.
fn replaces(ballot: Ballot, epoch: Epoch, term: u64) -> (Node, Vec<Effect<Node>>) {
    let mut leader = small(4, ballot);
    run(&mut leader, Event::Indication(Elected { leader: NodeId(4), term: 2 }));
    run(&mut leader, message(0, Message::Probe { epoch: ZERO }));
    let fence = (term << SMALL) + u64::from(LAST);
    let answer = |fence| Message::FreezeAck { epoch, inside: false, fence };
    let answers = [(0, 0), (1, 0), (2, fence), (3, 0)];
    let effects = answers.map(|(from, fence)| seen(run(&mut leader, message(from, answer(fence)))));
    (leader, effects.concat())
}

#[test]
fn a_leader_without_fences_for_a_token_makes_it_in_a_new_term() {
    let (mut leader, effects) = replaces(Ballot::Majority, TWO, 2);
    assert_eq!(effects, [Effect::Request(election::Request::Campaign)]);
    run(&mut leader, Event::Indication(Elected { leader: NodeId(4), term: 3 }));
    let three = Epoch { term: 3, round: 0 };
    let freeze = Message::Freeze { epoch: three };
    let effects = seen(run(&mut leader, message(0, Message::Probe { epoch: TWO })));
    assert_eq!(effects, [0, 1, 2, 3].map(|to| send(to, freeze)));
    let answer = Message::FreezeAck { epoch: three, inside: false, fence: 0 };
    let made = (0..4).flat_map(|from| seen(run(&mut leader, message(from, answer))));
    assert_eq!(made.collect::<Vec<_>>(), [send(0, token(three, 2, 4096))]);
}

#[test]
fn without_a_majority_every_new_token_is_of_a_new_term() {
    let nine = Epoch { term: 9, round: 0 };
    let (_, effects) = replaces(Ballot::Own, nine, 0);
    assert_eq!(effects, [send(0, token(nine, 2, 4096))]);
}

#[test]
fn alone_a_node_that_lost_its_token_gets_another() {
    let setup = Setup { n: 1, ..setup(Mode::Lease) };
    let Recovery::State(mut alone) = Node::new(NodeId(0), setup).after_crash() else {
        panic!("kept nothing")
    };
    run(&mut alone, Event::Restart);
    run(&mut alone, Event::Indication(Elected { leader: NodeId(0), term: 2 }));
    assert_eq!(seen(run(&mut alone, ACQUIRE)), []);
    let fence = (2 << 26) + 4097;
    let entered = Effect::Indicate(Indication::Entered { fence });
    assert_eq!(seen(run(&mut alone, Event::Timer(Timer::Loss))), [entered]);
}

#[test]
fn only_the_acknowledgement_of_the_last_token_ends_its_repetition() {
    let mut middle = node(1);
    run(&mut middle, message(0, token(ZERO, 1, 0)));
    let stops = [Effect::CancelTimer(Timer::Retry)];
    assert_eq!(run(&mut middle, message(2, ack(ZERO, 1))), [], "of another hop");
    assert_eq!(run(&mut middle, message(3, ack(ZERO, 2))), [], "of another node");
    assert_eq!(run(&mut middle, message(2, ack(ZERO, 2))), stops);
    assert_eq!(run(&mut middle, message(2, ack(ZERO, 2))), [], "a copy");
}

#[test]
fn who_reaches_too_few_stops_and_keeps_a_token_only_to_the_end_of_its_visit() {
    let cut_off = |asks: bool| {
        let mut middle = node(1).holding(Ticks::units(5));
        if asks {
            run(&mut middle, ACQUIRE);
        }
        run(&mut middle, message(0, token(ZERO, 1, 0)));
        run(&mut middle, suspect(0));
        run(&mut middle, suspect(2));
        let stops = run(&mut middle, suspect(3));
        for timer in [Timer::Retry, Timer::Round, Timer::Lease] {
            assert!(stops.contains(&Effect::CancelTimer(timer)), "{timer:?}");
        }
        middle.token.is_some()
    };
    assert!(cut_off(true), "it is inside");
    assert!(!cut_off(false));
}

#[test]
fn what_hardly_any_run_shows_has_a_reason_too() {
    let mut middle = small(1, Ballot::Majority);
    run(&mut middle, suspect(3));
    assert_eq!(codes(&mut middle, suspect(3)), ["suspected-before"]);
    let elected = Event::Indication(Elected { leader: NodeId(2), term: u64::MAX });
    assert_eq!(codes(&mut middle, elected), ["term-too-large"]);
    run(&mut middle, ACQUIRE);
    let told = codes(&mut middle, message(0, token(ZERO, 1, LAST)));
    assert!(told.contains(&"used-up"), "{told:?}");
}
