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
fn a_wait_in_vain_is_seen_where_it_began() {
    let mut monitor = Monitor::new(2, None);
    monitor.requested(NodeId(1), Ticks(5));
    monitor.requested(NodeId(0), Ticks(7));
    monitor.end(Ticks(90), true, Ticks(0));
    let moments: Vec<Ticks> = monitor.violations().iter().map(|broken| broken.at).collect();
    assert_eq!(moments, [Ticks(5); 2], "nobody ever entered");
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(3));
    monitor.released(NodeId(0), Ticks(4));
    monitor.end(Ticks(90), true, Ticks(0));
    assert_eq!(monitor.violations()[0].at, Ticks(4), "until then somebody got on");
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

/// Lets a node enter and leave at once.
fn passes(monitor: &mut Monitor, node: NodeId, fence: u64) {
    if !monitor.is_waiting(node) {
        monitor.requested(node, Ticks(fence));
    }
    monitor.entered(node, fence, Ticks(fence));
    monitor.released(node, Ticks(fence));
}

#[test]
fn an_older_fence_beside_a_larger_one_is_refused_and_harmless() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 5, Ticks(1));
    monitor.entered(NodeId(1), 4, Ticks(2));
    assert_eq!(monitor.verdict(Property::S1Eff), Verdict::Holds);
    assert_eq!(monitor.verdict(Property::F1), Verdict::Violated);
    monitor.released(NodeId(0), Ticks(3));
    assert_eq!((monitor.refused(), monitor.inside()), (0, 1), "the larger fence is listened to");
    monitor.released(NodeId(1), Ticks(4));
    assert_eq!((monitor.refused(), monitor.inside()), (1, 0));
}

#[test]
fn a_node_may_use_its_own_fence_again_beside_an_older_one() {
    let mut monitor = with_two_waiting();
    passes(&mut monitor, NodeId(0), 5);
    monitor.entered(NodeId(1), 4, Ticks(6));
    monitor.requested(NodeId(0), Ticks(7));
    monitor.entered(NodeId(0), 5, Ticks(7));
    assert_eq!(monitor.verdict(Property::S1), Verdict::Violated);
    assert_eq!(monitor.verdict(Property::S1Eff), Verdict::Holds);
}

#[test]
fn who_stays_until_a_later_one_has_come_and_gone_is_refused() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(1));
    passes(&mut monitor, NodeId(1), 2);
    assert_eq!(monitor.refused(), 0);
    monitor.released(NodeId(0), Ticks(3));
    assert_eq!(monitor.refused(), 1);
    passes(&mut monitor, NodeId(0), 3);
    passes(&mut monitor, NodeId(1), 4);
    assert_eq!(monitor.refused(), 1, "one after the other, all are heard");
}

#[test]
fn a_fence_rises_by_one_at_least_and_stays_below_two_to_the_53() {
    let after = |first, second| {
        let mut monitor = with_two_waiting();
        passes(&mut monitor, NodeId(0), first);
        passes(&mut monitor, NodeId(1), second);
        monitor.verdict(Property::F1)
    };
    assert_eq!(after(0, 1), Verdict::Holds);
    assert_eq!(after(7, 7), Verdict::Violated);
    assert_eq!(after(7, 6), Verdict::Violated);
    assert_eq!(after(7, (1 << 53) - 1), Verdict::Holds);
    assert_eq!(after(7, 1 << 53), Verdict::Violated);
}

#[test]
fn a_fence_that_fell_does_not_lower_what_the_next_is_held_against() {
    let mut monitor = Monitor::new(3, None);
    passes(&mut monitor, NodeId(0), 5);
    passes(&mut monitor, NodeId(1), 3);
    monitor.requested(NodeId(2), Ticks(9));
    monitor.entered(NodeId(2), 4, Ticks(9));
    monitor.released(NodeId(2), Ticks(10));
    assert_eq!(monitor.refused(), 2, "5 was there before both of them");
}

#[test]
fn as_many_as_the_bound_may_go_first_and_not_one_more() {
    let bypassed = |times: u64| {
        let mut monitor = Monitor::new(2, Some(2));
        monitor.requested(NodeId(1), Ticks(0));
        passes(&mut monitor, NodeId(0), 1); // Before it was registered.
        monitor.registered(NodeId(1));
        for fence in 2..2 + times {
            passes(&mut monitor, NodeId(0), fence);
            monitor.registered(NodeId(1)); // Said again, which changes nothing.
        }
        monitor.entered(NodeId(1), 9, Ticks(9));
        (monitor.bypass_max(), monitor.verdict(Property::BW))
    };
    assert_eq!(bypassed(2), (2, Verdict::Holds));
    assert_eq!(bypassed(3), (3, Verdict::Violated));
}

