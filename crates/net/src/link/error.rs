//! Errors of the links as a whole, and of one connection.

use super::frame::{Refusal, VERSION};
use crate::{Fingerprint, News};
use conclave_core::{NodeId, shown};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Why the links cannot start. Trying again helps only with the address, once it is free.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The address is taken, or not one of this machine.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The settings contradict each other.
    #[error("the links of this node are set up wrongly: {0}")]
    Settings(String),
}

/// Why a connection ended, or never came to be. The texts speak of the other side as "it".
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    #[error("it closed the connection")]
    Closed,
    #[error("nothing was heard for {0:?}")]
    Silent(Duration),
    #[error("it began a frame and did not finish it within {0:?}")]
    HalfFrame(Duration),
    #[error("it took longer than {0:?} to introduce itself")]
    SlowGreeting(Duration),
    #[error("no connection and greeting within {0:?}")]
    SlowAnswer(Duration),
    #[error("a frame is longer than the {0} bytes allowed")]
    LongFrame(usize),
    #[error("message {number} has {length} bytes, more than a frame may have")]
    LongPacket { number: u64, length: usize },
    #[error("a frame makes no sense: {0}")]
    Nonsense(String),
    #[error("it speaks {0}, not the protocol of a Conclave cluster")]
    Foreign(&'static str),
    #[error("it speaks version {0} of the protocol, this node speaks version {VERSION}")]
    Version(u8),
    #[error("it was refused: {}", .0.reason)]
    Refusing(Refusal),
    #[error("it refuses this node: {0}")]
    Refused(String),
    /// Without a reason, or with one from somebody who has not proved who it is.
    #[error("node {0} refused this node; see the log of node {0}")]
    RefusedUntold(NodeId),
    /// By the very node that was met before, or the first one of that name to be met.
    #[error("it refuses this node: {0}")]
    Disowned(String),
    #[error("{0}")]
    Stranger(String),
    /// It is the peer whose disk is not what it was.
    #[error("{0}")]
    OldPeer(String),
    /// It calls itself a start that it can hardly have come to.
    #[error("{0}")]
    Jump(String),
    #[error("TLS: {0}")]
    Tls(io::Error),
    #[error("its certificate has expired")]
    Expired,
    #[error("the certificate of this node has expired")]
    ExpiredHere,
    #[error("its certificate {0} is on the deny list of this node")]
    Denied(Fingerprint),
    #[error("message {got} came where message {expected} was due")]
    Gap { expected: u64, got: u64 },
    #[error(
        "it has messages up to {has} only, although it acknowledged message {acknowledged}: \
         it lost a part of its disk"
    )]
    Forgot { has: u64, acknowledged: u64 },
    /// It is this node whose disk is not what it was.
    #[error("this node has an old copy of its disk: the peer {0}")]
    OldCopy(String),
    #[error("it acknowledges message {0}, which was never sent to it")]
    Unsent(u64),
    #[error("{0}")]
    Io(io::Error),
    /// The host of this very node is gone, so there is nothing left to do.
    #[error("this node stops")]
    Stopping,
}

impl From<io::Error> for ConnectionError {
    /// With TLS, a peer that is killed has not said goodbye; that is no other end than any.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Closed } else { Self::Io(error) }
    }
}

impl ConnectionError {
    /// Whether trying again soon is pointless: somebody has to change something first.
    pub fn needs_a_person(&self) -> bool {
        match self {
            Self::Foreign(_)
            | Self::Version(_)
            | Self::Refusing(_)
            | Self::Refused(_)
            | Self::RefusedUntold(_)
            | Self::Disowned(_)
            | Self::OldCopy(_)
            | Self::Stranger(_)
            | Self::OldPeer(_)
            | Self::Jump(_)
            | Self::Tls(_)
            | Self::Expired
            | Self::ExpiredHere
            | Self::Denied(_)
            | Self::LongPacket { .. }
            | Self::Forgot { .. } => true,
            Self::Closed
            | Self::Silent(_)
            | Self::HalfFrame(_)
            | Self::SlowGreeting(_)
            | Self::SlowAnswer(_)
            | Self::LongFrame(_)
            | Self::Nonsense(_)
            | Self::Gap { .. }
            | Self::Unsent(_)
            | Self::Io(_)
            | Self::Stopping => false,
        }
    }

    /// What the host would have to be told if this word of a peer against this node were true.
    pub fn accusation(&self, by: NodeId) -> Option<News> {
        if let Self::Disowned(reason) = self {
            return Some(News::Disowned { by, reason: reason.clone() });
        }
        if let Self::OldCopy(reason) = self {
            return Some(News::OldCopy { by, reason: reason.clone() });
        }
        None
    }
}

/// A text of somebody else, fit for one line of a log: escaped where it cannot be shown as it is,
/// and not too long.
pub(crate) fn printable(text: &str, bytes_max: usize) -> String {
    let mut clean = String::new();
    for symbol in text.chars() {
        let mut bytes = [0; 4];
        let piece = shown(symbol.encode_utf8(&mut bytes));
        if clean.len() + piece.len() > bytes_max {
            break;
        }
        clean += &piece;
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_text_of_somebody_else_is_escaped_and_cut_between_letters() {
        let hostile = "\x1b[31mevil\n\u{202e}.\u{2028}\u{200b}";
        let escaped = r"\u{1b}[31mevil\u{a}\u{202e}.\u{2028}\u{200b}";
        assert_eq!(printable(hostile, 1_024), escaped);
        assert_eq!(printable(hostile, 10), r"\u{1b}[31m");
        assert_eq!(printable("\u{202e}", 7), "");
        assert_eq!(printable("São Paulo", 3), "Sã");
    }
}
