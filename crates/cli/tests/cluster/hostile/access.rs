//! Who may do what: three nodes with certificates and tokens, by the commands that make them.

use super::kit::{Cluster, Member, Place, until};
use crate::running_command::Running;
use crate::support::{Done, conclave, conclave_in};
use conclave_client::Client;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A command that says when it runs, and ends with code 7 when it is asked to.
const WAITS: &str = "trap 'kill $!; exit 7' TERM; echo in; sleep 600 & wait";

/// Certificates and tokens of a cluster, and where they are.
struct Papers {
    certificates: String,
    tokens: String,
}

impl Papers {
    /// For so many nodes; two principals.
    fn make(place: &Place, nodes: usize) -> Self {
        let certificates = place.path("certificates");
        let count = nodes.to_string();
        let cert = ["cert", "--out", &certificates, "--nodes", &count, "--client", "deploy,nobody"];
        let made = conclave(&cert);
        assert_eq!(made.code, 0, "{}", made.stderr);
        let tokens = place.path("tokens.toml");
        let mut text = String::new();
        for (name, right, prefix) in
            [("ci", "--acquire", "builds/"), ("boss", "--admin", ""), ("eye", "--read", "")]
        {
            let out = place.path(&format!("{name}.token"));
            let made = conclave(&["token", name, right, prefix, "--out", &out]);
            assert_eq!(made.code, 0, "{}", made.stderr);
            let token = fs::read_to_string(&out).unwrap();
            assert!(!made.stdout.contains(token.trim()), "the file has a hash alone");
            assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
            text += &made.stdout;
        }
        text += "[[principals]]\nname = \"deploy\"\ncertificate = \"deploy\"\nacquire = [\"d/\"]\n";
        fs::write(&tokens, text).unwrap();
        fs::set_permissions(&tokens, fs::Permissions::from_mode(0o600)).unwrap();
        Self { certificates, tokens }
    }

    fn give(&self, member: &mut Member, place: &Place) {
        let directory = &self.certificates;
        let id = member.id;
        member.certify(directory, id);
        member.set("--api-certificate", &format!("{directory}/api-{id}.pem"));
        member.set("--api-key", &format!("{directory}/api-{id}.key"));
        member.set("--tokens", &self.tokens);
        member.set("--audit", &place.path(&format!("audit-{id}.jsonl")));
    }

    fn ca(&self) -> String {
        format!("{}/ca.pem", self.certificates)
    }
}

/// Three nodes that are ready, and their papers.
fn start(engine: &str) -> (Cluster, Papers) {
    let mut cluster = Cluster::new(3, engine);
    let papers = Papers::make(&cluster.place, 3);
    let place = &cluster.place;
    for member in &mut cluster.members {
        papers.give(member, place);
        member.start();
    }
    for member in &cluster.members {
        let server = member.api.to_string();
        let client = Client::builder().servers([server]).ca_file(papers.ca()).build().unwrap();
        until("a node is ready", || client.is_ready().then_some(()));
    }
    (cluster, papers)
}

fn servers(cluster: &Cluster) -> String {
    let all = cluster.apis().into_iter().map(|api| format!("https://{api}"));
    all.collect::<Vec<_>>().join(",")
}

/// What somebody does, who is known by a token.
fn typed(cluster: &Cluster, papers: &Papers, who: &str, arguments: &[&str]) -> Done {
    let token = cluster.place.path(&format!("{who}.token"));
    conclave_in(
        arguments,
        &[
            ("CONCLAVE_SERVER", &servers(cluster)),
            ("CONCLAVE_CA", &papers.ca()),
            ("CONCLAVE_TOKEN_FILE", &token),
        ],
    )
}

