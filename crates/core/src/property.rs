//! Properties of algorithms, safety and liveness, and the verdicts on them: what is promised, and
//! what became of the promise.

use crate::Ticks;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A property that an algorithm may promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Property {
    /// Safety: at most one process inside at any instant.
    S1,
    /// Safety at the resource: at most one process whose operations it accepts (fencing).
    #[serde(rename = "S1-eff")]
    S1Eff,
    /// Liveness, progress (no deadlock): if somebody waits and nobody stays inside for ever,
    /// somebody enters.
    V1,
    /// Liveness, no starvation: whoever waits enters eventually.
    V2,
    /// Bounded waiting: once a request is registered, only so many others enter first.
    BW,
    /// Order: if one request happened before another, it is granted first; if one event happened
    /// before another, its time is smaller.
    HB,
    /// Order, exactly: if neither of two events happened before the other, the clock orders neither
    /// before the other. With `HB`, times are ordered just where events are.
    #[serde(rename = "HB-exact")]
    HBExact,
    /// Fencing tokens: each entry carries a larger number than every entry before it.
    F1,
    /// Election safety: in the end all live processes name the same, right leader.
    E1,
    /// Never two leaders of one term.
    #[serde(rename = "E1-term")]
    E1Term,
    /// Election liveness: in the end every live process names a leader.
    E2,
    /// Completeness of a failure detector: in the end every crashed process is suspected by every
    /// live one.
    D1,
    /// Accuracy of a failure detector: no live process is suspected.
    D2,
}

impl Property {
    /// What a mutual exclusion algorithm is judged by.
    pub const MUTEX: [Self; 7] =
        [Self::S1, Self::S1Eff, Self::V1, Self::V2, Self::BW, Self::HB, Self::F1];

    /// What an election is judged by.
    pub const ELECTION: [Self; 3] = [Self::E1, Self::E1Term, Self::E2];

    /// What a failure detector is judged by.
    pub const DETECTOR: [Self; 2] = [Self::D1, Self::D2];

    /// What a logical clock is judged by, beside `HB`.
    pub const CLOCK: [Self; 1] = [Self::HBExact];

    /// The tag that people read and type.
    pub fn tag(self) -> &'static str {
        match self {
            Self::S1 => "S1",
            Self::S1Eff => "S1-eff",
            Self::V1 => "V1",
            Self::V2 => "V2",
            Self::BW => "BW",
            Self::HB => "HB",
            Self::HBExact => "HB-exact",
            Self::F1 => "F1",
            Self::E1 => "E1",
            Self::E1Term => "E1-term",
            Self::E2 => "E2",
            Self::D1 => "D1",
            Self::D2 => "D2",
        }
    }

    /// The property in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::S1 => "at most one inside",
            Self::S1Eff => "at most one whose writes count",
            Self::V1 => "somebody who waits gets in",
            Self::V2 => "everybody who waits gets in",
            Self::BW => "few are let in before a registered request",
            Self::HB => "the order of cause and effect is kept",
            Self::HBExact => "only cause and effect are ordered",
            Self::F1 => "fences rise from entry to entry",
            Self::E1 => "whoever follows a leader follows the right one",
            Self::E1Term => "one leader per term",
            Self::E2 => "everybody learns of a leader",
            Self::D1 => "every crash is noticed by all in the end",
            Self::D2 => "nobody alive is suspected",
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

/// What became of a property in a run, or in all runs within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Kept.
    Holds,
    /// Broken.
    Violated,
    /// The run was cut short before it could be told.
    Unknown,
    /// Nobody looked.
    NotChecked,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Unknown => "unknown",
            Self::NotChecked => "not-checked",
        })
    }
}

/// A violated property: which, when, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Violation {
    /// Which property.
    pub property: Property,
    /// When it was seen to be broken.
    pub at: Ticks,
    /// What was seen, in words; nodes appear as [`crate::NodeId::mark`].
    pub what: String,
}
