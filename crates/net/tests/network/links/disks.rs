//! Disks that went back in time, or are those of somebody else.

use super::certified::proved_pair;
use super::kit::{A, B, C, Host, Logs, config, exchange, listener, pair, soon};
use super::raw::{Frame, Hello, Raw, Start, hello};
use conclave_core::NodeId;
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
    let (mut a, mut b) = proved_pair("sent", |_| {}).await;
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
    let (mut a, mut b) = proved_pair("received", |_| {}).await;
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
    let words = "it refuses this node: by its word this node has an old copy of its disk";
    logs.line(words).await;
    // And if its peer, too, has started anew in between.
    a.restart().await;
    logs.lines(words, 2).await;
}

#[tokio::test]
async fn an_older_start_of_a_peer_is_refused_by_a_node_that_started_anew() {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let mut config = config(B, &["127.0.0.1:9".into(), address.clone()]);
    config.past = vec![Past { identity: Some(100), incarnation: 3, ..Past::default() }];
    let _b = Host::start(listener, config);
    let (_raw, answer) = Raw::greet(&address, hello(A, B, 2)).await;
    assert!(matches!(answer, Frame::Refuse { .. }), "not refused: {answer:?}");
    logs.line("it was refused: node 1 has been seen in its start 3, this is its start 1").await;
}

#[tokio::test]
async fn a_copy_that_is_one_start_old_has_another_nonce() {
    let mut logs = Logs::read();
    let (mut a, mut b) = proved_pair("one-start", |_| {}).await;
    exchange(&mut a, &mut b, 3).await;
    let copy = a.copy_disk();
    a.restart().await;
    a.until_connected(B).await;
    b.until_connected(A).await;
    // The same start once more, from the copy: it has sent and received nothing since.
    a.config.incarnation -= 1;
    a.config.nonce += 10;
    a.restart_from(copy).await;
    let told = |news: &News| matches!(news, News::OldCopy { by: B, .. });
    a.until("to be told of the old copy", told).await;
    logs.line("it was refused: node 1 has been seen in another start 2 than this one").await;
    // And its peer remembers after a start of its own.
    b.restart().await;
    logs.lines("node 1 has been seen in another start 2 than this one", 3).await;
}

#[tokio::test]
async fn a_node_finds_out_by_what_its_peers_have_met_though_none_has_a_word_for_it() {
    let mut logs = Logs::read();
    let (mut b, address) = one_of_three().await;
    let later = Start { incarnation: 2, nonce: 1 };
    let other = Start { incarnation: 1, nonce: 5 };
    for (from, met) in [(A, later), (C, other)] {
        let (_raw, answer) =
            Raw::greet(&address, Hello { met: Some(met), ..hello(from, B, 3) }).await;
        assert!(matches!(answer, Frame::Refuse { .. }), "{answer:?}");
    }
    logs.line("has met this node in its start 2, and this is its start 1").await;
    let news = b.until("the end", |news| matches!(news, News::OldCopy { .. })).await;
    let reason = "has met this node in another start 1 than this one".to_string();
    assert_eq!(news, News::OldCopy { by: C, reason });
}

/// A node of three, alone with peers written by hand.
async fn one_of_three() -> (Host, String) {
    let (listener, address) = listener().await;
    let nowhere = "127.0.0.1:9".to_string();
    let peers = [nowhere.clone(), address.clone(), nowhere];
    (Host::start(listener, config(B, &peers)), address)
}

/// What somebody gets who remembers messages that were never sent.
async fn remember_much(address: &str, from: NodeId) {
    let (_raw, answer) =
        Raw::greet(address, Hello { acknowledged: 1 << 40, ..hello(from, B, 3) }).await;
    assert!(matches!(answer, Frame::Refuse { .. }), "{answer:?}");
}

#[tokio::test]
async fn the_word_of_one_peer_ends_no_node_and_that_of_two_does() {
    let mut logs = Logs::read();
    let (mut b, address) = one_of_three().await;
    for _ in 0..3 {
        remember_much(&address, A).await;
    }
    logs.line("node 1 alone is not believed, unless another says so too").await;
    // The same peer is let in when it says what can be, and both go on.
    let (_raw, answer) = Raw::greet(&address, hello(A, B, 3)).await;
    assert!(matches!(answer, Frame::Welcome { .. }), "{answer:?}");
    let (_raw, answer) = Raw::greet(&address, hello(C, B, 3)).await;
    assert!(matches!(answer, Frame::Welcome { .. }), "{answer:?}");
    while let Ok(news) = b.news.try_recv() {
        assert!(!matches!(news, News::OldCopy { .. }), "one peer was believed");
    }
    // A word is remembered, whatever was said in between.
    remember_much(&address, C).await;
    let told = |news: &News| matches!(news, News::OldCopy { by: C, .. });
    b.until("to be told of the old copy", told).await;
    assert_eq!(logs.count("alone is not believed"), 1);
}

#[tokio::test]
async fn without_tls_the_only_peer_ends_no_node() {
    let mut logs = Logs::read();
    let (mut a, mut b) = pair(|_| {}).await;
    exchange(&mut a, &mut b, 3).await;
    let address = b.links.as_ref().unwrap().local_addr().to_string();
    let forged = Hello { acknowledged: 1 << 40, ..hello(A, B, 2) };
    let (_raw, answer) = Raw::greet(&address, forged).await;
    assert!(matches!(answer, Frame::Refuse { .. }), "{answer:?}");
    logs.line("node 1 alone is not believed, for without TLS it may be anybody").await;
    exchange(&mut a, &mut b, 3).await;
    assert_eq!(logs.count("linked to node"), 2, "the real link was disturbed");
}

#[tokio::test]
async fn a_stranger_cannot_disown_the_nodes_that_it_does_not_know() {
    let mut logs = Logs::read();
    let (mut a, mut b) = proved_pair("stranger", |_| {}).await;
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
    let (mut a, mut b) = proved_pair("disowned", |_| {}).await;
    exchange(&mut a, &mut b, 3).await;
    a.config.identity = 666;
    a.restart().await;
    a.until("to be disowned", |news| matches!(news, News::Disowned { by: B, .. })).await;
}
