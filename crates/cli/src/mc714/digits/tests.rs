//! The task in a time of its own: clocks tick at whole seconds, the task comes at half a second,
//! each hop takes 10 ms and each process holds the task for 2 s.

use super::*;
use conclave_algorithms::clock::timekeeper::Keeper;
use conclave_core::NodeId;

struct Run {
    /// The time carried, and the clock before and after it came.
    receipts: Vec<(u64, u64, u64)>,
    answer: u64,
    finals: [u64; 3],
}

fn run(task: &str, rule: Rule) -> Run {
    let mut clocks = [(); 3].map(|()| rule.clock());
    let mut ticked = 0;
    let mut tick_until = |clocks: &mut [Scalar; 3], now: u64| {
        while (ticked + 1) * 1_000 <= now {
            ticked += 1;
            (1..).zip(&mut *clocks).for_each(|(id, clock)| clock.passes(id));
        }
    };
    let (mut now, mut carried) = (510, 1);
    let mut receipts = Vec::new();
    let mut hop = first(task).map(|id| (id, task));
    while let Some((id, digits)) = hop {
        let own = id as usize - 1;
        tick_until(&mut clocks, now);
        let before = clocks[own].reading();
        let after = clocks[own].receives(NodeId(0), &carried).expect("a time of this run");
        receipts.push((carried, before, after));
        tick_until(&mut clocks, now + 2_000);
        carried = clocks[own].sends();
        now += 2_010;
        hop = next(digits);
    }
    tick_until(&mut clocks, now);
    Run { receipts, answer: carried, finals: clocks.map(|clock| clock.reading()) }
}

#[test]
fn by_the_report_a_receipt_may_bear_the_time_of_its_sending() {
    let run = run("1231321", Rule::Report);
    let expected = [(1, 0, 2), (4, 4, 4), (8, 12, 12), (18, 8, 19), (21, 24, 24), (30, 20, 31)];
    assert_eq!(run.receipts[..6], expected);
    assert_eq!((run.receipts[6], run.answer), ((35, 25, 36), 38));
    assert_eq!(run.finals, [38, 39, 42]);
}

#[test]
fn by_the_report_the_short_task_ends_at_25() {
    let run = run("3132", Rule::Report);
    assert_eq!(run.receipts, [(1, 0, 2), (8, 2, 9), (11, 14, 14), (20, 12, 21)]);
    assert_eq!((run.answer, run.finals), (25, [15, 25, 26]));
}

#[test]
fn by_lamport_every_receipt_is_later_than_its_sending() {
    let run = run("1231321", Rule::Lamport);
    let expected = [(1, 0, 2), (5, 4, 6), (11, 12, 13), (20, 9, 21), (24, 26, 27), (34, 23, 35)];
    assert_eq!(run.receipts[..6], expected);
    assert_eq!((run.receipts[6], run.answer), ((40, 28, 41), 44));
}

#[test]
fn by_the_code_only_the_equal_times_differ_from_the_report() {
    for task in ["11", "12", "22", "23", "33"] {
        let (code, report) = (run(task, Rule::Code), run(task, Rule::Report));
        let (carried, before, after) = report.receipts[1];
        assert!(carried == before && carried == after, "{task} does not show the slip");
        assert_eq!(code.receipts[1], (carried, before, carried + 1), "{task}");
    }
    let late = |run: Run| run.receipts.iter().all(|&(carried, _, after)| carried < after);
    assert!(late(run("2132121", Rule::Code)) && late(run("2132121", Rule::Lamport)));
}

#[test]
fn the_task_of_the_original_ends_at_these_times() {
    let answers = [Rule::Code, Rule::Report, Rule::Lamport].map(|rule| run("2132121", rule).answer);
    assert_eq!(answers, [34, 34, 40]);
}

#[test]
fn the_first_digit_is_taken_off() {
    assert_eq!(next("2132"), Some((1, "132")));
    assert_eq!(next("2"), None);
    assert_eq!(next(""), None);
}

#[test]
fn digits_name_processes() {
    assert_eq!(check("123", 3), Ok(()));
    assert_eq!(check("", 3), Ok(()));
    for (digits, named) in [("120", "'0'"), ("14", "'4'"), ("1x", "'x'"), ("é", "'é'")] {
        let refused = check(digits, 3).expect_err("a stranger");
        assert_eq!(refused, format!("takes digits from 1 to 3, the processes; {named} is none"));
    }
    assert_eq!(check(&"1".repeat(65), 3), Err("takes at most 64 digits".to_string()));
}
