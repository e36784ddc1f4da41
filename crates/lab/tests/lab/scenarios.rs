//! The situations in `scenarios/`, each held against what its file says must come of it.

use conclave_algorithms::catalog::{self, Family, Setting};
use conclave_core::Property;
use conclave_sim::{Check, Options, Scenario};
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
        assert_ne!(expect, &conclave_sim::Expect::default(), "{name}");
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

/// Every run of every file.
fn scenarios() -> Vec<(String, Scenario)> {
    let entries = fs::read_dir(folder()).expect("there are scenarios");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() > 30, "the walk found only {} scenarios", names.len());
    let parsed = |name: String| {
        let runs = Scenario::parse_runs(&read(&folder().join(&name)));
        let runs = runs.unwrap_or_else(|error| panic!("{name}: {error}"));
        runs.into_iter().map(move |run| (name.clone(), run))
    };
    names.into_iter().flat_map(parsed).collect()
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
    let setting = elective(setting, scenario)?;
    let cluster = crate::cluster(&setting).map_err(|error| error.to_string())?;
    let judge = || {
        let names = scenario.names(cluster.clients(), cluster.coordinators())?;
        let plan = scenario.plan(&names)?;
        let options = Options {
            order: scenario.watches(Property::HB),
            bypass_bound: setting.entry.bypass.map(|bound| bound(&setting)),
            ..Options::default()
        };
        let outcome = cluster.run(&plan, &options)?;
        Ok(scenario.judge(&outcome, &names))
    };
    judge().map_err(|error: conclave_sim::Error| error.to_string())
}

/// In an election the labels are what the nodes compare, and some may be no candidates.
fn elective(setting: Setting, scenario: &Scenario) -> Result<Setting, String> {
    if setting.entry.family != Family::Election {
        return Ok(setting);
    }
    let names = scenario.names(setting.n, 0).map_err(|error| error.to_string())?;
    let mut setting = setting;
    if scenario.ids.is_some() {
        let ids = names.labels.iter().map(|label| label.parse().expect("ids are numbers"));
        setting = setting.with_ids(ids.collect()).map_err(|error| error.to_string())?;
    }
    if let Some(candidates) = &scenario.candidates {
        let nodes = names.nodes("candidates", candidates).map_err(|error| error.to_string())?;
        setting = setting.with_candidates(nodes.into_iter().collect());
    }
    Ok(setting)
}
