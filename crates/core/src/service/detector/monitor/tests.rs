use super::*;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

fn t(units: u64) -> Ticks {
    Ticks::units(units)
}

#[test]
fn each_live_node_takes_its_own_time_to_notice_a_crash() {
    let mut monitor = Monitor::new(3);
    monitor.crashed(C, t(10));
    monitor.suspected(A, C, t(13));
    monitor.suspected(B, C, t(14));
    monitor.end(t(100), false, t(50));
    assert_eq!(monitor.detections(), [t(3), t(4)]);
    assert_eq!(monitor.verdict(Property::D1), Verdict::Holds);
    assert_eq!(monitor.verdict(Property::D2), Verdict::Holds);
    assert_eq!((monitor.mistakes(), monitor.query_accuracy()), (0, 1.0));
}

#[test]
fn only_the_last_suspicion_of_a_crashed_node_counts() {
    let mut monitor = Monitor::new(2);
    monitor.suspected(A, B, t(8)); // Too early: a mistake, which comes true at 10.
    monitor.crashed(B, t(10));
    monitor.trusted(A, B, t(11)); // A heartbeat that was still on its way.
    monitor.suspected(A, B, t(15));
    monitor.end(t(100), false, t(50));
    assert_eq!(monitor.detections(), [t(5)]);
    assert_eq!(monitor.mistake_durations(), [t(2)]);
    assert_eq!(monitor.mistakes(), 1);
}

#[test]
fn a_node_that_was_suspected_already_is_noticed_at_once() {
    let mut monitor = Monitor::new(2);
    monitor.suspected(A, B, t(8));
    monitor.crashed(B, t(10));
    monitor.end(t(11), true, t(50));
    assert_eq!(monitor.detections(), [t(0)]);
}

#[test]
fn to_suspect_a_live_node_is_a_mistake_for_as_long_as_it_lasts() {
    let mut monitor = Monitor::new(3);
    monitor.suspected(A, B, t(10));
    monitor.suspected(A, B, t(11)); // Said twice.
    monitor.trusted(A, B, t(16));
    monitor.trusted(A, B, t(17));
    monitor.end(t(100), false, t(50));
    assert_eq!(monitor.verdict(Property::D2), Verdict::Violated);
    assert_eq!(monitor.violations()[0].what, "{0} suspected {1}, which was alive");
    assert_eq!((monitor.mistakes(), monitor.mistake_durations()), (1, &[t(6)][..]));
    assert_eq!(monitor.mistake_rate(), 1.0 / 600.0); // Six pairs for a hundred units.
    assert_eq!(monitor.query_accuracy(), 1.0 - 6.0 / 600.0);
}

#[test]
fn a_crash_that_nobody_notices_breaks_completeness_after_a_while() {
    let run = |until, complete| {
        let mut monitor = Monitor::new(2);
        monitor.crashed(B, t(10));
        monitor.end(until, complete, t(50));
        assert_eq!((monitor.missed(), monitor.detections().len()), (1, 0));
        monitor.verdict(Property::D1)
    };
    assert_eq!(run(t(60), false), Verdict::Violated);
    assert_eq!(run(t(59), false), Verdict::Unknown, "it might still notice");
    assert_eq!(run(t(10), true), Verdict::Violated);
    assert_eq!(Monitor::new(2).verdict(Property::D1), Verdict::Unknown, "the run goes on");
}

#[test]
fn who_came_back_may_be_suspected_for_a_while_but_not_for_ever() {
    let run = |trusted: Option<Ticks>| {
        let mut monitor = Monitor::new(2);
        monitor.crashed(B, t(10));
        monitor.suspected(A, B, t(13));
        monitor.returned(B, t(20));
        if let Some(at) = trusted {
            monitor.trusted(A, B, at);
        }
        monitor.end(t(100), false, t(50));
        monitor
    };
    let kept = run(Some(t(25)));
    assert_eq!(kept.verdict(Property::D2), Verdict::Holds);
    assert_eq!((kept.mistakes(), kept.detections()), (0, &[t(3)][..]));
    let pairs = 2.0 * 90.0; // Both were up from 0 to 10 and from 20 to 100.
    assert_eq!(kept.query_accuracy(), 1.0 - 5.0 / pairs);
    assert_eq!(run(None).violations()[0].what, "{0} still suspects {1}, which came back");
}

