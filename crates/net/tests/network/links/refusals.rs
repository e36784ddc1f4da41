//! Whoever does not belong here is told why, and so are the people who run it.

use super::kit::{A, B, Host, Logs, config, exchange, listener, pair};
use super::raw::{Frame, Hello, Raw, hello};
use conclave_core::NodeId;
use conclave_net::{LinkConfig, News};

/// Two nodes of which the first has something wrong; both must log these words.
async fn both_say(change: impl Fn(&mut LinkConfig), words: &str) {
    let mut logs = Logs::read();
    let (_a, _b) = pair(|config| {
        if config.me == A {
            change(config);
        }
    })
    .await;
    logs.line(&format!("it was refused: {words}")).await;
    logs.line(&format!("it refuses this node: {words}")).await;
}

#[tokio::test]
async fn another_cluster_is_refused() {
    let change = |config: &mut LinkConfig| config.cluster = "other".into();
    both_say(change, "it is of cluster 'other', this is 'demo'").await;
}

#[tokio::test]
async fn another_size_is_refused() {
    let change = |config: &mut LinkConfig| {
        config.n = 3;
        config.peers.push("127.0.0.1:9".into());
    };
    both_say(change, "its cluster has 3 nodes, this one has 2").await;
}

#[tokio::test]
async fn another_algorithm_is_refused_and_both_are_named() {
    let change = |config: &mut LinkConfig| config.algorithm = "engine=maekawa".into();
    let words = "node 1 runs 'engine=maekawa', node 2 runs 'engine=ricart-agrawala'";
    both_say(change, words).await;
}

#[tokio::test]
async fn addresses_in_the_wrong_order_are_noticed() {
    let (first, second) = (listener().await, listener().await);
    let peers = [first.1.clone(), second.1.clone(), second.1];
    let mut logs = Logs::read();
    let _a = Host::start(first.0, config(A, &peers));
    let _b = Host::start(second.0, config(B, &peers));
    logs.line("it was refused: it looks for node 3, this is node 2").await;
    logs.line("it refuses this node: it looks for node 3, this is node 2").await;
}

/// What a peer written by hand is answered, and what is logged about it.
async fn refused(change: impl Fn(&mut Hello), words: &str) {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let _b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let mut greeting = hello(A, B, 2);
    change(&mut greeting);
    let (mut raw, answer) = Raw::greet(&address, greeting).await;
    let Frame::Refuse { reason, .. } = answer else { panic!("not refused: {answer:?}") };
    assert_eq!(reason, words);
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
    let words = "it is of cluster 'x?forged', this is 'demo'";
    refused(|hello| hello.cluster = "x\nforged".into(), words).await;
}

#[tokio::test]
async fn another_version_is_refused_and_told_ours() {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let _b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let mut raw = Raw::connect(&address).await;
    raw.write(b"CONCLAVE\x00and then whatever came after it at that time").await;
    raw.expect_preface().await;
    let words = "it speaks version 0 of the protocol, this node speaks version 2";
    let Some(Frame::Refuse { reason, .. }) = raw.next().await else { panic!("not refused") };
    assert_eq!(reason, words);
    logs.line(words).await;
}

#[tokio::test]
async fn a_second_node_of_the_same_name_is_disowned_and_the_first_goes_on() {
    let mut logs = Logs::read();
    let (mut a, mut b) = pair(|_| {}).await;
    exchange(&mut a, &mut b, 10).await;
    let (listener, _) = listener().await;
    let mut second = config(A, &a.config.peers);
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
    let first = listener().await;
    let second = listener().await;
    let mut b = Host::start(second.0, config(B, &[first.1, second.1.clone()]));
    let (_, answer) = Raw::greet(&second.1, hello(A, B, 2)).await;
    assert!(matches!(answer, Frame::Welcome { .. }), "{answer:?}");
    let forged = Hello { incarnation: u32::MAX, ..hello(A, B, 2) };
    let (_, answer) = Raw::greet(&second.1, forged).await;
    let Frame::Refuse { reason, .. } = answer else { panic!("{answer:?}") };
    assert!(reason.ends_with("its start 4294967295: nobody starts so often"), "{reason}");
    let next = Hello { incarnation: 2, ..hello(A, B, 2) };
    let (_, answer) = Raw::greet(&second.1, next).await;
    assert!(matches!(answer, Frame::Welcome { .. }), "{answer:?}");
    b.restart().await;
}

#[tokio::test]
async fn an_older_start_of_a_peer_is_disowned() {
    let (listener, address) = listener().await;
    let _b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let mut second_start = hello(A, B, 2);
    second_start.incarnation = 2;
    let (_raw, answer) = Raw::greet(&address, second_start).await;
    assert!(matches!(answer, Frame::Welcome { .. }));
    let (_raw, answer) = Raw::greet(&address, hello(A, B, 2)).await;
    let Frame::Refuse { reason, .. } = answer else { panic!("not refused: {answer:?}") };
    assert!(reason.starts_with("node 1 has been seen in its start 2, this is its start 1"));
}

#[tokio::test]
async fn a_welcome_from_somebody_else_is_not_believed() {
    let mut logs = Logs::read();
    let (mut a, mut b) = pair(|_| {}).await;
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
    logs.lines("it is of cluster 'other', this is 'demo'", 2).await;
    let address = b.links.as_ref().unwrap().local_addr().to_string();
    for _ in 0..5 {
        let again = Hello { cluster: "other".into(), ..hello(A, B, 2) };
        let (_, answer) = Raw::greet(&address, again).await;
        assert!(matches!(answer, Frame::Refuse { .. }), "{answer:?}");
    }
    assert_eq!(logs.count("it was refused: it is of cluster 'other'"), 1);
    assert_eq!(logs.count("it refuses this node: it is of cluster 'other'"), 1);
}
