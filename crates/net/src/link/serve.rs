//! The receiving side: takes what a peer sends and host it to the host.

use super::error::ConnectionError;
use super::expiry::expired;
use super::frame::{Frame, VERSION};
use super::inbox::{Inbox, Verdict};
use super::state::LinkState;
use super::wire::{Reader, Wire, Writer};
use crate::{Lane, News};
use conclave_core::NodeId;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A peer that has said who it is, and was found to be right.
pub(super) struct Guest {
    pub from: NodeId,
    pub address: SocketAddr,
    pub wire: Wire,
}

/// Serves the connections of one peer, one at a time. A newer one takes the place of an older: the
/// peer has given that up, even if nobody here has noticed.
pub(super) async fn keep_serving(
    node: Arc<LinkState>,
    from: NodeId,
    mut room: mpsc::Receiver<Guest>,
) {
    let mut inbox = Inbox::new(*node.peer(from).acknowledged.borrow());
    let mut next = room.recv().await;
    while let Some(guest) = next {
        let address = guest.address;
        tracing::info!("node {from} connected from {address}");
        next = tokio::select! {
            // Messages are taken at points where giving up loses nothing.
            newer = room.recv() => {
                tracing::info!("connection of node {from} from {address} replaced by a newer one");
                newer
            }
            Err(fault) = serve(&node, guest, &mut inbox) => {
                if matches!(fault, ConnectionError::Stopping) {
                    return;
                }
                tracing::warn!("connection of node {from} from {address} ended: {fault}");
                room.recv().await
            }
        };
    }
}

async fn serve(
    node: &LinkState,
    guest: Guest,
    inbox: &mut Inbox,
) -> Result<Infallible, ConnectionError> {
    let Guest { from, wire: Wire { mut reader, mut writer, end }, .. } = guest;
    writer.preface(VERSION);
    writer.push(&Frame::Welcome(node.welcome(inbox.received())))?;
    tokio::select! {
        over = take(node, from, &mut reader, inbox) => over,
        over = acknowledge(node, from, &mut writer) => over,
        over = expired(end) => Err(over),
    }
}

/// Hands on what comes. When the host has no room, nothing more is read, and in the end the sender
/// has to wait as well.
async fn take(
    node: &LinkState,
    from: NodeId,
    reader: &mut Reader,
    inbox: &mut Inbox,
) -> Result<Infallible, ConnectionError> {
    loop {
        let bytes = reader.next().await?;
        let packet = match Frame::decode(&bytes)? {
            Frame::Data(data) => data.to_packet(),
            Frame::Ping => continue,
            other @ (Frame::Hello(_) | Frame::Welcome(_) | Frame::Refuse(_) | Frame::Ack(_)) => {
                return Err(other.out_of_place());
            }
        };
        let lane = packet.lane;
        let number = packet.number;
        match inbox.judge(lane, number)? {
            Verdict::Take => {
                let room = node.room().await?;
                inbox.took(lane, number);
                room.send(News::Arrived { from, packet });
            }
            // Its acknowledgement may have been lost.
            Verdict::Repeated if lane == Lane::Durable => {
                node.peer(from).acknowledged.send_modify(|_| {});
            }
            Verdict::Repeated => {}
        }
    }
}

/// Says what is on disk: at once, since an earlier acknowledgement may have been lost with the last
/// connection, and then whenever there is more.
async fn acknowledge(
    node: &LinkState,
    from: NodeId,
    writer: &mut Writer,
) -> Result<Infallible, ConnectionError> {
    let mut acknowledged = node.peer(from).acknowledged.subscribe();
    let number = *acknowledged.borrow_and_update();
    writer.push(&Frame::Ack(number))?;
    loop {
        writer.flush().await?;
        match timeout(node.config.limits.ping, acknowledged.changed()).await {
            Ok(_) => writer.push(&Frame::Ack(*acknowledged.borrow_and_update()))?,
            Err(_) => writer.push(&Frame::Ping)?,
        }
    }
}