#[test]
fn a_crash_takes_the_views_of_a_node_along() {
    let mut monitor = Monitor::new(2);
    monitor.suspected(A, B, t(10));
    monitor.crashed(A, t(12));
    monitor.suspected(A, B, t(13)); // The dead have no views.
    monitor.returned(A, t(20));
    assert!(!monitor.suspects(A, B));
    monitor.crashed(B, t(30));
    monitor.crashed(A, t(31));
    monitor.returned(A, t(40)); // It could not notice the crash before.
    monitor.suspected(A, B, t(43));
    monitor.end(t(50), true, t(0));
    assert_eq!(monitor.mistake_durations(), [t(2)]);
    assert_eq!(monitor.detections(), [t(3)]);
    assert_eq!(monitor.query_accuracy(), 1.0 - 2.0 / (2.0 * 22.0));
}

#[test]
fn a_node_alone_watches_nobody() {
    let mut monitor = Monitor::new(1);
    monitor.end(t(100), false, t(50));
    assert_eq!((monitor.query_accuracy(), monitor.mistake_rate()), (1.0, 0.0));
    assert_eq!(monitor.verdict(Property::D1), Verdict::Holds);
}

#[test]
fn patience_with_who_came_back_counts_from_its_return() {
    let verdict_at = |until, complete| {
        let mut monitor = Monitor::new(2);
        monitor.crashed(B, t(10));
        monitor.suspected(A, B, t(13));
        monitor.returned(B, t(20));
        monitor.returned(B, t(40)); // It was up.
        monitor.end(until, complete, t(50));
        monitor.verdict(Property::D2)
    };
    assert_eq!(verdict_at(t(69), false), Verdict::Holds);
    assert_eq!(verdict_at(t(70), false), Verdict::Violated);
    assert_eq!(verdict_at(t(20), true), Verdict::Violated);
}

#[test]
fn a_crash_that_was_over_before_anybody_noticed_is_missed_and_breaks_nothing() {
    let mut monitor = Monitor::new(3);
    monitor.crashed(B, t(10));
    monitor.crashed(B, t(15)); // It was down.
    monitor.suspected(A, B, t(18));
    monitor.returned(B, t(20));
    monitor.trusted(A, B, t(21));
    monitor.end(t(100), true, t(0));
    assert_eq!((monitor.missed(), monitor.detections()), (1, &[t(8)][..]));
    assert_eq!(monitor.verdict(Property::D1), Verdict::Holds);
    // Six pairs but for ten units, in which there were two.
    assert_eq!(monitor.watched(), (u128::from(t(6 * 90 + 2 * 10).0), u128::from(t(1).0)));
}

#[test]
fn who_came_up_after_a_crash_is_given_time_from_then_on() {
    let verdict_at = |until| {
        let mut monitor = Monitor::new(2);
        monitor.crashed(A, t(5));
        monitor.crashed(B, t(10));
        monitor.returned(A, t(30));
        monitor.end(until, false, t(50));
        monitor.verdict(Property::D1)
    };
    assert_eq!(verdict_at(t(79)), Verdict::Unknown);
    assert_eq!(verdict_at(t(80)), Verdict::Violated);
}

#[test]
fn of_many_mistakes_the_first_is_told() {
    let mut monitor = Monitor::new(3);
    monitor.suspected(A, B, t(3));
    monitor.suspected(B, C, t(5));
    assert_eq!((monitor.mistakes(), monitor.violations().len()), (2, 1));
    assert_eq!(monitor.violations()[0].at, t(3));
}
