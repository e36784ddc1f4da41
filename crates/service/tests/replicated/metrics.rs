//! Metrics: every page has just what the catalogue lists, and so does docs/metrics.md.

use crate::common::metrics_page::{check_page, is_of, promtool_reads};
use crate::common::{Client, Cluster, admin, call, numbered, until};
use conclave_service::metrics::catalogue::ALL;
use conclave_service::metrics::{Engines, Metric};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_just_the_metrics_of_the_catalogue() {
    let cluster = Cluster::start(3).await;
    let follower = cluster.follower().await;
    let client = Client::open(cluster.nodes[follower], "client").await;
    client.acquire("a").await;
    for node in &cluster.nodes {
        let page = call(*node, "GET /metrics", &[], "").await;
        assert!(page.head.contains("text/plain; version=0.0.4"), "{}", page.head);
        check_page(&page.body, Engines::Classic);
        promtool_reads(&page.body);
        assert!(!page.body.contains(&client.session), "a session id is a secret");
    }
    cluster.stop().await;
}

/// The number of a line of a page.
fn number(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} in {page}")).parse().expect("a number")
}

/// What clients do is seen in the numbers of the nodes that did it.
#[tokio::test(flavor = "multi_thread")]
async fn numbers_follow_what_happens() {
    let cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let follower = cluster.follower().await;
    let client = Client::open(cluster.nodes[follower], "holder").await;
    client.ask("a", numbered(1, 1_000)).await;
    let waiter = Client::open(cluster.nodes[follower], "waiter").await;
    let waiting = waiter.queue("a", numbered(1, 18_000)).await;
    let page = call(cluster.nodes[leader], "GET /metrics", &[], "").await.body;
    for (series, expected) in [
        ("conclave_leads", 1.0),
        ("conclave_leader", leader as f64 + 1.0),
        ("conclave_role{role=\"leader\"}", 1.0),
        ("conclave_members{vote=\"voter\"}", 3.0),
        ("conclave_sessions", 2.0),
        ("conclave_holds", 1.0),
        ("conclave_waiters", 1.0),
        ("conclave_queue_longest", 1.0),
    ] {
        assert_eq!(number(&page, series), expected, "{series}");
    }
    for series in ["fsync_seconds_count", "synced_bytes_total", "commit_seconds_count"] {
        assert!(number(&page, &format!("conclave_{series}")) > 0.0, "{series}");
    }
    let force = json!({ "reason": "a test", "now": true });
    let forced = admin(cluster.nodes[follower], "DELETE /v1/locks/a/holders", force).await;
    assert_eq!(forced.status, 200, "{forced:?}");
    assert_eq!(waiting.await.expect("answered").status, 200);
    waiter.ask("a", json!({ "request_id": "first" })).await;
    let page = call(cluster.nodes[leader], "GET /metrics", &[], "").await.body;
    let counted = ["forced_releases_total", "entries_total", "hold_seconds_count"];
    let counted = counted.map(|series| number(&page, &format!("conclave_{series}")));
    assert_eq!(counted, [1.0, 2.0, 1.0]);
    let page = call(cluster.nodes[follower], "GET /metrics", &[], "").await.body;
    assert_eq!(number(&page, "conclave_acquire_seconds_count"), 3.0);
    assert_eq!(number(&page, "conclave_refusals_total{code=\"bad_request\"}"), 1.0);
    assert!(number(&page, "conclave_forward_seconds_count") > 0.0);
    assert!(number(&page, "conclave_connections{room=\"usual\"}") >= 1.0);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_client_and_a_new_leader_are_counted() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let left = cluster.nodes[(leader + 1) % 3];
    let before = call(left, "GET /metrics", &[], "").await.body;
    cluster.kill(leader).await;
    let changed = async || {
        let page = call(left, "GET /metrics", &[], "").await.body;
        number(&page, "conclave_leader_changes_total")
            > number(&before, "conclave_leader_changes_total")
    };
    until(changed).await;
    let opened = json!({ "ttl_ms": 1_000, "label": "silent" });
    until(async || crate::common::post(left, "/v1/sessions", &opened).await.status == 200).await;
    let living = [(leader + 1) % 3, (leader + 2) % 3].map(|index| cluster.nodes[index]);
    let expired = async || {
        let mut all = 0.0;
        for node in living {
            let page = call(node, "GET /metrics", &[], "").await.body;
            all += number(&page, "conclave_expiries_total");
        }
        all >= 1.0 // One that could not be answered in time may have been opened before.
    };
    until(expired).await;
    cluster.stop().await;
}

const TABLE: &str = "| metric | type | labels | engines | what |\n|---|---|---|---|---|\n";

fn table() -> String {
    let mut table = TABLE.to_string();
    for metric in ALL {
        let labels: Vec<String> = metric.labels.iter().map(|it| format!("`{it}`")).collect();
        let engines = match metric.engines {
            Engines::All => "all",
            Engines::Replicated => "replicated",
            Engines::Classic => "classic",
        };
        let Metric { name, kind, help, .. } = metric;
        let (kind, labels) = (kind.as_str(), labels.join(", "));
        table += &format!("| `{name}` | {kind} | {labels} | {engines} | {help} |\n");
    }
    table
}

#[test]
fn the_documents_have_a_row_for_every_metric_and_no_other() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let begin = text.find(TABLE).expect("a table");
    let end = text[begin..].find("\n\n").map_or(text.len(), |length| begin + length + 1);
    let expected = table();
    if std::env::var_os("REWRITE").is_some() {
        let rewritten = format!("{}{expected}{}", &text[..begin], &text[end..]);
        return std::fs::write(&file, rewritten).expect("it can be written");
    }
    let again = "write it anew: REWRITE=1 cargo test -p conclave-service --test replicated";
    assert_eq!(&text[begin..end], expected, "{again}");
}

/// What dashboards, rules and documents name, there is.
pub fn check_names(file: &str, text: &str) {
    let parts = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let named: BTreeSet<&str> = parts.filter(|part| part.starts_with("conclave_")).collect();
    assert!(!named.is_empty(), "{file} names some");
    for name in named {
        let known = ALL.iter().any(|metric| is_of(name, metric) || metric.name == name);
        assert!(known, "{file} names {name}, which there is not");
    }
}
