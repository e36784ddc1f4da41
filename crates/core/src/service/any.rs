//! The words of all services in one: any request, any indication. For whatever handles several
//! services alike: the network, recordings, the checker.

use super::detector::{self, Detector};
use super::election::{self, Election};
use super::mutex::{self, Mutex};
use crate::{IndicationFrom, Never, NodeId, Oracle, RequestTo, Service};
use serde::{Deserialize, Serialize};

/// A request to any service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AnyRequest {
    /// Mutual exclusion: let me in.
    Acquire,
    /// Mutual exclusion: I leave.
    Release,
    /// Mutual exclusion: I no longer want to enter.
    Cancel,
    /// Mutual exclusion: a message of the application carried this logical time.
    Observe(u64),
    /// Election: hold one.
    Campaign,
    /// Election: whoever leads hands over.
    Resign,
}

/// An indication of any service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AnyIndication {
    /// Mutual exclusion: this node is inside.
    Entered {
        /// The fencing token of this entry.
        fence: u64,
    },
    /// Election: this node leads.
    Elected {
        /// Which.
        leader: NodeId,
        /// In which term.
        term: u64,
    },
    /// Election: this very node leads no longer.
    Deposed {
        /// The term in which it led.
        term: u64,
    },
    /// Detector or election: this node seems to have crashed.
    Suspect(NodeId),
    /// Detector or election: it does not any more.
    Trust(NodeId),
}

/// A service whose words have a place among those of all.
pub trait AnyService: Service {
    /// The request of this service, if it has such a one.
    fn request(any: AnyRequest) -> Option<RequestTo<Self>>;
    /// An indication of this service as one of any.
    fn any(indication: IndicationFrom<Self>) -> AnyIndication;
}

impl AnyService for Mutex {
    fn request(any: AnyRequest) -> Option<mutex::Request> {
        match any {
            AnyRequest::Acquire => Some(mutex::Request::Acquire),
            AnyRequest::Release => Some(mutex::Request::Release),
            AnyRequest::Cancel => Some(mutex::Request::Cancel),
            AnyRequest::Observe(clock) => Some(mutex::Request::Observe(clock)),
            AnyRequest::Campaign | AnyRequest::Resign => None,
        }
    }

    fn any(indication: mutex::Indication) -> AnyIndication {
        match indication {
            mutex::Indication::Entered { fence } => AnyIndication::Entered { fence },
        }
    }
}

impl AnyService for Election {
    fn request(any: AnyRequest) -> Option<election::Request> {
        match any {
            AnyRequest::Campaign => Some(election::Request::Campaign),
            AnyRequest::Resign => Some(election::Request::Resign),
            AnyRequest::Acquire
            | AnyRequest::Release
            | AnyRequest::Cancel
            | AnyRequest::Observe(_) => None,
        }
    }

    fn any(indication: election::Indication) -> AnyIndication {
        match indication {
            election::Indication::Elected { leader, term } => {
                AnyIndication::Elected { leader, term }
            }
            election::Indication::Deposed { term } => AnyIndication::Deposed { term },
            election::Indication::Suspect(node) => AnyIndication::Suspect(node),
            election::Indication::Trust(node) => AnyIndication::Trust(node),
        }
    }
}

impl AnyService for Detector {
    fn request(_: AnyRequest) -> Option<Never> {
        None
    }

    fn any(indication: detector::Indication) -> AnyIndication {
        match indication {
            detector::Indication::Suspect(node) => AnyIndication::Suspect(node),
            detector::Indication::Trust(node) => AnyIndication::Trust(node),
        }
    }
}

impl AnyIndication {
    /// What a process hears of this whose layer below an oracle plays: suspicions, and no more.
    pub fn to_oracle<S: Oracle>(self) -> Option<IndicationFrom<S>> {
        match self {
            Self::Suspect(node) => S::suspect(node),
            Self::Trust(node) => S::trust(node),
            Self::Entered { .. } | Self::Elected { .. } | Self::Deposed { .. } => None,
        }
    }

    /// What a process hears of this that stands on an election.
    pub fn to_election(self) -> Option<election::Indication> {
        match self {
            Self::Elected { leader, term } => Some(election::Indication::Elected { leader, term }),
            Self::Deposed { term } => Some(election::Indication::Deposed { term }),
            Self::Suspect(node) => Some(election::Indication::Suspect(node)),
            Self::Trust(node) => Some(election::Indication::Trust(node)),
            Self::Entered { .. } => None,
        }
    }
}