#[test]
fn who_was_registered_while_idle_or_inside_was_not() {
    let mut monitor = Monitor::new(2, Some(0));
    monitor.registered(NodeId(1));
    monitor.requested(NodeId(1), Ticks(0));
    passes(&mut monitor, NodeId(0), 1);
    monitor.entered(NodeId(1), 2, Ticks(2));
    monitor.registered(NodeId(1));
    monitor.released(NodeId(1), Ticks(3));
    monitor.requested(NodeId(1), Ticks(4));
    passes(&mut monitor, NodeId(0), 5);
    monitor.entered(NodeId(1), 6, Ticks(6));
    assert_eq!((monitor.bypass_max(), monitor.verdict(Property::BW)), (0, Verdict::Holds));
}

#[test]
fn who_waits_for_one_that_stays_inside_starves_though_the_lock_is_not_stuck() {
    let mut monitor = with_two_waiting();
    monitor.entered(NodeId(0), 1, Ticks(1));
    monitor.end(Ticks(9), true, Ticks(0));
    assert_eq!(monitor.verdict(Property::V1), Verdict::Holds);
    assert_eq!(monitor.verdict(Property::V2), Verdict::Violated);
    assert_eq!(monitor.violations()[0].what, "{1} waits for ever");
}

#[test]
fn patience_counts_from_the_last_entry_exit_or_crash_inside() {
    let progress: [fn(&mut Monitor); 3] = [
        |monitor| monitor.entered(NodeId(0), 1, Ticks(5)),
        |monitor| {
            monitor.entered(NodeId(0), 1, Ticks(4));
            monitor.released(NodeId(0), Ticks(5));
        },
        |monitor| {
            monitor.entered(NodeId(0), 1, Ticks(4));
            monitor.crashed(NodeId(0), Ticks(5));
        },
    ];
    for moves in progress {
        let verdict_at = |at| {
            let mut monitor = with_two_waiting();
            moves(&mut monitor);
            monitor.end(Ticks(at), false, Ticks(10));
            monitor.verdict(Property::V2)
        };
        assert_eq!(verdict_at(14), Verdict::Unknown);
        assert_eq!(verdict_at(15), Verdict::Violated);
    }
}

#[test]
fn a_run_cut_short_in_which_nobody_waits_breaks_nothing() {
    let mut monitor = Monitor::new(2, None);
    assert_eq!(monitor.verdict(Property::V2), Verdict::Unknown, "it goes on");
    monitor.requested(NodeId(0), Ticks(0));
    monitor.requested(NodeId(1), Ticks(0));
    monitor.cancelled(NodeId(0), Ticks(1));
    monitor.crashed(NodeId(1), Ticks(1));
    monitor.crashed(NodeId(1), Ticks(2)); // Idle by now: nothing is over.
    assert_eq!(monitor.waiting(), 0);
    monitor.end(Ticks(50), false, Ticks(10));
    assert_eq!(monitor.verdict(Property::V2), Verdict::Holds);
    assert_eq!(monitor.verdict(Property::BW), Verdict::NotChecked);
}

/// Node 0 asks and tells node 1, which asks because of that.
fn caused(begin: fn(&mut Monitor), before_entry: fn(&mut Monitor)) -> Verdict {
    let mut monitor = Monitor::new(2, None);
    monitor.watch_order();
    begin(&mut monitor);
    let order = monitor.causality().expect("it is watched");
    let told = order.sent(NodeId(0)).clone();
    order.received(NodeId(1), &told);
    monitor.requested(NodeId(1), Ticks(1));
    before_entry(&mut monitor);
    monitor.entered(NodeId(1), 9, Ticks(9));
    monitor.verdict(Property::HB)
}

#[test]
fn whoever_asked_because_of_a_request_enters_after_it() {
    let asks: fn(&mut Monitor) = |monitor| monitor.requested(NodeId(0), Ticks(0));
    assert_eq!(caused(asks, |_| {}), Verdict::Violated);
    assert_eq!(caused(asks, |monitor| passes(monitor, NodeId(0), 1)), Verdict::Holds);
    let withdraws: fn(&mut Monitor) = |monitor| monitor.cancelled(NodeId(0), Ticks(2));
    assert_eq!(caused(asks, withdraws), Verdict::Holds);
    assert_eq!(caused(asks, |monitor| monitor.crashed(NodeId(0), Ticks(2))), Verdict::Holds);
    assert_eq!(caused(|_| {}, asks), Verdict::Holds, "it asked only after it had told");
    let unseen: fn(&mut Monitor) = |monitor| monitor.requested_unseen(NodeId(0), Ticks(0));
    assert_eq!(caused(unseen, |_| {}), Verdict::Holds, "nobody knows when it asked");
}

#[test]
fn of_many_who_wait_for_ever_the_first_are_named() {
    let told = |n: u32| {
        let mut monitor = Monitor::new(n, None);
        (0..n).for_each(|node| monitor.requested(NodeId(node), Ticks(0)));
        monitor.end(Ticks(9), true, Ticks(0));
        monitor.violations()[0].what.clone()
    };
    assert!(told(8).starts_with("{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7} wait for ever"));
    assert!(told(9).starts_with("{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7} and 1 more wait"));
}
