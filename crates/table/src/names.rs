//! Names and numbers that identify things in the table: sessions, requests, fences, places.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Text that is kept once and shared.
pub type Text = Arc<str>;

/// A moment of the replicated lease clock, in milliseconds. It stands still while nobody leads.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LeaseTime(pub u64);

impl LeaseTime {
    /// So many milliseconds later.
    pub fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// How many milliseconds have passed since.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A fencing token. Of two grants of one lock the later has the larger one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Fence(pub u64);

/// What is added to the index of a grant to make its fence. It rises when a backup is restored, so
/// that fences do not fall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Floor(pub u64);

/// A session: 128 random bits, a secret of its client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId(pub [u8; 16]);

impl fmt::Debug for SessionId {
    /// Not the secret itself: what is printed ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session-{:08x}", conclave_core::hash(&self.0) >> 32)
    }
}

/// A request of a session. Its client numbers them, and the numbers rise.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct RequestId(pub u64);

impl RequestId {
    /// Numbers from here on are not a client's. Its node has drawn one at random for a request that
    /// came without: nobody can repeat it, so its answer is not kept, and no mark is above it.
    pub const UNRECORDED: Self = Self(1 << 63);

    /// Whether nobody can repeat it.
    pub fn is_unrecorded(self) -> bool {
        self >= Self::UNRECORDED
    }
}

/// One request of one session, wherever it is spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// Whose it is.
    pub session: SessionId,
    /// Which one.
    pub request: RequestId,
}

impl Ticket {
    /// Another request of the same session.
    pub fn sibling(self, request: RequestId) -> Self {
        Self { request, ..self }
    }
}

/// A place in line: the index at which the request joined all of its queues at once. Whoever came
/// earlier has the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place(pub u64);

/// Who holds or waits, as the wait-for graph and re-entry see it: a session or, if the client says
/// that it consists of several threads of control, one of these.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Party {
    /// The session.
    pub session: SessionId,
    /// The `owner` that the request named.
    pub owner: Option<Text>,
}

impl Party {
    /// Whether these two are one holder, who may enter again. Only who names an owner asks for it.
    pub fn reenters(&self, hold: &Self) -> bool {
        self.owner.is_some() && self == hold
    }
}

/// A lock and an election of the same name have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Somebody may enter.
    Lock,
    /// Somebody leads.
    Election,
}

/// What can be held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// A lock or an election.
    pub kind: Kind,
    /// Its name.
    pub name: Text,
}

impl Resource {
    /// A lock.
    pub fn lock(name: &str) -> Self {
        Self { kind: Kind::Lock, name: name.into() }
    }

    /// An election.
    pub fn election(name: &str) -> Self {
        Self { kind: Kind::Election, name: name.into() }
    }

    /// The first segment of the name: whose it is, as far as quotas go.
    pub fn prefix(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}
