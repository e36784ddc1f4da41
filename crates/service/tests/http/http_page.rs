//! The page of a node: the cluster for everybody, the lab only where it was asked for.

use crate::common::{Cluster, Response, patient, send};
use serde_json::json;
use std::net::SocketAddr;

const CATALOG: &str = "GET /lab/catalog?lang=en";

/// As a browser asks.
async fn visit(address: SocketAddr, request: &str, headers: &[(&str, &str)]) -> Response {
    send(address, request, headers, "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_has_the_cluster_half_of_the_page_and_says_that_the_lab_is_not_served() {
    let cluster = Cluster::start(1, "central", patient()).await;
    let address = cluster.first();
    for place in ["GET /", "GET /cluster", "GET /assets/app.js"] {
        let page = visit(address, place, &[]).await;
        assert_eq!(page.status, 200, "{place}");
        let policy = "content-security-policy: default-src 'none'";
        assert!(page.head.to_lowercase().contains(policy), "{place}: {}", page.head);
        let foreign = visit(address, place, &[("host", "evil.example")]).await;
        assert_eq!(foreign.status, 403, "{place}");
    }
    let about = visit(address, "GET /page/about", &[]).await.json();
    assert_eq!((&about["lab"], &about["cluster"]), (&json!(false), &json!(true)));
    for question in [CATALOG, "POST /lab/run", "POST /lab/check"] {
        let refused = visit(address, question, &[]).await;
        assert_eq!(refused.status, 404, "{question}");
        assert!(refused.body.contains("conclave node"), "{}", refused.body);
        assert!(refused.body.contains("--lab"), "{}", refused.body);
    }
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_asked_for_it_has_the_lab_as_well() {
    let cluster = Cluster::with_lab(false).await;
    let address = cluster.first();
    let about = visit(address, "GET /page/about", &[]).await.json();
    assert_eq!((&about["lab"], &about["cluster"]), (&json!(true), &json!(true)));
    let catalog = visit(address, CATALOG, &[]).await;
    assert_eq!(catalog.status, 200, "{catalog:?}");
    assert!(catalog.body.contains("ricart-agrawala"), "{}", catalog.body);
    let foreign = visit(address, CATALOG, &[("host", "evil.example")]).await;
    assert_eq!(foreign.status, 403);
    cluster.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_tokens_are_asked_for_the_lab_works_for_those_who_show_one() {
    let cluster = Cluster::with_lab(true).await;
    let address = cluster.first();
    assert_eq!(visit(address, "GET /", &[]).await.status, 200, "the files are for everybody");
    assert_eq!(visit(address, CATALOG, &[]).await.failure(), (401, "unauthorized".into()));
    let known = visit(address, CATALOG, &[("authorization", "Bearer watcher")]).await;
    assert_eq!(known.status, 200, "{known:?}");
    cluster.stop().await;
}
