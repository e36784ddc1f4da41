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
    assert_eq!(bench.asked("x"), [Asked::Acquire]);
    bench
}

fn holds(bench: &mut Bench) -> bool {
    let name = "x".to_string();
    bench.show(|reply| Question::Verify { name, fence: 7, reply }).expect("an answer").valid
}

fn lose(bench: &mut Bench, peer: u32) {
    bench.tell("detector", Told::Suspect(NodeId(peer)));
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
    assert_eq!(bench.asked("x"), [Asked::Release]);
    assert_eq!(code(bench.release("x", "a", 7)), "not_holder");
}

#[test]
fn a_hold_is_lost_when_the_node_was_stopped_for_half_a_lease() {
    let mut bench = leased(Some(Ticks::units(3_000)));
    bench.stall(1_400);
    assert!(holds(&mut bench));
    bench.hands.now = bench.hands.now + Ticks::units(1_600);
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
