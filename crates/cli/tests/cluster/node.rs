//! `conclave node` and `conclave up`: what mistakes get before anything is started.

use crate::support::conclave;
use std::fs;
use std::path::PathBuf;

fn refuses(arguments: &[&str], lines: &[&str]) {
    let done = conclave(arguments);
    let said: Vec<&str> = done.stderr.lines().collect();
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{}", done.stderr);
    assert_eq!(said.len(), lines.len(), "{}", done.stderr);
    for (said, line) in said.iter().zip(lines) {
        assert!(said.starts_with(&format!("error: {line}")), "{said}\n{line}");
    }
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

const PEER: [&str; 2] = ["--peer", "1=127.0.0.1:7100,api=127.0.0.1:7070"];

#[test]
fn all_mistakes_are_said_at_once() {
    refuses(
        &["node"],
        &["--peer: is missing; takes ID=HOST:PORT,api=HOST:PORT", "--id: is missing", "--data: is"],
    );
    let mistaken = "node --id 3 --cluster a!b --http here --engine replicatd --election maekawa \
                    --set lease --log loud --tls-key none.pem";
    let mistaken: Vec<&str> = mistaken.split(' ').chain(PEER).collect();
    refuses(
        &mistaken,
        &[
            "--set lease: takes KEY=VALUE",
            "--id 3: takes a number from 1 to 1",
            "--http here: takes IP:PORT",
            "--cluster a!b: takes 1 to 64 letters",
            "--data: is missing",
            "--engine replicatd: no algorithm is called 'replicatd'; did you mean replicated?",
            "--election maekawa: this is a mutex; takes bully",
            "--tls-authority: is missing; TLS takes all three",
            "--tls-certificate: is missing; TLS takes all three",
            "--tls-key none.pem: cannot read: No such file",
            "--log loud: takes error, warn, info, debug or trace",
        ],
    );
}

#[test]
fn a_file_is_wrong_in_some_line() {
    let broken = file("broken.toml", "id = 1\ncluster = \n");
    let flags = ["node", "--config", &broken, "--id", "1", "--data", "d", PEER[0], PEER[1]];
    refuses(&flags, &[&format!("--config {broken}: line 2: ")]);
    let unknown = file("unknown.toml", "data = 1\n\nengin = \"central\"\nlog = \"loud\"\n");
    let flags = ["node", "--config", &unknown, "--id", "x", "--peer", "1=a", "--cluster", "a!b"];
    refuses(
        &flags,
        &[
            &format!("--config {unknown}: line 1: invalid type"),
            &format!("--config {unknown}: line 3: unknown field `engin`"),
            "--peer 1=a: takes ID=HOST:PORT,api=HOST:PORT",
            "--id x: takes a number from 1",
            "--cluster a!b: takes 1 to 64 letters",
            "--log loud: takes error, warn, info, debug or trace",
        ],
    );
    let flags = ["node", "--config", "no-such.toml", "--id", "1", "--data", "d", PEER[0], PEER[1]];
    refuses(&flags, &["--config no-such.toml: cannot read: No such file"]);
}

#[test]
fn flags_win_over_the_file() {
    let text = "id = 9\ndata = \"d\"\nengine = \"nonsense\"\n\
                [[nodes]]\nid = 1\npeer = \"127.0.0.1:7100\"\napi = \"127.0.0.1:7070\"\n";
    let path = file("wins.toml", text);
    refuses(
        &["node", "--config", &path],
        &["--id 9: takes a number from 1 to 1", "--engine nonsense: no algorithm is called"],
    );
    refuses(
        &["node", "--config", &path, "--id", "1", "--engine", "central", "--log", "loud"],
        &["--log loud: "],
    );
}

#[test]
fn the_example_for_operators_makes_a_node() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("operator");
    let _ = fs::remove_dir_all(&folder);
    let papers = folder.to_str().unwrap();
    assert_eq!(conclave(&["cert", "--out", papers, "--nodes", "3"]).code, 0);
    let out = format!("{papers}/ci.token");
    let made = conclave(&["token", "ci", "--acquire", "builds/", "--out", &out]);
    fs::write(folder.join("tokens.toml"), made.stdout).unwrap();
    for kind in ["node", "api"] {
        let handed_over = folder.join(format!("{kind}.key")); // As systemd does with credentials.
        fs::copy(folder.join(format!("{kind}-1.key")), handed_over).unwrap();
    }
    let example = include_str!("../../../../deploy/conclave.toml");
    let example = example.replace("/run/credentials/conclave.service", papers);
    let path = &file("example.toml", &example.replace("/etc/conclave", papers));
    refuses(&["node", "--config", path, "--log", "loud"], &["--log loud: "]);
    refuses(
        &["node", "--config", path, "--engine", "central", "--set", "lease=8s", "--log", "loud"],
        &["--set lease: central takes ", "--log loud: "],
    );
}

#[test]
fn what_does_not_go_together_is_refused() {
    let base = ["node", "--id", "1", "--data", "d", PEER[0], PEER[1], "--engine", "central"];
    let separate = [&base[..], &["--set", "coordinator=separate"]].concat();
    refuses(&separate, &["--set coordinator=separate: on a network"]);
}

#[test]
fn parameters_are_checked_where_they_belong() {
    let base = ["node", "--id", "1", "--data", "d", PEER[0], PEER[1]];
    let base = [&base[..], &["--engine", "central-failover"]].concat();
    let with = |set: &[&'static str]| -> Vec<&str> { [&base[..], set].concat() };
    let mode = with(&["--set", "mode=bold", "--set", "detector.threshold=high"]);
    refuses(
        &mode,
        &[
            "--set mode=bold: central-failover takes mode=",
            "--set detector.threshold=high: phi-accrual takes threshold=",
        ],
    );
    let unknown = with(&["--set", "election.colour=red"]);
    refuses(&unknown, &["--set election.colour: majority takes "]);
}

#[test]
fn only_certificates_can_be_denied() {
    let base = ["node", "--id", "1", "--data", "d", PEER[0], PEER[1]];
    let takes = "takes the SHA-256 fingerprint of a certificate or of its public key: 32 bytes in \
                 hexadecimal";
    refuses(&[&base[..], &["--deny", "node-3"]].concat(), &[&format!("--deny node-3: {takes}")]);
    let print = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    refuses(
        &[&base[..], &["--deny", print]].concat(),
        &["--deny: without TLS nobody shows a certificate"],
    );
    let path = file("deny.toml", "deny = [\"node-3\"]\n");
    refuses(&[&base[..], &["--config", &path]].concat(), &[&format!("--deny node-3: {takes}")]);
}

#[test]
fn up_checks_before_it_starts_anything() {
    refuses(
        &["up", "--engine", "replicated", "--election", "bully", "--http", "127.0.0.1:0"],
        &["--election bully: only a classic engine takes one"],
    );
    refuses(&["up", "--nodes", "0"], &["--nodes 0: "]);
    refuses(&["up", "--http", "7070"], &["--http 7070: takes IP:PORT"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let port = format!(
        "--http {address}: port {} is taken; name another",
        taken.local_addr().unwrap().port()
    );
    refuses(&["up", "--nodes", "1", "--http", &address], &[&port]);
}
