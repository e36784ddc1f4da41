//! Exactly once and in order, whatever becomes of connections and nodes.

use super::kit::{A, B, C, Host, Logs, config, exchange, limits, listener, packet, pair, soon};
use super::proxy::Proxy;
use super::raw::{Frame, Raw, Start, hello};
use conclave_net::{Lane, Limits, News};
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn messages_arrive_once_and_in_order_though_connections_break() {
    for seed in 1..=4 {
        let (first, second) = (listener().await, listener().await);
        let to_a = Proxy::start(first.1.clone(), seed, 20_000).await;
        let to_b = Proxy::start(second.1.clone(), seed + 100, 20_000).await;
        let mut a = Host::start(first.0, config(A, &[first.1, to_b.address.clone()]));
        let mut b = Host::start(second.0, config(B, &[to_a.address.clone(), second.1]));
        exchange(&mut a, &mut b, 3_000).await;
        for proxy in [to_a, to_b] {
            assert!(proxy.cuts.load(Ordering::Relaxed) > 20, "too few cuts to be a test");
        }
    }
}

#[tokio::test]
async fn a_restart_with_its_disk_loses_and_repeats_nothing() {
    let logs = Logs::read();
    let (mut a, mut b) = pair(|_| {}).await;
    for round in 0..12 {
        for _ in 0..120 {
            a.send(B).await;
            b.send(A).await;
        }
        // In the middle of it: some are sent, some received, some acknowledged.
        for _ in 0..30 + 10 * round {
            tokio::select! {
                _ = a.step() => {}
                _ = b.step() => {}
            }
        }
        if round % 2 == 0 { a.restart().await } else { b.restart().await }
    }
    exchange(&mut a, &mut b, 100).await;
    assert_eq!(logs.count("which was never sent to it"), 0, "a link was cut for nothing");
}

#[tokio::test]
async fn both_sides_may_be_away_at_the_same_time() {
    let (mut a, mut b) = pair(|_| {}).await;
    exchange(&mut a, &mut b, 10).await;
    for _ in 0..20 {
        a.send(B).await;
        b.send(A).await;
    }
    a.restart().await;
    b.restart().await;
    exchange(&mut a, &mut b, 20).await;
}

#[tokio::test]
async fn a_peer_is_met_once_and_known_after_a_restart() {
    let (mut a, mut b) = pair(|_| {}).await;
    let met = |news: &News| *news == News::Met { peer: B, identity: 101, incarnation: 1, nonce: 1 };
    a.until("the first meeting", met).await;
    exchange(&mut a, &mut b, 1).await;
    a.restart().await;
    let connected = |news: &News| {
        assert!(!met(news), "met again");
        *news == News::Connected { to: B }
    };
    a.until("a link", connected).await;
}

#[tokio::test]
async fn a_slow_host_holds_up_its_own_link_only() {
    let three = [listener().await, listener().await, listener().await];
    let peers: Vec<String> = three.iter().map(|(_, address)| address.clone()).collect();
    let [first, second, third] = three.map(|(listener, _)| listener);
    let mut a = Host::start(first, config(A, &peers));
    let mut b = Host::start(second, config(B, &peers));
    let mut c = Host::start(third, config(C, &peers));
    for _ in 0..20_000 {
        a.send(C).await; // And its host reads no news.
    }
    exchange(&mut a, &mut b, 500).await;
    soon("all messages for the slow one", async {
        while a.unacknowledged(C) > 0 {
            tokio::select! {
                _ = a.step() => {}
                _ = b.step() => {}
                _ = c.step() => {}
            }
        }
    })
    .await;
    assert_eq!(c.received(A), 20_000);
}

