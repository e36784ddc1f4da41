//! Failure detectors: what they promise while their assumptions hold, how soon they notice, how
//! often they err, and that no timeout is ever long enough.

use super::support::{assert_kept, assert_verdict, crash, restart, setting, simulate};
use conclave_algorithms::catalog::{ENTRIES, Family};
use conclave_core::Property::{D1, D2};
use conclave_core::{NodeId, Ticks, Verdict};
use conclave_sim::{Action, Fault, Latency, MessageRule, Outcome, Plan};

const DETECTORS: [&str; 3] = ["heartbeat", "adaptive", "phi-accrual"];

/// So many units, by this plan.
fn watched(id: &str, n: u32, set: &[(&str, &str)], units: u64, plan: Plan) -> Outcome {
    let plan = Plan { until: Ticks::units(units), ..plan };
    let setting = setting(id, n, set);
    let outcome = simulate(&setting, &plan);
    assert_verdict(&outcome, D1, Verdict::Holds);
    outcome
}

fn uniform(min: u64, max: u64) -> Latency {
    Latency::Uniform(Ticks(min), Ticks(max))
}

/// The nth heartbeat from the first node to the second.
fn rule(nth: u32, action: Action) -> MessageRule {
    let (from, to) = (Some(NodeId(0)), Some(NodeId(1)));
    MessageRule { from, to, kind: Some("HEARTBEAT".into()), nth: Some(nth), action }
}

/// A time as it is typed.
fn typed(ticks: Ticks) -> String {
    ticks.to_string()
}

#[test]
fn every_detector_of_the_catalogue_is_here() {
    let listed = ENTRIES.iter().filter(|entry| entry.family == Family::Detector);
    assert_eq!(listed.map(|entry| entry.id).collect::<Vec<_>>(), DETECTORS);
}

#[test]
fn where_all_messages_take_the_same_all_is_noticed_and_nobody_is_wronged() {
    for id in DETECTORS {
        for n in [1, 2, 3, 7, 31] {
            let setting = setting(id, n, &[]);
            let faults = if n > 1 { vec![crash(n - 1, 50)] } else { Vec::new() };
            let dead = if n > 2 { vec![NodeId(0)] } else { Vec::new() };
            let (crashed, live) = (faults.len() + dead.len(), n as usize - 1 - dead.len());
            let plan = Plan { faults, dead, until: Ticks::units(200), ..Plan::default() };
            let outcome = simulate(&setting, &plan);
            assert_kept(&setting, &plan, &outcome);
            let seen = outcome.detector();
            assert_eq!((seen.mistakes, seen.missed, seen.query_accuracy()), (0, 0, 1.0), "{id}");
            let noticed = seen.detection_time.count();
            assert_eq!(noticed, (crashed * live) as u64, "{id}, {n} nodes");
        }
    }
}

#[test]
fn a_crash_is_noticed_between_timeout_plus_delay_less_a_period_and_timeout_plus_delay() {
    for (period, timeout) in [(1, 3), (2, 7), (5, 5)] {
        let set = [("period", &*period.to_string()), ("timeout", &*timeout.to_string())];
        let mut seen = Vec::new();
        for tenth in 0..10 * period {
            let at = Ticks(100_000 + 100 * tenth);
            let faults = vec![(at, Fault::Crash(NodeId(1)))];
            let latency = Latency::Constant(Ticks(1_500));
            let plan = Plan { faults, latency, ..Plan::default() };
            let outcome = watched("heartbeat", 2, &set, 200, plan);
            let time = outcome.detector().detection_time.summary().expect("noticed").max;
            let most = timeout as f64 + 1.5;
            assert!((most - period as f64..=most).contains(&time), "{set:?} {at}: {time}");
            seen.push(time);
        }
        let spread = seen.iter().fold(0.0, |most: f64, time| most.max(*time))
            - seen.iter().fold(f64::INFINITY, |least: f64, time| least.min(*time));
        assert!(spread >= period as f64 - 0.11, "both ends are reached: {spread}");
    }
}

