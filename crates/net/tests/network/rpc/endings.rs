//! Connections that end, and what is known about how they did.

use super::kit::{A, B, TestNode, config, late, limits, pair};
use super::raw::{Raw, RawListener};
use crate::links::kit::{Logs, listener, soon};
use conclave_net::rpc::{
    Direction, Ending, LinkEvent, PeerAddress, Probe, Purpose, RpcConfig, RpcError, RpcLimits,
};
use std::time::Duration;

#[tokio::test]
async fn the_end_of_a_peer_is_known_at_once() {
    let (mut a, mut b) = pair(limits()).await;
    let to = b.address();
    let asked = a.ask(&to, Purpose::Raft, "unanswered");
    b.call().await;
    b.rpc.stop().await;
    assert_eq!(a.until_down(Purpose::Raft, Direction::Outgoing).await, Ending::ClosedByPeer);
    let error = asked.await.unwrap().unwrap_err();
    assert!(matches!(error, RpcError::Unanswered { to: B, .. }), "{error}");
    assert!(matches!(a.error(&to).await, RpcError::Unreachable { .. }));
    assert_eq!(a.rpc.probe(&to).await, Probe::RefusedConnection);
}

#[tokio::test]
async fn a_connection_that_the_peer_had_dialled_is_known_to_have_ended() {
    let (mut a, b) = pair(limits()).await;
    b.echo(&a.address(), Purpose::Service).await;
    assert!(a.rpc.connected(B));
    b.rpc.stop().await;
    assert_eq!(a.until_down(Purpose::Service, Direction::Incoming).await, Ending::ClosedByPeer);
    assert!(!a.rpc.connected(B));
}

#[tokio::test]
async fn a_peer_that_comes_back_is_connected_anew() {
    let (mut a, b) = pair(limits()).await;
    let to = b.address();
    a.echo(&to, Purpose::Raft).await;
    let config = b.config.clone();
    b.rpc.stop().await;
    assert_eq!(a.until_down(Purpose::Raft, Direction::Outgoing).await, Ending::ClosedByPeer);
    let _b = TestNode::start(config).await;
    a.until_up(Purpose::Raft, Direction::Outgoing).await;
    a.echo(&to, Purpose::Raft).await;
}

#[tokio::test]
async fn a_peer_that_dials_is_dialled_at_once() {
    // So long a pause that only the visit of the peer can end it in time.
    let patient = Duration::from_secs(3600);
    let limits = RpcLimits { pause_min: patient, pause_max: patient, ..limits() };
    let mut a = TestNode::start(RpcConfig { limits, ..config(A) }).await;
    let (held, address) = listener().await;
    drop(held);
    let to = PeerAddress { id: B, address: address.clone(), disk: None };
    assert!(matches!(a.error(&to).await, RpcError::Unreachable { .. }));
    let listen = address.parse().unwrap();
    let b = TestNode::start(RpcConfig { listen, ..config(B) }).await;
    b.echo(&a.address(), Purpose::Raft).await;
    a.until_up(Purpose::Raft, Direction::Outgoing).await;
    a.echo(&to, Purpose::Raft).await;
}

#[tokio::test]
async fn silence_ends_a_connection_and_what_was_asked_on_it() {
    let limits = RpcLimits { silence: Duration::from_millis(200), ..limits() };
    let mut a = TestNode::start(RpcConfig { limits, ..config(A) }).await;
    let peer = RawListener::bind(B).await;
    let asked = a.ask(&peer.address(), Purpose::Raft, "anybody there?");
    let _mute = peer.welcome().await;
    assert_eq!(a.until_down(Purpose::Raft, Direction::Outgoing).await, Ending::Silent);
    let error = asked.await.unwrap().unwrap_err();
    assert!(matches!(error, RpcError::Unanswered { .. }), "{error}");
}

#[tokio::test]
async fn pings_keep_an_idle_connection_alive() {
    let silence = Duration::from_secs(1);
    let limits = RpcLimits { silence, ping: Duration::from_millis(20), ..limits() };
    let (mut a, mut b) = pair(limits).await;
    let to = b.address();
    a.echo(&to, Purpose::Raft).await;
    // A third node says nothing on its connection, and no ping either. When it is given up, the
    // silence of the two others, which began earlier, has been long enough.
    let (_mute, _) = Raw::greet(&to.address, super::raw::hello(super::raw::C, B)).await;
    assert_eq!(b.until_down(Purpose::Raft, Direction::Incoming).await, Ending::Silent);
    a.echo(&to, Purpose::Raft).await;
    a.assert_stands();
}

#[tokio::test]
async fn a_newer_connection_takes_the_place_of_an_older() {
    let mut b = TestNode::start(config(B)).await;
    let address = b.address().address;
    let (mut older, _) = Raw::greet(&address, super::raw::hello(A, B)).await;
    b.until_up(Purpose::Raft, Direction::Incoming).await;
    let (mut newer, _) = Raw::greet(&address, super::raw::hello(A, B)).await;
    assert_eq!(b.until_down(Purpose::Raft, Direction::Incoming).await, Ending::Replaced);
    older.until_closed().await;
    newer.request(1, 60_000, b"echo").await;
    assert_eq!(newer.answer().await, (1, b"echo".to_vec()));
    assert!(b.rpc.connected(A));
}

#[tokio::test]
async fn who_stops_ends_the_requests_of_all_its_clones() {
    let (a, mut b) = pair(limits()).await;
    let asked = a.ask(&b.address(), Purpose::Raft, "unanswered");
    b.call().await;
    let clone = a.rpc.clone();
    a.rpc.stop().await;
    let error = soon("the end", asked).await.unwrap().unwrap_err();
    assert!(matches!(error, RpcError::Unanswered { .. }), "{error}");
    let late = clone.request(&b.address(), Purpose::Raft, b"echo".to_vec(), late()).await;
    assert!(matches!(late, Err(RpcError::Unreachable { .. })), "{late:?}");
}

#[tokio::test]
async fn a_probe_says_whether_somebody_listens_and_leaves_no_trace() {
    let logs = Logs::read();
    let (mut a, b) = pair(limits()).await;
    let to = b.address();
    assert_eq!(a.rpc.probe(&to).await, Probe::Answers);
    a.echo(&to, Purpose::Raft).await;
    assert_eq!(logs.count("connection from"), 0);
    let nowhere = PeerAddress { address: "no.such.host.invalid:1".into(), ..to.clone() };
    assert_eq!(a.rpc.probe(&nowhere).await, Probe::Unknown);
    b.rpc.stop().await;
    assert_eq!(a.rpc.probe(&to).await, Probe::RefusedConnection);
    assert!(matches!(a.event().await, LinkEvent::Up(_)));
}
