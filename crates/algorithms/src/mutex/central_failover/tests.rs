use super::*;
use conclave_core::election::Indication::{Deposed, Elected, Suspect, Trust};
use conclave_core::mutex::Indication;
use conclave_core::testkit::{act, codes, message, run, send};
use conclave_core::{Effect, FenceLayout, Ticks};
use std::slice;

type Node = CentralFailover;
const ACQUIRE: Event<Node> = Event::Request(Request::Acquire);
const RELEASE: Event<Node> = Event::Request(Request::Release);
const CANCEL: Event<Node> = Event::Request(Request::Cancel);
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

fn node(me: u32, mode: Mode) -> Node {
    Node::new(NodeId(me), setup(mode))
}

fn elected(leader: u32, term: u64) -> Event<Node> {
    Event::Indication(Elected { leader: NodeId(leader), term })
}

fn suspect(node: u32) -> Event<Node> {
    Event::Indication(Suspect(NodeId(node)))
}

fn state(seq: u32, status: Status, number: u64) -> Message {
    Message::State { epoch: TWO, seq, beat: 0, status, number }
}

fn request(seq: u32) -> Message {
    Message::Request { epoch: ZERO, seq, beat: 0 }
}

/// A fence of term 2.
fn of_two(counter: u32) -> u64 {
    setup(Mode::Lease).fence(TWO, counter).expect("room")
}

/// Only what is sent; timers have tests of their own.
fn sent(effects: Vec<Effect<Node>>) -> Vec<Effect<Node>> {
    effects.into_iter().filter(|effect| matches!(effect, Effect::Send { .. })).collect()
}

/// Node 3 has been elected after node 4, and everybody else is asked.
fn new_coordinator(mode: Mode) -> Node {
    let mut leader = node(3, mode);
    run(&mut leader, suspect(4));
    run(&mut leader, elected(3, 2));
    leader
}

#[test]
fn the_last_node_coordinates_from_the_start_and_its_election_changes_nothing() {
    let mut last = node(4, Mode::Lease);
    assert_eq!(run(&mut last, elected(4, 1)), []);
    let grant = Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence: 1 };
    assert_eq!(sent(run(&mut last, message(0, request(1)))), [send(0, grant)]);
    let queued = Message::Queued { epoch: ZERO, seq: 1, ticket: 2 };
    assert_eq!(sent(run(&mut last, message(1, request(1)))), [send(1, queued)]);
    let next = Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence: 2 };
    let release = Message::Release { epoch: ZERO, seq: 1 };
    assert_eq!(sent(run(&mut last, message(0, release))), [send(1, next)]);
}

#[test]
fn a_new_leader_asks_everybody_and_keeps_holder_and_line() {
    let mut leader = node(3, Mode::Strict);
    run(&mut leader, suspect(4));
    let ask = Message::NewCoord { epoch: TWO, known: 0, over: 0 };
    assert_eq!(sent(run(&mut leader, elected(3, 2))), [0, 1, 2, 4].map(|to| send(to, ask)));
    let reports = [(0, Status::Waiting, 3), (1, Status::Inside, 1), (2, Status::Waiting, 2)];
    for (from, status, number) in reports {
        assert_eq!(sent(run(&mut leader, message(from, state(1, status, number)))), []);
    }
    let release = |from| message(from, Message::Release { epoch: TWO, seq: 1 });
    let grant = |counter| Message::Grant { epoch: TWO, seq: 1, beat: 0, fence: of_two(counter) };
    assert_eq!(sent(run(&mut leader, release(1))), [send(2, grant(1))]);
    assert_eq!(sent(run(&mut leader, release(2))), [send(0, grant(2))]);
}

#[test]
fn of_two_holders_the_one_with_the_smaller_fence_is_revoked() {
    let mut leader = new_coordinator(Mode::Strict);
    run(&mut leader, message(0, state(1, Status::Inside, 7)));
    let revoke = Message::Revoke { epoch: TWO, fence: 7 };
    let effects = run(&mut leader, message(1, state(1, Status::Inside, 8)));
    assert_eq!(sent(effects), [send(0, revoke)]);
}

