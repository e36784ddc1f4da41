//! Clusters on hosts of their own: real processes, real addresses, cables that can be cut.

mod broken_disks;
mod cluster;
mod counts;
mod disk;
mod elections;
mod failover;
mod lan;
mod leader_kills;
mod locks;
mod mixed;
mod one_way;
mod replicated;
mod resource;
mod single_link;
mod stalls;
mod storm;
#[path = "../support/mod.rs"]
mod support;
mod textbook;

use lan::Lan;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::sync::{Condvar, Mutex, PoisonError};

/// So many tests may have a cluster at the same time: more only get into each other's way.
const CLUSTERS_MAX: usize = 2;

/// Runs a test on the host in the middle of a network of its own, when it is its turn.
fn on_hosts(n: u32, test: impl FnOnce(&Lan) + Send) {
    static RUNNING: Mutex<usize> = Mutex::new(0);
    static OVER: Condvar = Condvar::new();
    struct Turn;
    impl Drop for Turn {
        fn drop(&mut self) {
            *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            OVER.notify_one();
        }
    }
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let running = OVER.wait_while(running, |running| *running >= CLUSTERS_MAX);
    *running.unwrap_or_else(PoisonError::into_inner) += 1;
    let _turn = Turn;
    let Some(lan) = Lan::new(n) else { return };
    lan.inside(|| test(&lan));
}

#[test]
fn a_cut_cable_carries_nothing_until_it_is_healed() {
    let Some(lan) = Lan::new(2) else { return };
    let mut listener = lan.command(1, "python3");
    listener.args(["-c", ECHO]).stdout(Stdio::piped());
    let mut listener = listener.spawn().expect("python3 runs");
    let mut ready = [0; 6];
    listener.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("it listens");
    let address = SocketAddr::new(lan.address(1), 4000);
    let answers = |from_hub: &TcpStream| {
        let mut stream = from_hub;
        stream.write_all(b"x").is_ok() && stream.read(&mut [0]).is_ok_and(|read| read == 1)
    };
    lan.inside(|| {
        let stream = TcpStream::connect(address).expect("the hub reaches all hosts");
        assert!(answers(&stream));
    });
    let connects = |lan: &Lan| {
        let reach = "import socket; socket.create_connection(('10.77.0.1', 4000), 1)";
        lan.command(2, "python3").args(["-c", reach]).output().expect("runs").status.success()
    };
    assert!(connects(&lan));
    lan.cut(1, 2);
    assert!(!connects(&lan));
    lan.heal(1, 2);
    assert!(connects(&lan));
    listener.kill().and_then(|()| listener.wait()).expect("it ends");
}

/// Answers everybody with what they say.
const ECHO: &str = "
import socket, sys, threading
server = socket.create_server(('0.0.0.0', 4000))
print('ready', flush=True)
def serve(stream):
    while data := stream.recv(100):
        stream.sendall(data)
while True:
    stream, _ = server.accept()
    threading.Thread(target=serve, args=(stream,), daemon=True).start()
";
