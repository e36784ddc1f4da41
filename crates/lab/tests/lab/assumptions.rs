//! Every assumption of the catalogue: its row says what comes of doing without it, and every run
//! within the bounds of the row shows just that.

use conclave_algorithms::catalog::{self, Assumption, ENTRIES, Entry, Finding, Runs};
use conclave_check::{Limits, Report};
use conclave_core::Bounds;
use conclave_core::Property::{self, BW, E1, E2};
use conclave_core::Verdict::{self, Holds, Violated};

/// An assumption, and the row that makes it.
type Made = (&'static Entry, &'static Assumption);

fn all() -> impl Iterator<Item = Made> {
    ENTRIES.iter().flat_map(|&entry| entry.assumptions.iter().map(move |made| (entry, made)))
}

/// Complains unless the runs of the row show what it says.
fn look((entry, assumption): Made, runs: Runs) -> Result<(), String> {
    let named = format!("{} without {}", entry.id, assumption.tag);
    let setting = runs.setting(entry).map_err(|error| format!("{named}: {error}"))?;
    let drivers = conclave_lab::drivers(&setting).expect("built");
    let checker = drivers.checker.ok_or(format!("{named}: no law judges all its runs"))?;
    let properties = match assumption.dropped.finding {
        Finding::Breaks(broken) => broken.to_vec(),
        Finding::Harmless(_) | Finding::OutOfReach(_) => {
            (entry.has)(&setting.params).into_iter().filter(|property| *property != BW).collect()
        }
    };
    let limits = Limits { properties: properties.clone(), ..Limits::default() };
    let check = |bounds: &Bounds| checker.check(bounds, &limits, &|_| {});
    let report = check(&runs.bounds(&setting));
    for story in &report.stories {
        let retold =
            drivers.simulator.follow(story).map_err(|error| format!("{named}: {error}"))?;
        let seen = retold.violation(story.property).is_some();
        assert!(seen, "{named}: the simulator does not see how {} breaks", story.property);
    }
    let states = report.unique_states;
    compare(assumption.dropped.finding, &report, &properties)
        .map_err(|wrong| format!("{named}: {wrong} ({states} states)"))?;
    let with = runs.bounds_without_harm(&setting).map(|bounds| check(&bounds));
    match with.and_then(|report| first(&report, &properties, |verdict| verdict == Violated)) {
        Some(broken) => Err(format!("{named}: {broken} breaks with it, too, so it proves nothing")),
        None => Ok(()),
    }
}

/// Complains if a search found anything else than the row says.
fn compare(finding: Finding, report: &Report, properties: &[Property]) -> Result<(), String> {
    let wrong = match finding {
        Finding::Breaks(_) => first(report, properties, |verdict| verdict != Violated),
        Finding::Harmless(_) => first(report, properties, |verdict| verdict != Holds),
        Finding::OutOfReach(_) => first(report, properties, |verdict| verdict == Violated),
    };
    wrong.map_or(Ok(()), |property| Err(format!("{property} is {}", report.verdict(property))))
}

/// The first of these of which the search says this.
fn first(
    report: &Report,
    properties: &[Property],
    says: impl Fn(Verdict) -> bool,
) -> Option<Property> {
    properties.iter().copied().find(|property| says(report.verdict(*property)))
}

fn look_at_all(which: fn(&Runs) -> bool) {
    let runs = |made: Made| made.1.dropped.runs.filter(which);
    let looked = all().filter_map(|made| look(made, runs(made)?).err());
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

/// What is found must be for want of the assumption: what else may happen in those runs does no
/// harm while it holds.
#[test]
fn without_an_assumption_its_runs_show_what_the_row_says() {
    look_at_all(|runs| !runs.large);
}

#[test]
#[ignore = "millions of states"]
fn without_an_assumption_the_many_runs_show_what_the_row_says() {
    look_at_all(|runs| runs.large);
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
    assert_eq!(verdicts(false), [Holds; 2]);
    assert_eq!(verdicts(true), [Violated; 2]);
}
