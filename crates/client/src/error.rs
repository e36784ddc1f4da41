//! Errors between a client and a cluster, and whether a retry can help.

use crate::api::{Code, Failure, limits};
use std::time::Duration;

/// Why there is no answer, or not the one that was hoped for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not the address of a server. To try again cannot help.
    #[error("{server}: takes HOST:PORT, http://HOST:PORT or https://HOST:PORT")]
    BadServer {
        /// What was given.
        server: String,
    },
    /// A certificate, a key or a token cannot be used. To try again cannot help.
    #[error("{0}")]
    BadCredentials(String),
    /// A token would be readable on its way. To try again cannot help.
    #[error(
        "{server}: a token is not sent by plain http beyond this machine; take https:// and the \
         certificate of the authority"
    )]
    PlainToken {
        /// Which server.
        server: String,
    },
    /// There is no trust between the two sides: by what they show in the handshake, or because only
    /// one of them speaks TLS. To try again cannot help.
    #[error("no trust in {server}: {reason}")]
    Untrusted {
        /// Which server.
        server: String,
        /// Why.
        reason: String,
    },
    /// Nobody answers. It may later.
    #[error("no answer from {0}")]
    Unreachable(String),
    /// The server understood and refuses. Whether it may agree later, it says itself.
    #[error("{}", limits::shown(&failure.error.message))]
    Refused {
        /// Which server.
        server: String,
        /// The status of HTTP.
        status: u16,
        /// What it said.
        failure: Box<Failure>,
    },
    /// Something answers there, but not Conclave. To try again cannot help.
    #[error("{server} does not speak the API of Conclave: {}", limits::shown(reason))]
    Foreign {
        /// Which server.
        server: String,
        /// What was odd about the answer.
        reason: String,
    },
    /// Another cluster answers there than the one that this client keeps to, or one that a backup
    /// has replaced: its fences do not compare. To try again cannot help.
    #[error(
        "{server} belongs to cluster {}, not to {}",
        limits::shown(found),
        limits::shown(pinned)
    )]
    OtherCluster {
        /// Which server.
        server: String,
        /// The cluster that the client keeps to.
        pinned: String,
        /// The one that answered.
        found: String,
    },
    /// The session ended while something was being waited for. A new one may have more luck.
    #[error("the session was lost: {}", limits::shown(.0))]
    Lost(String),
}

impl Error {
    /// Whether the same may succeed later.
    pub fn retry(&self) -> bool {
        match self {
            Self::BadServer { .. }
            | Self::BadCredentials(_)
            | Self::PlainToken { .. }
            | Self::Untrusted { .. }
            | Self::Foreign { .. }
            | Self::OtherCluster { .. } => false,
            Self::Unreachable(_) | Self::Lost(_) => true,
            Self::Refused { failure, .. } => failure.error.retry,
        }
    }

    /// The server's word for programs, if it refused.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { failure, .. } => Some(failure.error.code.as_str()),
            Self::BadServer { .. }
            | Self::BadCredentials(_)
            | Self::PlainToken { .. }
            | Self::Untrusted { .. }
            | Self::Unreachable(_)
            | Self::Foreign { .. }
            | Self::OtherCluster { .. }
            | Self::Lost(_) => None,
        }
    }

    /// Whether the server refused with this code.
    pub fn says(&self, code: Code) -> bool {
        self.failure().is_some_and(|failure| failure.error.code == code)
    }

    /// All that the server said, if it refused.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Refused { failure, .. } => Some(failure),
            Self::BadServer { .. }
            | Self::BadCredentials(_)
            | Self::PlainToken { .. }
            | Self::Untrusted { .. }
            | Self::Unreachable(_)
            | Self::Foreign { .. }
            | Self::OtherCluster { .. }
            | Self::Lost(_) => None,
        }
    }

    /// Whether the node said neither yes nor no. It may have done what it was asked for; another
    /// node may do it.
    pub(crate) fn is_undecided(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::Untrusted { .. }
            | Self::Foreign { .. }
            | Self::OtherCluster { .. } => true,
            Self::Refused { .. } => self.says(Code::Unavailable) || self.says(Code::NoLeader),
            Self::BadServer { .. }
            | Self::BadCredentials(_)
            | Self::PlainToken { .. }
            | Self::Lost(_) => false,
        }
    }

    /// Whether what was asked for may have been done, or will be, though nobody said so.
    pub(crate) fn may_be_done(&self) -> bool {
        self.is_undecided() && !self.says(Code::NoLeader)
    }

    /// Whether the wish stands and only the moment is bad, so that a waiter asks again.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused { failure, .. } => {
                let transient = [Code::Unavailable, Code::NoLeader, Code::Blocked, Code::TooMany];
                failure.error.retry && transient.contains(&failure.error.code)
            }
            Self::BadServer { .. }
            | Self::BadCredentials(_)
            | Self::PlainToken { .. }
            | Self::Untrusted { .. }
            | Self::Foreign { .. }
            | Self::OtherCluster { .. }
            | Self::Lost(_) => false,
        }
    }

    /// When to ask again, if the node said so.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.failure()?.retry_after_ms.map(Duration::from_millis)
    }

    /// Whether the node said that it is about to stop: it forgot the request, and will not take it
    /// again, however often it is asked.
    pub(crate) fn is_farewell(&self) -> bool {
        self.failure().is_some_and(|failure| failure.stopping)
    }

    /// Whether a waiter whose session had this end asks anew, with another one: the wish stands,
    /// and it is the session or its node that is gone.
    pub(crate) fn asks_anew(&self) -> bool {
        match self {
            Self::Lost(_) | Self::Unreachable(_) => true,
            Self::Refused { .. } => self.is_transient() || self.says(Code::NoSession),
            Self::BadServer { .. }
            | Self::BadCredentials(_)
            | Self::PlainToken { .. }
            | Self::Untrusted { .. }
            | Self::Foreign { .. }
            | Self::OtherCluster { .. } => false,
        }
    }

    /// The same after a node had answered: that nobody answers now is then the loss of a session,
    /// and no cluster that was never there.
    pub(crate) fn after(self, answered: bool) -> Self {
        let vanished = answered && matches!(self, Self::Unreachable(_));
        if vanished { Self::Lost(self.to_string()) } else { self }
    }
}
