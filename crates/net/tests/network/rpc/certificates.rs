//! With certificates: the right ones work, all others are refused with their reason.

use super::kit::{A, B, TestNode, config};
use super::raw::{C, Head, Raw, frame, hello};
use crate::links::certified::Folder;
use crate::links::kit::{Logs, soon};
use conclave_net::rpc::{Direction, Ending, Purpose, RpcConfig, RpcError};
use conclave_net::{Fingerprint, Tls, make_authority};
use std::time::Duration;

async fn pair(a: Option<Tls>, b: Option<Tls>) -> (TestNode, TestNode) {
    let a = TestNode::start(RpcConfig { tls: a, ..config(A) }).await;
    let b = TestNode::start(RpcConfig { tls: b, ..config(B) }).await;
    (a, b)
}

/// The reason why the first is not connected to the second.
async fn refused(a: Option<Tls>, b: Option<Tls>) -> String {
    let (a, b) = pair(a, b).await;
    let error = a.error(&b.address()).await;
    let RpcError::Refused { reason, .. } = error else { panic!("not refused: {error}") };
    reason.to_string()
}

#[tokio::test]
async fn nodes_of_one_authority_understand_each_other() {
    let folder = Folder::new("rpc-good");
    let authority = make_authority("demo").unwrap();
    let (a, b) = pair(folder.tls(&authority, A), folder.tls(&authority, B)).await;
    let to = b.address();
    a.echo(&to, Purpose::Raft).await;
    let mut request = vec![7; 2 << 20];
    request[..4].copy_from_slice(b"echo");
    let asked = a.ask(&to, Purpose::Bulk, request.clone());
    assert!(soon("a long answer", asked).await.unwrap() == Ok(request));
}

#[tokio::test]
async fn a_node_of_another_authority_is_refused() {
    let folder = Folder::new("rpc-authority");
    let one = make_authority("demo").unwrap();
    let other = make_authority("demo").unwrap();
    let reason = refused(folder.tls(&one, A), folder.tls(&other, B)).await;
    assert_eq!(reason, "TLS: invalid peer certificate: another authority has signed it");
}

#[tokio::test]
async fn a_node_with_the_certificate_of_another_is_refused() {
    let folder = Folder::new("rpc-name");
    let authority = make_authority("demo").unwrap();
    let reason = refused(folder.tls(&authority, C), folder.tls(&authority, B)).await;
    assert_eq!(reason, "it refuses this node: its certificate is not one of node 1");
    let reason = refused(folder.tls(&authority, A), folder.tls(&authority, C)).await;
    assert!(reason.contains("not valid for name \"node-2.conclave\""), "{reason}");
}

#[tokio::test]
async fn with_and_without_certificates_do_not_go_together() {
    let mut logs = Logs::read();
    let folder = Folder::new("rpc-plain");
    let authority = make_authority("demo").unwrap();
    let reason = refused(None, folder.tls(&authority, B)).await;
    assert_eq!(reason, "node 2 refused this node; see the log of node 2");
    logs.line("it was refused: it speaks without TLS, this node only with it").await;
    let (a, b) = pair(folder.tls(&authority, A), None).await;
    a.error(&b.address()).await;
    logs.line("it speaks TLS, not the protocol of a Conclave cluster").await;
}

#[tokio::test]
async fn a_stranger_without_a_certificate_learns_nothing() {
    let folder = Folder::new("rpc-stranger");
    let authority = make_authority("demo").unwrap();
    let b = TestNode::start(RpcConfig { tls: folder.tls(&authority, B), ..config(B) }).await;
    let mut raw = Raw::connect(&b.address().address).await;
    raw.write(super::raw::PREFACE).await;
    raw.write(&frame(&Head::Hello(hello(A, B)), &[])).await;
    raw.expect_preface().await;
    assert_eq!(raw.next().await, Some((Head::Refuse { by: B, reason: None }, Vec::new())));
    raw.until_closed().await;
}

#[tokio::test]
async fn a_certificate_on_the_deny_list_is_refused_and_told_nothing() {
    let mut logs = Logs::read();
    let folder = Folder::new("rpc-deny");
    let authority = make_authority("demo").unwrap();
    let first = folder.files(&authority, A);
    let print = Fingerprint::of_pem(&std::fs::read_to_string(&first.certificate).unwrap());
    let print = print.expect("a certificate");
    let denying = folder.tls(&authority, B).unwrap().deny([print]);
    let (a, b) = pair(Some(Tls::load(&first, A).unwrap()), Some(denying)).await;
    let words = format!("its certificate {print} is on the deny list of this node");
    let error = a.error(&b.address()).await.to_string();
    assert!(error.ends_with("node 2 refused this node; see the log of node 2"), "{error}");
    logs.line(&format!("it was refused: {words}")).await;
    let error = b.error(&a.address()).await.to_string();
    assert!(error.ends_with(&words), "{error}");
}

#[tokio::test]
async fn a_connection_ends_with_the_certificate_of_either_side() {
    let mut logs = Logs::read();
    let folder = Folder::new("rpc-notafter");
    let authority = make_authority("demo").unwrap();
    // A minute is taken off; a few seconds are left.
    let short = Duration::from_secs(63);
    let brief = Tls::load(&folder.files_for(&authority, B, short), B).unwrap();
    let (mut a, b) = pair(folder.tls(&authority, A), Some(brief)).await;
    a.echo(&b.address(), Purpose::Raft).await;
    let how = a.until_down(Purpose::Raft, Direction::Outgoing).await;
    // Both sides know when it ends; who is first closes it.
    assert!(matches!(how, Ending::Error | Ending::ClosedByPeer), "{how:?}");
    logs.line("TLS: invalid peer certificate: certificate expired").await;
    let error = a.error(&b.address()).await;
    assert!(matches!(error, RpcError::Refused { .. }), "{error}");
}
