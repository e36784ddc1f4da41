//! One test per property.

use super::*;

fn with_two_waiting() -> Monitor {
    let mut monitor = Monitor::new(2, Some(1));
    monitor.requested(NodeId(0), Ticks(0));
    monitor.requested(NodeId(1), Ticks(0));
    monitor
}

#[test]
fn two_inside_break_s1_and_the_larger_fence_saves_the_resource() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(1));
    monitor.entered(NodeId(1), 2, Ticks(2));
    assert_eq!(monitor.verdict(Property::S1), Verdict::Violated);
    assert_eq!(monitor.verdict(Property::S1Eff), Verdict::Holds);
    assert_eq!(monitor.violations()[0].what, "{1} entered while {0} was inside");
    monitor.released(NodeId(0), Ticks(3));
    assert_eq!(monitor.refused(), 1);
}

#[test]
fn equal_fences_do_not_save_the_resource() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(1));
    monitor.entered(NodeId(1), 1, Ticks(2));
    assert_eq!(monitor.verdict(Property::S1Eff), Verdict::Violated);
    assert_eq!(monitor.verdict(Property::F1), Verdict::Violated);
}

/// An old hold is still inside when the owner of the largest fence has left.
#[test]
fn an_equal_fence_harms_only_while_its_other_owner_is_inside_and_it_is_the_largest() {
    let entered = |fences: &[u64], leaves: Option<u32>| {
        let mut monitor = Monitor::new(fences.len() as u32, None);
        for (node, &fence) in (0..).map(NodeId).zip(fences) {
            if leaves.is_some_and(|leaver| leaver + 1 == node.0) {
                monitor.released(NodeId(node.0 - 1), Ticks(1));
            }
            monitor.requested(node, Ticks(1));
            monitor.entered(node, fence, Ticks(1));
        }
        assert_eq!(monitor.verdict(Property::S1), Verdict::Violated);
        assert_eq!(monitor.verdict(Property::F1), Verdict::Violated);
        monitor.verdict(Property::S1Eff)
    };
    assert_eq!(entered(&[1, 2, 2], None), Verdict::Violated);
    assert_eq!(entered(&[1, 2, 2], Some(1)), Verdict::Holds, "its owner has left");
    assert_eq!(entered(&[1, 2, 1], None), Verdict::Holds, "both are refused");
}

#[test]
fn one_after_the_other_breaks_nothing() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(1));
    monitor.released(NodeId(0), Ticks(2));
    monitor.entered(NodeId(1), 2, Ticks(2));
    monitor.released(NodeId(1), Ticks(3));
    monitor.end(Ticks(3), true, Ticks(0));
    assert!(monitor.violations().is_empty());
    assert_eq!(monitor.verdict(Property::V2), Verdict::Holds);
    assert_eq!(monitor.verdict(Property::HB), Verdict::NotChecked);
}

#[test]
fn who_still_waits_at_the_end_waits_for_ever() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(1));
    monitor.released(NodeId(0), Ticks(2));
    monitor.end(Ticks(9), true, Ticks(0));
    assert_eq!(monitor.verdict(Property::V1), Verdict::Violated);
    assert_eq!(monitor.violations()[0].what, "{1} waits for ever, and nobody enters");
}

#[test]
fn a_run_cut_short_blames_only_a_stall() {
    let mut monitor = with_two_waiting();
    monitor.end(Ticks(9), false, Ticks(10));
    assert_eq!(monitor.verdict(Property::V1), Verdict::Unknown);
    assert_eq!(monitor.verdict(Property::V2), Verdict::Unknown);
    monitor.end(Ticks(10), false, Ticks(10));
    assert_eq!(monitor.verdict(Property::V1), Verdict::Violated);
}

#[test]
fn bypasses_count_from_registration() {
    let mut monitor = with_two_waiting();
    monitor.registered(NodeId(1));
    for fence in 1..=3 {
        monitor.entered(NodeId(0), fence, Ticks(fence));
        monitor.released(NodeId(0), Ticks(fence));
        monitor.requested(NodeId(0), Ticks(fence));
    }
    monitor.entered(NodeId(1), 4, Ticks(4));
    assert_eq!(monitor.bypass_max(), 3);
    assert_eq!(monitor.verdict(Property::BW), Verdict::Violated);
}

#[test]
fn who_waits_in_vain_is_bypassed_too() {
    let ends: [fn(&mut Monitor); 3] = [
        |monitor| monitor.cancelled(NodeId(1), Ticks(4)),
        |monitor| monitor.crashed(NodeId(1), Ticks(4)),
        |monitor| monitor.end(Ticks(4), false, Ticks(10)),
    ];
    for end in ends {
        let mut monitor = with_two_waiting();
        monitor.registered(NodeId(1));
        for fence in 1..=3 {
            monitor.entered(NodeId(0), fence, Ticks(fence));
            monitor.released(NodeId(0), Ticks(fence));
            monitor.requested(NodeId(0), Ticks(fence));
        }
        assert_eq!((monitor.bypass_max(), monitor.verdict(Property::BW)), (0, Verdict::Holds));
        end(&mut monitor);
        assert_eq!((monitor.bypass_max(), monitor.verdict(Property::BW)), (3, Verdict::Violated));
    }
}

#[test]
fn a_crash_ends_a_hold() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(1));
    monitor.crashed(NodeId(0), Ticks(2));
    monitor.entered(NodeId(1), 2, Ticks(3));
    assert_eq!(monitor.verdict(Property::S1), Verdict::Holds);
}

#[test]
fn who_is_passed_over_ten_times_as_often_as_there_are_nodes_seems_to_starve() {
    let passed_over = |times: u64| {
        let mut monitor = with_two_waiting();
        monitor.registered(NodeId(1));
        for fence in 1..=times {
            monitor.entered(NodeId(0), fence, Ticks(fence));
            monitor.released(NodeId(0), Ticks(fence));
            monitor.requested(NodeId(0), Ticks(fence));
        }
        monitor.end(Ticks(times), false, Ticks(1_000));
        monitor.starving().iter().collect::<Vec<_>>()
    };
    assert_eq!(passed_over(20), []);
    assert_eq!(passed_over(21), [NodeId(1)]);
}