/// Nodes 0 and 1 report, node 2 is silent, node 4 has crashed; node 0 waits.
fn with_a_silent_node(mode: Mode) -> Node {
    let mut leader = new_coordinator(mode);
    assert_eq!(sent(run(&mut leader, message(0, state(1, Status::Waiting, u64::MAX)))), []);
    assert_eq!(sent(run(&mut leader, message(1, state(0, Status::Idle, 0)))), []);
    leader
}

#[test]
fn the_mode_says_how_long_the_silent_are_waited_for() {
    let grant = send(0, Message::Grant { epoch: TWO, seq: 1, beat: 0, fence: of_two(1) });
    let again = send(2, Message::NewCoord { epoch: TWO, known: 0, over: 0 });
    let round = || Event::Timer(Timer::Round);
    let mut strict = with_a_silent_node(Mode::Strict);
    assert_eq!(sent(run(&mut strict, round())), slice::from_ref(&again));
    assert_eq!(sent(run(&mut strict, suspect(2))), slice::from_ref(&grant));
    let mut fence = with_a_silent_node(Mode::Fence);
    assert_eq!(sent(run(&mut fence, round())), [again.clone(), grant.clone()]);
    let mut lease = with_a_silent_node(Mode::Lease);
    assert_eq!(sent(run(&mut lease, round())), [again]);
    assert_eq!(sent(run(&mut lease, Event::Timer(Timer::Lease))), [grant]);
}

#[test]
fn a_grant_of_an_older_epoch_lets_nobody_in() {
    let mut client = node(0, Mode::Strict);
    run(&mut client, ACQUIRE);
    let ask = message(3, Message::NewCoord { epoch: TWO, known: 0, over: 0 });
    let report =
        Message::State { epoch: TWO, seq: 1, beat: 1, status: Status::Waiting, number: u64::MAX };
    assert_eq!(sent(run(&mut client, ask)), [send(3, report)]);
    let late = Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence: 1 };
    assert_eq!(run(&mut client, message(4, late)), []);
    let old = message(4, Message::NewCoord { epoch: ZERO, known: 0, over: 0 });
    assert_eq!(run(&mut client, old), [send(4, Message::Stale { epoch: TWO })]);
}

#[test]
fn a_leader_that_hears_of_a_greater_epoch_steps_down() {
    let mut last = node(4, Mode::Strict);
    run(&mut last, message(0, request(1)));
    run(&mut last, message(1, Message::Stale { epoch: TWO }));
    assert_eq!(sent(run(&mut last, message(0, request(1)))), []);
}

#[test]
fn who_is_deposed_grants_nothing_until_it_is_elected_and_has_asked_anew() {
    let mut last = node(4, Mode::Lease);
    run(&mut last, Event::Indication(Deposed { term: 1 }));
    assert_eq!(run(&mut last, message(3, request(1))), []);
    assert_eq!(run(&mut last, message(3, Message::Join { epoch: ZERO })), []);
    let ask = Message::NewCoord { epoch: TWO, known: 0, over: 0 };
    assert_eq!(sent(run(&mut last, elected(4, 2))), [0, 1, 2, 3].map(|to| send(to, ask)));
}

#[test]
fn a_grant_that_answers_an_old_beat_must_be_confirmed() {
    let mut client = node(0, Mode::Lease);
    run(&mut client, ACQUIRE);
    for _ in 0..2 {
        run(&mut client, Event::Timer(Timer::Beat));
    }
    let grant = |beat| message(4, Message::Grant { epoch: ZERO, seq: 1, beat, fence: 1 });
    let confirm = Message::Keepalive { epoch: ZERO, seq: 1, beat: 2 };
    assert_eq!(run(&mut client, grant(0)), [send(4, confirm)]);
    let entered = Effect::Indicate(Indication::Entered { fence: 1 });
    assert_eq!(run(&mut client, grant(1)), [send(4, confirm)]);
    assert_eq!(run(&mut client, grant(2)), [Effect::CancelTimer(Timer::Beat), entered]);
}

#[test]
fn a_suspected_holder_is_freed_at_once_or_after_its_lease() {
    let grant = send(1, Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence: 2 });
    for mode in [Mode::Strict, Mode::Fence, Mode::Lease] {
        let mut last = node(4, mode);
        run(&mut last, message(0, request(1)));
        run(&mut last, message(1, request(1)));
        let mut effects = sent(run(&mut last, suspect(0)));
        if mode == Mode::Lease {
            assert_eq!(effects, []);
            effects = sent(run(&mut last, Event::Timer(Timer::Lease)));
        }
        assert_eq!(effects, slice::from_ref(&grant), "{mode:?}");
    }
}

