//! How much a connection carries. What is too much costs one request, not the connection.

use super::kit::{A, B, TestNode, config, disk, late, limits, pair};
use super::raw::{Head, Raw, RawListener, hello};
use crate::links::kit::{Logs, soon};
use conclave_net::LinkError;
use conclave_net::rpc::{Direction, Ending, Purpose, Rpc, RpcConfig, RpcError, RpcLimits};

#[tokio::test]
async fn a_request_that_is_too_long_is_refused_where_it_is_made() {
    let (mut a, b) = pair(RpcLimits { raft_max: 1000, ..limits() }).await;
    let to = b.address();
    let longest = [b"echo".as_slice(), &[7; 996]].concat();
    let asked = a.rpc.request(&to, Purpose::Raft, longest.clone(), late()).await;
    assert_eq!(asked, Ok(longest.clone()));
    let longer = [longest.as_slice(), b"!"].concat();
    let asked = a.rpc.request(&to, Purpose::Raft, longer.clone(), late()).await;
    assert_eq!(asked, Err(RpcError::TooLarge { length: 1001, max: 1000 }));
    // Another purpose has another limit.
    let asked = a.rpc.request(&to, Purpose::Service, longer.clone(), late()).await;
    assert_eq!(asked, Ok(longer));
    a.assert_stands();
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_not_sent() {
    let mut logs = Logs::read();
    let (mut a, mut b) = pair(RpcLimits { raft_max: 1000, ..limits() }).await;
    let asked = a.ask(&b.address(), Purpose::Raft, "all of it");
    b.call().await.answer([7; 1033]);
    let outcome = soon("an error", asked).await.unwrap();
    assert!(matches!(outcome, Err(RpcError::Unanswered { .. })), "{outcome:?}");
    logs.line("a raft answer to node 1 of 1033 bytes was not sent").await;
    a.echo(&b.address(), Purpose::Raft).await;
    a.assert_stands();
}

#[tokio::test]
async fn the_longest_of_all_requests_and_answers_arrive() {
    let (a, b) = pair(limits()).await;
    let to = b.address();
    for purpose in [Purpose::Raft, Purpose::Bulk, Purpose::Service] {
        let mut request = vec![7; limits().body_max(purpose)];
        request[..4].copy_from_slice(b"echo");
        let asked = a.rpc.request(&to, purpose, request.clone(), late());
        assert!(soon("a long answer", asked).await == Ok(request), "{purpose}");
    }
}

#[tokio::test]
async fn a_server_refuses_what_is_too_much_and_the_connection_stands() {
    let mut b = TestNode::start(RpcConfig {
        limits: RpcLimits { requests_max: 2, ..limits() },
        ..config(B)
    })
    .await;
    let mut a = TestNode::start(config(A)).await;
    let to = b.address();
    let one = a.ask(&to, Purpose::Raft, "one");
    let first = b.call().await;
    let two = a.ask(&to, Purpose::Raft, "two");
    let second = b.call().await;
    assert_eq!(a.error(&to).await, RpcError::Busy { to: B });
    first.answer("1");
    assert_eq!(one.await.unwrap(), Ok(b"1".to_vec()));
    a.echo(&to, Purpose::Raft).await;
    second.answer("2");
    assert_eq!(two.await.unwrap(), Ok(b"2".to_vec()));
    a.assert_stands();
}

#[tokio::test]
async fn the_bytes_that_are_worked_on_have_a_limit() {
    let small =
        RpcLimits { raft_max: 600, bulk_max: 600, service_max: 600, bytes_max: 1000, ..limits() };
    let mut b = TestNode::start(RpcConfig { limits: small, ..config(B) }).await;
    let a = TestNode::start(config(A)).await;
    let to = b.address();
    let _one = a.ask(&to, Purpose::Raft, [1; 600]);
    let first = b.call().await;
    let two = a.ask(&to, Purpose::Raft, [2; 600]);
    assert_eq!(two.await.unwrap(), Err(RpcError::Busy { to: B }));
    drop(first);
    let _three = a.ask(&to, Purpose::Raft, [3; 600]);
    assert_eq!(b.call().await.request, [3; 600]);
}

#[tokio::test]
async fn a_peer_that_asks_and_never_reads_is_cut_off() {
    let mut logs = Logs::read();
    let small = RpcLimits {
        raft_max: 100_000,
        bulk_max: 100_000,
        service_max: 100_000,
        bytes_max: 200_000,
        requests_max: 10,
        ..limits()
    };
    let mut b = TestNode::start(RpcConfig { limits: small, ..config(B) }).await;
    let (mut raw, _) = Raw::greet(&b.address().address, hello(A, B)).await;
    let flood = async {
        for number in 1.. {
            raw.request(number, 60_000, b"echo of an echo of an echo").await;
        }
    };
    tokio::select! {
        how = b.until_down(Purpose::Raft, Direction::Incoming) => assert_eq!(how, Ending::Error),
        () = flood => {}
    }
    logs.line("it asks and does not take the answers").await;
}

/// The peer reads nothing of what is said to it in bulk, as one whose disk is slow.
#[tokio::test]
async fn a_transfer_that_stands_still_delays_no_heartbeat() {
    let a = TestNode::start(config(A)).await;
    let peer = RawListener::bind(B).await;
    let to = peer.address();
    let chunk = vec![7; 2 << 20];
    let first = a.ask(&to, Purpose::Bulk, chunk.clone());
    let (_slow, greeting) = peer.welcome().await;
    assert_eq!(greeting.purpose, Purpose::Bulk);
    let mut chunks = vec![first];
    chunks.extend((0..20).map(|_| a.ask(&to, Purpose::Bulk, chunk.clone())));
    let mut heartbeat = a.ask(&to, Purpose::Raft, "heartbeat");
    let (mut quick, greeting) = peer.welcome().await;
    assert_eq!((greeting.purpose, greeting.disk), (Purpose::Raft, disk(A)));
    for number in 1..=100 {
        let (head, body) = quick.next().await.expect("a heartbeat");
        assert!(matches!(head, Head::Request { number: its, .. } if its == number), "{head:?}");
        quick.write(&super::raw::frame(&Head::Answer { number }, &body)).await;
        assert_eq!(soon("an answer", heartbeat).await.unwrap(), Ok(b"heartbeat".to_vec()));
        heartbeat = a.ask(&to, Purpose::Raft, "heartbeat");
    }
    assert!(chunks.iter().all(|chunk| !chunk.is_finished()), "the bulk has moved");
}

#[tokio::test]
async fn limits_that_cannot_work_are_refused() {
    let b = TestNode::start(config(B)).await;
    let small = RpcLimits { bytes_max: 1000, ..limits() };
    let config = RpcConfig { limits: small, ..config(A) };
    let outcome = Rpc::start(config.clone(), b.script.clone()).await;
    assert!(matches!(outcome, Err(LinkError::Settings(_))), "{outcome:?}");
    let config = RpcConfig { cluster: "c".repeat(1025), limits: limits(), ..config };
    let outcome = Rpc::start(config, b.script).await;
    assert!(matches!(outcome, Err(LinkError::Settings(_))), "{outcome:?}");
}
