//! Accepting connections: the handshake. Whoever connects has to say who it is, soon and briefly.

use super::config::TEXT_MAX;
use super::error::{ConnectionError, printable};
use super::frame::{Code, Frame, Hello, MAGIC, Refusal, VERSION, language};
use super::serve::Guest;
use super::state::LinkState;
use super::strangers::greet_strangers;
use super::wire::Wire;
use crate::RateLimitedLog;
use crate::tls::{Certificate, Tls, is_of_a_node, valid_for};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The door, and the rooms behind it: one per node, where its connection is served.
pub(super) struct Door {
    pub node: Arc<LinkState>,
    pub rooms: Vec<mpsc::Sender<Guest>>,
    pub warnings: RateLimitedLog,
}

/// Lets connections in, for ever.
pub(super) async fn keep_accepting(listener: TcpListener, door: Door) {
    let door = Arc::new(door);
    let greet = |stream, address| {
        let door = Arc::clone(&door);
        async move { door.greet(stream, address).await }
    };
    greet_strangers(|| listener.accept(), door.node.config.limits.strangers, &door.warnings, greet)
        .await;
}

/// Somebody who is not let in, and the connection to say so, if it gets that far.
struct Turned {
    fault: ConnectionError,
    wire: Option<Wire>,
    /// Whether TLS has proved that it is one of the nodes: it may know why.
    proved: bool,
}

impl From<ConnectionError> for Turned {
    fn from(fault: ConnectionError) -> Self {
        Self { fault, wire: None, proved: false }
    }
}

impl Door {
    async fn greet(&self, stream: TcpStream, address: SocketAddr) {
        let limit = self.node.config.limits.handshake;
        match timeout(limit, self.introduce(stream, address)).await {
            Ok(Ok(guest)) => {
                // A closed room means that this node stops.
                let _ = self.rooms[guest.from.index()].send(guest).await;
            }
            Ok(Err(Turned { fault, wire, proved })) => {
                self.warnings.about(address, &fault);
                if let (Some(wire), ConnectionError::Refusing(refusal)) = (wire, fault) {
                    let untold = Refusal::untold(self.node.config.me);
                    let answer = if proved { refusal } else { untold };
                    // Whether it hears that is its own affair.
                    let _ = timeout(limit, refuse(wire, answer)).await;
                }
            }
            Err(_) => {
                self.warnings.about(address, ConnectionError::SlowGreeting(limit));
            }
        }
    }

    async fn introduce(&self, stream: TcpStream, address: SocketAddr) -> Result<Guest, Turned> {
        let limits = &self.node.config.limits;
        stream.set_nodelay(true).map_err(ConnectionError::Io)?;
        let (mut wire, certificate) = match &self.node.config.tls {
            None => (Wire::new(Box::new(stream), limits), None),
            Some(tls) => self.secure(tls, stream).await?,
        };
        let proved = certificate.as_ref().is_some_and(is_of_a_node);
        match self.hear(&mut wire, certificate).await {
            Ok(Hello { from, .. }) => {
                wire.trust(limits.frame_max);
                Ok(Guest { from, address, wire })
            }
            Err(fault) => Err(Turned { fault, wire: Some(wire), proved }),
        }
    }

    /// Puts TLS around a connection, unless its first bytes show that this is pointless.
    async fn secure(
        &self,
        tls: &Tls,
        stream: TcpStream,
    ) -> Result<(Wire, Option<Certificate>), Turned> {
        let limits = &self.node.config.limits;
        let mut first = [0; MAGIC.len()];
        let length = stream.peek(&mut first).await.map_err(ConnectionError::Io)?;
        let first = &first[..length];
        if first.is_empty() {
            return Err(ConnectionError::Closed.into());
        }
        if MAGIC.starts_with(first) {
            let reason = "it speaks without TLS, this node only with it".to_string();
            let wire = Some(Wire::new(Box::new(stream), limits));
            return Err(Turned { fault: self.refusing(Code::Tls, reason), wire, proved: false });
        }
        if first[0] != 0x16 {
            return Err(ConnectionError::Foreign(language(first)).into());
        }
        let (stream, proof) = tls.accept(stream).await.map_err(ConnectionError::Tls)?;
        let mut wire = Wire::new(Box::new(stream), limits);
        if let Some(denied) = proof.denied {
            let reason = ConnectionError::Denied(denied).to_string();
            let fault = self.refusing(Code::Certificate, reason);
            return Err(Turned { fault, wire: Some(wire), proved: false });
        }
        wire.end = Some(proof.end);
        Ok((wire, Some(proof.certificate)))
    }

