//! Requests and their answers.

use super::kit::{A, B, TestNode, config, late, limits, pair};
use crate::links::kit::soon;
use conclave_core::NodeId;
use conclave_net::rpc::{Direction, LinkEvent, LinkName, PeerAddress, Purpose, RpcError};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn a_request_is_answered_and_both_sides_know_each_other() {
    let (mut a, mut b) = pair(limits()).await;
    assert!(!a.rpc.connected(B) && !b.rpc.connected(A));
    let asked = a.ask(&b.address(), Purpose::Service, "what came first?");
    let call = b.call().await;
    assert_eq!((call.from, call.purpose), (A, Purpose::Service));
    assert_eq!(call.request, b"what came first?");
    call.answer("the egg");
    assert_eq!(asked.await.unwrap(), Ok(b"the egg".to_vec()));
    let link = |peer, direction| LinkName { peer, purpose: Purpose::Service, direction };
    assert_eq!(a.event().await, LinkEvent::Up(link(B, Direction::Outgoing)));
    assert_eq!(b.event().await, LinkEvent::Up(link(A, Direction::Incoming)));
    assert!(a.rpc.connected(B) && b.rpc.connected(A));
    assert_eq!(a.rpc.about(B), Some(b"node 2".to_vec()));
    assert_eq!(b.rpc.about(A), Some(b"node 1".to_vec()));
}

#[tokio::test]
async fn many_requests_are_answered_in_any_order() {
    let (a, mut b) = pair(limits()).await;
    let to = b.address();
    let asked: Vec<_> =
        (0..1000).map(|number: u32| a.ask(&to, Purpose::Raft, number.to_le_bytes())).collect();
    let mut calls = Vec::new();
    for _ in &asked {
        calls.push(b.call().await);
    }
    for call in calls.into_iter().rev() {
        let mut answer = call.request.clone();
        answer.extend(b" it is");
        call.answer(answer);
    }
    for (number, asked) in (0..1000_u32).zip(asked) {
        let answer = soon("an answer", asked).await.unwrap().unwrap();
        assert_eq!(answer, [&number.to_le_bytes(), b" it is".as_slice()].concat());
    }
    b.assert_stands();
}

#[tokio::test]
async fn empty_requests_and_answers_are_as_good_as_any() {
    let (a, mut b) = pair(limits()).await;
    let asked = a.ask(&b.address(), Purpose::Bulk, "");
    let call = b.call().await;
    assert_eq!(call.request, b"");
    call.answer("");
    assert_eq!(asked.await.unwrap(), Ok(Vec::new()));
}

#[tokio::test]
async fn a_deadline_ends_a_request_at_both_ends() {
    let (mut a, mut b) = pair(limits()).await;
    let to = b.address();
    a.echo(&to, Purpose::Raft).await;
    let deadline = Instant::now() + Duration::from_millis(100);
    let asked = a.rpc.request(&to, Purpose::Raft, b"slow".to_vec(), deadline);
    let error = soon("the deadline", asked).await.unwrap_err();
    assert!(matches!(error, RpcError::Unanswered { to: B, .. }), "{error}");
    b.call().await.given_up().await;
    a.echo(&to, Purpose::Raft).await;
    a.assert_stands();
}

#[tokio::test]
async fn a_request_whose_time_is_up_is_never_sent() {
    let (a, b) = pair(limits()).await;
    let to = b.address();
    a.echo(&to, Purpose::Raft).await;
    let asked = a.rpc.request(&to, Purpose::Raft, b"echo".to_vec(), Instant::now());
    assert!(matches!(asked.await, Err(RpcError::Unreachable { .. })));
}

#[tokio::test]
async fn who_gives_up_stops_the_work_at_the_other_end() {
    let (mut a, mut b) = pair(limits()).await;
    let to = b.address();
    let asked = a.ask(&to, Purpose::Raft, "never mind");
    let call = b.call().await;
    asked.abort();
    call.given_up().await;
    a.echo(&to, Purpose::Raft).await;
    a.assert_stands();
}

#[tokio::test]
async fn who_is_gone_waits_for_nothing() {
    let (a, mut b) = pair(limits()).await;
    let _asked = a.ask(&b.address(), Purpose::Raft, "last words");
    let call = b.call().await;
    a.rpc.stop().await;
    call.given_up().await;
}

#[tokio::test]
async fn a_server_that_panics_leaves_one_request_unanswered() {
    let (mut a, b) = pair(limits()).await;
    let to = b.address();
    let asked = a.ask(&to, Purpose::Raft, "panic");
    let outcome = soon("the word that there is no answer", asked).await.unwrap();
    assert!(matches!(outcome, Err(RpcError::Unanswered { .. })), "{outcome:?}");
    a.echo(&to, Purpose::Raft).await;
    a.assert_stands();
}

#[tokio::test]
async fn both_ask_each_other_at_once() {
    let (mut a, mut b) = pair(limits()).await;
    let there = a.ask(&b.address(), Purpose::Raft, "from a");
    let back = b.ask(&a.address(), Purpose::Raft, "from b");
    b.call().await.answer("to a");
    a.call().await.answer("to b");
    assert_eq!(there.await.unwrap(), Ok(b"to a".to_vec()));
    assert_eq!(back.await.unwrap(), Ok(b"to b".to_vec()));
}

#[tokio::test]
async fn a_peer_may_be_named_with_or_without_its_disk() {
    let (mut a, b) = pair(limits()).await;
    let known = b.address();
    let unknown = PeerAddress { disk: None, ..known.clone() };
    a.echo(&unknown, Purpose::Raft).await;
    a.echo(&known, Purpose::Raft).await;
    a.echo(&unknown, Purpose::Raft).await;
    a.assert_stands();
    let another = PeerAddress { disk: Some(7), ..known };
    let error = a.error(&another).await;
    assert!(matches!(error, RpcError::Refused { .. }), "{error}");
}

#[tokio::test]
async fn nobody_is_asked_where_nobody_listens() {
    let a = TestNode::start(config(A)).await;
    let (listener, address) = crate::links::kit::listener().await;
    drop(listener);
    let to = PeerAddress { id: NodeId(2), address, disk: None };
    for _ in 0..100 {
        let asked = a.rpc.request(&to, Purpose::Raft, b"echo".to_vec(), late());
        let error = soon("an error long before the deadline", asked).await.unwrap_err();
        assert!(matches!(error, RpcError::Unreachable { .. }), "{error}");
    }
}
