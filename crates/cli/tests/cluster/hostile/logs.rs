//! What nodes log: whole lines, whatever clients call themselves, and none of their secrets.

use super::http::{acquire, call, session};
use super::kit::{Cluster, Member, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;

const TOKEN: &str = "a-token-that-nobody-may-read";
const WRONG: &str = "a-token-that-is-quite-wrong";
/// What is shown may be in a label or a reason: quotes, braces, escapes of other languages.
const HOSTILE: &str = r#""},{"level":"error","message":"forged"} \n \u000a ${x} %0a <b>"#;

fn cluster(engine: &str, format: &str) -> Cluster {
    let mut cluster = Cluster::new(3, engine);
    let file = cluster.place.path("token");
    fs::write(&file, TOKEN).unwrap();
    for member in &mut cluster.members {
        member.set("--admin-token-file", &file);
        member.set("--log", "trace");
        member.set("--log-format", format);
    }
    cluster.start()
}

/// All that a client can do with a secret, rightly and wrongly; returns the secrets.
fn use_secrets(api: SocketAddr) -> Vec<String> {
    let labelled = json!({ "ttl_ms": 60_000, "label": HOSTILE }).to_string();
    let opened = call(api, "POST /v1/sessions", &[], &labelled);
    assert_eq!(opened.status, 200, "{opened:?}");
    let first = opened.json()["session"].as_str().unwrap().to_string();
    let second = session(api, 60_000);
    assert_eq!(acquire(api, "a", &first, 10_000).status, 200);
    assert_eq!(acquire(api, "a", &second, 0).status, 409);
    let kept = call(api, &format!("POST /v1/sessions/{first}/keepalive"), &[], "{}");
    assert_eq!(kept.status, 200, "{kept:?}");
    let stranger = "0123456789abcdef0123456789abcdef".to_string();
    assert_eq!(acquire(api, "a", &stranger, 0).status, 404);
    let force = json!({ "reason": HOSTILE, "now": true }).to_string();
    for (token, status) in [(WRONG, 401), (TOKEN, 200)] {
        let header = format!("Bearer {token}");
        let forced = call(api, "DELETE /v1/locks/a/holders", &[("authorization", &header)], &force);
        assert_eq!(forced.status, status, "{forced:?}");
    }
    let ended = call(api, &format!("DELETE /v1/sessions/{second}"), &[], "");
    assert_eq!(ended.status, 204, "{ended:?}");
    vec![first, second, stranger, TOKEN.to_string(), WRONG.to_string()]
}

/// A secret as text, and as a program might print its bytes.
fn forms(secret: &str) -> Vec<String> {
    let bytes: Option<Vec<u8>> = (0..secret.len())
        .step_by(2)
        .map(|at| secret.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect();
    let listed = |bytes: &[u8]| {
        let numbers: Vec<String> = bytes.iter().map(ToString::to_string).collect();
        numbers.join(", ")
    };
    let mut forms = vec![secret.to_string(), listed(secret.as_bytes())];
    forms.extend(bytes.map(|bytes| listed(&bytes)));
    forms
}

fn stop(members: &mut [Member]) {
    for member in members.iter_mut() {
        member.signal(Signal::TERM);
        assert!(member.ended().success(), "{}", member.log());
    }
}

fn tell_no_secret(engine: &str) {
    let mut cluster = cluster(engine, "json");
    let secrets = use_secrets(cluster.members[0].api);
    stop(&mut cluster.members);
    for member in &cluster.members {
        let log = member.log();
        assert!(log.lines().count() > 2, "{log}");
        for form in secrets.iter().flat_map(|secret| forms(secret)) {
            let line = log.lines().find(|line| line.contains(&form));
            assert_eq!(line, None, "node {} tells {form}", member.id);
        }
        for line in log.lines() {
            check_line(line, member.id);
        }
        let started = log.lines().find(|line| line.contains("\"message\":\"started\""));
        let started: Value = serde_json::from_str(started.unwrap()).unwrap();
        assert_eq!(
            (&started["level"], &started["fields"]["node"]),
            (&"info".into(), &member.id.into())
        );
    }
    let forced = |member: &Member| member.log().lines().any(|line| line.contains("force: "));
    assert!(cluster.members.iter().any(forced), "what was done by force is in a log");
}

fn check_line(line: &str, node: u32) {
    let object: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let mut names: Vec<&String> = object.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["fields", "level", "message", "node", "target", "time"], "{line}");
    assert_eq!(object["node"], node, "{line}");
    assert_ne!(object["message"], "forged", "{line}");
    let time = object["time"].as_str().unwrap();
    assert!(time.ends_with('Z') && time.as_bytes()[10] == b'T', "{line}");
}

#[test]
fn the_logs_of_a_replicated_cluster_are_whole_and_tell_no_secret() {
    tell_no_secret("replicated");
}

#[test]
fn the_logs_of_a_classic_cluster_are_whole_and_tell_no_secret() {
    tell_no_secret("central");
}

#[test]
fn what_ends_a_node_is_an_object_too_and_a_wrong_format_is_refused() {
    let mut cluster = Cluster::new(1, "replicated");
    let only = &mut cluster.members[0];
    only.set("--log-format", "json");
    fs::create_dir_all(&only.data).unwrap();
    fs::write(only.data.join("foreign"), "not a node's").unwrap();
    only.start();
    assert_eq!(only.ended().code(), Some(1));
    let log = only.log();
    log.lines().for_each(|line| check_line(line, 1));
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(last["level"], "error");
    assert!(last["message"].as_str().unwrap().contains("not those of a conclave node"), "{last}");
    only.set("--log-format", "xml");
    only.start();
    assert_eq!(only.ended().code(), Some(2));
    let said = until("its line", || {
        only.log().lines().find(|line| line.starts_with("error: ")).map(ToString::to_string)
    });
    assert_eq!(said, "error: --log-format xml: takes text or json");
}
