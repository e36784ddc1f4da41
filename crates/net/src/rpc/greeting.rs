//! The handshake: both sides make sure that they mean the same cluster, nodes and disks.

use super::error::Fault;
use super::frame::{Head, Hello, Refuse, VERSION, Welcome};
use super::state::RpcState;
use super::{ABOUT_MAX, Connection, Introduction, PeerAddress, Purpose, RpcLimits};
use crate::link::error::{ConnectionError, printable};
use crate::link::frame::MAGIC;
use crate::link::wire::{Reader, Wire, WireLimits};
use crate::tls::{Certificate, is_of_a_node, valid_for};
use crate::{TEXT_MAX, Tls};
use conclave_core::NodeId;
use tokio::net::TcpStream;

impl From<&RpcLimits> for WireLimits {
    fn from(limits: &RpcLimits) -> Self {
        let RpcLimits { greeting_max, frame, silence, .. } = *limits;
        Self { greeting_max, frame, silence }
    }
}

/// Dials a peer and introduces this node. Says which disk the peer has.
pub(super) async fn connect(
    node: &RpcState,
    to: &PeerAddress,
    purpose: Purpose,
) -> Result<(Wire, u128), Fault> {
    let config = &node.config;
    let about = about(node)?;
    let connection = node.network.connect(&to.address).await?;
    let mut wire = match (connection, &config.tls) {
        (Connection::Simulated(stream), _) => Wire::new(stream, &config.limits),
        (Connection::Tcp(stream), None) => Wire::new(Box::new(stream), &config.limits),
        (Connection::Tcp(stream), Some(tls)) => {
            secure_dialled(tls, to.id, stream, &config.limits).await?
        }
    };
    let hello = Hello {
        cluster: config.cluster.clone(),
        from: config.me,
        to: to.id,
        to_disk: to.disk,
        disk: config.disk,
        purpose,
        about,
    };
    wire.writer.preface(VERSION);
    wire.writer.push(&Head::Hello(hello))?;
    wire.writer.flush().await?;
    let welcome = match answer(&mut wire.reader).await? {
        Ok(welcome) => welcome,
        Err(Refuse { by, reason }) => return Err(refused(by, reason, config.tls.is_some())),
    };
    check(&welcome, &config.cluster, to)?;
    node.heard(to.id, welcome.about);
    wire.trust(config.limits.frame_max(purpose));
    Ok((wire, welcome.disk))
}

/// Without TLS anybody may have said it, and no reason is believed.
fn refused(by: NodeId, reason: Option<String>, proved: bool) -> Fault {
    match reason {
        Some(reason) if proved => Fault::Refused(printable(&reason, usize::MAX)),
        Some(_) | None => Fault::RefusedUntold(by),
    }
}

async fn secure_dialled(
    tls: &Tls,
    to: NodeId,
    stream: TcpStream,
    limits: &RpcLimits,
) -> Result<Wire, Fault> {
    let (stream, proof) = tls.connect(to, stream).await.map_err(ConnectionError::Tls)?;
    if let Some(denied) = proof.denied {
        return Err(ConnectionError::Denied(denied).into());
    }
    Ok(Wire { end: Some(proof.end), ..Wire::new(Box::new(stream), limits) })
}

/// How the peer answers, if it does.
async fn answer(reader: &mut Reader) -> Result<Result<Welcome, Refuse>, Fault> {
    let version = reader.preface().await?;
    if version != VERSION {
        return Err(Fault::Stranger(another_version(version)));
    }
    let frame = reader.next().await?;
    match Head::decode(&frame)?.0 {
        Head::Welcome(welcome) => Ok(Ok(welcome)),
        Head::Refuse(refuse) => Ok(Err(refuse)),
        other @ (Head::Hello(_)
        | Head::Request { .. }
        | Head::Answer { .. }
        | Head::Fail { .. }
        | Head::Cancel { .. }
        | Head::Ping) => Err(other.out_of_place().into()),
    }
}

/// Whether this is the peer that was looked for.
fn check(welcome: &Welcome, cluster: &str, to: &PeerAddress) -> Result<(), Fault> {
    let id = to.id;
    if welcome.cluster != cluster {
        let theirs = printable(&welcome.cluster, TEXT_MAX);
        let words = format!("it is of cluster '{theirs}', this node of '{cluster}'");
        return Err(Fault::Stranger(words));
    }
    if welcome.by != id {
        let words = format!("it is node {}, not node {id}", welcome.by);
        return Err(Fault::Stranger(words));
    }
    if to.disk.is_some_and(|disk| disk != welcome.disk) {
        return Err(Fault::Stranger(another_disk(id)));
    }
    Ok(())
}

/// Somebody who has connected and is one of the nodes, by all that it says and shows.
pub(super) struct Guest {
    pub from: NodeId,
    pub disk: u128,
    pub purpose: Purpose,
    pub about: Vec<u8>,
    pub wire: Wire,
}

/// Somebody who is not let in, and the connection to say so, if it gets that far.
pub(super) struct Turned {
    pub fault: Fault,
    pub wire: Option<Wire>,
    /// Whether TLS has proved that it is one of the nodes: it may know why.
    pub proved: bool,
}

impl<F: Into<Fault>> From<F> for Turned {
    fn from(fault: F) -> Self {
        Self { fault: fault.into(), wire: None, proved: false }
    }
}

