//! The sending side: dials a peer for ever, and sends it what is in its outbox.

use super::backoff::Backoff;
use super::config::Limits;
use super::error::{ConnectionError, printable};
use super::expiry::expired;
use super::frame::{Frame, Refusal, VERSION, Welcome};
use super::state::LinkState;
use super::wire::{CHUNK, Reader, Wire, Writer};
use crate::cable::cable;
use crate::{Lane, News, Tls};
use conclave_core::NodeId;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// Keeps the link to this peer up, until the host is gone.
pub(super) async fn keep_dialing(node: Arc<LinkState>, to: NodeId) {
    let limits = node.config.limits;
    let seed = node.config.identity as u64 ^ (u64::from(to.0) << 32);
    let mut pause = Backoff::new(limits.pause_min, limits.pause_max, seed);
    let mut last_complaint = String::new();
    loop {
        let started = Instant::now();
        let fault = match timeout(limits.handshake, connect(&node, to)).await {
            Ok(Ok(wire)) => {
                last_complaint.clear();
                talk(&node, to, wire).await
            }
            Ok(Err(fault)) => fault,
            Err(_) => ConnectionError::SlowAnswer(limits.handshake),
        };
        if started.elapsed() >= limits.pause_max {
            pause.reset(); // It stood for a while: this is no row of failures.
        }
        if matches!(fault, ConnectionError::Stopping) {
            return;
        }
        let complaint = fault.to_string();
        if complaint != last_complaint {
            if complain(&node, to, &fault).await.is_err() {
                return;
            }
            last_complaint = complaint;
        }
        let needs_a_person = fault.needs_a_person();
        sleep(if needs_a_person { pause.vary(limits.refused) } else { pause.next() }).await;
    }
}

/// Says why there is no link: to whoever reads the log, and to the host as well if it is this very
/// node that must not go on.
async fn complain(
    node: &LinkState,
    to: NodeId,
    fault: &ConnectionError,
) -> Result<(), ConnectionError> {
    let address = &node.config.peers[to.index()];
    tracing::warn!("no link to node {to} at {address}: {fault}; trying again");
    node.accused(to, fault).await
}

async fn connect(node: &LinkState, to: NodeId) -> Result<Wire, ConnectionError> {
    let limits = &node.config.limits;
    cable().plugged_in().await;
    let stream = TcpStream::connect(&node.config.peers[to.index()]).await?;
    stream.set_nodelay(true)?;
    let mut wire = match &node.config.tls {
        None => Wire::new(Box::new(stream), limits),
        Some(tls) => secure(tls, to, stream, limits).await?,
    };
    wire.writer.preface(VERSION);
    wire.writer.push(&Frame::Hello(node.hello(to).await))?;
    wire.writer.flush().await?;
    let Welcome { identity, start, received } = match answer(&mut wire.reader).await? {
        Ok(welcome) => welcome,
        Err(refusal) => return Err(node.refused(to, refusal).await),
    };
    node.meet(to, identity, start).await?;
    node.peer(to).outbox().resume(start.incarnation, received, Instant::now())?;
    wire.trust(limits.frame_max);
    Ok(wire)
}

async fn secure(
    tls: &Tls,
    to: NodeId,
    stream: TcpStream,
    limits: &Limits,
) -> Result<Wire, ConnectionError> {
    let (stream, proof) = tls.connect(to, stream).await.map_err(ConnectionError::Tls)?;
    if let Some(denied) = proof.denied {
        return Err(ConnectionError::Denied(denied));
    }
    Ok(Wire { end: Some(proof.end), ..Wire::new(Box::new(stream), limits) })
}

/// How the peer answers, if it does.
async fn answer(reader: &mut Reader) -> Result<Result<Welcome, Refusal>, ConnectionError> {
    let version = reader.preface().await?;
    if version != VERSION {
        return Err(ConnectionError::Version(version));
    }
    match Frame::decode(&reader.next().await?)? {
        Frame::Welcome(welcome) => Ok(Ok(welcome)),
        Frame::Refuse(mut refusal) => {
            refusal.reason = printable(&refusal.reason, usize::MAX);
            Ok(Err(refusal))
        }
        other @ (Frame::Hello(_) | Frame::Data(_) | Frame::Ack(_) | Frame::Ping) => {
            Err(other.out_of_place())
        }
    }
}

/// The link stands: uses it until it breaks, and says why it did.
async fn talk(node: &LinkState, to: NodeId, mut wire: Wire) -> ConnectionError {
    let address = &node.config.peers[to.index()];
    tracing::info!("linked to node {to} at {address}");
    if node.tell(News::Connected { to }).await.is_err() {
        return ConnectionError::Stopping;
    }
    let Err(fault) = tokio::select! {
        over = hear(node, to, &mut wire.reader) => over,
        over = send(node, to, &mut wire.writer) => over,
        over = expired(wire.end) => Err(over),
    };
    match node.tell(News::Disconnected { to, reason: fault.to_string() }).await {
        Ok(()) => fault,
        Err(stopping) => stopping,
    }
}

async fn hear(
    node: &LinkState,
    to: NodeId,
    reader: &mut Reader,
) -> Result<Infallible, ConnectionError> {
    loop {
        let bytes = reader.next().await?;
        match Frame::decode(&bytes)? {
            Frame::Ack(number) => {
                let news = node.peer(to).outbox().acknowledge(number)?;
                if news {
                    node.tell(News::Acknowledged { by: to, number }).await?;
                }
            }
            Frame::Ping => {}
            other @ (Frame::Hello(_) | Frame::Welcome(_) | Frame::Refuse(_) | Frame::Data(_)) => {
                return Err(other.out_of_place());
            }
        }
    }
}

async fn send(
    node: &LinkState,
    to: NodeId,
    writer: &mut Writer,
) -> Result<Infallible, ConnectionError> {
    let more = &node.peer(to).more;
    loop {
        let filled = fill(node, to, writer);
        if writer.waiting() == 0 && filled.is_ok() {
            match timeout(node.config.limits.ping, more.notified()).await {
                Ok(()) => continue,
                Err(_) => writer.push(&Frame::Ping)?,
            }
        }
        writer.flush().await?; // What comes before a message that cannot be sent still leaves.
        filled?;
    }
}

/// Gives the writer what comes next, about a chunk at a time.
fn fill(node: &LinkState, to: NodeId, writer: &mut Writer) -> Result<(), ConnectionError> {
    let mut outbox = node.peer(to).outbox();
    while writer.waiting() < CHUNK
        && let Some(packet) = outbox.next()
    {
        if writer.push(&Frame::Data(packet.into())).is_err() {
            let fault =
                ConnectionError::LongPacket { number: packet.number, length: packet.bytes.len() };
            match packet.lane {
                Lane::Durable => return Err(fault),
                // Nobody counts on it, and those behind it need not suffer.
                Lane::Transient => tracing::error!("not sent to node {to}: {fault}"),
            }
        }
    }
    Ok(())
}
