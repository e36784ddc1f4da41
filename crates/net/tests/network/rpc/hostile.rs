//! Strangers at the port, and peers that have gone mad. Each gets a line in the log, and the other
//! connections take no notice.

use super::kit::{A, B, TestNode, limits, pair};
use super::raw::{C, Head, PREFACE, Raw, frame, hello};
use crate::links::kit::{Logs, soon};
use conclave_net::rpc::{Direction, Ending, Purpose, RpcLimits};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::Duration;
use tokio::net::TcpStream;

/// Two nodes at work, and whatever else happens.
struct Scene {
    logs: Logs,
    a: TestNode,
    b: TestNode,
    address: String,
}

impl Scene {
    async fn new(limits: RpcLimits) -> Self {
        let logs = Logs::read();
        let (a, b) = pair(limits).await;
        a.echo(&b.address(), Purpose::Raft).await;
        let address = b.address().address;
        Self { logs, a, b, address }
    }

    /// The nodes have worked all the while, on the same connection.
    async fn undisturbed(mut self) {
        self.a.echo(&self.b.address(), Purpose::Raft).await;
        self.a.assert_stands();
    }

    /// Says these bytes and waits for the line about them.
    async fn says(mut self, bytes: &[u8], words: &str) {
        let mut raw = Raw::connect(&self.address).await;
        let from = raw.0.local_addr().unwrap();
        raw.write(bytes).await;
        self.logs.line(&format!("connection from {from}: {words}")).await;
        raw.until_closed().await;
        self.undisturbed().await;
    }

    /// The same from a peer that has introduced itself.
    async fn peer_says(&mut self, bytes: &[u8], words: &str) {
        let (mut raw, answer) = Raw::greet(&self.address, hello(C, B)).await;
        assert!(matches!(answer, Head::Welcome { .. }), "{answer:?}");
        let from = raw.0.local_addr().unwrap();
        raw.write(bytes).await;
        let line = format!("raft connection of node 3 from {from} ended: {words}");
        self.logs.line(&line).await;
        raw.until_closed().await;
    }
}

fn impatient() -> RpcLimits {
    let short = Duration::from_millis(300);
    RpcLimits { handshake: short, frame: short, ..limits() }
}

#[tokio::test]
async fn garbage() {
    let words = "it speaks something else, not the protocol of a Conclave cluster";
    Scene::new(limits()).await.says(b"\x00\xffgarbage", words).await;
}

#[tokio::test]
async fn a_browser() {
    let request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let words = "it speaks HTTP, not the protocol of a Conclave cluster";
    Scene::new(limits()).await.says(request, words).await;
}

#[tokio::test]
async fn a_greeting_of_a_hundred_megabytes() {
    let bytes = [PREFACE.as_slice(), &100_000_000_u32.to_be_bytes()].concat();
    let words = "a frame is longer than the 4096 bytes allowed";
    Scene::new(limits()).await.says(&bytes, words).await;
}

#[tokio::test]
async fn a_request_before_any_greeting() {
    let request = frame(&Head::Request { number: 1, millis: 1000 }, b"echo");
    let bytes = [PREFACE.as_slice(), &request].concat();
    let words = "a frame makes no sense: Request has no place here";
    Scene::new(limits()).await.says(&bytes, words).await;
}

#[tokio::test]
async fn half_a_greeting_and_no_more() {
    let bytes = [PREFACE.as_slice(), &64_u32.to_be_bytes(), &[0]].concat();
    let words = "it began a frame and did not finish it within 300ms";
    let patient = RpcLimits { handshake: Duration::from_secs(20), ..impatient() };
    Scene::new(patient).await.says(&bytes, words).await;
}

#[tokio::test]
async fn somebody_who_says_nothing() {
    let words = "it took longer than 300ms to introduce itself";
    Scene::new(impatient()).await.says(b"", words).await;
}

#[tokio::test]
async fn a_peer_that_makes_no_sense() {
    let mut scene = Scene::new(limits()).await;
    let long = "a frame is longer than the 4194336 bytes allowed";
    scene.peer_says(&100_000_000_u32.to_be_bytes(), long).await;
    scene.peer_says(b"\x00\x00\x00\x02\xfe\xfe", "a frame makes no sense: ").await;
    let again = frame(&Head::Hello(hello(C, B)), &[]);
    scene.peer_says(&again, "a frame makes no sense: Hello has no place here").await;
    let answer = frame(&Head::Answer { number: 1 }, b"to what?");
    scene.peer_says(&answer, "a frame makes no sense: Answer has no place here").await;
    let request = frame(&Head::Request { number: 5, millis: 1000 }, b"echo");
    let words = "a frame makes no sense: request 5 comes after request 5";
    scene.peer_says(&[request.clone(), request].concat(), words).await;
    let spare = frame(&Head::Cancel { number: 5 }, b"x");
    scene.peer_says(&spare, "a frame makes no sense: 1 bytes too many").await;
    scene.undisturbed().await;
}

