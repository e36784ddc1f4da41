//! What may go wrong between a client and a server.

use std::io;

/// Why an operation was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody answers there, or the connection ended. Another server may know more: a retry helps.
    #[error("no answer: {0}")]
    Gone(#[from] io::Error),
    /// The server cannot do it now, and says that a retry helps.
    #[error("not now: {0}")]
    Busy(String),
    /// The server will not do it. A retry does not help.
    #[error("refused: {0}")]
    Refused(String),
    /// An answer that is none in this protocol. A retry does not help.
    #[error("not understood: {0}")]
    Odd(String),
}

impl Error {
    /// Whether the same operation may be done later, perhaps by another server.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Gone(_) | Self::Busy(_) => true,
            Self::Refused(_) | Self::Odd(_) => false,
        }
    }

    /// An answer that is none.
    pub(crate) fn odd(what: impl Into<String>) -> Self {
        Self::Odd(what.into())
    }
}
