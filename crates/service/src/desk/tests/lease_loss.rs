//! Holds that lapse when the node is out of touch.

use super::*;

fn leased(lease: Option<Ticks>) -> Bench {
    let config = DeskConfig { lease, ..config() };
    let mut bench = Bench::with(config, Survival::Returns, Vec::new(), &[]);
    bench.session_for("a", 60_000);
    let mut answer = bench.acquire("x", "a", 600_000);
    bench.enter("x", 7);
    granted(&mut answer);
    assert!(holds(&mut bench));
    assert_eq!(bench.asked("x"), [AnyRequest::Acquire]);
    bench
}

fn holds(bench: &mut Bench) -> bool {
    let name = "x".to_string();
    bench
        .show(|reply| Question::Verify { name, request: verify(7), reply })
        .expect("an answer")
        .valid
}

fn lose(bench: &mut Bench, peer: u32) {
    bench.tell("detector", AnyIndication::Suspect(NodeId(peer)));
}

/// Node 1 of three, out of touch with the others; `a` holds `x` with fence 7.
fn cut_off() -> Bench {
    let mut bench = leased(Some(Ticks::units(3_000)));
    [1, 2].into_iter().for_each(|peer| lose(&mut bench, peer));
    bench.pass(300);
    bench
}

fn keep_alive(bench: &mut Bench) -> Answer<api::Session> {
    bench.now(|reply| Command::KeepAlive {
        session: "a".to_string(),
        request: Default::default(),
        reply,
    })
}

#[test]
fn a_hold_is_lost_when_a_majority_is_out_of_touch() {
    let mut bench = leased(Some(Ticks::units(3_000)));
    lose(&mut bench, 1);
    bench.pass(60_000 / 4);
    assert!(holds(&mut bench), "two of three go on");
    lose(&mut bench, 2);
    bench.pass(300);
    assert!(!holds(&mut bench), "the other two may go on without this one");
    assert!(bench.events().contains(&"lost".to_string()));
}

#[test]
fn who_has_lost_it_is_inside_until_it_leaves() {
    let mut bench = cut_off();
    bench.session_for("b", 60_000);
    let mut next = bench.acquire("x", "b", 600_000);
    assert_eq!(bench.asked("x"), [], "it may not have heard of it yet");
    assert_eq!(code(granted_again(&mut bench)), "unavailable");
    bench.release("x", "a", 7).expect("it leaves");
    assert_eq!(bench.asked("x"), [AnyRequest::Release]);
    assert!(waits(&mut next));
}

fn granted_again(bench: &mut Bench) -> Answer<api::Grant> {
    bench.acquire("x", "a", 0).try_recv().expect("at once")
}

#[test]
fn who_has_lost_it_gets_no_more_time_and_leaves_when_it_ends() {
    let mut bench = cut_off();
    let left = keep_alive(&mut bench).expect("not over yet").ttl_ms;
    assert!(left < 60_000, "{left}");
    bench.pass(left / 2);
    assert_eq!(keep_alive(&mut bench).expect("not over yet").ttl_ms, left - left / 2);
    bench.tell("detector", AnyIndication::Trust(NodeId(1)));
    bench.pass(left / 2 + 1);
    assert_eq!(code(keep_alive(&mut bench)), "no_session");
    assert_eq!(bench.asked("x"), [AnyRequest::Release]);
}

#[test]
fn a_session_that_gave_back_what_it_lost_lives_on() {
    let mut bench = cut_off();
    bench.release("x", "a", 7).expect("it leaves");
    bench.tell("election", AnyIndication::Elected { leader: NodeId(0), term: 2 });
    assert_eq!(keep_alive(&mut bench).expect("alive").ttl_ms, 60_000);
}

#[test]
fn a_node_that_is_out_of_touch_lends_nothing() {
    let mut bench = cut_off();
    bench.session_for("b", 60_000);
    let mut wants = bench.acquire("y", "b", 600_000);
    assert_eq!(bench.asked("y"), [], "it could not be kept");
    assert_eq!(bench.lock("y").state, "waiting");
    assert!(bench.lock("y").blocked_on.is_some());
    bench.tell("detector", AnyIndication::Trust(NodeId(1)));
    assert_eq!(bench.asked("y"), [AnyRequest::Acquire]);
    lose(&mut bench, 1);
    bench.enter("y", 9);
    assert!(waits(&mut wants), "in between it was cut off again");
    assert_eq!(bench.asked("y"), [AnyRequest::Release]);
    bench.tell("detector", AnyIndication::Trust(NodeId(1)));
    assert_eq!(bench.asked("y"), [AnyRequest::Acquire]);
    bench.enter("y", 10);
    assert_eq!(granted(&mut wants).fence, 10);
}

#[test]
fn a_hold_is_lost_when_the_node_was_stopped_for_half_a_lease() {
    let mut bench = leased(Some(Ticks::units(3_000)));
    bench.stall(1_400);
    assert!(holds(&mut bench));
    bench.host.now = bench.host.now + Ticks::units(1_600);
    assert!(!holds(&mut bench), "whoever asks first after it is told so");
}

#[test]
fn without_leases_a_hold_waits_for_its_holder() {
    let mut bench = leased(None);
    [1, 2].into_iter().for_each(|peer| lose(&mut bench, peer));
    bench.pass(2_000);
    bench.stall(30_000);
    assert!(holds(&mut bench));
}

#[test]
fn a_node_that_was_stopped_lends_nothing_until_it_would_have_noticed_that_it_is_cut_off() {
    let mut bench = leased(Some(Ticks::units(60_000)));
    bench.pass(250);
    bench.stall(2_000);
    bench.session_for("b", 60_000);
    let mut wants = bench.acquire("y", "b", 600_000);
    assert_eq!(bench.asked("y"), []);
    bench.pass(1_001);
    assert_eq!(bench.asked("y"), [AnyRequest::Acquire]);
    bench.enter("y", 9);
    assert_eq!(granted(&mut wants).fence, 9);
    assert!(holds(&mut bench), "the stop was too short to lose anything");
}

#[test]
fn a_node_with_nothing_to_do_was_not_stopped() {
    let mut bench = leased(None);
    bench.release("x", "a", 7).expect("held");
    bench.now(|reply| Command::CloseSession { session: "a".to_string(), reply }).expect("there");
    bench.host.now = bench.host.now + Ticks::units(60_000);
    bench.session("b");
    assert_eq!(bench.asked("x"), [AnyRequest::Release]);
    let _wants = bench.acquire("x", "b", 1_000);
    assert_eq!(bench.asked("x"), [AnyRequest::Acquire]);
}

#[test]
fn whoever_repeats_a_request_is_not_told_of_a_grant_that_is_lost() {
    let config = DeskConfig { lease: Some(Ticks::units(3_000)), ..config() };
    let mut bench = Bench::with(config, Survival::Returns, Vec::new(), &[]);
    bench.session_for("a", 60_000);
    let mut unheard = bench.acquire_as("x", acquire("a", 600_000, Some("r")));
    bench.enter("x", 7);
    granted(&mut unheard);
    [1, 2].into_iter().for_each(|peer| lose(&mut bench, peer));
    bench.pass(300);
    let again = granted(&mut bench.acquire_as("x", acquire("a", 600_000, Some("r"))));
    assert!(again.released);
    assert_eq!(bench.asked("x"), [AnyRequest::Acquire, AnyRequest::Release]);
}