#[test]
fn a_ping_finds_out_what_was_lost() {
    let mut client = node(0, Mode::Strict);
    let ping = || message(4, Message::Ping { epoch: ZERO, seq: 1 });
    run(&mut client, ACQUIRE);
    let waits = Message::Keepalive { epoch: ZERO, seq: 1, beat: 0 };
    assert_eq!(run(&mut client, ping()), [send(4, waits)]);
    run(&mut client, message(4, Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence: 1 }));
    assert_eq!(run(&mut client, ping()), [send(4, Message::Pong { epoch: ZERO, seq: 1 })]);
    let release = send(4, Message::Release { epoch: ZERO, seq: 1 });
    assert_eq!(run(&mut client, RELEASE), slice::from_ref(&release));
    assert_eq!(run(&mut client, ping()), [release]);
}

#[test]
fn a_grant_that_crossed_a_cancel_is_handed_back() {
    let mut client = node(0, Mode::Lease);
    run(&mut client, ACQUIRE);
    run(&mut client, CANCEL);
    run(&mut client, ACQUIRE);
    let late = Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence: 1 };
    let back = Message::Release { epoch: ZERO, seq: 1 };
    assert_eq!(run(&mut client, message(4, late)), [send(4, back)]);
}

#[test]
fn who_comes_back_joins_before_it_asks_and_its_old_grant_is_void() {
    let mut client = node(0, Mode::Lease);
    run(&mut client, ACQUIRE);
    let Recovery::State(mut client) = client.after_crash() else { panic!("kept nothing") };
    run(&mut client, Event::Restart);
    assert_eq!(run(&mut client, elected(4, 1))[..1], [send(4, Message::Join { epoch: ZERO })]);
    assert_eq!(sent(run(&mut client, ACQUIRE)), []);
    let old = Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence: 1 };
    let back = Message::Release { epoch: ZERO, seq: 1 };
    assert_eq!(sent(run(&mut client, message(4, old))), [send(4, back)]);
    let known = message(4, Message::NewCoord { epoch: ZERO, known: 1, over: 0 });
    let [Effect::Send { message: Message::State { seq: 2, status, .. }, .. }] =
        sent(run(&mut client, known))[..]
    else {
        panic!("no report");
    };
    assert_eq!(status, Status::Waiting);
}

#[test]
fn the_coordinator_enters_without_a_message() {
    let mut last = node(4, Mode::Lease);
    assert_eq!(sent(act(NodeId(4), &mut last, ACQUIRE)), []);
    assert_eq!(sent(act(NodeId(4), &mut last, RELEASE)), []);
}

/// Node 4 coordinates where a term has three fences; nodes 0, 1 and 2 have entered and left.
fn used_up(ballot: Ballot) -> Node {
    let fences = FenceLayout::new(2);
    let mut last = Node::new(NodeId(4), Setup { ballot, fences, ..setup(Mode::Strict) });
    for client in 0..3 {
        let fence = u64::from(client) + 1;
        let grant = Message::Grant { epoch: ZERO, seq: 1, beat: 0, fence };
        assert_eq!(sent(run(&mut last, message(client, request(1)))), [send(client, grant)]);
        run(&mut last, message(client, Message::Release { epoch: ZERO, seq: 1 }));
    }
    last
}

/// All report to the coordinator of this epoch, and only node 3 waits; what is sent in the end.
fn reported(leader: &mut Node, epoch: Epoch) -> Vec<Effect<Node>> {
    let report = |client| match client {
        3 => (Status::Waiting, u64::MAX),
        _ => (Status::Idle, u64::from(client) + 1),
    };
    let reports = (0..4).map(|client| {
        let (status, number) = report(client);
        sent(run(
            leader,
            message(client, Message::State { epoch, seq: 1, beat: 0, status, number }),
        ))
    });
    reports.last().expect("four reports")
}

