//! The choices that all nodes of a bully election share.

use crate::election::rank::Ranking;
use conclave_core::Ticks;
use serde::{Deserialize, Serialize};

/// Whom a winner tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Announce {
    /// Those that it beats.
    Lower,
    /// Everybody, the dead included.
    All,
}

/// Whose rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Text {
    /// The paper's.
    Corrected,
    /// A lecture note's, in which whoever is asked only answers, and who got an answer waits for
    /// ever.
    Seed,
    /// Other slides', in which whoever is asked also begins, and who got an answer waits for ever.
    Slides,
}

/// The choices.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// Who is better than whom.
    pub ranking: Ranking,
    /// Whom a winner tells.
    pub announce: Announce,
    /// Whether a winner needs the votes of a majority.
    pub by_majority: bool,
    /// How long a message takes at most.
    pub transmission: Ticks,
    /// How long an answer takes to make at most.
    pub processing: Ticks,
    /// How long a node that came back lets a leader be.
    pub hysteresis: Ticks,
    /// Whether an announcement counts only if its term is not smaller than the one known.
    pub terms: bool,
    /// Whose rules are followed.
    pub text: Text,
}

impl Setup {
    /// The published algorithm among these nodes.
    pub fn new(ranking: Ranking) -> Self {
        Self {
            ranking,
            announce: Announce::Lower,
            by_majority: false,
            transmission: Ticks::UNIT,
            processing: Ticks::ZERO,
            hysteresis: Ticks::ZERO,
            terms: false,
            text: Text::Corrected,
        }
    }

    /// T: a question and its answer.
    pub fn round_trip(&self) -> Ticks {
        self.transmission + self.transmission + self.processing
    }

    /// How long after its answer is due a better node has announced itself: when its own question
    /// was answered or was not, and it was voted for.
    pub fn announcement(&self) -> Ticks {
        let votes = if self.by_majority { self.round_trip() } else { Ticks::ZERO };
        self.round_trip() + votes
    }

    /// By then whoever answered has announced itself.
    pub fn election(&self) -> Ticks {
        self.round_trip() + self.announcement()
    }
}
