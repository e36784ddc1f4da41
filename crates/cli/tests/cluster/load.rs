//! Every engine under load: a cluster of real processes, and clients over its API.

use crate::support::{conclave, json};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

/// The clients of the gate, and how often each enters.
const CLIENTS: u32 = 10;
const ENTRIES: u32 = 4;
/// Of these the recordings are replayed: one of each way to live through a crash.
const REPLAYED: [&str; 3] = ["central-failover", "maekawa", "naimi-trehel"];

/// All engines that there are.
fn engines() -> Vec<String> {
    let entries = json(&["algorithms", "--json"]);
    let entries = entries.as_array().expect("a list");
    let mutexes = entries.iter().filter(|entry| entry["family"] == "mutex");
    mutexes.map(|entry| entry["id"].as_str().expect("an id").to_string()).collect()
}

/// Puts one engine under load, and looks at what came of it.
fn served(engine: &str, clients: u32, entries: u32, more: &[&str]) -> Value {
    let (clients, entries) = (clients.to_string(), entries.to_string());
    let load = ["bench", "service", "--json", "--engine", engine, "--clients", &clients];
    let done = conclave(&[&load[..], &["--entries", &entries], more].concat());
    assert_eq!(done.code, 0, "{engine}: {}{}", done.stdout, done.stderr);
    let row = done.json()["rows"][0].clone();
    assert_eq!(row["system"], engine);
    assert_eq!(row["failures"], Value::Array(Vec::new()), "{engine}");
    assert_eq!(row["entries"], row["asked"], "{engine}: all are served");
    assert_eq!(row["overlaps"], 0, "{engine}: nobody is inside with another");
    assert_eq!(row["fences_rise"], true, "{engine}");
    assert_eq!(row["counter"], row["entries"], "{engine}: no entry of the counter is lost");
    row
}

/// Whatever the schedule, five nodes with as many entries each pay this per entry.
const EXACT: [(&str, f64); 4] =
    [("central", 2.4), ("total-order", 13.6), ("lamport", 12.0), ("ricart-agrawala", 8.0)];
/// Who starts and who is last need not be as in the simulator.
const SLACK: f64 = 0.05;

/// Messages per entry lie between what the catalogue says of the first entries and what the
/// simulator sends under the same load; where tries can fail, more are possible.
fn costs_as_the_catalogue_says(engine: &str, row: &Value) {
    let measured = row["messages_per_entry"].as_f64().expect("all nodes can be asked");
    let simulated = row["simulated_messages_per_entry"].as_f64().expect("it can be simulated");
    let least = row["formula"]["least"].as_f64().expect("every lock has a formula");
    let least = least.min(simulated) * (1.0 - SLACK);
    assert!(measured >= least, "{engine}: {measured} < {least}: {row:#}");
    if let Some(most) = row["formula"]["most"].as_f64() {
        // Who waits for long says so, and may be granted once more: time decides how often.
        let entries = row["entries"].as_f64().expect("a number");
        let signs = row["messages"]["KEEPALIVE"].as_f64().unwrap_or(0.0);
        let most = most.max(simulated) * (1.0 + SLACK) + 2.0 * signs / entries;
        assert!(measured <= most, "{engine}: {measured} > {most}: {row:#}");
    }
    if let Some((_, exact)) = EXACT.iter().find(|(id, _)| *id == engine) {
        assert_eq!(measured, *exact, "{engine}: {row:#}");
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("load").join(name);
    let _ = fs::remove_dir_all(&folder); // Of an earlier run.
    folder
}

/// Replays what was recorded; every node must do the same again.
fn replays(engine: &str, folder: &Path) {
    let mut files: Vec<String> = fs::read_dir(folder)
        .expect("it was recorded")
        .map(|entry| entry.expect("a file").path().display().to_string())
        .collect();
    files.sort();
    assert_eq!(files.len(), 5, "{engine}: one recording per node");
    let svg = folder.with_extension("svg").display().to_string();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let told = conclave(&[&["replay"], &files[..], &["--lang", "pt"]].concat()).stdout;
    for english in [" entries", " holds", " its clock", " violated", " shows"] {
        assert!(!told.contains(english), "{engine}: {told}");
    }
    let done = conclave(&[&["replay"], &files[..], &["--trace", &svg]].concat());
    assert_eq!(done.code, 0, "{engine}: {}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("all as recorded"), "{engine}: {}", done.stdout);
    let picture = fs::read_to_string(&svg).expect("drawn");
    assert!(picture.contains(">fence "), "{engine}: its entries are drawn");
}

fn one(engine: &str, clients: u32, entries: u32, replayed: bool) {
    let folder = folder(&format!("{engine}-{clients}"));
    let record = folder.display().to_string();
    let more = if replayed { vec!["--record", &record] } else { Vec::new() };
    let row = served(engine, clients, entries, &more);
    costs_as_the_catalogue_says(engine, &row);
    if replayed {
        replays(engine, &folder);
    }
}

/// All engines, two at a time: more would only wait for each other's disk.
fn all(clients: u32, entries: u32, replayed: &(dyn Fn(&str) -> bool + Sync)) {
    let left = Mutex::new(engines());
    assert_eq!(left.lock().expect("nobody failed").len(), 14);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("nobody holds it while working").pop();
                    let Some(engine) = next else { break };
                    one(&engine, clients, entries, replayed(&engine));
                }
            });
        }
    });
}

