//! Nodes that stand still for a while.

use super::http::{acquire, call, session, try_call};
use super::kit::{Cluster, until};
use rustix::process::Signal;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any session of these tests lives unheard.
const STANDSTILL: Duration = Duration::from_secs(5);

#[test]
fn a_node_that_stood_still_expires_nobody_who_kept_calling() {
    let cluster = Cluster::new(3, "central-failover").start();
    let second = &cluster.members[1];
    let sessions: Vec<String> = (0..20).map(|_| session(second.api, 2_000)).collect();
    session(second.api, 2_000); // Of whom nothing more is heard.
    second.signal(Signal::STOP);
    let stopped = Instant::now();
    let keepalive = |id: &String| {
        let line = format!("POST /v1/sessions/{id}/keepalive");
        // One that was just being read when the node stopped may be cut off: it is made again.
        let mut tries = (0..3).filter_map(|_| try_call(second.api, &line, &[], ""));
        tries.next().map(|answer| answer.status)
    };
    std::thread::scope(|scope| {
        let calling: Vec<_> =
            sessions.iter().map(|id| scope.spawn(move || keepalive(id))).collect();
        sleep(STANDSTILL.saturating_sub(stopped.elapsed())); // It stands still.
        second.signal(Signal::CONT);
        for call in calling {
            assert_eq!(call.join().unwrap(), Some(200), "a client that called was forgotten");
        }
    });
    until("who did not call is forgotten, and nobody else", || {
        let alive = sessions.iter().filter(|id| keepalive(id) == Some(200)).count();
        assert_eq!(alive, sessions.len(), "a client that calls was forgotten");
        let cluster = call(second.api, "GET /v1/cluster", &[], "").json();
        (cluster["sessions"] == sessions.len()).then_some(())
    });
}

#[test]
fn a_client_whose_node_stands_still_stops_in_time_and_the_lock_is_free_later() {
    let cluster = Cluster::new(3, "central-failover").start();
    let (second, third) = (&cluster.members[1], &cluster.members[2]);
    let server = format!("http://{}", second.api);
    let mark = cluster.place.path("mark");
    let mut command = Command::new(env!("CARGO_BIN_EXE_conclave"));
    command.args(["lock", "paused", "--ttl", "2s", "--server", &server, "--"]);
    command.args(["sh", "-c", "echo $CONCLAVE_FENCE > $0; exec sleep 1000", &mark]);
    command.stderr(Stdio::piped()).stdin(Stdio::null());
    let holder = command.spawn().unwrap();
    let fence = until("the lock is held", || {
        std::fs::read_to_string(&mark).ok()?.trim().parse::<u64>().ok()
    });
    second.signal(Signal::STOP);
    let output = holder.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(76), "{said}");
    second.signal(Signal::CONT);
    let next = session(third.api, 60_000);
    let granted = acquire(third.api, "paused", &next, 60_000);
    assert_eq!(granted.status, 200, "{granted:?}");
    assert!(granted.json()["fence"].as_u64().unwrap() > fence, "{granted:?}");
    assert_eq!(call(second.api, "GET /healthz", &[], "").status, 200);
}

/// The other one of the first two nodes at which somebody waits for this lock.
fn waits_at(cluster: &Cluster, name: &str, other_than: Option<usize>) -> usize {
    let line = format!("GET /v1/locks/{name}");
    until("somebody waits", || {
        (0..2).filter(|node| Some(*node) != other_than).find(|node| {
            let lock = call(cluster.members[*node].api, &line, &[], "").json();
            lock["waiters"].as_array().is_some_and(|waiters| !waiters.is_empty())
        })
    })
}

#[test]
fn a_waiter_whose_node_is_killed_waits_at_another_until_it_is_let_in() {
    let mut cluster = Cluster::new(3, "central-failover").start();
    let lock = |servers: &str, command: &str| {
        let mut lock = Command::new(env!("CARGO_BIN_EXE_conclave"));
        lock.args(["lock", "hot", "--wait", "90s", "--server", servers, "--", "sh", "-c", command]);
        lock.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        lock.spawn().unwrap()
    };
    let mark = cluster.place.path("mark");
    let third = cluster.members[2].api.to_string();
    let mut holder = lock(&third, &format!("echo in > {mark}; read line"));
    until("the lock is held", || std::fs::read_to_string(&mark).ok().filter(|it| !it.is_empty()));
    let both = format!("{},{}", cluster.members[0].api, cluster.members[1].api);
    let waiter = lock(&both, "echo $CONCLAVE_FENCE");
    let first = waits_at(&cluster, "hot", None);
    cluster.members[first].kill();
    waits_at(&cluster, "hot", Some(first));
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let output = waiter.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).trim().parse::<u64>().is_ok(), "{said}");
}

#[test]
fn a_leader_that_is_told_twice_to_stop_does_not_wait_for_another() {
    let mut cluster = Cluster::new(3, "central-failover").start();
    let api = cluster.members[0].api;
    let leader = until("a leader", || {
        call(api, "GET /v1/cluster", &[], "").json()["leader"].as_u64().map(|id| id as u32)
    });
    // Nobody can take over.
    let others = cluster.members.iter().filter(|member| member.id != leader);
    others.for_each(|member| member.signal(Signal::STOP));
    let leader = &mut cluster.members[leader as usize - 1];
    leader.signal(Signal::TERM);
    leader.line("stopping: terminated");
    leader.signal(Signal::INT);
    assert_eq!(leader.ended().code(), Some(0));
    leader.line("stopped at once: interrupted again");
    assert_eq!(leader.count("nobody took over in time"), 0, "{}", leader.log());
}
