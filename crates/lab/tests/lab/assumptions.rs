//! Every assumption of the catalogue: its row says what comes of doing without it, and every run
//! within the bounds of the row shows just that.

use conclave_algorithms::catalog::{self, Assumption, ENTRIES, Entry, Finding, Runs};
use conclave_check::{Limits, Report};
use conclave_core::Bounds;
use conclave_core::Property::{self, BW, E1, E2};
use conclave_core::Verdict::{self, Violated};

/// An assumption, and the row that makes it.
type Made = (&'static Entry, &'static Assumption);

fn all() -> impl Iterator<Item = Made> {
    ENTRIES.iter().flat_map(|&entry| entry.assumptions.iter().map(move |made| (entry, made)))
}

/// How much is looked for.
#[derive(Clone, Copy, PartialEq)]
enum Thoroughness {
    /// Only what the row says.
    Enough,
    /// All that can be looked at, as the command does: no other promise may break.
    Full,
}

/// Complains unless the runs of the row show what it says.
fn look((entry, assumption): Made, runs: Runs, how: Thoroughness) -> Result<(), String> {
    let named = format!("{} without {}", entry.id, assumption.tag);
    let setting = runs.setting(entry).map_err(|error| format!("{named}: {error}"))?;
    let drivers = conclave_lab::drivers(&setting).expect("built");
    let checker = drivers.checker.ok_or(format!("{named}: no law judges all its runs"))?;
    let promised: Vec<Property> =
        (entry.has)(&setting.params).into_iter().filter(|property| *property != BW).collect();
    let properties = match (how, assumption.dropped.finding) {
        (Thoroughness::Full, _) => Vec::new(),
        (Thoroughness::Enough, Finding::Breaks(broken)) => broken.to_vec(),
        (Thoroughness::Enough, Finding::Harmless(_) | Finding::OutOfReach(_)) => promised.clone(),
    };
    let limits = Limits { properties, ..Limits::default() };
    let report = checker.check(&runs.bounds(&setting), &limits, &|_| {});
    for story in &report.stories {
        let retold =
            drivers.simulator.follow(story).map_err(|error| format!("{named}: {error}"))?;
        let seen = retold.violation(story.property).is_some();
        assert!(seen, "{named}: the simulator does not see how {} breaks", story.property);
    }
    let wrong = compare(assumption.dropped.finding, &report, &promised);
    wrong.map_err(|wrong| format!("{named}: {wrong} ({} states)", report.unique_states))
}

/// Complains if a search found anything else than the row says.
fn compare(finding: Finding, report: &Report, promised: &[Property]) -> Result<(), String> {
    let expected = match finding {
        Finding::Breaks(expected) => expected,
        Finding::Harmless(_) | Finding::OutOfReach(_) => &[],
    };
    let verdict = |property: &Property| report.verdict(*property);
    if let Some(kept) = expected.iter().find(|property| verdict(property) != Violated) {
        return Err(format!("{kept} is {}, not violated", verdict(kept)));
    }
    let unexpected = |property: &&Property| !expected.contains(property);
    let mut others = promised.iter().filter(unexpected);
    if let Some(broken) = others.clone().find(|property| verdict(property) == Violated) {
        return Err(format!("{broken} is violated, too"));
    }
    let doubt = others.find(|property| verdict(property) != Verdict::Holds);
    match (finding, doubt) {
        (Finding::Harmless(_), Some(doubt)) => Err(format!("{doubt} is {}", verdict(doubt))),
        (Finding::Harmless(_) | Finding::OutOfReach(_) | Finding::Breaks(_), _) => Ok(()),
    }
}

fn look_at_all(which: fn(&Runs) -> bool, how: Thoroughness) {
    let runs = |made: Made| made.1.dropped.runs.filter(which);
    let looked = all().filter_map(|made| look(made, runs(made)?, how).err());
    let complaints: Vec<String> = looked.collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_assumption_says_what_comes_of_dropping_it() {
    for (entry, assumption) in all() {
        let named = format!("{} {}", entry.id, assumption.tag);
        match assumption.dropped.finding {
            Finding::Breaks(broken) => assert!(!broken.is_empty(), "{named} breaks what?"),
            Finding::Harmless(why) => assert!(!why.is_empty(), "{named} is harmless: why?"),
            Finding::OutOfReach(needed) => assert!(!needed.is_empty(), "{named} needs what?"),
        }
        let searched = assumption.dropped.runs.is_some();
        let stated = !matches!(assumption.dropped.finding, Finding::OutOfReach(_));
        assert!(searched || !stated, "{named}: what it shows is shown in some runs");
    }
}

#[test]
fn without_an_assumption_its_runs_show_what_the_row_says() {
    look_at_all(|runs| !runs.large, Thoroughness::Enough);
}

#[test]
#[ignore = "takes a minute"]
fn without_an_assumption_no_other_promise_breaks() {
    look_at_all(|_| true, Thoroughness::Full);
}

#[test]
fn a_suspicion_that_passes_is_harmless_where_one_that_lasts_is_not() {
    let setting = catalog::find("wireless").and_then(|entry| entry.setting(2, &[]));
    let drivers = conclave_lab::drivers(&setting.expect("two nodes")).expect("built");
    let checker = drivers.checker.expect("an election");
    let verdicts = |lasting| {
        let bounds = Bounds { suspicions: 1, lasting, ..Bounds::default() };
        let report = checker.check(&bounds, &Limits::default(), &|_| {});
        [E1, E2].map(|property| report.verdict(property))
    };
    assert_eq!(verdicts(false), [Verdict::Holds; 2]);
    assert_eq!(verdicts(true), [Violated; 2]);
}