#[tokio::test]
async fn a_peer_that_never_finishes_its_frame() {
    let mut scene = Scene::new(impatient()).await;
    let request = frame(&Head::Request { number: 1, millis: 1000 }, &[7; 100]);
    let words = "it began a frame and did not finish it within 300ms";
    scene.peer_says(&request[..50], words).await;
    scene.undisturbed().await;
}

#[tokio::test]
async fn a_cancellation_of_what_was_never_asked_is_harmless() {
    let scene = Scene::new(limits()).await;
    let (mut raw, _) = Raw::greet(&scene.address, hello(C, B)).await;
    raw.write(&frame(&Head::Cancel { number: 77 }, &[])).await;
    raw.request(1, 60_000, b"echo").await;
    assert_eq!(raw.answer().await, (1, b"echo".to_vec()));
    raw.write(&frame(&Head::Cancel { number: 1 }, &[])).await;
    raw.request(2, 60_000, b"echo").await;
    assert_eq!(raw.answer().await, (2, b"echo".to_vec()));
    scene.undisturbed().await;
}

#[tokio::test]
async fn answers_that_nobody_asked_for_end_the_connection() {
    let mut a = TestNode::start(super::kit::config(A)).await;
    let peer = super::raw::RawListener::bind(B).await;
    let asked = a.ask(&peer.address(), Purpose::Raft, "one question");
    let (mut raw, _) = peer.welcome().await;
    raw.next().await.expect("the question");
    raw.write(&frame(&Head::Answer { number: 2 }, b"to another")).await;
    assert_eq!(a.until_down(Purpose::Raft, Direction::Outgoing).await, Ending::Error);
    assert!(asked.await.unwrap().is_err());
}

#[tokio::test]
async fn a_flood_of_connections() {
    let mut scene = Scene::new(RpcLimits { strangers: 8, ..limits() }).await;
    let mut flood = Vec::new();
    for _ in 0..200 {
        flood.push(TcpStream::connect(&scene.address).await.unwrap());
    }
    scene.logs.line("closed: 8 others have yet to introduce themselves").await;
    let lines = scene.logs.count("have yet to introduce themselves");
    assert!(lines <= 40, "a flood of {lines} lines");
    drop(flood);
    // And a connection for another purpose finds the door open.
    scene.a.echo(&scene.b.address(), Purpose::Bulk).await;
    scene.undisturbed().await;
}

/// Frames with some bits turned over, cut short or repeated: before and after the greeting.
#[tokio::test]
async fn frames_that_were_damaged() {
    let scene = Scene::new(limits()).await;
    for seed in 0..300 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |bound: usize| (random.next_u64() % bound as u64) as usize;
        let mut bytes = [PREFACE.as_slice(), &frame(&Head::Hello(hello(C, B)), &[])].concat();
        let greeted = if below(2) == 0 { 0 } else { bytes.len() };
        bytes.extend(frame(&Head::Request { number: 1, millis: 5 }, b"echo"));
        bytes.extend(frame(&Head::Request { number: 2, millis: 5 }, b"wait"));
        bytes.extend(frame(&Head::Cancel { number: 2 }, &[]));
        bytes.extend(frame(&Head::Ping, &[]));
        for _ in 0..=below(4) {
            let at = greeted + below(bytes.len() - greeted);
            match below(3) {
                0 => bytes[at] ^= 1 << below(8),
                1 => bytes[at] = below(256) as u8,
                _ => bytes.truncate(at.max(greeted + 1)),
            }
        }
        let mut raw = Raw::connect(&scene.address).await;
        raw.write(&bytes).await;
        tokio::io::AsyncWriteExt::shutdown(&mut raw.0).await.unwrap();
        let mut rest = Vec::new();
        let read = tokio::io::AsyncReadExt::read_to_end(&mut raw.0, &mut rest);
        let _ = soon(&format!("the end of what seed {seed} made"), read).await;
    }
    scene.undisturbed().await;
}
