//! Keepalives over connections that are kept for later use, and may be dead by then.

use crate::support::{Answer, DEADLINE, Request, read, usual};
use conclave_client::Client;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const KEEPALIVE: &str = "POST /v1/sessions/5e55/keepalive";

/// A server whose connections stay, until those that were made so far are dead.
#[derive(Clone)]
struct Node {
    made: Arc<AtomicUsize>,
    /// The connections before this one are dead: nothing is said there any more.
    living: Arc<AtomicUsize>,
    /// Two who look whether it is ready are answered at the same time.
    both: Arc<Barrier>,
    heard: Sender<String>,
}

impl Node {
    fn run(&self, listener: &TcpListener) {
        for stream in listener.incoming().flatten() {
            let number = self.made.fetch_add(1, Ordering::SeqCst);
            let node = self.clone();
            thread::spawn(move || node.serve(&stream, number));
        }
    }

    fn serve(&self, mut stream: &TcpStream, number: usize) {
        while let Some(request) = read(stream) {
            if number < self.living.load(Ordering::SeqCst) {
                return drop(stream.read(&mut [0; 1])); // Until the other hangs up.
            }
            let _ = self.heard.send(request.line.clone()); // The test may be over.
            let body = self.answer(&request);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = write!(stream, "{head}{body}");
        }
    }

    fn answer(&self, request: &Request) -> String {
        match request.line.as_str() {
            "GET /readyz" => {
                self.both.wait();
                "{}".to_string()
            }
            _ => match usual(request) {
                Answer::Says(_, body) => body.to_string(),
                Answer::Silent | Answer::HangsUp | Answer::Streams(_) => String::new(),
            },
        }
    }
}

#[test]
fn a_session_lives_though_all_connections_kept_for_it_are_dead() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Client::new([listener.local_addr().unwrap().to_string()]).unwrap();
    let (heard, lines) = mpsc::channel();
    let both = Arc::new(Barrier::new(2));
    let node = Node { made: Arc::default(), living: Arc::default(), both, heard };
    let running = node.clone();
    thread::spawn(move || running.run(&listener));

    let other = client.clone();
    let looks = thread::spawn(move || other.is_ready_within(DEADLINE));
    assert!(client.is_ready_within(DEADLINE) && looks.join().unwrap());
    assert_eq!(node.made.load(Ordering::SeqCst), 2, "two connections are kept");
    let lease = client.open(Duration::from_secs(4), None).unwrap();
    assert_eq!(node.made.load(Ordering::SeqCst), 2, "one of them was used");
    node.living.store(2, Ordering::SeqCst);

    let next = || lines.recv_timeout(DEADLINE).expect("the session is kept alive");
    while next() != KEEPALIVE {}
    assert_eq!(lease.watch().lost(), None);
}
