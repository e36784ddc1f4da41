//! With certificates: the right ones work, all others are refused with their reason.

use super::certified::{DAYS, Folder, pair};
use super::kit::{A, B, Logs, exchange, soon};
use conclave_core::NodeId;
use conclave_net::{
    Authority, Certified, Fingerprint, News, Tls, TlsFiles, make_authority, make_node,
};
use std::time::Duration;

#[tokio::test]
async fn nodes_of_one_authority_understand_each_other() {
    let folder = Folder::new("good");
    let authority = make_authority("demo").unwrap();
    let (mut a, mut b) = pair(folder.tls(&authority, A), folder.tls(&authority, B)).await;
    exchange(&mut a, &mut b, 1_000).await;
    a.restart().await;
    exchange(&mut a, &mut b, 100).await;
}

#[tokio::test]
async fn a_node_that_proves_who_it_is_may_have_started_however_often() {
    let folder = Folder::new("often");
    let authority = make_authority("demo").unwrap();
    let (mut a, mut b) = pair(folder.tls(&authority, A), folder.tls(&authority, B)).await;
    exchange(&mut a, &mut b, 10).await;
    a.config.incarnation += 1_000_000;
    a.restart().await;
    exchange(&mut a, &mut b, 10).await;
}

#[tokio::test]
async fn a_node_of_another_authority_is_refused_by_both() {
    let mut logs = Logs::read();
    let folder = Folder::new("authority");
    let (one, other) = (make_authority("demo").unwrap(), make_authority("demo").unwrap());
    let _pair = pair(folder.tls(&one, A), folder.tls(&other, B)).await;
    logs.line("no link to node 2 at").await;
    logs.line("TLS: invalid peer certificate: another authority has signed it").await;
    logs.line("connection from 127.0.0.1").await;
}

#[tokio::test]
async fn a_node_with_the_certificate_of_another_is_refused() {
    let mut logs = Logs::read();
    let folder = Folder::new("name");
    let authority = make_authority("demo").unwrap();
    let third = folder.tls(&authority, NodeId(2));
    let _pair = pair(third, folder.tls(&authority, B)).await;
    logs.line("it was refused: its certificate is not one of node 1").await;
    logs.line("it refuses this node: its certificate is not one of node 1").await;
    logs.line("not valid for name \"node-1.conclave\"").await;
}

#[tokio::test]
async fn a_node_without_tls_is_refused() {
    let mut logs = Logs::read();
    let folder = Folder::new("plain");
    let authority = make_authority("demo").unwrap();
    let _pair = pair(None, folder.tls(&authority, B)).await;
    logs.line("it was refused: it speaks without TLS, this node only with it").await;
    logs.line("no link to node 2 at").await;
    logs.line("node 2 refused this node; see the log of node 2").await;
    logs.line("it speaks TLS, not the protocol of a Conclave cluster").await;
    logs.line("no link to node 1 at").await;
}

#[tokio::test]
async fn a_link_ends_with_the_certificate_of_either_side() {
    let mut logs = Logs::read();
    let folder = Folder::new("notafter");
    let authority = make_authority("demo").unwrap();
    // A minute is taken off; a few seconds are left.
    let short = Duration::from_secs(63);
    let brief = Tls::load(&folder.files_for(&authority, B, short), B).unwrap();
    let (mut a, mut b) = pair(folder.tls(&authority, A), Some(brief)).await;
    exchange(&mut a, &mut b, 10).await;
    soon("the end of both links", async {
        let mut ended = 0;
        while ended < 2 {
            let news = tokio::select! {
                news = a.step() => news,
                news = b.step() => news,
            };
            ended += usize::from(matches!(news, News::Disconnected { .. }));
        }
    })
    .await;
    logs.line("no link to node 2 at").await;
    logs.line("its certificate has expired").await;
    logs.line("the certificate of this node has expired").await;
    // And no other comes in its place.
    logs.line("TLS: invalid peer certificate: certificate expired").await;
}

