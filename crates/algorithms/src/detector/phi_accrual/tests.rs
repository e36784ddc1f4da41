use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{codes, message, run, send, why};

const PEER: NodeId = NodeId(1);
const SETUP: Setup = Setup {
    n: 2,
    period: Ticks::units(1),
    grace: Ticks::units(10),
    sampling: Ticks(100),
    threshold: 8,
    window: 10,
    min_deviation: Ticks(500),
    variant: Variant::Normal,
};

fn node(setup: Setup) -> PhiAccrual {
    let mut node = PhiAccrual::new(NodeId(0), setup);
    run(&mut node, Event::Start);
    node
}

/// Lets time pass until somebody is suspected; tells after how many samples that was.
fn patience(node: &mut PhiAccrual, samples_max: u32) -> Option<u32> {
    (1..=samples_max).find(|_| {
        let effects = run(node, Event::Timer(Timer::Sample));
        effects.contains(&Effect::Indicate(Indication::Suspect(PEER)))
    })
}

/// Hears heartbeats with these gaps, in samples, after a first one.
fn hear(node: &mut PhiAccrual, gaps: &[u32]) {
    let beat = |node: &mut PhiAccrual| {
        let number = node.now + 1; // At most one per sample, so this rises.
        run(node, message(1, Message::Heartbeat { number, seen: 0 }))
    };
    beat(node);
    for &gap in gaps {
        assert_eq!(patience(node, gap), None, "none of these gaps is suspicious");
        beat(node);
    }
}

#[test]
fn it_begins_with_a_heartbeat_and_a_look() {
    let mut node = PhiAccrual::new(NodeId(0), SETUP);
    let after = |ticks| Delay::exactly(Ticks(ticks));
    let begun = [
        send(1, Message::Heartbeat { number: 1, seen: 0 }),
        Effect::SetTimer { timer: Timer::Beat, after: after(1_000) },
        Effect::SetTimer { timer: Timer::Sample, after: after(100) },
    ];
    assert_eq!(run(&mut node, Event::Start), begun);
}

#[test]
fn who_was_never_heard_has_a_grace() {
    assert_eq!(patience(&mut node(SETUP), 1_000), Some(100));
}

#[test]
fn regular_heartbeats_make_silence_suspicious_soon() {
    let mut regular = node(SETUP);
    hear(&mut regular, &[10; 20]);
    // Phi exceeds 8 at 5.612 deviations: 10 + 5.612 * 5 = 38.06.
    assert_eq!(patience(&mut regular, 1_000), Some(39));
    let mut irregular = node(SETUP);
    hear(&mut irregular, &[1, 19].repeat(10));
    // The deviation is 9: 10 + 5.612 * 9 = 60.5.
    assert_eq!(patience(&mut irregular, 1_000), Some(61));
}

#[test]
fn only_the_last_gaps_count() {
    let mut node = node(SETUP);
    hear(&mut node, &[40, 1, 40, 1]);
    let before = node.arrivals[1].deviation(&SETUP);
    hear(&mut node, &[10; 10]); // The first of these is the last of those, repeated.
    let arrivals = &node.arrivals[1];
    assert_eq!((arrivals.gaps.len(), arrivals.sum, arrivals.sum_of_squares), (10, 100, 1_000));
    assert!(before > 10.0);
    assert_eq!(arrivals.deviation(&SETUP), 5.0, "not less than is allowed");
}

#[test]
fn the_exponential_variant_looks_at_the_mean_alone() {
    let mut node = node(Setup { variant: Variant::Exponential, ..SETUP });
    hear(&mut node, &[10; 20]);
    assert_eq!(patience(&mut node, 1_000), Some(185)); // 8 * 10 * ln 10 = 184.2.
}

#[test]
fn a_heartbeat_of_a_suspect_is_forgiven_and_remembered_as_a_long_gap() {
    let mut node = node(SETUP);
    hear(&mut node, &[10; 20]);
    assert_eq!(patience(&mut node, 1_000), Some(39));
    assert_eq!(patience(&mut node, 20), None, "suspected once");
    let effects = run(&mut node, message(1, Message::Heartbeat { number: 999, seen: 0 }));
    assert_eq!(effects, [Effect::Indicate(Indication::Trust(PEER))]);
    assert_eq!(node.arrivals[1].gaps.back(), Some(&59));
    let again = run(&mut node, message(1, Message::Heartbeat { number: 999, seen: 0 }));
    assert_eq!(again, [], "a repeated heartbeat is no sign of life");
}

#[test]
fn the_first_heartbeats_are_not_taken_for_the_whole_truth() {
    let mut node = node(SETUP);
    hear(&mut node, &[]);
    // Two gaps, 0 and 20: 10 + 5.612 * 10 = 66.1.
    assert_eq!(patience(&mut node, 1_000), Some(67));
}

#[test]
fn a_restart_begins_with_an_empty_window() {
    let mut node = node(SETUP);
    hear(&mut node, &[10; 20]);
    run(&mut node, Event::Restart);
    let fresh = PhiAccrual::new(NodeId(0), SETUP);
    assert_eq!(node.arrivals, fresh.arrivals);
    assert_eq!(node.after_crash(), Recovery::State(fresh));
}

#[test]
fn gaps_beyond_measure_do_not_overflow() {
    let mut arrivals = Arrivals::expecting(&SETUP);
    for _ in 0..20_000 {
        arrivals.remember(u64::MAX, 10_000);
    }
    assert_eq!(arrivals.sum, GAP_MAX * 10_000);
    assert!(!arrivals.is_overdue(1, &Setup { grace: Ticks(1_000), ..SETUP }));
}

#[test]
fn alone_it_does_nothing() {
    let mut alone = PhiAccrual::new(NodeId(0), Setup { n: 1, ..SETUP });
    assert_eq!(run(&mut alone, Event::Start), []);
}

#[test]
fn a_suspicion_tells_how_suspicious_the_silence_was() {
    let beat = |number| message(1, Message::Heartbeat { number, seen: 0 });
    let mut regular = node(SETUP);
    assert_eq!(codes(&mut regular, beat(1)), ["first-heard"]);
    assert_eq!(codes(&mut regular, Event::Timer(Timer::Sample)), ["sampled"]);
    assert_eq!(codes(&mut regular, beat(2)), ["remembers"]);
    let told = (0..1_000).find_map(|_| {
        let reasons = why(&mut regular, Event::Timer(Timer::Sample));
        let accused = reasons.into_iter().find(|reason| reason.why.code == "too-silent");
        accused.map(|reason| reason.fill(reason.why.english))
    });
    let told = told.expect("phi rises without end");
    // Gaps of 0, 20 (expected, both) and 1: mean 7, deviation 9.2, and 7 + 5.612 * 9.2 = 58.6.
    assert!(told.starts_with("{1} has been silent for 59 samples; phi is 8."), "{told}");
    assert_eq!(codes(&mut regular, beat(3)), ["remembers", "trusts"]);
    let mut unheard = node(SETUP);
    let silent = (0..1_000).map(|_| codes(&mut unheard, Event::Timer(Timer::Sample)));
    assert!(silent.into_iter().any(|codes| codes == ["never-heard", "sampled"]));
}