/// Hears who has connected, and answers if it may.
pub(super) async fn introduce(node: &RpcState, connection: Connection) -> Result<Guest, Turned> {
    let (mut wire, certificate) = match connection {
        Connection::Tcp(stream) => look_first(node, stream).await?,
        Connection::Simulated(stream) => (Wire::new(stream, &node.config.limits), None),
    };
    let proved = certificate.as_ref().is_some_and(is_of_a_node);
    match hear(node, &mut wire, certificate).await {
        Ok(Hello { from, disk, purpose, about, .. }) => {
            wire.trust(node.config.limits.frame_max(purpose));
            Ok(Guest { from, disk, purpose, about, wire })
        }
        Err(fault) => Err(Turned { fault, wire: Some(wire), proved }),
    }
}

/// Whether anything comes at all, and whether it is to be secured.
async fn look_first(
    node: &RpcState,
    stream: TcpStream,
) -> Result<(Wire, Option<Certificate>), Turned> {
    stream.set_nodelay(true)?;
    let mut first = [0; MAGIC.len()];
    let length = stream.peek(&mut first).await?;
    if length == 0 {
        return Err(Fault::Mute.into());
    }
    match &node.config.tls {
        None => Ok((Wire::new(Box::new(stream), &node.config.limits), None)),
        Some(tls) => secure_accepted(node, tls, stream, &first[..length]).await,
    }
}

/// Puts TLS around a connection, unless its first bytes show that this is pointless.
async fn secure_accepted(
    node: &RpcState,
    tls: &Tls,
    stream: TcpStream,
    first: &[u8],
) -> Result<(Wire, Option<Certificate>), Turned> {
    let limits = &node.config.limits;
    if MAGIC.starts_with(first) {
        let fault = Fault::Refusing("it speaks without TLS, this node only with it".into());
        let wire = Some(Wire::new(Box::new(stream), limits));
        return Err(Turned { fault, wire, proved: false });
    }
    if first[0] != 0x16 {
        return Err(ConnectionError::Foreign(crate::link::frame::language(first)).into());
    }
    let (stream, proof) = tls.accept(stream).await.map_err(ConnectionError::Tls)?;
    let wire = Wire { end: Some(proof.end), ..Wire::new(Box::new(stream), limits) };
    if let Some(denied) = proof.denied {
        let fault = Fault::Refusing(ConnectionError::Denied(denied).to_string());
        return Err(Turned { fault, wire: Some(wire), proved: false });
    }
    Ok((wire, Some(proof.certificate)))
}

/// Hears a greeting out, and answers a good one.
async fn hear(
    node: &RpcState,
    wire: &mut Wire,
    certificate: Option<Certificate>,
) -> Result<Hello, Fault> {
    let version = wire.reader.preface().await?;
    if version != VERSION {
        return Err(Fault::Refusing(another_version(version)));
    }
    let frame = wire.reader.next().await?;
    let hello = match Head::decode(&frame)?.0 {
        Head::Hello(hello) => hello,
        other @ (Head::Welcome(_)
        | Head::Refuse(_)
        | Head::Request { .. }
        | Head::Answer { .. }
        | Head::Fail { .. }
        | Head::Cancel { .. }
        | Head::Ping) => return Err(other.out_of_place().into()),
    };
    if let Some(reason) = objection(node, &hello, certificate) {
        return Err(Fault::Refusing(reason));
    }
    let config = &node.config;
    let cluster = config.cluster.clone();
    let welcome = Welcome { cluster, by: config.me, disk: config.disk, about: about(node)? };
    wire.writer.preface(VERSION);
    wire.writer.push(&Head::Welcome(welcome))?;
    wire.writer.flush().await?;
    Ok(hello)
}

/// What speaks against this node, if anything does.
fn objection(node: &RpcState, hello: &Hello, certificate: Option<Certificate>) -> Option<String> {
    let config = &node.config;
    let Hello { from, to, .. } = *hello;
    let me = config.me;
    if hello.cluster != config.cluster {
        let theirs = printable(&hello.cluster, TEXT_MAX);
        return Some(format!("it is of cluster '{theirs}', this is '{}'", config.cluster));
    }
    if to != me {
        return Some(format!("it looks for node {to}, this is node {me}"));
    }
    if from == me {
        return Some(format!("it calls itself node {from}, as this node does"));
    }
    if config.tls.is_some() && !certificate.is_some_and(|shown| valid_for(&shown, from)) {
        return Some(format!("its certificate is not one of node {from}"));
    }
    let other = Introduction {
        from,
        disk: hello.disk,
        purpose: hello.purpose,
        knows_this_disk: config.tls.is_some() || hello.to_disk == Some(config.disk),
    };
    let admitted = node.server.admit(&other);
    admitted.err().map(|reason| printable(&reason, TEXT_MAX))
}

/// Says that somebody is not let in. The rest of what the other side says is still taken.
pub(super) async fn refuse(mut wire: Wire, refuse: Refuse) -> Result<(), Fault> {
    wire.writer.preface(VERSION);
    wire.writer.push(&Head::Refuse(refuse))?;
    wire.writer.flush().await?;
    wire.writer.close().await?;
    wire.reader.drain().await;
    Ok(())
}

fn about(node: &RpcState) -> Result<Vec<u8>, Fault> {
    let about = node.server.about();
    if about.len() > ABOUT_MAX {
        return Err(Fault::LongAbout(about.len()));
    }
    Ok(about)
}

fn another_version(version: u8) -> String {
    let theirs = version & !0x80;
    if version < 0x80 {
        return format!(
            "it runs a classic engine (version {theirs} of the links), this node the replicated one"
        );
    }
    let ours = VERSION & !0x80;
    format!("it speaks version {theirs} of the protocol, this node speaks version {ours}")
}

fn another_disk(id: NodeId) -> String {
    format!(
        "node {id} has another disk than its member has: it has lost its disk, or is a second node \
         of the same name"
    )
}
