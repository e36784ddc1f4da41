//! What a page of metrics has to be, whichever engine is behind it.

use conclave_service::metrics::catalogue::ALL;
use conclave_service::metrics::{Engines, Kind, Metric};
use std::io::Write;
use std::process::{Command, Stdio};

/// The page has each metric of this engine once, as the catalogue describes it, and no other line.
pub fn check_page(page: &str, other: Engines) {
    let expected = || ALL.iter().filter(|metric| metric.engines != other);
    for metric in expected() {
        let (name, kind) = (metric.name, metric.kind.as_str());
        let head = format!("# HELP {name} {}\n# TYPE {name} {kind}\n", metric.help);
        assert_eq!(page.matches(&head).count(), 1, "{head} in {page}");
    }
    assert_eq!(page.lines().filter(|line| line.starts_with("# TYPE ")).count(), expected().count());
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (name, labels) = split(line);
        let metric = expected().find(|metric| is_of(name, metric));
        let metric = metric.unwrap_or_else(|| panic!("{line}"));
        let known = metric.labels.iter().copied().chain(name.ends_with("_bucket").then_some("le"));
        assert_eq!(labels, known.collect::<Vec<_>>(), "{line}");
    }
}

/// Whether a line of this name belongs to this metric.
pub fn is_of(name: &str, metric: &Metric) -> bool {
    let rest = name.strip_prefix(metric.name);
    let histogram = metric.kind == Kind::Histogram;
    match rest {
        Some("") => !histogram,
        Some("_bucket" | "_sum" | "_count") => histogram,
        Some(_) | None => false,
    }
}

/// The name of a line, and those of its labels.
fn split(line: &str) -> (&str, Vec<&str>) {
    let (series, number) = line.rsplit_once(' ').expect("a number");
    assert!(number.parse::<f64>().is_ok(), "{line}");
    let Some((name, labels)) = series.split_once('{') else { return (series, Vec::new()) };
    let pairs = labels.trim_end_matches('}').split("\",");
    (name, pairs.filter_map(|pair| pair.split_once('=')).map(|(name, _)| name).collect())
}

/// Has Prometheus's own tool read the page, if it is here.
pub fn promtool_reads(page: &str) {
    let checked = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut checked) = checked else {
        eprintln!("skipped: promtool is not here (Debian: prometheus)");
        return;
    };
    checked.stdin.take().expect("piped").write_all(page.as_bytes()).expect("it reads");
    let done = checked.wait_with_output().expect("it ends");
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
}
