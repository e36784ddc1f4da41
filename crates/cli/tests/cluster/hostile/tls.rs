//! A cluster that speaks TLS, by the certificates of `conclave cert`.

use super::kit::{Cluster, Member, Place};
use super::steady::Steady;
use crate::support::{Done, conclave};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn make(out: &str, more: &[&str]) -> Done {
    conclave(&[&["cert", "--out", out], more].concat())
}

fn without_tls(member: &mut Member) {
    for flag in ["--tls-authority", "--tls-certificate", "--tls-key"] {
        member.unset(flag);
    }
}

#[test]
fn only_nodes_with_their_own_certificates_are_let_in() {
    let mut cluster = Cluster::new(3, "central-failover");
    let (ours, theirs) = (cluster.place.path("ours"), cluster.place.path("theirs"));
    assert_eq!(make(&ours, &["--nodes", "3"]).code, 0);
    assert_eq!(make(&theirs, &["--nodes", "3"]).code, 0);
    for member in &mut cluster.members {
        member.certify(&ours, member.id);
    }
    let mut cluster = cluster.start();
    let steady = Steady::start(&cluster.apis());
    let first = &cluster.members[0];
    let mut stranger = cluster.members[2].twin(&cluster.place, "stranger");
    stranger.certify(&theirs, 3);
    stranger.start();
    let line = stranger.line("no link to node 1 ");
    assert!(
        line.contains("TLS: invalid peer certificate: another authority has signed it"),
        "{line}"
    );
    let line = first.line("connection from");
    assert!(line.contains("TLS: "), "{line}");
    let mut plain = cluster.members[2].twin(&cluster.place, "plain");
    without_tls(&mut plain);
    plain.start();
    plain.line("node 1 refused this node; see the log of node 1");
    first.line("it was refused: it speaks without TLS, this node only with it");
    let mut impostor = cluster.members[2].twin(&cluster.place, "impostor");
    impostor.certify(&ours, 2);
    impostor.start();
    assert_eq!(impostor.ended().code(), Some(1));
    impostor.line("node-2.pem: is not valid for 'node-3.conclave', the name of this node");
    steady.finish();
    for member in &mut cluster.members {
        assert!(member.runs());
        assert_eq!(member.count("linked to node"), 2, "{}", member.log());
    }
}

#[test]
fn a_certificate_that_has_expired_is_noticed_by_its_own_node() {
    let mut cluster = Cluster::new(1, "central");
    let directory = cluster.place.path("certificates");
    let made = make(&directory, &["--nodes", "1", "--days", "0"]);
    assert_eq!(made.code, 0);
    assert!(made.stderr.contains("has expired already"), "{}", made.stderr);
    let kept = make(&directory, &["--nodes", "2", "--client", "ci"]);
    let words = "expired, though kept: node-1, api-1; nobody will let them in";
    assert!(kept.code == 0 && kept.stderr.contains(words), "{}", kept.stderr);
    let again = make(&directory, &["--nodes", "1", "--lang", "pt"]);
    let words = "expirados, embora mantidos: node-1, api-1; ninguém os deixará entrar";
    assert!(again.stderr.contains(words), "{}", again.stderr);
    let only = &mut cluster.members[0];
    only.certify(&directory, 1);
    only.start();
    assert_eq!(only.ended().code(), Some(1));
    let line = only.line("error: ");
    assert!(line.contains("node-1.pem") && line.contains("expired"), "{line}");
    // Neither that start counts nor one whose port is taken: peers would count them as well.
    assert_eq!(make(&directory, &["--nodes", "1", "--force"]).code, 0);
    let taken = TcpListener::bind(only.peer).unwrap();
    only.start();
    assert_eq!(only.ended().code(), Some(1));
    only.line("cannot listen on");
    drop(taken);
    only.start();
    assert!(only.line(" started ").ends_with(" start=1"), "{}", only.log());
}

#[test]
fn a_certificate_that_is_denied_stays_out_and_a_new_one_comes_in() {
    let mut cluster = Cluster::new(3, "central-failover").certified();
    let directory = cluster.place.path("certificates");
    let listed = make(&directory, &["--nodes", "3"]).stdout;
    let words: Vec<&str> = listed.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "node-3.pem").expect("its fingerprint");
    for member in &mut cluster.members[..2] {
        member.set("--deny", words[at + 1]);
    }
    cluster.members.iter_mut().for_each(Member::start);
    let third = &cluster.members[2];
    third.line("node 1 refused this node; see the log of node 1");
    let denied = format!("its certificate {} is on the deny list of this node", words[at + 1]);
    for member in &cluster.members[..2] {
        member.line(&format!("it was refused: {denied}"));
        member.line(&format!(": {denied}; trying again"));
    }
    assert_eq!(third.count("linked to node"), 0, "{}", third.log());
    fs::remove_file(Path::new(&directory).join("node-3.pem")).unwrap();
    fs::remove_file(Path::new(&directory).join("node-3.key")).unwrap();
    assert_eq!(make(&directory, &["--nodes", "3"]).code, 0);
    cluster.members[2].kill();
    cluster.members[2].start();
    cluster.members.iter().for_each(super::kit::ready);
    cluster.members[2].line("linked to node 1");
}

#[test]
fn a_fourth_node_gets_its_certificate_later() {
    let place = Place::new();
    let out = place.path("certificates");
    let first = make(&out, &["--nodes", "3", "--hosts", "a.example,b.example,10.0.0.3"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let mode =
        |name: &str| fs::metadata(Path::new(&out).join(name)).unwrap().permissions().mode() & 0o777;
    for name in ["ca.key", "node-1.key", "node-3.key"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    let read = |name: &str| fs::read_to_string(Path::new(&out).join(name)).unwrap();
    let (authority, third) = (read("ca.pem"), read("node-3.key"));
    let again = make(&out, &["--nodes", "4"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    let said = again.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(": node-4, api-4 kept"), "{said}");
    assert!(said.contains(": node-1, api-1, node-2, api-2, node-3, api-3 links"), "{said}");
    assert_eq!((read("ca.pem"), read("node-3.key")), (authority.clone(), third.clone()));
    let other = make(&out, &["--nodes", "5", "--cluster", "other"]);
    assert_eq!(other.code, 1);
    assert!(other.stderr.contains("of an authority of 'other'"), "{}", other.stderr);
    fs::rename(Path::new(&out).join("ca.key"), place.path("safe.key")).unwrap();
    let without = make(&out, &["--nodes", "5"]);
    assert_eq!(without.code, 1);
    assert!(without.stderr.contains("bring it back, or make all anew by --force"));
    assert_eq!(without.stderr.lines().count(), 1, "{}", without.stderr);
    fs::write(Path::new(&out).join("ca.key"), "").unwrap();
    fs::set_permissions(Path::new(&out).join("ca.key"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(make(&out, &["--nodes", "3", "--force"]).code, 0);
    assert_eq!(mode("ca.key"), 0o600, "also if the file was there");
    assert_ne!((read("ca.pem"), read("node-3.key")), (authority, third));
}

#[test]
fn certificates_of_two_runs_make_one_cluster() {
    let mut cluster = Cluster::new(3, "ricart-agrawala");
    let directory = cluster.place.path("certificates");
    assert_eq!(make(&directory, &["--nodes", "2"]).code, 0);
    assert_eq!(make(&directory, &["--nodes", "3"]).code, 0);
    for member in &mut cluster.members {
        member.certify(&directory, member.id);
    }
    let cluster = cluster.start();
    Steady::start(&cluster.apis()).finish();
}
