//! Strangers at the port where nodes meet.

use super::http::connect;
use super::kit::{Cluster, DEADLINE, Member, until};
use super::steady::Steady;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Says these bytes, waits for the line about them and for the end of the connection.
fn says(to: &Member, bytes: &[u8], words: &str) {
    let mut stream = connect(to.peer);
    let from = stream.local_addr().unwrap();
    let _ = stream.write_all(bytes);
    to.line(&format!("connection from {from}: {words}"));
    drain(&mut stream);
    let lines = to.count(&format!("connection from {from}: "));
    assert_eq!(lines, 1, "one line for one stranger");
}

fn drain(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
}

#[test]
fn strangers_are_sent_away_with_one_line_each() {
    let cluster = Cluster::new(3, "central-failover").start();
    let steady = Steady::start(&cluster.apis());
    let second = &cluster.members[1];
    let protocol = "not the protocol of a Conclave cluster";
    says(second, &[0xA5; 1_000], &format!("it speaks something else, {protocol}"));
    let request = b"GET /v1/cluster HTTP/1.1\r\nhost: localhost\r\n\r\n";
    says(second, request, &format!("it speaks HTTP, {protocol}"));
    says(second, &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc], &format!("it speaks TLS, {protocol}"));
    let long = [b"CONCLAVE\x03".as_slice(), &100_000_000_u32.to_be_bytes()].concat();
    says(second, &long, "a frame is longer than the 4096 bytes allowed");
    says(second, b"CONCLAVE\x00\0\0\0\x05hello", "it was refused: it speaks version 0");
    let nonsense = [b"CONCLAVE\x03".as_slice(), &[0, 0, 0, 9], &[0xFF; 9]].concat();
    says(second, &nonsense, "a frame makes no sense");
    let half = [b"CONCLAVE\x03".as_slice(), &[0, 0, 0, 100], &[0; 10]].concat();
    says(second, &half, "nothing was heard for 3s");
    steady.goes_on();
    slow(&cluster.members[2]);
    undisturbed(cluster, steady);
}

/// Says a byte now and then, until it is cut off.
fn slow(to: &Member) {
    let mut stream = connect(to.peer);
    let from = stream.local_addr().unwrap();
    let words = format!("connection from {from}: it took longer than 5s to introduce itself");
    let end = Instant::now() + DEADLINE;
    for byte in b"CONCLAVE\x03\0\0\x0F\0".iter().chain(&[0; 10_000]) {
        assert!(Instant::now() < end, "it is never cut off");
        if to.count(&words) > 0 || stream.write_all(&[*byte]).is_err() {
            break;
        }
        sleep(Duration::from_millis(100)); // This is the attack.
    }
    to.line(&words);
}

/// No link was made anew, nobody fell over, and clients saw no error.
fn undisturbed(mut cluster: Cluster, steady: Steady) {
    steady.finish();
    for member in &mut cluster.members {
        assert!(member.runs(), "node {} has ended:\n{}", member.id, member.log());
        let linked = member.count("linked to node");
        assert_eq!(linked, 2, "node {} made a link anew:\n{}", member.id, member.log());
    }
}

#[test]
fn hundreds_that_say_nothing_do_not_drown_the_log_or_the_others() {
    let mut cluster = Cluster::new(3, "central-failover").start();
    let steady = Steady::start(&[cluster.members[0].api, cluster.members[1].api]);
    let mut idle: Vec<TcpStream> = (0..400).map(|_| connect(cluster.members[1].peer)).collect();
    cluster.members[1].line("closed: 128 others have yet to introduce themselves");
    // A node that comes back in the midst of it is let in.
    cluster.members[2].kill();
    idle.extend((0..128).map(|_| connect(cluster.members[1].peer)));
    cluster.members[2].start();
    until("a link in spite of the crowd", || {
        (cluster.members[2].count("linked to node 2") == 2).then_some(())
    });
    cluster.members[1].line("nothing was heard for 3s");
    drop(idle);
    let lines = cluster.members[1].count("connection from");
    assert!(lines <= 5, "{lines} lines about 528 strangers");
    steady.finish();
}

#[test]
fn nodes_that_do_not_belong_here_are_told_where_to_read_why() {
    let cluster = Cluster::new(3, "central-failover").start();
    let steady = Steady::start(&cluster.apis());
    let third = &cluster.members[2];
    let mut other = third.twin(&cluster.place, "other-cluster");
    other.set("--cluster", "elsewhere");
    let mut leased = third.twin(&cluster.place, "other-lease");
    leased.set("--set", "lease=9s");
    let mut engine = third.twin(&cluster.place, "other-engine");
    engine.set("--engine", "maekawa");
    let table = [
        (&mut other, "it is of cluster 'elsewhere', this is 'conclave'"),
        (&mut leased, "node 3 runs '"),
        (&mut engine, "node 3 runs '3 nodes; engine maekawa"),
    ];
    for (stranger, reason) in table {
        stranger.start();
        stranger.line("node 1 refused this node; see the log of node 1");
        cluster.members[0].line(&format!("it was refused: {reason}"));
        assert!(stranger.runs(), "it may be the others that are wrong");
    }
    steady.goes_on();
    // They go on trying, and are told of once.
    other.line("trying again");
    let told = cluster.members[0].count("it is of cluster 'elsewhere'");
    assert_eq!(told, 1, "{}", cluster.members[0].log());
    undisturbed(cluster, steady);
}

#[test]
fn a_second_node_of_the_same_number_stops() {
    let cluster = Cluster::new(3, "central-failover").certified().start();
    let steady = Steady::start(&cluster.apis());
    let mut twin = cluster.members[2].twin(&cluster.place, "twin");
    twin.start();
    let ended = twin.ended();
    assert_eq!(ended.code(), Some(1), "{}", twin.log());
    twin.line("refuses this node: another node 3 was met before: this one has lost its disk");
    cluster.members[0].line("it was refused: another node 3 was met before");
    undisturbed(cluster, steady);
}