#[test]
fn every_engine_serves_all_its_clients_one_at_a_time() {
    all(CLIENTS, ENTRIES, &|engine| REPLAYED.contains(&engine));
}

/// A system under the workloads of a set time, as briefly as can be.
fn timed(system: &str, more: &[&str]) -> Value {
    let load = ["bench", "service", "--json", "--seconds", "1", "--runs", "1"];
    let done = conclave(&[&load[..], more].concat());
    assert_eq!(done.code, 0, "{system}: {}{}", done.stdout, done.stderr);
    let rows = done.json()["rows"].clone();
    let rows = rows.as_array().expect("rows").iter().filter(|row| row["system"] == system);
    let rows: Vec<Value> = rows.cloned().collect();
    for row in &rows {
        assert!(row["pairs_per_second"].as_f64().is_some_and(|pairs| pairs > 0.0), "{row:#}");
        assert_eq!(row["overlaps"], 0, "{row:#}");
        assert_eq!(row["falls"], 0, "{row:#}");
        assert_eq!(row["failures"], Value::Array(Vec::new()), "{row:#}");
        assert!(row["server_cpu_us_per_pair"].is_f64(), "{row:#}");
        assert!(row["memory_at_rest_mib"].as_f64().is_some_and(|memory| memory > 1.0), "{row:#}");
    }
    Value::Array(rows)
}

#[test]
fn clients_are_served_for_a_set_time() {
    let engine = "central-failover";
    let rows = timed(engine, &["--engine", engine, "--workload", "uncontended,wide,contended"]);
    let workloads = ["uncontended", "wide", "contended"];
    for (index, workload) in workloads.into_iter().enumerate() {
        assert_eq!(rows[index]["workload"], workload);
    }
    let handoffs = rows[2]["handoffs_per_second"].as_f64().expect("a number");
    assert!(handoffs > 0.0, "one lock is handed on: {rows:#}");
}

/// Whether a program is there. Without it, whoever wants it is told where it comes from.
fn is_there(program: &str, peer: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&paths).any(|folder| folder.join(program).is_file()) {
        return true;
    }
    let done = conclave(&["bench", "service", "--against", peer]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("scripts/peers"), "{}", done.stderr);
    eprintln!("skipped: {peer} is not installed");
    false
}

#[test]
fn peers_that_are_installed_are_served_in_the_same_run() {
    for (program, peer) in [("redis-server", "redis"), ("etcd", "etcd")] {
        if is_there(program, peer) {
            let ours = ["--engine", "central-failover"];
            let load = ["--against", peer, "--workload", "uncontended,contended"];
            let rows = timed(peer, &[&ours[..], &load[..]].concat());
            assert_eq!(rows[1]["workload"], "contended");
            assert!(rows[1]["first_over_this"].is_f64(), "beside ours: {rows:#}");
        }
    }
}

#[test]
#[ignore = "takes minutes: for scripts/soak"]
fn every_engine_bears_twenty_clients_and_its_recording_replays() {
    all(20, 50, &|_| true);
}

#[test]
fn what_cannot_be_put_under_load_is_refused_in_one_line() {
    let refused = |arguments: &[&str], says: &str| {
        let done = conclave(&[&["bench", "service"], arguments].concat());
        assert_eq!(done.code, 2, "{}", done.stdout);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
        assert!(done.stderr.contains(says), "{}", done.stderr);
    };
    refused(&["--against", "consul"], "--against consul: takes etcd, zookeeper, redis");
    let mixed = ["--workload", "counter,wide"];
    refused(&mixed, "--workload: 'counter' and 'empty' are run alone, and not on other systems");
    let elsewhere = ["--workload", "empty", "--against", "redis"];
    refused(&elsewhere, "--workload: 'counter' and 'empty' are run alone");
    let named = ["--workload", "wide", "--server", "http://127.0.0.1:1"];
    refused(&named, "--workload: one of a set time does not go with --server or --record");
    refused(&["--engine", "bully"], "--engine bully: takes 'all', replicated or ids of central, ");
    refused(&["--set", "lease=never"], "lease");
    refused(
        &["--server", "http://127.0.0.1:1", "--nodes", "3"],
        "--server: does not go with --nodes",
    );
    let silent = conclave(&["bench", "service", "--server", "http://127.0.0.1:1"]);
    assert_eq!(silent.code, 1, "{}", silent.stdout);
    assert!(silent.stderr.contains("no answer from http://127.0.0.1:1"), "{}", silent.stderr);
}
