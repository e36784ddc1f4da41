//! Whoever does not belong here is refused. The reason is for the people who run it, and for those
//! who have proved to be one of the nodes.

use super::kit::{A, B, TestNode, config};
use super::raw::{C, Head, Hello, Raw, hello};
use crate::links::certified::Folder;
use crate::links::kit::Logs;
use conclave_net::make_authority;
use conclave_net::rpc::{RpcConfig, RpcError};

/// The first node has something wrong, and the second logs these words. The first learns them if
/// both have proved who they are, and else where to look for them.
async fn is_refused(name: &str, change: impl Fn(&mut RpcConfig), words: &str) {
    let folder = Folder::new(&format!("rpc-{name}"));
    let authority = make_authority("demo").unwrap();
    for with_tls in [false, true] {
        let mut logs = Logs::read();
        let tls = |node| folder.tls(&authority, node).filter(|_| with_tls);
        let mut first = RpcConfig { tls: tls(A), ..config(A) };
        change(&mut first);
        let a = TestNode::start(first).await;
        let b = TestNode::start(RpcConfig { tls: tls(B), ..config(B) }).await;
        let RpcError::Refused { to: B, reason } = a.error(&b.address()).await else {
            panic!("not refused")
        };
        logs.line(&format!("it was refused: {words}")).await;
        if with_tls {
            assert_eq!(&*reason, format!("it refuses this node: {words}"));
        } else {
            assert_eq!(&*reason, "node 2 refused this node; see the log of node 2");
        }
        logs.line(&format!("no raft link to node 2 at {}: {reason}", b.address().address)).await;
    }
}

#[tokio::test]
async fn another_cluster_is_refused() {
    let change = |config: &mut RpcConfig| config.cluster = "other".into();
    is_refused("cluster", change, "it is of cluster 'other', this is 'demo'").await;
}

#[tokio::test]
async fn a_node_that_is_not_admitted_is_refused() {
    let change = |config: &mut RpcConfig| config.disk = 7;
    is_refused("disk", change, "node 1 has another disk").await;
}

/// What a stranger is told, and what is logged about it.
async fn stranger(change: impl Fn(&mut Hello), words: &str) {
    let mut logs = Logs::read();
    let b = TestNode::start(config(B)).await;
    let mut wrong = hello(A, B);
    change(&mut wrong);
    let (mut raw, answer) = Raw::greet(&b.address().address, wrong).await;
    assert_eq!(answer, Head::Refuse { by: B, reason: None });
    raw.until_closed().await;
    logs.line(&format!("it was refused: {words}")).await;
}

#[tokio::test]
async fn a_node_that_looks_for_another_is_refused() {
    stranger(|hello| hello.to = C, "it looks for node 3, this is node 2").await;
}

#[tokio::test]
async fn a_second_node_of_the_same_name_is_refused() {
    stranger(|hello| hello.from = B, "it calls itself node 2, as this node does").await;
}

#[tokio::test]
async fn the_reason_of_a_server_is_logged_and_not_told_to_strangers() {
    stranger(|hello| hello.disk = 9, "node 1 has another disk").await;
}

#[tokio::test]
async fn a_name_with_control_characters_makes_one_line() {
    let words = "it is of cluster 'x\\u{a}y\\u{202e}\\u{2028}', this is";
    stranger(|hello| hello.cluster = "x\ny\u{202e}\u{2028}".into(), words).await;
}

#[tokio::test]
async fn a_node_of_a_classic_engine_is_told_apart() {
    let mut logs = Logs::read();
    let b = TestNode::start(config(B)).await;
    let mut raw = Raw::connect(&b.address().address).await;
    raw.write(b"CONCLAVE\x03").await;
    raw.expect_preface().await;
    assert_eq!(raw.next().await, Some((Head::Refuse { by: B, reason: None }, Vec::new())));
    logs.line("it runs a classic engine (version 3 of the links), this node the repl").await;
    let mut raw = Raw::connect(&b.address().address).await;
    raw.write(b"CONCLAVE\x83").await;
    logs.line("it speaks version 3 of the protocol, this node speaks version 2").await;
}
