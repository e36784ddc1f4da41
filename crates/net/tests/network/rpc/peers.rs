//! Members that leave, move, and come with another disk.

use super::kit::{A, B, TestNode, config, disk, limits, pair};
use super::raw::RawListener;
use conclave_net::rpc::{Direction, Ending, PeerAddress, Purpose, RpcConfig, RpcError};

#[tokio::test]
async fn a_member_that_left_is_cut_off_and_nothing_of_it_stays() {
    let (mut a, mut b) = pair(limits()).await;
    a.echo(&b.address(), Purpose::Raft).await;
    b.echo(&a.address(), Purpose::Service).await;
    let asked = a.ask(&b.address(), Purpose::Raft, "goodbye");
    b.call().await;
    *a.script.refuse.lock().unwrap() = Some("node 2 has left".into());
    a.events = a.events.resubscribe();
    a.rpc.forget(B);
    let mut ended = [a.event().await, a.event().await].map(|event| format!("{event:?}"));
    ended.sort();
    assert!(ended.iter().all(|event| event.contains("how: Here")), "{ended:?}");
    assert!(matches!(asked.await.unwrap(), Err(RpcError::Unanswered { .. })));
    assert!(!a.rpc.connected(B));
    assert_eq!(a.rpc.about(B), None);
    assert_eq!(b.until_down(Purpose::Service, Direction::Outgoing).await, Ending::ClosedByPeer);
    assert!(matches!(b.error(&a.address()).await, RpcError::Refused { .. }));
}

#[tokio::test]
async fn a_member_that_moved_is_dialled_where_it_is_now() {
    let (mut a, b) = pair(limits()).await;
    let before = b.address();
    a.echo(&before, Purpose::Raft).await;
    let moved = TestNode::start(config(B)).await;
    a.echo(&moved.address(), Purpose::Raft).await;
    assert_eq!(a.until_down(Purpose::Raft, Direction::Outgoing).await, Ending::Here);
    assert!(a.rpc.connected(B));
}

#[tokio::test]
async fn a_member_with_another_disk_is_not_asked() {
    let a = TestNode::start(config(A)).await;
    let b = TestNode::start(RpcConfig { disk: 7, ..config(B) }).await;
    let mut to = b.address();
    to.disk = Some(disk(B));
    let RpcError::Refused { reason, .. } = a.error(&to).await else { panic!("asked") };
    assert!(reason.starts_with("node 2 has another disk than its member has"), "{reason}");
    assert!(!a.rpc.connected(B));
}

#[tokio::test]
async fn a_node_that_came_again_with_another_disk_is_reached_by_who_names_none() {
    let a = TestNode::start(config(A)).await;
    let b = TestNode::start(RpcConfig { disk: 7, ..config(B) }).await;
    let any = PeerAddress { disk: None, ..b.address() };
    let before = PeerAddress { disk: Some(disk(B)), ..b.address() };
    assert!(matches!(a.error(&before).await, RpcError::Refused { .. }));
    a.echo(&any, Purpose::Raft).await;
    assert!(a.rpc.connected_with(B, 7));
}

#[tokio::test]
async fn an_address_that_leads_to_another_node_is_noticed() {
    let a = TestNode::start(config(A)).await;
    let peer = RawListener::bind(B).await;
    let mut to = peer.address();
    to.id = super::raw::C;
    let asked = a.ask(&to, Purpose::Raft, "who are you?");
    let (_raw, hello) = peer.welcome().await;
    assert_eq!((hello.from, hello.to, hello.about), (A, super::raw::C, b"node 1".to_vec()));
    let RpcError::Refused { reason, .. } = asked.await.unwrap().unwrap_err() else {
        panic!("asked")
    };
    assert_eq!(&*reason, "it is node 2, not node 3");
}
