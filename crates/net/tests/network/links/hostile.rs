//! Strangers at the cluster port. Each gets a line in the log, and the links take no notice.

use super::kit::{A, B, Host, Logs, exchange, limits, pair, soon};
use super::raw::{Frame, Raw, hello};
use conclave_net::Limits;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Two nodes at work, and whatever else happens.
struct Scene {
    logs: Logs,
    a: Host,
    b: Host,
    address: String,
}

impl Scene {
    async fn new(limits: Limits) -> Self {
        let logs = Logs::read();
        let (mut a, mut b) = pair(|config| config.limits = limits).await;
        exchange(&mut a, &mut b, 20).await;
        let address = b.links.as_ref().unwrap().local_addr().to_string();
        Self { logs, a, b, address }
    }

    async fn raw(&self) -> Raw {
        Raw::connect(&self.address).await
    }

    /// The links have worked all the while, without a single reconnection.
    async fn undisturbed(mut self) {
        exchange(&mut self.a, &mut self.b, 20).await;
        assert_eq!(self.logs.count("linked to node"), 2, "a link was made anew");
    }

    /// Says these bytes and waits for the line about them.
    async fn says(mut self, bytes: &[u8], words: &str) {
        let mut raw = self.raw().await;
        let from = raw.0.local_addr().unwrap();
        raw.write(bytes).await;
        self.logs.line(&format!("connection from {from}: {words}")).await;
        raw.until_closed().await;
        self.undisturbed().await;
    }
}

fn impatient() -> Limits {
    let short = Duration::from_millis(300);
    Limits { handshake: short, frame: short, ..limits() }
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
async fn tls_where_none_is_spoken() {
    let words = "it speaks TLS, not the protocol of a Conclave cluster";
    Scene::new(limits()).await.says(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc], words).await;
}

#[tokio::test]
async fn a_frame_of_a_hundred_megabytes() {
    let bytes = [b"CONCLAVE\x03".as_slice(), &100_000_000_u32.to_be_bytes()].concat();
    let words = "a frame is longer than the 4096 bytes allowed";
    Scene::new(limits()).await.says(&bytes, words).await;
}

#[tokio::test]
async fn a_frame_that_is_no_greeting() {
    let bytes = b"CONCLAVE\x03\x00\x00\x00\x02\x04\x07";
    let words = "a frame makes no sense: Ack has no place here";
    Scene::new(limits()).await.says(bytes, words).await;
}

#[tokio::test]
async fn a_frame_without_meaning() {
    let words = "a frame makes no sense: ";
    Scene::new(limits()).await.says(b"CONCLAVE\x03\x00\x00\x00\x02\xfe\xfe", words).await;
}

#[tokio::test]
async fn half_a_greeting_and_no_more() {
    let words = "it began a frame and did not finish it within 300ms";
    let patient = Limits { handshake: Duration::from_secs(20), ..impatient() };
    Scene::new(patient).await.says(b"CONCLAVE\x03\x00\x00\x00\x40\x00", words).await;
}

#[tokio::test]
async fn half_a_greeting_and_a_closed_connection() {
    let mut scene = Scene::new(limits()).await;
    let mut raw = scene.raw().await;
    raw.write(b"CONCLAVE\x03\x00\x00\x00\x40\x00").await;
    raw.0.shutdown().await.unwrap();
    scene.logs.line("it closed the connection").await;
    scene.undisturbed().await;
}

#[tokio::test]
async fn somebody_who_says_nothing() {
    let words = "it took longer than 300ms to introduce itself";
    Scene::new(impatient()).await.says(b"", words).await;
}

#[tokio::test]
async fn a_greeting_one_byte_at_a_time() {
    let mut scene = Scene::new(impatient()).await;
    let mut raw = scene.raw().await;
    let drip = async {
        let mut beat = tokio::time::interval(Duration::from_millis(40));
        for byte in b"CONCLAVE\x03\x00\x00\x00\x40".iter().chain([0; 64].iter()) {
            beat.tick().await;
            raw.write(&[*byte]).await;
        }
    };
    tokio::select! {
        () = scene.logs.line("it took longer than 300ms to introduce itself") => {}
        () = drip => panic!("it was listened to until the end"),
    }
    scene.undisturbed().await;
}

#[tokio::test]
async fn a_known_peer_that_sends_a_long_frame_or_nonsense() {
    let three = [super::kit::listener().await, super::kit::listener().await];
    let peers = [three[0].1.clone(), three[1].1.clone(), "127.0.0.1:9".into()];
    let [(first, _), (second, address)] = three;
    let mut logs = Logs::read();
    let mut a = Host::start(first, super::kit::config(A, &peers));
    let mut b = Host::start(second, super::kit::config(B, &peers));
    exchange(&mut a, &mut b, 20).await;
    let third = hello(super::kit::C, B, 3);
    let (mut raw, _) = Raw::greet(&address, third.clone()).await;
    raw.write(&100_000_000_u32.to_be_bytes()).await;
    logs.line("ended: a frame is longer than the 65536 bytes allowed").await;
    let (mut raw, _) = Raw::greet(&address, third.clone()).await;
    raw.send(&Frame::Hello(third.clone())).await;
    logs.line("ended: a frame makes no sense: Hello has no place here").await;
    let (mut raw, _) = Raw::greet(&address, third).await;
    raw.write(b"\x00\x00\x00\x03\x03\x09\x09").await;
    logs.lines("ended: a frame makes no sense: ", 2).await;
    exchange(&mut a, &mut b, 20).await;
    assert_eq!(logs.count("linked to node"), 2, "a link was made anew");
}

#[tokio::test]
async fn a_flood_of_connections() {
    let mut scene = Scene::new(Limits { strangers: 8, ..limits() }).await;
    let mut flood = Vec::new();
    for _ in 0..200 {
        flood.push(TcpStream::connect(&scene.address).await.unwrap());
    }
    scene.logs.line("closed: 8 others have yet to introduce themselves").await;
    exchange(&mut scene.a, &mut scene.b, 50).await;
    let lines = scene.logs.count("have yet to introduce themselves");
    assert!(lines <= 40, "a flood of {lines} lines");
    drop(flood);
    // And a peer that was away finds the door open again.
    scene.a.restart().await;
    soon("a link after the flood", scene.a.until_connected(B)).await;
    exchange(&mut scene.a, &mut scene.b, 20).await;
}