#[test]
fn with_delays_that_vary_the_bounds_vary_with_them() {
    for seed in 0..100 {
        let set = [("timeout", "5")];
        let faults = vec![crash(1, 100)];
        let plan = Plan { seed, faults, latency: uniform(500, 3_000), ..Plan::default() };
        let outcome = watched("heartbeat", 5, &set, 200, plan);
        let times = outcome.detector().detection_time.summary().expect("noticed");
        assert!(times.max <= 5.0 + 3.0, "seed {seed}: {}", times.max);
        assert!(times.mean >= 5.0 + 0.5 - 1.0, "seed {seed}: {}", times.mean);
    }
}

#[test]
fn nobody_is_wronged_while_the_timeout_allows_for_the_spread_of_delays() {
    for (period, min, max) in [(1_000, 500, 2_500), (1_000, 100, 900), (3_000, 1, 8_000)] {
        for seed in 0..30 {
            let bound = typed(Ticks(period + max - min));
            let set = [("period", &*typed(Ticks(period))), ("timeout", &*bound)];
            let plan = Plan { seed, latency: uniform(min, max), ..Plan::default() };
            let outcome = watched("heartbeat", 4, &set, 500, plan);
            assert_verdict(&outcome, D2, Verdict::Holds);
        }
    }
}

#[test]
fn one_tick_less_than_that_is_too_little() {
    for (min, max) in [(1_000, 2_000), (1_000, 8_000), (100, 101)] {
        let late = |timeout: Ticks| {
            let plan = Plan {
                latency: Latency::Constant(Ticks(min)),
                rules: vec![rule(5, Action::Delay(Ticks(max)))],
                ..Plan::default()
            };
            let outcome = watched("heartbeat", 2, &[("timeout", &typed(timeout))], 100, plan);
            outcome.detector().mistakes
        };
        let bound = 1_000 + max - min;
        assert_eq!((late(Ticks(bound)), late(Ticks(bound - 1))), (0, 1), "{min} to {max}");
    }
}

#[test]
fn to_survive_losses_in_a_row_the_timeout_must_be_as_many_periods_longer() {
    for losses in 1..5 {
        let lost = |timeout: Ticks| {
            let rules = (4..4 + losses).map(|nth| rule(nth, Action::Drop)).collect();
            let plan = Plan { rules, ..Plan::default() };
            let outcome = watched("heartbeat", 2, &[("timeout", &typed(timeout))], 100, plan);
            outcome.detector().mistakes
        };
        let enough = Ticks::units(u64::from(losses) + 1);
        assert_eq!((lost(enough), lost(enough - Ticks(1))), (0, 1), "{losses} lost");
    }
}

#[test]
fn no_timeout_is_long_enough() {
    for timeout in [1, 3, 10, 100, 1_000] {
        let late = Ticks::units(timeout + 1);
        let plan = Plan { rules: vec![rule(2, Action::Delay(late))], ..Plan::default() };
        let set = [("timeout", &*timeout.to_string())];
        let outcome = watched("heartbeat", 2, &set, 3 * timeout + 10, plan);
        assert_verdict(&outcome, D2, Verdict::Violated);
        assert_eq!(outcome.detector().mistakes, 1, "{timeout}");
    }
}

#[test]
fn the_adaptive_detector_makes_only_so_many_mistakes() {
    // Every gap is 27, the timeout 10, then 15, 20, 25 and 30.
    let set = [("period", "27"), ("timeout", "10"), ("step", "5"), ("grace", "30")];
    for n in [2, 5] {
        let mistakes = |units| {
            let outcome = watched("adaptive", n, &set, units, Plan::default());
            outcome.detector().mistakes
        };
        assert_eq!(mistakes(27 * 6), u64::from(4 * n * (n - 1)), "{n} nodes");
        assert_eq!(mistakes(27 * 60), u64::from(4 * n * (n - 1)), "{n} nodes, much later");
    }
}

#[test]
fn the_adaptive_detector_needs_not_know_the_bound() {
    for seed in 0..30 {
        let plan = Plan { seed, latency: uniform(500, 9_500), ..Plan::default() };
        let outcome = watched("adaptive", 4, &[], 2_000, plan.clone());
        let mistakes = outcome.detector().mistakes;
        assert!((1..=7 * 12).contains(&mistakes), "seed {seed}: {mistakes}"); // (10 - 3) / 1 each.
        let fixed = watched("heartbeat", 4, &[], 2_000, plan).detector().mistakes;
        assert!(fixed > 10 * mistakes, "seed {seed}: a fixed timeout errs {fixed} times");
    }
}

