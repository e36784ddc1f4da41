//! Explanations: the wait-for graph around one lock, for people. Who holds it, who waits, who is in
//! whose way, and what would help.

#[cfg(test)]
use crate::described;
use serde::{Deserialize, Serialize};

/// Why a lock is as it is: part of `GET /v1/locks/{name}?explain=true`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// In one sentence.
    pub message: String,
    /// For each who waits, in order: who is in its way.
    pub waits: Vec<Wait>,
    /// What would let the next one in, each a sentence.
    pub unblocked_by: Vec<String>,
}

/// Somebody who waits, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Wait {
    /// The label of the session that waits.
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub label: String,
    /// A short hash of it.
    #[cfg_attr(test, schemars(with = "described::SessionHash"))]
    pub session: String,
    /// All locks that its request asks for: it holds none of them until it can hold all.
    #[cfg_attr(test, schemars(with = "Vec<described::Name>"))]
    pub locks: Vec<String>,
    /// Who is in its way, at any of these.
    pub blocked_by: Vec<Blocker>,
}

/// Somebody who is in another's way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Blocker {
    /// The label of the session.
    #[cfg_attr(test, schemars(with = "described::Label"))]
    pub label: String,
    /// A short hash of it.
    #[cfg_attr(test, schemars(with = "described::SessionHash"))]
    pub session: String,
    /// At which lock.
    #[cfg_attr(test, schemars(with = "described::Name"))]
    pub lock: String,
    /// `holds` it, or is `earlier` in line.
    #[cfg_attr(test, schemars(with = "described::Obstacle"))]
    pub because: String,
}
