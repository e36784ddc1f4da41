//! The time that is left for a request, as it travels with it.

use super::kit::{A, B, TestNode, config};
use super::raw::{Head, Raw, RawListener, hello};
use crate::links::kit::soon;
use conclave_net::rpc::{Purpose, RpcError};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn the_work_ends_at_the_deadline_though_nobody_cancels_it() {
    let mut b = TestNode::start(config(B)).await;
    let (mut raw, _) = Raw::greet(&b.address().address, hello(A, B)).await;
    raw.request(1, 50, b"slow").await;
    b.call().await.given_up().await;
    let unanswered = Head::Fail { number: 1, failure: 1 };
    assert_eq!(raw.next().await, Some((unanswered, Vec::new())));
    raw.request(2, 60_000, b"echo").await;
    assert_eq!(raw.answer().await, (2, b"echo".to_vec()));
}

#[tokio::test]
async fn who_asks_says_how_long_it_waits_and_when_it_gives_up() {
    let a = TestNode::start(config(A)).await;
    let peer = RawListener::bind(B).await;
    let to = peer.address();
    let deadline = Instant::now() + Duration::from_millis(500);
    let asked = a.rpc.request(&to, Purpose::Service, b"quick!".to_vec(), deadline);
    let heard = async {
        let (mut raw, hello) = peer.welcome().await;
        assert_eq!(hello.purpose, Purpose::Service);
        let (head, body) = raw.next().await.expect("the request");
        let Head::Request { number: 1, millis } = head else { panic!("{head:?}") };
        assert!((1..=500).contains(&millis), "{millis}");
        assert_eq!(body, b"quick!");
        assert_eq!(raw.next().await, Some((Head::Cancel { number: 1 }, Vec::new())));
    };
    let (outcome, ()) = tokio::join!(soon("the deadline", asked), heard);
    assert!(matches!(outcome, Err(RpcError::Unanswered { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_peer_that_does_not_greet_is_waited_for_until_the_deadline_only() {
    let a = TestNode::start(config(A)).await;
    let peer = RawListener::bind(B).await;
    let to = peer.address();
    let deadline = Instant::now() + Duration::from_millis(200);
    let asked = a.rpc.request(&to, Purpose::Raft, b"hello?".to_vec(), deadline);
    let (outcome, _mute) = tokio::join!(soon("the deadline", asked), peer.accept());
    assert!(matches!(outcome, Err(RpcError::Unreachable { .. })), "{outcome:?}");
}