#[tokio::test]
async fn a_certificate_on_the_deny_list_is_refused_and_told_nothing() {
    let mut logs = Logs::read();
    let folder = Folder::new("deny");
    let authority = make_authority("demo").unwrap();
    let first = folder.files(&authority, A);
    let print = Fingerprint::of_pem(&std::fs::read_to_string(&first.certificate).unwrap());
    let print = print.expect("a certificate");
    let denying = folder.tls(&authority, B).unwrap().deny([print]);
    let _pair = pair(Some(Tls::load(&first, A).unwrap()), Some(denying)).await;
    let words = format!("its certificate {print} is on the deny list of this node");
    logs.line(&format!("it was refused: {words}")).await;
    logs.line("node 2 refused this node; see the log of node 2").await;
    logs.line("no link to node 1 at").await;
    logs.lines(&words, 2).await;
    assert_eq!(logs.count("linked to node"), 0);
}

#[test]
fn files_that_do_not_belong_together_are_named() {
    let folder = Folder::new("files");
    let authority = make_authority("demo").unwrap();
    let (first, second) = (folder.files(&authority, A), folder.files(&authority, B));
    let problem = |files: &TlsFiles| Tls::load(files, A).unwrap_err().to_string();
    let missing = TlsFiles { key: folder.0.join("nowhere.key"), ..first.clone() };
    assert!(problem(&missing).contains("nowhere.key: No such file"));
    let swapped = TlsFiles { key: first.certificate.clone(), ..first.clone() };
    assert!(problem(&swapped).contains("1.pem: has no private key in PEM form"));
    let of_another = TlsFiles { key: second.key.clone(), ..first.clone() };
    assert!(problem(&of_another).contains("2.key: does not go with "));
    let misnamed = TlsFiles { certificate: second.certificate, ..first.clone() };
    assert!(problem(&misnamed).contains("2.pem: is not valid for 'node-1.conclave'"));
    let empty = TlsFiles { authority: folder.write("empty.pem", "nothing"), ..first };
    assert!(problem(&empty).contains("empty.pem: has no certificate in PEM form"));
}

#[test]
fn what_the_others_would_not_take_is_said_at_once() {
    let folder = Folder::new("accepted");
    let (one, other) = (make_authority("demo").unwrap(), make_authority("demo").unwrap());
    let files = folder.files(&one, A);
    let problem = |files: &TlsFiles| Tls::load(files, A).unwrap_err().to_string();
    let certificate = other.certified().certificate;
    let foreign = TlsFiles { authority: folder.write("other.pem", &certificate), ..files.clone() };
    let said = problem(&foreign);
    assert!(said.contains("1.pem: does not go with "), "{said}");
    assert!(said.ends_with("other.pem: another authority has signed it"), "{said}");
    let old = make_node(&one, A, &[], Duration::ZERO).unwrap();
    let (certificate, key) =
        (folder.write("old.pem", &old.certificate), folder.write("old.key", &old.key));
    let said = problem(&TlsFiles { certificate, key, ..files });
    assert!(said.contains("old.pem: does not go with ") && said.contains("expired"), "{said}");
}

#[test]
fn an_authority_that_was_saved_goes_on_signing() {
    let folder = Folder::new("saved");
    let first = make_authority("demo").unwrap();
    let saved = first.certified();
    let again = Authority::restore("demo", &saved).unwrap();
    assert!(again.certified() == saved);
    let authority = folder.files(&first, A).authority;
    let files = TlsFiles { authority, ..folder.files(&again, B) };
    Tls::load(&files, B).expect("it goes with the authority as it was");
    let refused = |cluster: &str, saved: &Certified| {
        Authority::restore(cluster, saved).err().expect("refused").to_string()
    };
    let mismatch = "this is not the certificate of an authority of";
    assert!(refused("other", &saved).starts_with(mismatch));
    let key = make_authority("demo").unwrap().certified().key;
    assert!(refused("demo", &Certified { key, ..saved.clone() }).starts_with(mismatch));
    let certificate = "nothing".to_string();
    assert!(refused("demo", &Certified { certificate, ..saved }).starts_with("this is no cert"));
}

#[test]
fn only_hosts_can_be_put_into_a_certificate() {
    let authority = make_authority("demo").unwrap();
    let outcome = make_node(&authority, A, &["not a host".into()], DAYS);
    let problem = outcome.err().expect("refused").to_string();
    assert_eq!(
        problem,
        "'not a host' cannot be put into a certificate: it is no host name and no address"
    );
}
