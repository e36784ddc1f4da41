//! Whoever does not belong here is refused. The reason is for the people who run it, and for those
//! who have proved to be one of the nodes.

use super::certified::proved_pair;
use super::kit::{A, B, Host, Logs, config, exchange, listener, pair};
use super::raw::{Frame, Hello, Raw, Start, hello};
use conclave_core::NodeId;
use conclave_net::{LinkConfig, News};

/// Two nodes of which the first has something wrong. The second logs these words. The first does as
/// well if both have proved who they are, and else learns where to look for them.
async fn is_refused(name: &str, change: impl Fn(&mut LinkConfig), words: &str) {
    let change = |config: &mut LinkConfig| {
        if config.me == A {
            change(config);
        }
    };
    let refused = format!("it was refused: {words}");
    let mut logs = Logs::read();
    let pair_of_plain = pair(change).await;
    logs.line(&refused).await;
    logs.line("node 2 refused this node; see the log of node 2; trying again").await;
    assert_eq!(logs.count("it refuses this node"), 0, "the reason was told");
    drop(pair_of_plain);
    drop(logs);
    let mut logs = Logs::read();
    let _proved = proved_pair(name, change).await;
    logs.line(&refused).await;
    logs.line(&format!("it refuses this node: {words}")).await;
}

#[tokio::test]
async fn another_cluster_is_refused() {
    let change = |config: &mut LinkConfig| config.cluster = "other".into();
    is_refused("cluster", change, "it is of cluster 'other', this is 'demo'").await;
}

#[tokio::test]
async fn another_size_is_refused() {
    let change = |config: &mut LinkConfig| {
        config.n = 3;
        config.peers.push("127.0.0.1:9".into());
    };
    is_refused("size", change, "its cluster has 3 nodes, this one has 2").await;
}

#[tokio::test]
async fn another_algorithm_is_refused_and_both_are_named() {
    let change = |config: &mut LinkConfig| config.algorithm = "engine=maekawa".into();
    let words = "node 1 runs 'engine=maekawa', node 2 runs 'engine=ricart-agrawala'";
    is_refused("algorithm", change, words).await;
}

#[tokio::test]
async fn addresses_in_the_wrong_order_are_noticed() {
    let (first, second) = (listener().await, listener().await);
    let peers = [first.1.clone(), second.1.clone(), second.1];
    let mut logs = Logs::read();
    let _a = Host::start(first.0, config(A, &peers));
    let _b = Host::start(second.0, config(B, &peers));
    logs.line("it was refused: it looks for node 3, this is node 2").await;
    logs.line("no link to node 3 at").await;
    logs.line("node 2 refused this node; see the log of node 2").await;
}

fn start(incarnation: u32) -> Start {
    Start { incarnation, nonce: 1 }
}

/// A stranger learns which node has refused it, and nothing else.
fn assert_untold(answer: &Frame) {
    let Frame::Refuse { by, identity, reason, .. } = answer else {
        panic!("not refused: {answer:?}")
    };
    assert_eq!((*by, *identity), (B, 0));
    assert_eq!(reason, "refused; see the log of node 2");
}

/// What is logged about a peer written by hand.
async fn refused(change: impl Fn(&mut Hello), words: &str) {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let _b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let mut greeting = hello(A, B, 2);
    change(&mut greeting);
    let (mut raw, answer) = Raw::greet(&address, greeting).await;
    assert_untold(&answer);
    raw.until_closed().await;
    let from = raw.0.local_addr().unwrap();
    logs.line(&format!("connection from {from}: it was refused: {words}")).await;
}

#[tokio::test]
async fn a_node_that_cannot_be_is_refused() {
    let words = "it calls itself node 3, at node 2 of 2";
    refused(|hello| hello.from = NodeId(2), words).await;
    let words = "it calls itself node 2, at node 2 of 2";
    refused(|hello| hello.from = B, words).await;
}

#[tokio::test]
async fn a_name_cannot_forge_lines_of_the_log() {
    let words = "it is of cluster 'x\\u{a}forged', this is 'demo'";
    refused(|hello| hello.cluster = "x\nforged".into(), words).await;
    let words = "node 1 runs '\\u{1b}[31m\\u{202e}\\u{200b}', node 2 runs '";
    refused(|hello| hello.algorithm = "\u{1b}[31m\u{202e}\u{200b}".into(), words).await;
}