fn audited(cluster: &Cluster, id: u32) -> Vec<Value> {
    let text = fs::read_to_string(cluster.place.path(&format!("audit-{id}.jsonl"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_lock_is_held_through_tls_with_a_token_also_when_a_node_dies() {
    let (mut cluster, papers) = start("replicated");
    let all = servers(&cluster);
    let ca = papers.ca();
    let token = cluster.place.path("ci.token");
    let lock = ["lock", "builds/a", "--ttl", "4s", "--server", &all, "--ca", &ca];
    let command = ["--token-file", &token, "--label", "a build", "--", "sh", "-c", WAITS];
    let mut running = Running::start(&[&lock[..], &command].concat());
    assert_eq!(running.line(), "in");
    cluster.members[0].kill();
    cluster.members.remove(0);
    let seen = until("the others go on", || {
        let seen = typed(&cluster, &papers, "eye", &["status", "builds/a", "--json"]);
        (seen.code == 0).then(|| seen.json())
    });
    assert_eq!(seen["locks"][0]["holder"]["label"], "a build", "{seen}");
    running.signal(Signal::TERM);
    assert_eq!(running.code(), Some(7), "the command's own");
    let lines = until("the end is written down", || {
        let lines = audited(&cluster, 2);
        lines.iter().any(|line| line["event"] == "released").then_some(lines)
    });
    let told = lines.iter().map(|line| line["event"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(told, ["granted", "released"], "{lines:?}");
    assert!(lines.iter().all(|line| line["principal"] == "ci" && line["name"] == "builds/a"));
    let mode = fs::metadata(cluster.place.path("audit-2.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // A node that starts again applies its log again, and writes nothing down twice.
    cluster.members[0].signal(Signal::TERM);
    assert_eq!(cluster.members[0].ended().code(), Some(0));
    cluster.members[0].start();
    let client = Client::builder().servers([cluster.members[0].api.to_string()]);
    let client = client.ca_file(papers.ca()).build().unwrap();
    until("it is ready again", || client.is_ready().then_some(()));
    assert_eq!(audited(&cluster, 2), lines);
}

#[test]
fn each_trouble_with_credentials_has_a_line_of_its_own() {
    let (cluster, papers) = start("replicated");
    let take = ["lock", "other/a", "--wait", "5s", "--", "true"];
    let refused = |done: Done, words: &str, code: i32| {
        assert!(done.stderr.contains(words), "{}", done.stderr);
        assert_eq!((done.stderr.lines().count(), done.code), (1, code), "{}", done.stderr);
    };
    refused(typed(&cluster, &papers, "ci", &take), "'ci' has no right to acquire 'other/a'", 1);
    let seen = typed(&cluster, &papers, "ci", &["status", "--json"]);
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    let force = typed(&cluster, &papers, "ci", &["cluster", "transfer"]);
    refused(force, "'ci' has no right to admin all names", 1);
    let all = servers(&cluster);
    let ca = papers.ca();
    let at = |server: &str, more: &[&str]| {
        conclave(&[&["lock", "builds/a", "--server", server], more, &["--", "true"]].concat())
    };
    refused(at(&all, &["--ca", &ca]), "who asks?", 1);
    let wrong = cluster.place.path("wrong.token");
    fs::write(&wrong, "not a token of anybody\n").unwrap();
    fs::set_permissions(&wrong, fs::Permissions::from_mode(0o600)).unwrap();
    refused(at(&all, &["--ca", &ca, "--token-file", &wrong]), "holds no token", 2);
    fs::write(&wrong, "nobodys").unwrap();
    refused(at(&all, &["--ca", &ca, "--token-file", &wrong]), "not known here", 1);
    refused(at(&all, &[]), "--ca: is missing", 2);
    let plain = all.replace("https://", "http://");
    refused(at(&plain, &[]), "this address takes https://, not http://", 2);
    let theirs = cluster.place.path("theirs");
    assert_eq!(conclave(&["cert", "--out", &theirs, "--nodes", "1"]).code, 0);
    let foreign = format!("{theirs}/ca.pem");
    refused(at(&all, &["--ca", &foreign]), "another authority than the one named", 1);
    let far = ["--ca", &ca, "--token-file", &wrong];
    refused(at("http://192.0.2.1:7070", &far), "is not sent by plain http beyond", 2);
    fs::set_permissions(&wrong, fs::Permissions::from_mode(0o644)).unwrap();
    let readable = at(&all, &far).stderr;
    assert!(readable.contains("--token-file") && readable.contains("chmod 600"), "{readable}");
}

#[test]
fn a_certificate_for_another_host_is_not_trusted() {
    let mut cluster = Cluster::new(1, "replicated");
    let papers = Papers::make(&cluster.place, 1);
    let only = &mut cluster.members[0];
    papers.give(only, &cluster.place);
    for (flag, kind) in [("--api-certificate", "pem"), ("--api-key", "key")] {
        only.set(flag, &format!("{}/node-1.{kind}", papers.certificates));
    }
    only.start();
    only.line(" started ");
    let server = format!("https://{}", only.api);
    let done = conclave(&["status", "--server", &server, "--ca", &papers.ca()]);
    assert!(done.stderr.contains("its certificate is for another host"), "{}", done.stderr);
    assert_eq!(done.code, 1);
}

#[test]
fn a_client_certificate_says_who_asks_and_an_expired_one_does_not() {
    let (cluster, papers) = start("central");
    let all = servers(&cluster);
    let ca = papers.ca();
    let by = |directory: &str, name: &str, lock: &str| {
        let [cert, key] = ["pem", "key"].map(|kind| format!("{directory}/client-{name}.{kind}"));
        let lock = ["lock", lock, "--server", &all, "--ca", &ca, "--cert", &cert, "--key", &key];
        conclave(&[&lock[..], &["--", "true"]].concat())
    };
    let ours = &papers.certificates;
    let done = by(ours, "deploy", "d/a");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = by(ours, "deploy", "builds/a");
    assert!(done.stderr.contains("'deploy' has no right to acquire"), "{}", done.stderr);
    let done = by(ours, "nobody", "d/a");
    assert!(done.stderr.contains("is nobody's in the file of tokens"), "{}", done.stderr);
    for kind in ["pem", "key"] {
        fs::remove_file(format!("{ours}/client-deploy.{kind}")).unwrap();
    }
    let late = ["cert", "--out", ours, "--nodes", "3", "--client", "deploy", "--days", "0"];
    assert_eq!(conclave(&late).code, 0);
    let done = by(ours, "deploy", "d/a");
    assert!(done.stderr.contains("does not accept the certificate"), "{}", done.stderr);
    assert_eq!(done.code, 1);
    let granted = |id| audited(&cluster, id).iter().any(|line| line["principal"] == "deploy");
    assert!((1..=3).any(granted), "with a classic engine, at the node that was asked");
}

#[test]
fn rights_change_with_the_file_while_the_node_runs() {
    let (cluster, papers) = start("replicated");
    let take = ["lock", "other/a", "--wait", "5s", "--", "true"];
    assert_eq!(typed(&cluster, &papers, "ci", &take).code, 1);
    let text = fs::read_to_string(&papers.tokens).unwrap();
    fs::write(&papers.tokens, text.replace("\"builds/\"", "\"builds/\", \"other/\"")).unwrap();
    until("the file is read again", || {
        (typed(&cluster, &papers, "ci", &take).code == 0).then_some(())
    });
    let token = cluster.place.path("ci.token");
    let (all, ca) = (servers(&cluster), papers.ca());
    let lock = ["lock", "builds/a", "--ttl", "3s", "--server", &all, "--ca", &ca];
    let command = ["--token-file", &token, "--", "sh", "-c", "echo in; sleep 60"];
    let mut running = Running::start(&[&lock[..], &command].concat());
    assert_eq!(running.line(), "in");
    let others = text.split("[[principals]]").filter(|one| !one.contains("\"ci\""));
    fs::write(&papers.tokens, others.collect::<Vec<_>>().join("[[principals]]")).unwrap();
    assert_eq!(running.code(), Some(76), "whose token is taken away keeps nothing for long");
}

#[test]
fn beyond_this_machine_a_node_takes_certificates_and_tokens_or_a_word() {
    let mut cluster = Cluster::new(1, "replicated");
    let papers = Papers::make(&cluster.place, 1);
    for engine in ["replicated", "central"] {
        let only = &mut cluster.members[0];
        only.set("--engine", engine);
        let address = format!("0.0.0.0:{}", only.api.port());
        only.set("--http", &address);
        only.start();
        assert_eq!(only.ended().code(), Some(2));
        let line = only.line("error: --http 0.0.0.0");
        assert!(line.contains("--tokens") && line.contains("--insecure"), "{line}");
        only.set("--tokens", &papers.tokens);
        only.start();
        assert_eq!(only.ended().code(), Some(2), "tokens alone can be read on the way");
        only.unset("--tokens");
    }
    let up = conclave(&["up", "--http", "0.0.0.0:0"]);
    assert_eq!(up.code, 2, "{}", up.stderr);
    assert!(up.stderr.contains("it takes --insecure"), "{}", up.stderr);
    let place = &cluster.place;
    let only = &mut cluster.members[0];
    papers.give(only, place);
    let link = cluster.place.path("link.jsonl");
    symlink(cluster.place.path("elsewhere"), &link).unwrap();
    only.set("--audit", &link);
    only.start();
    assert_eq!(only.ended().code(), Some(1), "never through a symbolic link");
    only.line(&format!("error: --audit {link}: "));
    only.set("--audit", &cluster.place.path("audit.jsonl"));
    only.start();
    only.line(" started ");
}