#[test]
fn when_its_fences_are_used_up_a_coordinator_lets_in_nobody_before_it_has_a_new_term() {
    let mut last = used_up(Ballot::Majority);
    let asks = Effect::Request(election::Request::Campaign);
    let effects = run(&mut last, message(3, request(1)));
    assert!(effects.contains(&asks) && sent(effects).is_empty());
    assert_eq!(sent(run(&mut last, message(3, request(1)))), []);
    run(&mut last, Event::Indication(Deposed { term: 1 }));
    let ask = Message::NewCoord { epoch: TWO, known: 0, over: 0 };
    assert_eq!(sent(run(&mut last, elected(4, 2))), [0, 1, 2, 3].map(|to| send(to, ask)));
    let grant = Message::Grant { epoch: TWO, seq: 1, beat: 0, fence: (2 << 2) + 1 };
    assert_eq!(reported(&mut last, TWO), [send(3, grant)]);
}

#[test]
fn without_a_majority_the_coordinator_claims_the_new_term_itself() {
    let mut last = used_up(Ballot::Own);
    let epoch = Epoch { term: 9, round: 0 };
    let ask = Message::NewCoord { epoch, known: 0, over: 0 };
    let effects = sent(run(&mut last, message(3, request(1))));
    assert_eq!(effects, [0, 1, 2, 3].map(|to| send(to, ask)));
    let grant = Message::Grant { epoch, seq: 1, beat: 0, fence: (9 << 2) + 1 };
    assert_eq!(reported(&mut last, epoch), [send(3, grant)]);
}

#[test]
fn a_fence_beyond_the_term_uses_it_up() {
    let mut leader = with_a_silent_node(Mode::Strict);
    run(&mut leader, message(2, state(0, Status::Idle, of_two(1) + (1 << 26))));
    assert!(leader.coordinator.is_none(), "it waits for a later term");
    let mut leader = with_a_silent_node(Mode::Strict);
    let grant = send(0, Message::Grant { epoch: TWO, seq: 1, beat: 0, fence: of_two(8) });
    let last = message(2, state(0, Status::Idle, of_two(7)));
    assert_eq!(sent(run(&mut leader, last)), [grant]);
}

#[test]
fn who_knows_its_place_asks_no_more_but_gives_signs_of_life_where_leases_run_out() {
    let next_beat = |mode, queued: bool| {
        let mut client = Node::new(NodeId(0), Setup { lease: Ticks::units(20), ..setup(mode) });
        let mut effects = run(&mut client, ACQUIRE);
        if queued {
            run(&mut client, message(4, Message::Queued { epoch: ZERO, seq: 1, ticket: 2 }));
            effects = run(&mut client, Event::Timer(Timer::Beat));
        }
        effects.iter().find_map(|effect| {
            let Effect::SetTimer { timer: Timer::Beat, after } = effect else { return None };
            Some(after.min)
        })
    };
    assert_eq!(next_beat(Mode::Strict, false), Some(Ticks::units(25)));
    assert_eq!(next_beat(Mode::Strict, true), None);
    assert_eq!(next_beat(Mode::Lease, false), Some(Ticks::units(10)));
    assert_eq!(next_beat(Mode::Lease, true), Some(Ticks::units(10)));
}

#[test]
fn what_hardly_any_run_shows_has_a_reason_too() {
    let mut client = node(1, Mode::Strict);
    run(&mut client, suspect(4));
    assert_eq!(codes(&mut client, suspect(4)), ["suspected-before"]);
    let trust = Event::Indication(Trust(NodeId(2)));
    assert_eq!(codes(&mut client, trust), ["trusted-before"]);
    assert_eq!(codes(&mut client, elected(2, u64::MAX)), ["term-too-large"]);
    let mut last = used_up(Ballot::Majority);
    let told = codes(&mut last, message(3, request(1)));
    assert!(told.contains(&"no-fences"), "{told:?}");
}

#[test]
fn a_leader_that_was_replaced_does_not_coordinate_for_whoever_joins_it() {
    let mut leader = new_coordinator(Mode::Strict);
    let later = Epoch { term: 3, round: 0 };
    run(&mut leader, message(2, Message::NewCoord { epoch: later, known: 0, over: 0 }));
    let told = codes(&mut leader, message(1, Message::Join { epoch: ZERO }));
    assert!(told.contains(&"gives-up"), "{told:?}");
}
