//! Recordings: what one node went through from a start to its end, as a file, `.rec`.
//!
//! ```text
//! file  = magic, version (u32), frame of the header, frame of each entry
//! frame = length of the body (u32), check (u32), body, check (u32)
//! ```
//!
//! Numbers are little-endian, bodies are postcard. A check is taken of all that came before it, so
//! that what was cut off, changed, left out or put elsewhere is found. Every start of a node makes
//! a recording of its own. An entry is written when its step is on disk: what a recording holds has
//! happened.

mod reader;
mod writer;

pub use reader::{Recording, RecordingError, read};
pub use writer::{Recorder, create_file};

use crate::{Deed, Input, Key, Lane};
use conclave_core::{Hasher, NodeId, Ticks};
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"conclave";
const VERSION: u32 = 1;

/// Whose recording it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The name of the cluster.
    pub cluster: String,
    /// The algorithms and parameters of the cluster, as the handshake compares them.
    pub settings: String,
    /// The node.
    pub node: NodeId,
    /// How many nodes there are.
    pub n: u32,
    /// How many times this node has started with its disk, this time included.
    pub incarnation: u32,
    /// When it started, in microseconds since 1970, by a clock that may be wrong.
    pub started: u64,
}

/// One thing that happened to one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// It came back from disk. All these come before the first step.
    Restored(Restored),
    /// It took a step. The first one of a machine that did not come back is [`Input::Start`].
    Step(Step),
    /// The node stopped in good order: the last entry.
    Stopped(Ticks),
}

/// A machine that came back from disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Which.
    pub key: Key,
    /// What [`crate::Automaton::restore`] was given.
    pub saved: Vec<u8>,
    /// Its running timers, and when each is due.
    pub timers: Vec<(Vec<u8>, Ticks)>,
}

/// One step of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// When, since the node started.
    pub at: Ticks,
    /// Which machine.
    pub key: Key,
    /// What happened to it.
    pub input: Input,
    /// For a message: how it came, and its number from that sender.
    pub arrival: Option<(Lane, u64)>,
    /// The answers to `choose`, in order.
    pub choices: Vec<u32>,
    /// What it did, in order.
    pub deeds: Vec<Done>,
}

/// A deed, and what the host made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// What the machine wanted.
    pub deed: Deed,
    /// For a message: how it went, and its number to that receiver.
    pub sent: Option<(Lane, u64)>,
    /// For a timer that was set: when it is due, since the node started.
    pub due: Option<Ticks>,
}

/// The check of all that came before, carried along by writer and reader alike.
#[derive(Default)]
struct Check(Hasher);

impl Check {
    fn of_length(&mut self, length: u32) -> [u8; 4] {
        self.0.write_u64(u64::from(length));
        self.value()
    }

    fn of_body(&mut self, body: &[u8]) -> [u8; 4] {
        self.0.write(body);
        self.value()
    }

    fn value(&self) -> [u8; 4] {
        (self.0.finish() as u32).to_le_bytes()
    }
}
