//! A peer written by hand: it speaks the protocol from its description, well or badly.

use super::kit::soon;
use conclave_core::NodeId;
use conclave_net::Packet;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    Hello(Hello),
    Welcome { identity: u128, start: Start, received: u64 },
    Refuse { by: NodeId, identity: u128, code: u8, reason: String },
    Data(Packet),
    Ack(u64),
    Ping,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub cluster: String,
    pub n: u32,
    pub from: NodeId,
    pub to: NodeId,
    pub identity: u128,
    pub start: Start,
    pub met: Option<Start>,
    pub acknowledged: u64,
    pub algorithm: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    pub incarnation: u32,
    pub nonce: u64,
}

/// What a good peer would say.
pub fn hello(from: NodeId, to: NodeId, n: u32) -> Hello {
    Hello {
        cluster: "demo".into(),
        n,
        from,
        to,
        identity: 100 + u128::from(from.0),
        start: Start { incarnation: 1, nonce: 1 },
        met: None,
        acknowledged: 0,
        algorithm: "engine=ricart-agrawala".into(),
    }
}

pub struct Raw(pub TcpStream);

impl Raw {
    pub async fn connect(address: &str) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// One that has introduced itself, and what it was answered.
    pub async fn greet(address: &str, hello: Hello) -> (Self, Frame) {
        let mut raw = Self::connect(address).await;
        raw.write(b"CONCLAVE\x03").await;
        raw.send(&Frame::Hello(hello)).await;
        raw.expect_preface().await;
        let answer = raw.next().await.expect("an answer");
        (raw, answer)
    }

    pub async fn expect_preface(&mut self) {
        let mut preface = [0; 9];
        soon("a preface", self.0.read_exact(&mut preface)).await.unwrap();
        assert_eq!(&preface, b"CONCLAVE\x03");
    }

    /// Writes bytes; that the other side may have closed is its right.
    pub async fn write(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).await;
    }

    pub async fn send(&mut self, frame: &Frame) {
        let body = postcard::to_allocvec(frame).unwrap();
        let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
        bytes.extend(body);
        self.write(&bytes).await;
    }

    /// The next frame, unless the connection is closed.
    pub async fn next(&mut self) -> Option<Frame> {
        soon("a frame", async {
            let length = self.0.read_u32().await.ok()?;
            let mut body = vec![0; length as usize];
            self.0.read_exact(&mut body).await.ok()?;
            Some(postcard::from_bytes(&body).unwrap())
        })
        .await
    }

    /// The next frame but pings.
    pub async fn next_word(&mut self) -> Option<Frame> {
        loop {
            match self.next().await {
                Some(Frame::Ping) => {}
                other => return other,
            }
        }
    }

    /// Reads on until the other side closes.
    pub async fn until_closed(&mut self) {
        while self.next().await.is_some() {}
    }
}
