//! Every claim of the catalogue and of the lock table, looked at in every run within its bounds.

use conclave_algorithms::catalog::{self, Claim, Entry, Setting};
use conclave_check::{Checkable, Limits, Report, Stop};
use conclave_core::{Bounds, NodeId, Property, Start, Verdict};
use conclave_sim::Runnable;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// Without reductions at most so many states are looked at.
const UNREDUCED_MAX: u64 = 200_000;

fn drivers(setting: &Setting) -> (Arc<dyn Runnable>, Arc<dyn Checkable>) {
    let drivers = conclave_lab::drivers(setting).expect("built");
    (drivers.simulator, drivers.checker.expect("a lock or an election"))
}

fn checker(setting: &Setting) -> Arc<dyn Checkable> {
    drivers(setting).1
}

/// A claim, and the row it is about.
type Claimed = (&'static Entry, &'static Claim);

fn claims() -> impl Iterator<Item = Claimed> {
    conclave_lab::claims().filter(|(_, claim)| !claim.large)
}

fn small(states_max: u64) -> impl Iterator<Item = Claimed> {
    claims().filter(move |(_, claim)| claim.states < states_max)
}

fn look((entry, claim): Claimed, limits: Limits) -> Report {
    let setting = claim.setting(entry).expect("a setting that can be built");
    let bounds = claim.bounds(&setting);
    checker(&setting).check(&bounds, &Limits { properties: claim.properties(), ..limits }, &|_| {})
}

type Looked = Vec<(Claimed, Report)>;

fn look_at(whose: impl Fn(&Entry) -> bool) -> Looked {
    let claims = claims().filter(|(entry, _)| whose(entry));
    claims.map(|claimed| (claimed, look(claimed, Limits::default()))).collect()
}

fn is_of_the_table(entry: &Entry) -> bool {
    catalog::find(entry.id).is_err()
}

/// Each claim of the catalogue with what is found by default: looked at once, for all tests.
fn of_the_catalogue() -> &'static [(Claimed, Report)] {
    static LOOKED: OnceLock<Looked> = OnceLock::new();
    LOOKED.get_or_init(|| look_at(|entry| !is_of_the_table(entry)))
}

/// The same of the lock table.
fn of_the_table() -> &'static [(Claimed, Report)] {
    static LOOKED: OnceLock<Looked> = OnceLock::new();
    LOOKED.get_or_init(|| look_at(is_of_the_table))
}

fn looked() -> impl Iterator<Item = &'static (Claimed, Report)> {
    of_the_catalogue().iter().chain(of_the_table())
}

fn found(claim: &Claim, report: &Report) -> Vec<(Property, Verdict)> {
    claim.properties().into_iter().map(|property| (property, report.verdict(property))).collect()
}

fn named((entry, claim): Claimed) -> String {
    format!("{} {:?}, {} nodes", entry.id, claim.set, claim.nodes)
}

#[test]
fn every_claim_of_the_catalogue_is_true() {
    assert_true(of_the_catalogue());
}

#[test]
fn every_claim_of_the_lock_table_is_true() {
    assert_true(of_the_table());
}

fn assert_true(looked: &[(Claimed, Report)]) {
    assert!(!looked.is_empty());
    for (claimed, report) in looked {
        let claimed = *claimed;
        let found = found(claimed.1, report);
        assert_eq!(found, claimed.1.verdicts, "{}", named(claimed));
        let told = report.stories.iter().map(|story| story.property);
        let broken = found.iter().filter(|(_, verdict)| *verdict == Verdict::Violated);
        assert_eq!(told.count(), broken.count(), "{}: a story for all that breaks", named(claimed));
    }
}

/// A story is not the checker's word alone.
#[test]
fn the_simulator_sees_what_the_stories_tell() {
    for (claimed, report) in looked().filter(|((_, claim), _)| claim.breaks()) {
        let (entry, claim) = *claimed;
        let (nodes, _) = drivers(&claim.setting(entry).expect("a setting that can be built"));
        for story in &report.stories {
            let retold = nodes.follow(story).expect("a story that can be followed");
            assert!(retold.violation(story.property).is_some(), "{}: {story:?}", named(*claimed));
        }
    }
}

