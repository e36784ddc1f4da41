//! Failure detection: who seems to have crashed.

mod monitor;

pub use monitor::Monitor;

use crate::{Never, NodeId, Oracle, Service};
use serde::{Deserialize, Serialize};

/// The failure detection service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Detector {}

/// What a detector says. It only ever suspects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Indication {
    /// This node seems to have crashed.
    Suspect(NodeId),
    /// It does not any more.
    Trust(NodeId),
}

impl Service for Detector {
    type Request = Never;
    type Indication = Indication;
}

impl Oracle for Detector {
    fn suspect(node: NodeId) -> Option<Indication> {
        Some(Indication::Suspect(node))
    }
    fn trust(node: NodeId) -> Option<Indication> {
        Some(Indication::Trust(node))
    }
}
