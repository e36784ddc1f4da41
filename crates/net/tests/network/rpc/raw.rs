//! A peer written by hand: it speaks the protocol from its description, well or badly.

use super::kit::disk;
use crate::links::kit::{listener, soon};
use conclave_core::NodeId;
use conclave_net::rpc::{PeerAddress, Purpose};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const C: NodeId = NodeId(2);
pub const PREFACE: &[u8; 9] = b"CONCLAVE\x82";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Head {
    Hello(Hello),
    Welcome { cluster: String, by: NodeId, disk: u128, about: Vec<u8> },
    Refuse { by: NodeId, reason: Option<String> },
    Request { number: u64, millis: u32 },
    Answer { number: u64 },
    Fail { number: u64, failure: u8 },
    Cancel { number: u64 },
    Ping,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub cluster: String,
    pub from: NodeId,
    pub to: NodeId,
    pub to_disk: Option<u128>,
    pub disk: u128,
    pub purpose: Purpose,
    pub about: Vec<u8>,
}

/// What a good peer would say.
pub fn hello(from: NodeId, to: NodeId) -> Hello {
    let (cluster, to_disk) = ("demo".into(), Some(disk(to)));
    Hello {
        cluster,
        from,
        to,
        to_disk,
        disk: disk(from),
        purpose: Purpose::Raft,
        about: Vec::new(),
    }
}

/// The bytes of a frame.
pub fn frame(head: &Head, body: &[u8]) -> Vec<u8> {
    let head = postcard::to_allocvec(head).unwrap();
    let length = (head.len() + body.len()) as u32;
    [&length.to_be_bytes(), head.as_slice(), body].concat()
}

pub struct Raw(pub TcpStream);

impl Raw {
    pub async fn connect(address: &str) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// One that has introduced itself, and what it was answered.
    pub async fn greet(address: &str, hello: Hello) -> (Self, Head) {
        let mut raw = Self::connect(address).await;
        raw.write(PREFACE).await;
        raw.write(&frame(&Head::Hello(hello), &[])).await;
        raw.expect_preface().await;
        let (answer, _) = raw.next().await.expect("an answer");
        (raw, answer)
    }

    pub async fn expect_preface(&mut self) {
        let mut preface = [0; 9];
        soon("a preface", self.0.read_exact(&mut preface)).await.unwrap();
        assert_eq!(&preface, PREFACE);
    }

    /// Writes bytes; that the other side may have closed is its right.
    pub async fn write(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).await;
    }

    pub async fn request(&mut self, number: u64, millis: u32, body: &[u8]) {
        self.write(&frame(&Head::Request { number, millis }, body)).await;
    }

    /// The next frame but pings, unless the connection is closed.
    pub async fn next(&mut self) -> Option<(Head, Vec<u8>)> {
        loop {
            let frame = soon("a frame", async {
                let length = self.0.read_u32().await.ok()?;
                let mut frame = vec![0; length as usize];
                self.0.read_exact(&mut frame).await.ok()?;
                Some(frame)
            });
            let frame = frame.await?;
            let (head, body) = postcard::take_from_bytes(&frame).unwrap();
            if head != Head::Ping {
                return Some((head, body.to_vec()));
            }
        }
    }

    pub async fn answer(&mut self) -> (u64, Vec<u8>) {
        match self.next().await.expect("an answer") {
            (Head::Answer { number }, body) => (number, body),
            (other, _) => panic!("no answer: {other:?}"),
        }
    }

    /// Reads on until the other side closes.
    pub async fn until_closed(&mut self) {
        while self.next().await.is_some() {}
    }
}

/// A peer that is dialled.
pub struct RawListener {
    listener: TcpListener,
    address: PeerAddress,
}

impl RawListener {
    pub async fn bind(id: NodeId) -> Self {
        let (listener, address) = listener().await;
        Self { listener, address: PeerAddress { id, address, disk: None } }
    }

    pub fn address(&self) -> PeerAddress {
        self.address.clone()
    }

    /// The next connection, and its greeting.
    pub async fn accept(&self) -> (Raw, Hello) {
        let (stream, _) = soon("a connection", self.listener.accept()).await.unwrap();
        let mut raw = Raw(stream);
        raw.expect_preface().await;
        match raw.next().await {
            Some((Head::Hello(hello), _)) => (raw, hello),
            other => panic!("no greeting: {other:?}"),
        }
    }

    /// The next connection, welcomed.
    pub async fn welcome(&self) -> (Raw, Hello) {
        let (mut raw, hello) = self.accept().await;
        let by = self.address.id;
        let cluster = "demo".into();
        let welcome = Head::Welcome { cluster, by, disk: disk(by), about: Vec::new() };
        raw.write(PREFACE).await;
        raw.write(&frame(&welcome, &[])).await;
        (raw, hello)
    }
}