#[tokio::test]
async fn another_version_is_refused_and_hears_ours_from_the_preface() {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let _b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let mut raw = Raw::connect(&address).await;
    raw.write(b"CONCLAVE\x00and then whatever came after it at that time").await;
    raw.expect_preface().await;
    assert_untold(&raw.next().await.expect("an answer"));
    logs.line("it speaks version 0 of the protocol, this node speaks version 3").await;
}

#[tokio::test]
async fn a_second_node_of_the_same_name_is_disowned_and_the_first_goes_on() {
    let mut logs = Logs::read();
    let (mut a, mut b) = proved_pair("second", |_| {}).await;
    exchange(&mut a, &mut b, 10).await;
    let (listener, _) = listener().await;
    let mut second = LinkConfig { tls: a.config.tls.clone(), ..config(A, &a.config.peers) };
    second.identity = 666;
    let mut second = Host::start(listener, second);
    let disowned = |news: &News| matches!(news, News::Disowned { by: B, .. });
    let words = "another node 1 was met before: this one has lost its disk, or is a second node \
                 of the same name";
    let news = second.until("to be disowned", disowned).await;
    assert_eq!(news, News::Disowned { by: B, reason: words.into() });
    logs.line(&format!("it was refused: {words}")).await;
    exchange(&mut a, &mut b, 10).await;
    assert_eq!(logs.count("linked to node"), 2, "the link of the first was disturbed");
}

#[tokio::test]
async fn a_start_that_nobody_can_have_come_to_disowns_nobody() {
    let mut logs = Logs::read();
    let first = listener().await;
    let second = listener().await;
    let mut b = Host::start(second.0, config(B, &[first.1, second.1.clone()]));
    let (_, answer) = Raw::greet(&second.1, hello(A, B, 2)).await;
    assert!(matches!(answer, Frame::Welcome { .. }), "{answer:?}");
    let forged = Hello { start: start(u32::MAX), ..hello(A, B, 2) };
    let (_, answer) = Raw::greet(&second.1, forged).await;
    assert_untold(&answer);
    logs.line("its start 4294967295: nobody starts so often").await;
    let next = Hello { start: start(2), ..hello(A, B, 2) };
    let (_, answer) = Raw::greet(&second.1, next).await;
    assert!(matches!(answer, Frame::Welcome { .. }), "{answer:?}");
    b.restart().await;
}

#[tokio::test]
async fn an_older_start_of_a_peer_is_refused() {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let _b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let mut second_start = hello(A, B, 2);
    second_start.start = start(2);
    let (_raw, answer) = Raw::greet(&address, second_start).await;
    assert!(matches!(answer, Frame::Welcome { .. }));
    let (_raw, answer) = Raw::greet(&address, hello(A, B, 2)).await;
    assert_untold(&answer);
    logs.line("it was refused: node 1 has been seen in its start 2, this is its start 1").await;
}

#[tokio::test]
async fn a_welcome_from_somebody_else_is_not_believed() {
    let mut logs = Logs::read();
    let (mut a, mut b) = proved_pair("welcome", |_| {}).await;
    exchange(&mut a, &mut b, 3).await;
    let links = b.links.take().unwrap();
    let address = links.local_addr();
    links.stop().await;
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    b.config.identity = 666;
    let mut other = Host::start(listener, b.config.clone());
    logs.line("no link to node 2 at").await;
    logs.line("another node 2 was met before").await;
    let disowned = |news: &News| matches!(news, News::Disowned { by: A, .. });
    other.until("to be disowned", disowned).await;
}

#[tokio::test]
async fn a_refusal_is_logged_once_by_both_sides() {
    let mut logs = Logs::read();
    let (_a, b) = pair(|config| {
        if config.me == A {
            config.cluster = "other".into();
        }
    })
    .await;
    logs.line("it was refused: it is of cluster 'other', this is 'demo'").await;
    logs.line("node 2 refused this node; see the log of node 2").await;
    let address = b.links.as_ref().unwrap().local_addr().to_string();
    for _ in 0..5 {
        let again = Hello { cluster: "other".into(), ..hello(A, B, 2) };
        let (_, answer) = Raw::greet(&address, again).await;
        assert!(matches!(answer, Frame::Refuse { .. }), "{answer:?}");
    }
    assert_eq!(logs.count("it was refused: it is of cluster 'other'"), 1);
    assert_eq!(logs.count("node 2 refused this node; see the log of node 2"), 1);
}
