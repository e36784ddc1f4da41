//! Every claim of the catalogue, looked at in every run within its bounds.

use conclave_algorithms::catalog::{self, Claim, Setting};
use conclave_check::{Checkable, Limits, Report, Stop};
use conclave_core::{Bounds, NodeId, Property, Start, Verdict};
use conclave_sim::Runnable;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Without reductions at most so many states are looked at.
const UNREDUCED_MAX: u64 = 200_000;

fn drivers(setting: &Setting) -> (Arc<dyn Runnable>, Arc<dyn Checkable>) {
    let drivers = conclave_lab::drivers(setting).expect("built");
    (drivers.simulator, drivers.checker.expect("a lock or an election"))
}

fn checker(setting: &Setting) -> Arc<dyn Checkable> {
    drivers(setting).1
}

fn look(claim: &Claim, limits: Limits) -> Report {
    let setting = claim.setting().expect("a setting that can be built");
    let bounds = claim.bounds(&setting);
    checker(&setting).check(&bounds, &Limits { properties: claim.properties(), ..limits }, &|_| {})
}

fn found(claim: &Claim, report: &Report) -> Vec<(Property, Verdict)> {
    claim.properties().into_iter().map(|property| (property, report.verdict(property))).collect()
}

fn named(claim: &Claim) -> String {
    format!("{} {:?}, {} nodes", claim.id, claim.set, claim.nodes)
}

#[test]
fn every_claim_is_true() {
    for claim in catalog::claims().filter(|claim| !claim.large) {
        let report = look(claim, Limits::default());
        let found = found(claim, &report);
        assert_eq!(found, claim.verdicts, "{}", named(claim));
        let told = report.stories.iter().map(|story| story.property);
        let broken = found.iter().filter(|(_, verdict)| *verdict == Verdict::Violated);
        assert_eq!(told.count(), broken.count(), "{}: a story for all that breaks", named(claim));
    }
}

/// A story is not the checker's word alone.
#[test]
fn the_simulator_sees_what_the_stories_tell() {
    let breaks = |claim: &&Claim| claim.verdicts.iter().any(|(_, said)| *said == Verdict::Violated);
    for claim in catalog::claims().filter(|claim| !claim.large).filter(breaks) {
        let (nodes, _) = drivers(&claim.setting().expect("a setting that can be built"));
        for story in look(claim, Limits::default()).stories {
            let retold = nodes.follow(&story).expect("a story that can be followed");
            assert!(retold.violation(story.property).is_some(), "{}: {story:?}", named(claim));
        }
    }
}

/// A change of this number is no mistake, but must be meant.
#[test]
fn every_claim_has_as_many_states_as_it_says() {
    let all = catalog::claims().filter(|claim| !claim.large && claim.states < UNREDUCED_MAX);
    let found = |claim: &'static Claim| (claim, look(claim, Limits::default()).unique_states);
    let differ = all.map(found).filter(|(claim, states)| *states != claim.states);
    let wrong: Vec<String> =
        differ.map(|(claim, states)| format!("{}: {states}", named(claim))).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_number_of_threads_does_not_show() {
    for claim in catalog::claims().filter(|claim| !claim.large && claim.states < 10_000) {
        let on = |threads| {
            let threads = NonZeroUsize::new(threads);
            let report = look(claim, Limits { threads, ..Limits::default() });
            (report.states, report.unique_states, report.depth, report.stories)
        };
        assert_eq!(on(1), on(3), "{}", named(claim));
    }
}

#[test]
fn reductions_change_no_verdict() {
    let limits = Limits {
        partial_order: false,
        symmetry: false,
        states_max: UNREDUCED_MAX,
        ..Limits::default()
    };
    let mut compared = 0;
    for claim in catalog::claims().filter(|claim| !claim.large && claim.states < UNREDUCED_MAX) {
        let report = look(claim, limits.clone());
        if matches!(report.stop, Some(Stop::States)) {
            continue; // Too many without.
        }
        compared += 1;
        assert_eq!(found(claim, &report), claim.verdicts, "{}", named(claim));
        assert!(report.unique_states >= claim.states || report.stop.is_some(), "{}", named(claim));
    }
    assert!(compared > 40, "only {compared} claims fit without reductions");
}

/// Elections on a ring of seven, ids falling, with everybody beginning: the states looked at and
/// all there are. Where a single run is left to look at, no reduction could do more.
#[test]
fn of_the_runs_of_an_election_on_a_ring_hardly_any_are_looked_at() {
    let numbers = [
        ("ring", 99, 20_980),
        ("hirschberg-sinclair", 119, 114_519),
        ("chang-roberts", 36, 1_437),
        ("peterson", 29, 995),
    ];
    for (id, with, without) in numbers {
        let setting = catalog::find(id).and_then(|entry| entry.setting(7, &[]));
        let setting = setting.and_then(|setting| setting.with_ids((1..=7).rev().collect()));
        let nodes = checker(&setting.expect("a ring of seven"));
        let everybody = Start::These((0..7).map(NodeId).collect());
        let bounds = Bounds { start: everybody, ..Bounds::default() };
        let look = |partial_order| {
            let properties = vec![Property::E1, Property::E2];
            let limits = Limits { partial_order, properties, ..Limits::default() };
            nodes.check(&bounds, &limits, &|_| {})
        };
        let (reduced, all) = (look(true), look(false));
        assert_eq!((reduced.unique_states, all.unique_states), (with, without), "{id}");
        assert_eq!(reduced.verdicts, all.verdicts, "{id}");
        let single = reduced.unique_states == u64::from(reduced.depth) + 1;
        assert!(single || without >= 100 * with, "{id}");
    }
}
