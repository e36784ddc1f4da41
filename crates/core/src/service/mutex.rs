//! Mutual exclusion: who may enter the critical section.

mod causality;
mod monitor;

pub use causality::Causality;
pub use monitor::Monitor;

use crate::Service;
use serde::{Deserialize, Serialize};

/// The mutual exclusion service, for one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mutex {}

/// What an application may ask. It asks in turn: acquire, then release or cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Request {
    /// Let me in. Only when neither waiting nor inside.
    Acquire,
    /// I leave. Only when inside.
    Release,
    /// I no longer want to enter. Only when waiting.
    Cancel,
    /// A message of the application arrived that carried this logical time
    /// ([`crate::Process::clock`]).
    Observe(u64),
}

/// What an application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Indication {
    /// You are inside. The fence (fencing token) is larger than at every earlier entry, whoever
    /// made it, and below 2^53: hand it to the resource, so that it can refuse whoever is late.
    Entered {
        /// The number of this entry, in an order that only rises.
        fence: u64,
    },
}

impl Service for Mutex {
    type Request = Request;
    type Indication = Indication;
}
