//! What the nodes of a Yo-Yo tell each other.

use crate::election::rank::Rank;
use conclave_core::Named;
use serde::{Deserialize, Serialize};

/// What the nodes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// This is who I am.
    Id(Rank),
    /// The best of those above you, as far as I know.
    Yo {
        /// Its rank.
        best: Rank,
        /// In which pass.
        pass: u32,
    },
    /// The answer to a `YO`.
    Up {
        /// S: what you sent is the best of all that met here and below.
        yes: bool,
        /// Whether the edge is to vanish.
        prune: Prune,
        /// In which pass.
        pass: u32,
    },
    /// This node leads.
    Elected(Rank),
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Id(_) => "ID",
            Self::Yo { .. } => "YO",
            Self::Up { .. } => "UP",
            Self::Elected(_) => "ELECTED",
        }
    }

    fn is_reply(&self) -> bool {
        matches!(self, Self::Up { .. })
    }
}

/// Why an edge vanishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Prune {
    /// It does not.
    None,
    /// Another edge brings the same.
    Dup,
    /// Whoever answers is done, and this edge is its only one.
    Leaf,
}
