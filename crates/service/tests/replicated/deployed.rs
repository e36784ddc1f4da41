//! What `deploy/` has for Prometheus and Grafana: names that there are, and rules that work.

use crate::metrics::check_names;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const RULES: &str = "deploy/prometheus/conclave.rules.yml";
const RULE_TESTS: &str = "deploy/prometheus/conclave.test.yml";
const SCRAPE: &str = "deploy/prometheus/prometheus.yml";
const DASHBOARD: &str = "deploy/grafana/conclave.json";
const GUIDE: &str = "docs/running.md";

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

fn text(file: &str) -> String {
    std::fs::read_to_string(path(file)).expect("it is there")
}

#[test]
fn rules_dashboard_and_guide_name_metrics_that_there_are() {
    for file in [RULES, RULE_TESTS, DASHBOARD, GUIDE] {
        check_names(file, &text(file));
    }
}

/// As the address of a heading is made from its words.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-'].contains(letter);
    let words: String = heading.to_lowercase().chars().filter(kept).collect();
    words.replace(' ', "-")
}

#[test]
fn every_alert_says_what_it_is_and_where_to_read_what_to_do() {
    let guide = text(GUIDE);
    let headings: BTreeSet<String> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("#").map(|rest| rest.trim_start_matches('#')))
        .map(|heading| anchor(heading.trim()))
        .collect();
    let rules = text(RULES);
    let alerts: Vec<&str> = rules.split("- alert: ").skip(1).collect();
    assert!(alerts.len() >= 10, "{}", alerts.len());
    for alert in alerts {
        let name = alert.lines().next().expect("a name");
        let of = |field: &str| {
            let line = alert.lines().find_map(|line| line.trim().strip_prefix(field));
            line.unwrap_or_else(|| panic!("{name} has no {field}")).trim_matches([' ', '"'])
        };
        assert!(!of("summary:").is_empty() && !of("description:").is_empty());
        let section = of("runbook:").strip_prefix("docs/running.md#").expect("a section");
        assert!(headings.contains(section), "{name}: {GUIDE} has no heading for #{section}");
    }
}

/// By Prometheus's own tool, if it is here: the rules are rules, and do what they are for.
#[test]
fn promtool_accepts_the_rules_and_their_tests_pass() {
    for (words, file) in [
        (["check", "rules"], RULES),
        (["test", "rules"], RULE_TESTS),
        (["check", "config"], SCRAPE),
    ] {
        let Ok(done) = Command::new("promtool").args(words).arg(path(file)).output() else {
            eprintln!("skipped: promtool is not here (Debian: prometheus)");
            return;
        };
        let said = [done.stdout, done.stderr].concat();
        assert!(done.status.success(), "{file}: {}", String::from_utf8_lossy(&said));
    }
}

/// What Grafana expects of a dashboard that is to be imported anywhere: a data source that is
/// chosen there, and panels with a place and questions of their own.
#[test]
fn the_dashboard_can_be_imported_with_any_data_source() {
    let dashboard: Value = serde_json::from_str(&text(DASHBOARD)).expect("JSON");
    let variables = dashboard["templating"]["list"].as_array().expect("variables");
    let first = &variables[0];
    assert_eq!((&first["name"], &first["type"]), (&"datasource".into(), &"datasource".into()));
    let panels = dashboard["panels"].as_array().expect("panels");
    let (mut ids, mut places) = (BTreeSet::new(), BTreeSet::new());
    for panel in panels {
        let title = &panel["title"];
        assert!(ids.insert(panel["id"].as_u64().expect("an id")), "{title}");
        let grid = &panel["gridPos"];
        let [x, y, w] = ["x", "y", "w"].map(|side| grid[side].as_u64().expect("a number"));
        assert!(x + w <= 24 && places.insert((y, x)), "{title}");
        if panel["type"] == "row" {
            continue;
        }
        let targets = panel["targets"].as_array().expect("questions");
        assert!(!targets.is_empty(), "{title}");
        for target in targets.iter().chain([panel]) {
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
        }
        let asked = |target: &Value| target["expr"].as_str().is_some_and(|it| it.contains("$job"));
        assert!(targets.iter().all(asked), "{title} asks one cluster");
    }
}
