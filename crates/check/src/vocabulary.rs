//! Requests and indications of a service (mutual exclusion, election), as the checker sees them.

use conclave_core::election::{self, Election};
use conclave_core::mutex::{self, Mutex};
use conclave_core::{IndicationFrom, NodeId, RequestTo, Service};
use serde::Serialize;

/// What the user of a node may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// Wants to enter.
    Acquire,
    /// Leaves.
    Release,
    /// No longer wants to enter.
    Cancel,
    /// Calls for an election.
    Campaign,
}

/// What it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// It is inside.
    Entered {
        /// The number of the entry.
        fence: u64,
    },
    /// This node leads.
    Elected {
        /// Which.
        leader: NodeId,
        /// In which term.
        term: u64,
    },
    /// It leads no longer.
    Deposed,
}

/// What a service is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Family {
    /// Who may enter.
    Mutex,
    /// Who leads.
    Election,
}

/// A service all of whose uses can be looked at.
pub trait Explored: Service {
    /// What it is for.
    const FAMILY: Family;

    /// The request by which a user does this, if the service has one.
    fn request(ask: Ask) -> Option<RequestTo<Self>>;

    /// What an indication says, if a user cares.
    fn word(told: IndicationFrom<Self>) -> Option<Word>;
}

impl Explored for Mutex {
    const FAMILY: Family = Family::Mutex;

    fn request(ask: Ask) -> Option<mutex::Request> {
        match ask {
            Ask::Acquire => Some(mutex::Request::Acquire),
            Ask::Release => Some(mutex::Request::Release),
            Ask::Cancel => Some(mutex::Request::Cancel),
            Ask::Campaign => None,
        }
    }

    fn word(told: mutex::Indication) -> Option<Word> {
        let mutex::Indication::Entered { fence } = told;
        Some(Word::Entered { fence })
    }
}

impl Explored for Election {
    const FAMILY: Family = Family::Election;

    fn request(ask: Ask) -> Option<election::Request> {
        (ask == Ask::Campaign).then_some(election::Request::Campaign)
    }

    fn word(told: election::Indication) -> Option<Word> {
        match told {
            election::Indication::Elected { leader, term } => Some(Word::Elected { leader, term }),
            election::Indication::Deposed { .. } => Some(Word::Deposed),
            election::Indication::Suspect(_) | election::Indication::Trust(_) => None,
        }
    }
}
