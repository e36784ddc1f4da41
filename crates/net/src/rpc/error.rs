//! Errors of remote procedure calls: of one request, and of one connection.

use crate::link::error::ConnectionError;
use conclave_core::NodeId;
use std::io;
use std::sync::Arc;

/// Why a request has no answer. Only [`RpcError::Unanswered`] may have taken effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// It was never sent: there is no connection. Trying again may help.
    #[error("node {to} cannot be reached: {reason}")]
    Unreachable {
        /// Who was asked.
        to: NodeId,
        /// What is wrong with the connection.
        reason: Arc<str>,
    },
    /// It was sent, and the connection broke, the time ran out or the other side gave up: it may
    /// have taken effect.
    #[error("node {to} did not answer: {reason}")]
    Unanswered {
        /// Who was asked.
        to: NodeId,
        /// What happened instead.
        reason: Arc<str>,
    },
    /// It was never sent: one of the two nodes does not accept the other. Somebody has to change
    /// something first.
    #[error("no connection with node {to}: {reason}")]
    Refused {
        /// Who was asked.
        to: NodeId,
        /// Why, as far as this node knows.
        reason: Arc<str>,
    },
    /// It has not taken effect: too much is under way on this connection. Later it may pass.
    #[error("too many requests to node {to} are under way")]
    Busy {
        /// Who was asked.
        to: NodeId,
    },
    /// It was never sent: it is longer than a frame of its purpose may be.
    #[error("a request of {length} bytes is longer than the {max} bytes allowed")]
    TooLarge {
        /// How long it is.
        length: usize,
        /// How long it may be.
        max: usize,
    },
}

/// Why a connection ended, or never came to be. The texts speak of the other side as "it".
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// It came and went without a word, as probes do.
    #[error("it closed the connection without a word")]
    Mute,
    /// This node refuses it.
    #[error("it was refused: {0}")]
    Refusing(String),
    #[error("it refuses this node: {0}")]
    Refused(String),
    /// Without a reason, or with one from somebody who has not proved who it is.
    #[error("node {0} refused this node; see the log of node {0}")]
    RefusedUntold(NodeId),
    /// It is not the node that this one looks for.
    #[error("{0}")]
    Stranger(String),
    #[error("it asks and does not take the answers: {0} bytes wait for it")]
    Deaf(usize),
    #[error("what this node says of itself has {0} bytes, more than a greeting may have")]
    LongAbout(usize),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Connection(error.into())
    }
}

impl Fault {
    /// Whether trying again soon is pointless: somebody has to change something first.
    pub fn needs_a_person(&self) -> bool {
        match self {
            // What TLS objects to is invalid data; all else is a connection that broke meanwhile.
            Self::Connection(ConnectionError::Tls(error) | ConnectionError::Io(error)) => {
                error.kind() == io::ErrorKind::InvalidData
            }
            Self::Connection(fault) => fault.needs_a_person(),
            Self::Refusing(_)
            | Self::Refused(_)
            | Self::RefusedUntold(_)
            | Self::Stranger(_)
            | Self::LongAbout(_) => true,
            Self::Mute | Self::Deaf(_) => false,
        }
    }

    /// What this means for requests that were to be sent.
    pub fn unsent(&self, to: NodeId) -> RpcError {
        let reason = self.to_string().into();
        if self.needs_a_person() {
            return RpcError::Refused { to, reason };
        }
        RpcError::Unreachable { to, reason }
    }
}