#[tokio::test]
async fn a_newer_connection_of_a_peer_replaces_the_older() {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let mut b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let (mut older, _) = Raw::greet(&address, hello(A, B, 2)).await;
    older.send(&Frame::Data(packet(Lane::Durable, 1))).await;
    b.until("the message", |news| matches!(news, News::Arrived { .. })).await;
    let (mut newer, answer) = Raw::greet(&address, hello(A, B, 2)).await;
    assert_eq!(
        answer,
        Frame::Welcome { identity: 101, start: Start { incarnation: 1, nonce: 1 }, received: 1 }
    );
    older.until_closed().await;
    logs.line("replaced by a newer one").await;
    newer.send(&Frame::Data(packet(Lane::Durable, 2))).await;
    b.until("the next message", |news| matches!(news, News::Arrived { .. })).await;
}

#[tokio::test]
async fn a_repeated_message_is_acknowledged_again_and_not_handed_on() {
    let (listener, address) = listener().await;
    let mut b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let (mut peer, _) = Raw::greet(&address, hello(A, B, 2)).await;
    assert_eq!(peer.next_word().await, Some(Frame::Ack(0)));
    peer.send(&Frame::Data(packet(Lane::Durable, 1))).await;
    b.until("the message", |news| matches!(news, News::Arrived { .. })).await;
    assert_eq!(peer.next_word().await, Some(Frame::Ack(1)));
    peer.send(&Frame::Data(packet(Lane::Durable, 1))).await;
    assert_eq!(peer.next_word().await, Some(Frame::Ack(1)));
    peer.send(&Frame::Data(packet(Lane::Durable, 2))).await;
    b.until("the next message", |news| matches!(news, News::Arrived { .. })).await;
    assert_eq!(b.received(A), 2, "the host checks that none comes twice");
}

#[tokio::test]
async fn a_gap_ends_the_connection() {
    let mut logs = Logs::read();
    let (listener, address) = listener().await;
    let _b = Host::start(listener, config(B, &["127.0.0.1:9".into(), address.clone()]));
    let (mut peer, _) = Raw::greet(&address, hello(A, B, 2)).await;
    peer.send(&Frame::Data(packet(Lane::Durable, 1))).await;
    peer.send(&Frame::Data(packet(Lane::Durable, 3))).await;
    peer.until_closed().await;
    logs.line("message 3 came where message 2 was due").await;
    let (_, answer) = Raw::greet(&address, hello(A, B, 2)).await;
    assert_eq!(
        answer,
        Frame::Welcome { identity: 101, start: Start { incarnation: 1, nonce: 1 }, received: 1 }
    );
}

#[tokio::test]
async fn a_connection_that_fell_silent_is_given_up_and_an_idle_one_is_not() {
    let mut logs = Logs::read();
    let quick =
        Limits { silence: Duration::from_millis(500), ping: Duration::from_millis(50), ..limits() };
    let (mut a, mut b) = pair(|config| config.limits = quick).await;
    exchange(&mut a, &mut b, 1).await;
    // A third party says who it is, and then nothing any more.
    let (listener, address) = listener().await;
    let mut deaf = config(B, &["127.0.0.1:9".into(), address.clone()]);
    deaf.limits = quick;
    let _deaf = Host::start(listener, deaf);
    let (_silent, _) = Raw::greet(&address, hello(A, B, 2)).await;
    logs.line("ended: nothing was heard for 500ms").await;
    exchange(&mut a, &mut b, 1).await;
    assert_eq!(logs.count("linked to node"), 2, "the idle link was given up");
}

#[tokio::test]
async fn a_message_that_fits_no_frame_is_named() {
    let mut logs = Logs::read();
    let (mut a, mut b) = pair(|config| {
        config.limits = Limits { frame_max: 300, greeting_max: 300, ..limits() };
    })
    .await;
    exchange(&mut a, &mut b, 30).await;
    for _ in 30..36 {
        a.send(B).await; // The last of them has 296 bytes, and needs a few more around it.
    }
    soon("the one before", async {
        while b.received(A) < 35 {
            b.step().await;
        }
    })
    .await;
    logs.line("message 36 has 296 bytes, more than a frame may have").await;
}
