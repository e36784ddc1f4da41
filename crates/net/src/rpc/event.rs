//! Link events: connections that come up and go down.

use super::Purpose;
use super::error::Fault;
use crate::link::error::ConnectionError;
use conclave_core::NodeId;
use std::io;

/// A connection with a peer has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// It stands: both sides have greeted each other.
    Up(LinkName),
    /// It has ended.
    Down {
        /// Which.
        link: LinkName,
        /// How it ended.
        how: Ending,
    },
}

/// Which connection: there is at most one of each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkName {
    /// The other side.
    pub peer: NodeId,
    /// What it is for.
    pub purpose: Purpose,
    /// Who asks on it.
    pub direction: Direction,
}

/// Who asks on a connection, and has dialled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// This node.
    Outgoing,
    /// The peer.
    Incoming,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The system of the peer closed it (FIN or RST), as it does at once when a process dies.
    ClosedByPeer,
    /// Nothing was heard for too long: the host or the network between is gone, or very slow.
    Silent,
    /// The peer said something that makes no sense, its certificate ended, or the like.
    Error,
    /// The peer has dialled again, so it has given this connection up.
    Replaced,
    /// This node ended it: it stops, or was told to forget the peer or that it has moved.
    Here,
}

impl Ending {
    pub(super) fn of(fault: &Fault) -> Self {
        let Fault::Connection(fault) = fault else { return Self::Error };
        if let ConnectionError::Io(error) = fault {
            return Self::of_io(error.kind());
        }
        if matches!(fault, ConnectionError::Closed) {
            return Self::ClosedByPeer;
        }
        if matches!(fault, ConnectionError::Silent(_) | ConnectionError::HalfFrame(_)) {
            return Self::Silent;
        }
        Self::Error
    }

    fn of_io(kind: io::ErrorKind) -> Self {
        let closed = [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::NotConnected,
        ];
        if closed.contains(&kind) {
            return Self::ClosedByPeer;
        }
        if kind == io::ErrorKind::TimedOut { Self::Silent } else { Self::Error }
    }
}

/// What became of one fresh attempt to connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Somebody listens there.
    Answers,
    /// The host is there, and nobody listens: the process of the peer is gone.
    RefusedConnection,
    /// No answer in time, no such host, no route: nothing is known.
    Unknown,
}
