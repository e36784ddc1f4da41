//! Disks that went back in time, or are those of somebody else.

use super::kit::{A, B, Host, Logs, config, exchange, listener, pair, soon};
use super::raw::{Frame, Raw, hello};
use conclave_net::{LinkConfig, News, Past};

/// Both nodes go on until the first is told that its disk is an old copy; the reason is given back.
async fn until_told(old: &mut Host, other: &mut Host) -> String {
    soon("to be told of the old copy", async {
        loop {
            tokio::select! {
                news = old.step() => {
                    if let News::OldCopy { by, reason } = news {
                        assert_eq!(by, other.config.me);
                        return reason;
                    }
                }
                news = other.step() => {
                    assert!(!matches!(news, News::OldCopy { .. }), "its disk is in order");
                }
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_node_that_forgot_what_it_sent_is_told_so_and_its_new_messages_are_not_lost_unseen() {
    let (mut a, mut b) = pair(|_| {}).await;
    exchange(&mut a, &mut b, 10).await;
    let copy = a.copy_disk();
    for _ in 0..5 {
        a.send(B).await;
    }
    soon("the messages", async {
        while a.unacknowledged(B) > 0 {
            tokio::select! {
                _ = a.step() => {}
                _ = b.step() => {}
            }
        }
    })
    .await;
    // Its next messages have numbers that its peer has seen, of others.
    a.restart_from(copy).await;
    for _ in 0..20 {
        a.send(B).await;
    }
    let reason = until_told(&mut a, &mut b).await;
    assert_eq!(reason, "has received message 15 of this node, whose disk knows 10 only");
    assert_eq!((a.unacknowledged(B), b.received(A)), (20, 15), "nothing passes as delivered");
}

#[tokio::test]
async fn a_node_that_forgot_what_it_received_is_told_so_though_there_is_nothing_to_send() {
    let mut logs = Logs::read();
    let (mut a, mut b) = pair(|_| {}).await;
    exchange(&mut a, &mut b, 10).await;
    let copy = b.copy_disk();
    for _ in 0..5 {
        a.send(B).await;
    }
    soon("the acknowledgements", async {
        while a.unacknowledged(B) > 0 {
            tokio::select! {
                _ = a.step() => {}
                _ = b.step() => {}
            }
        }
    })
    .await;
    b.restart_from(copy).await;
    let reason = until_told(&mut b, &mut a).await;
    let words = "was told that its message 15 had arrived, of which this disk knows 10 only";
    assert_eq!(reason, words);
    let words = "it has messages up to 10 only, although it acknowledged message 15";
    logs.line(words).await;
    // And if its peer, too, has started anew in between.
    a.restart().await;
    logs.lines(words, 2).await;
}

#[tokio::test]
async fn an_older_start_of_a_peer_is_disowned_by_a_node_that_started_anew() {
    let (listener, address) = listener().await;
    let mut config = config(B, &["127.0.0.1:9".into(), address.clone()]);
    config.past = vec![Past { identity: Some(100), incarnation: 3, ..Past::default() }];
    let _b = Host::start(listener, config);
    let (_raw, answer) = Raw::greet(&address, hello(A, B, 2)).await;
    let Frame::Refuse { identity, reason, .. } = answer else { panic!("not refused: {answer:?}") };
    assert_eq!(identity, 101);
    assert!(reason.starts_with("node 1 has been seen in its start 3, this is its start 1"));
}

#[tokio::test]
async fn a_stranger_cannot_disown_the_nodes_that_it_does_not_know() {
    let mut logs = Logs::read();
    let (mut a, mut b) = pair(|_| {}).await;
    exchange(&mut a, &mut b, 3).await;
    b.stop().await;
    // Node 2 of another cluster of the same name, at the same address.
    let listener = tokio::net::TcpListener::bind(b.config.listen).await.unwrap();
    let met = vec![Past { identity: Some(555), ..Past::default() }];
    let stranger = LinkConfig { identity: 666, past: met, ..b.config.clone() };
    let mut stranger = Host::start(listener, stranger);
    let words = "another node 2 was met before: this one has lost its disk, or is a second node of \
                 the same name; it refuses this node too: another node 1 was met before";
    logs.line(words).await;
    // Each refuses the other, and neither has reason to doubt itself.
    logs.line("no link to node 1").await;
    stranger.stop().await;
    b.restart().await;
    let back = |news: &News| {
        assert!(!matches!(news, News::Disowned { .. }), "the stranger was believed");
        *news == News::Connected { to: B }
    };
    a.until("the link to the real node 2", back).await;
    exchange(&mut a, &mut b, 3).await;
}

#[tokio::test]
async fn a_peer_that_is_the_one_it_was_is_believed_when_it_disowns() {
    let (mut a, mut b) = pair(|_| {}).await;
    exchange(&mut a, &mut b, 3).await;
    a.config.identity = 666;
    a.restart().await;
    a.until("to be disowned", |news| matches!(news, News::Disowned { by: B, .. })).await;
}