    async fn hear(
        &self,
        wire: &mut Wire,
        proof: Option<Certificate>,
    ) -> Result<Hello, ConnectionError> {
        let version = wire.reader.preface().await?;
        if version != VERSION {
            return Err(self.refusing(Code::Version, ConnectionError::Version(version).to_string()));
        }
        let bytes = wire.reader.next().await?;
        let hello = match Frame::decode(&bytes)? {
            Frame::Hello(hello) => hello,
            other @ (Frame::Welcome(_)
            | Frame::Refuse(_)
            | Frame::Data(_)
            | Frame::Ack(_)
            | Frame::Ping) => return Err(other.out_of_place()),
        };
        if let Some((code, reason)) = self.objection(&hello, proof) {
            return Err(self.refusing(code, reason));
        }
        match self.node.meet(hello.from, hello.identity, hello.start).await {
            Err(ConnectionError::Stranger(reason)) => {
                return Err(self.refusing(Code::Disowned, reason));
            }
            Err(ConnectionError::OldPeer(reason)) => {
                return Err(self.refusing(Code::OldCopy, reason));
            }
            Err(ConnectionError::Jump(reason)) => {
                return Err(self.refusing(Code::Doubted, reason));
            }
            outcome => outcome?,
        }
        if let Err(fault) = self.node.look_back(&hello) {
            self.node.accused(hello.from, &fault).await?;
            return Err(self.refusing(Code::Doubted, format!("by its word {fault}")));
        }
        Ok(hello)
    }

    fn refusing(&self, code: Code, reason: String) -> ConnectionError {
        let by = self.node.config.me;
        let identity = self.node.config.identity;
        ConnectionError::Refusing(Refusal { by, identity, code, reason })
    }

    /// What speaks against this node, if anything does.
    fn objection(&self, hello: &Hello, proof: Option<Certificate>) -> Option<(Code, String)> {
        let config = &self.node.config;
        let Hello { n, from, to, .. } = *hello;
        let me = config.me;
        if hello.cluster != config.cluster {
            let theirs = printable(&hello.cluster, TEXT_MAX);
            let reason = format!("it is of cluster '{theirs}', this is '{}'", config.cluster);
            return Some((Code::Cluster, reason));
        }
        if n != config.n {
            let reason = format!("its cluster has {n} nodes, this one has {}", config.n);
            return Some((Code::Size, reason));
        }
        if to != me {
            return Some((Code::Receiver, format!("it looks for node {to}, this is node {me}")));
        }
        if from.0 >= n || from == me {
            let reason = format!("it calls itself node {from}, at node {me} of {n}");
            return Some((Code::Sender, reason));
        }
        if config.tls.is_some() && !proof.is_some_and(|proof| valid_for(&proof, from)) {
            let reason = format!("its certificate is not one of node {from}");
            return Some((Code::Certificate, reason));
        }
        self.other_algorithm(hello)
    }

    fn other_algorithm(&self, hello: &Hello) -> Option<(Code, String)> {
        let ours = &self.node.config.algorithm;
        let from = hello.from;
        let me = self.node.config.me;
        (hello.algorithm != *ours).then(|| {
            let theirs = printable(&hello.algorithm, TEXT_MAX);
            (Code::Algorithm, format!("node {from} runs '{theirs}', node {me} runs '{ours}'"))
        })
    }
}

/// Says why. The rest of what the other side says is still taken.
async fn refuse(mut wire: Wire, refusal: Refusal) -> Result<(), ConnectionError> {
    wire.writer.preface(VERSION);
    wire.writer.push(&Frame::Refuse(refusal))?;
    wire.writer.flush().await?;
    wire.writer.close().await?;
    wire.reader.drain().await;
    Ok(())
}