#[test]
fn phi_accrual_gets_used_to_a_network_and_the_threshold_counts() {
    let plan = || Plan { latency: Latency::Exponential(Ticks::units(2)), ..Plan::default() };
    let seen = |id, set: &[_]| {
        let outcome = watched(id, 5, set, 2_000, plan());
        (outcome.detector().mistakes, outcome.detector().query_accuracy())
    };
    let fixed = seen("heartbeat", &[]);
    let phi = ["1", "4", "8", "16"].map(|phi| seen("phi-accrual", &[("threshold", phi)]).0);
    assert!(phi.is_sorted_by(|more, less| more > less), "{phi:?}");
    let (mistakes, accuracy) = seen("phi-accrual", &[]);
    assert!(mistakes * 10 < fixed.0 && accuracy > fixed.1, "{mistakes}, {fixed:?}");
    let (exponential, _) = seen("phi-accrual", &[("variant", "exponential")]);
    assert!(exponential < mistakes, "{exponential}");
}

#[test]
fn who_comes_back_is_trusted_again_with_or_without_its_disk() {
    for id in DETECTORS {
        for amnesia in [false, true] {
            let faults = vec![
                crash(1, 100),
                restart(1, 200, amnesia),
                crash(1, 220),
                restart(1, 300, amnesia),
            ];
            let outcome = watched(id, 3, &[], 3_000, Plan { faults, ..Plan::default() });
            assert_verdict(&outcome, D2, Verdict::Holds);
            let seen = outcome.detector();
            assert_eq!((seen.mistakes, seen.detection_time.count()), (0, 4), "{id}");
            assert!(seen.query_accuracy() > 0.999, "{id}: {}", seen.query_accuracy());
        }
    }
}

#[test]
fn a_heartbeat_that_comes_late_does_not_bring_the_dead_back() {
    for id in DETECTORS {
        let rules = vec![rule(5, Action::Delay(Ticks::units(80)))];
        let faults = vec![crash(0, 20)];
        let plan = Plan { rules, faults, fifo: false, ..Plan::default() };
        let outcome = watched(id, 2, &[], 300, plan);
        let time = outcome.detector().detection_time.summary().expect("noticed").max;
        assert!(time < 20.0, "{id}: {time}");
    }
}

#[test]
fn whoever_is_cut_off_or_asleep_is_suspected_by_mistake_and_for_as_long() {
    let groups = vec![vec![NodeId(0)], vec![NodeId(1), NodeId(2)]];
    let cut = Fault::Partition { groups, until: Ticks::units(150) };
    let pause = Fault::Pause { node: NodeId(0), span: Ticks::units(50) };
    for id in DETECTORS {
        for (fault, mistakes) in [(cut.clone(), 4..=4), (pause.clone(), 2..=4)] {
            let faults = vec![(Ticks::units(100), fault.clone())];
            let outcome = watched(id, 3, &[], 1_500, Plan { faults, ..Plan::default() });
            assert_verdict(&outcome, D2, Verdict::Violated);
            let seen = outcome.detector();
            assert!(mistakes.contains(&seen.mistakes), "{id} {fault:?}: {}", seen.mistakes);
            assert_eq!(seen.mistake_duration.count(), seen.mistakes, "{id}: all come to an end");
            let longest = seen.mistake_duration.summary().expect("there are some").max;
            assert!((40.0..=52.0).contains(&longest), "{id} {fault:?}: {longest}");
        }
    }
}

#[test]
fn crashes_are_noticed_whatever_the_network_does() {
    for id in DETECTORS {
        for seed in 0..30 {
            let plan = Plan {
                seed,
                latency: Latency::Exponential(Ticks::units(3)),
                fifo: seed % 2 == 0,
                loss: 0.2,
                duplicate: 0.2,
                faults: vec![crash(1, 50), crash(2, 60), restart(1, 200, seed % 3 == 0)],
                ..Plan::default()
            };
            let outcome = watched(id, 5, &[], 1_500, plan);
            assert_eq!(outcome.detector().missed, 0, "{id}, seed {seed}");
        }
    }
}
