//! As many names as a node takes, and one more.

use super::http::{acquire, call, release, session};
use super::kit::Cluster;
use super::steady::Steady;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const NAMES: u32 = 10_000;
const CLIENTS: u32 = 16;

/// How long an entry takes now: the median of some.
fn entry(api: SocketAddr, session: &str) -> Duration {
    let mut all: Vec<Duration> = (0..51)
        .map(|_| {
            let start = Instant::now();
            let granted = acquire(api, "t%2F0", session, 60_000);
            let fence = granted.json()["fence"].as_u64().expect("a fence");
            assert_eq!(release(api, "t%2F0", session, fence).status, 200);
            start.elapsed()
        })
        .collect();
    all.sort();
    all[all.len() / 2]
}

/// Takes and gives back every name of its share. Its session lives for seconds, and is renewed.
fn share(api: SocketAddr, client: u32) {
    let session = session(api, 3_600_000);
    let keepalive = format!("POST /v1/sessions/{session}/keepalive");
    for number in (0..NAMES - 1).filter(|number| number % CLIENTS == client) {
        assert_eq!(call(api, &keepalive, &[], "").status, 200);
        let name = format!("t%2F{number}");
        let granted = acquire(api, &name, &session, 60_000);
        assert_eq!(granted.status, 200, "{granted:?}");
        let fence = granted.json()["fence"].as_u64().expect("a fence");
        assert_eq!(release(api, &name, &session, fence).status, 200);
    }
}

#[test]
#[ignore = "takes minutes and measures: run by hand"]
fn ten_thousand_names_and_one_more() {
    let cluster = Cluster::new(3, "central-failover").start();
    let steady = Steady::start(&cluster.apis()); // One of the ten thousand.
    let api = cluster.members[1].api;
    let start = Instant::now();
    std::thread::scope(|scope| {
        (0..CLIENTS).for_each(|client| drop(scope.spawn(move || share(api, client))));
    });
    println!("{NAMES} names: {:?}", start.elapsed());
    let mine = session(api, 3_600_000);
    let refused = acquire(api, "one-more", &mine, 1_000);
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_many"), "{refused:?}");
    println!("an entry now takes {:?}", entry(api, &mine));
    for line in ["GET /v1/locks", "GET /metrics", "GET /v1/cluster"] {
        let start = Instant::now();
        let answer = call(api, line, &[], "");
        println!("{line}: {} bytes in {:?}", answer.body.len(), start.elapsed());
    }
    steady.finish();
}
