//! The situations in `scenarios/`, each held against what its file says must come of it.
#![allow(
    clippy::disallowed_methods,
    reason = "algorithms may not touch files, but this test reads the scenarios"
)]

use conclave_algorithms::catalog::{self, Cluster, Setting, Visitor};
use conclave_core::mutex::Mutex;
use conclave_core::{Oracle, Process, Property};
use conclave_sim::{Check, Options, Scenario, run};
use std::fs;
use std::path::Path;

#[test]
fn every_scenario_ends_as_its_file_says() {
    let mut complaints = Vec::new();
    for (name, scenario) in scenarios() {
        match checks(&scenario) {
            Ok(checks) => complaints.extend(checks.iter().filter(|check| !check.ok).map(|check| {
                let Check { what, expected, observed, .. } = check;
                format!("{name}: {what}: expected {expected}, observed {observed}")
            })),
            Err(error) => complaints.push(format!("{name}: {error}")),
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn every_scenario_expects_something_and_tells_its_story_twice() {
    for (name, scenario) in scenarios() {
        let expect = &scenario.expect;
        assert!(!expect.holds.is_empty() || !expect.violated.is_empty(), "{name}");
        for text in [&scenario.title, &scenario.text] {
            assert!(!text.en.trim().is_empty() && !text.pt.trim().is_empty(), "{name}");
            assert_ne!(text.en, text.pt, "{name}");
        }
    }
}

#[test]
fn a_wrong_expectation_is_noticed() {
    let text = read(&folder().join("quorum-c4-forgets.toml"));
    let wrong = text
        .replace("entries = [2, 12]", "entries = [2, 13]\nmessages = 1\nrequests = 3")
        .replace("order = [1, 2]", "order = [2, 1]\nfences = [1, 2]\nby_type = { GRANT = 0 }")
        .replace("same_fence = true", "same_fence = false\nrefused = 7")
        .replace("violated =", "holds =");
    let scenario = Scenario::parse(&wrong).expect("still well formed");
    let checks = checks(&scenario).expect("it runs");
    assert_eq!(checks.len(), 11);
    assert!(checks.iter().all(|check| !check.ok), "{checks:?}");
}

fn scenarios() -> Vec<(String, Scenario)> {
    let entries = fs::read_dir(folder()).expect("there are scenarios");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() > 30, "the walk found only {} scenarios", names.len());
    let parsed = |name: String| {
        let scenario = Scenario::parse(&read(&folder().join(&name)));
        let scenario = scenario.unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, scenario)
    };
    names.into_iter().map(parsed).collect()
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn checks(scenario: &Scenario) -> Result<Vec<Check>, String> {
    let entry = catalog::find(&scenario.algorithm).map_err(|error| error.to_string())?;
    let set: Vec<(&str, &str)> =
        scenario.set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let setting = entry.setting(scenario.nodes, &set).map_err(|error| error.to_string())?;
    catalog::visit(&setting, Judge { scenario, setting: &setting })
        .map_err(|error| error.to_string())?
}

struct Judge<'a> {
    scenario: &'a Scenario,
    setting: &'a Setting,
}

impl Visitor for Judge<'_> {
    type Output = Result<Vec<Check>, String>;

    fn visit<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Mutex>,
        P::Uses: Oracle,
    {
        let Self { scenario, setting } = self;
        let judge = || {
            let names = scenario.names(cluster.clients, cluster.coordinators)?;
            let plan = scenario.plan(&names)?;
            let options = Options {
                order: scenario.watches(Property::HB),
                bypass_bound: setting.entry.bypass.map(|bound| bound(setting)),
                ..Options::default()
            };
            let outcome = run(&cluster, &plan, &options)?;
            Ok(scenario.judge(&outcome, &names))
        };
        judge().map_err(|error: conclave_sim::Error| error.to_string())
    }
}