/// A change of this number is no mistake, but must be meant.
#[test]
fn every_claim_has_as_many_states_as_it_says() {
    let differ = looked().filter(|((_, claim), report)| report.unique_states != claim.states);
    let wrong: Vec<String> = differ
        .map(|(claimed, report)| format!("{}: {}", named(*claimed), report.unique_states))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_number_of_threads_does_not_show() {
    for claimed in small(10_000) {
        let on = |threads| {
            let threads = NonZeroUsize::new(threads);
            let report = look(claimed, Limits { threads, ..Limits::default() });
            (report.states, report.unique_states, report.depth, report.stories)
        };
        assert_eq!(on(1), on(3), "{}", named(claimed));
    }
}

/// Each claim that fits without reductions, with what is found then: looked at once, for all tests.
fn unreduced() -> &'static [(Claimed, Report)] {
    static UNREDUCED: OnceLock<Vec<(Claimed, Report)>> = OnceLock::new();
    UNREDUCED.get_or_init(|| {
        let limits = Limits {
            partial_order: false,
            symmetry: false,
            states_max: UNREDUCED_MAX,
            ..Limits::default()
        };
        let all = small(UNREDUCED_MAX).map(|claimed| (claimed, look(claimed, limits.clone())));
        all.filter(|(_, report)| !matches!(report.stop, Some(Stop::States))).collect()
    })
}

#[test]
fn reductions_change_no_verdict() {
    for (claimed, report) in unreduced() {
        let claim = claimed.1;
        assert_eq!(found(claim, report), claim.verdicts, "{}", named(*claimed));
    }
    let compared = unreduced().len();
    assert!(compared > 40, "only {compared} claims fit without reductions");
}

#[test]
fn a_claim_has_no_more_states_than_there_are_without_reductions() {
    for (claimed, report) in unreduced().iter().filter(|(_, report)| report.stop.is_none()) {
        assert!(report.unique_states >= claimed.1.states, "{}", named(*claimed));
    }
}

/// An election on a ring of seven, ids falling, with everybody beginning: what is looked at, and
/// all there is.
fn on_a_ring_of_seven(id: &str) -> [Report; 2] {
    let setting = catalog::find(id).and_then(|entry| entry.setting(7, &[]));
    let setting = setting.and_then(|setting| setting.with_ids((1..=7).rev().collect()));
    let nodes = checker(&setting.expect("a ring of seven"));
    let everybody = Start::These((0..7).map(NodeId).collect());
    let bounds = Bounds { start: everybody, ..Bounds::default() };
    [true, false].map(|partial_order| {
        let properties = vec![Property::E1, Property::E2];
        let limits = Limits { partial_order, properties, ..Limits::default() };
        nodes.check(&bounds, &limits, &|_| {})
    })
}

/// Where a single run is left to look at, no reduction could do more.
#[test]
fn of_the_runs_of_an_election_on_a_ring_hardly_any_are_looked_at() {
    for id in ["ring", "hirschberg-sinclair", "chang-roberts", "peterson"] {
        let [reduced, all] = on_a_ring_of_seven(id);
        assert_eq!(reduced.verdicts, all.verdicts, "{id}");
        let single = reduced.unique_states == u64::from(reduced.depth) + 1;
        assert!(single || all.unique_states >= 100 * reduced.unique_states, "{id}");
    }
}

/// The states that are looked at, and all there are.
#[test]
fn an_election_on_a_ring_has_as_many_states_as_it_had() {
    let numbers = [
        ("ring", 99, 20_980),
        ("hirschberg-sinclair", 119, 114_519),
        ("chang-roberts", 36, 1_437),
        ("peterson", 29, 995),
    ];
    for (id, with, without) in numbers {
        let found = on_a_ring_of_seven(id).map(|report| report.unique_states);
        assert_eq!(found, [with, without], "{id}");
    }
}
