//! The messages of Maekawa's algorithm.

use conclave_core::Named;
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The time of the request that this is about; it is the requester's.
    pub request: u64,
    /// The sender's clock.
    pub clock: u64,
    /// What is said about it.
    pub body: Body,
}

/// What is said about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    /// May I have your vote?
    Request,
    /// You have my vote.
    Grant {
        /// The largest fence that the arbiter knows.
        fence: u64,
    },
    /// Somebody else is before you.
    Failed,
    /// Would you give my vote back?
    Inquire,
    /// I give your vote back, and still want it.
    Yield,
    /// I no longer want your vote.
    Release {
        /// The largest fence that the requester knows.
        fence: u64,
    },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self.body {
            Body::Request => "REQUEST",
            Body::Grant { .. } => "GRANT",
            Body::Failed => "FAILED",
            Body::Inquire => "INQUIRE",
            Body::Yield => "YIELD",
            Body::Release { .. } => "RELEASE",
        }
    }
}
