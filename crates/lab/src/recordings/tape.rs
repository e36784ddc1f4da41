//! The files: whose they are, and whether they belong together.

use crate::Usage;
use crate::files;
use conclave_core::{NodeId, Ticks};
use conclave_net::recording::{self, Entry, Header, Recording, Step};
use conclave_net::{AnyIndication, Deed, Input, Key};
use std::collections::BTreeMap;

/// The largest recording that is read.
const BYTES_MAX: u64 = 1 << 30;
/// No cluster is larger.
const NODES_MAX: u32 = 10_000;

/// What one node wrote down from a start to its end.
#[derive(Debug)]
pub struct Tape {
    /// Where it was read from.
    pub file: String,
    /// What it holds.
    pub recording: Recording,
}

/// Where something is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// On which tape.
    pub tape: usize,
    /// Which entry of it, from 0.
    pub entry: usize,
}

/// All that was written down of one cluster.
#[derive(Debug)]
pub struct Tapes {
    /// By node, then by start.
    pub tapes: Vec<Tape>,
}

impl Tape {
    /// Reads a file.
    pub fn read(file: &str) -> Result<Self, Usage> {
        let in_file = |reason: String| Usage(format!("{file}: {reason}"));
        let bytes = files::bytes_at_most(BYTES_MAX, file).map_err(in_file)?;
        let recording = recording::read(&bytes).map_err(|error| in_file(error.to_string()))?;
        let tape = Self { file: file.to_string(), recording };
        tape.check().map_err(in_file)?;
        Ok(tape)
    }

    /// Whose it is.
    pub fn header(&self) -> &Header {
        &self.recording.header
    }

    /// Its steps, each with its place among the entries.
    pub fn steps(&self) -> impl Iterator<Item = (usize, &Step)> {
        let places = self.recording.entries.iter().enumerate();
        places.filter_map(|(place, entry)| match entry {
            Entry::Step(step) => Some((place, step)),
            Entry::Restored(_) | Entry::Stopped(_) => None,
        })
    }

    /// When its last step was, since the start of the node.
    pub fn end(&self) -> Ticks {
        self.steps().last().map_or(Ticks::ZERO, |(_, step)| step.at)
    }

    /// Nodes that do not exist, a clock that goes back, or a machine that comes back late would
    /// mislead whoever reads on.
    fn check(&self) -> Result<(), String> {
        let Header { node, n, .. } = *self.header();
        if n > NODES_MAX || node.0 >= n {
            return Err(format!("node {node} of {n}: there is none such"));
        }
        let wrong = |place: usize| format!("entry {}: cannot have happened like this", place + 1);
        let mut entries = self.recording.entries.iter();
        let came_back = entries.rposition(|entry| matches!(entry, Entry::Restored(_)));
        if let Some(late) = came_back.filter(|last| self.steps().any(|(place, _)| place < *last)) {
            return Err(wrong(late));
        }
        let mut before = Ticks::ZERO;
        for (place, step) in self.steps() {
            let exists = |other: NodeId| other.0 < n && other != node;
            let told = |told: &AnyIndication| match *told {
                AnyIndication::Elected { leader, .. } => leader.0 < n,
                AnyIndication::Suspect(of) | AnyIndication::Trust(of) => of.0 < n,
                AnyIndication::Entered { .. } | AnyIndication::Deposed { .. } => true,
            };
            let heard = match &step.input {
                Input::Message { from, .. } => exists(*from) && step.arrival.is_some(),
                Input::Indication(what) => told(what),
                Input::Start | Input::Restart | Input::Request(_) | Input::Timer(_) => true,
            };
            let done = step.deeds.iter().all(|done| match &done.deed {
                Deed::Send { to, .. } => exists(*to) && done.sent.is_some(),
                Deed::SetTimer { .. } => done.due.is_some(),
                Deed::CancelTimer { .. } | Deed::Indicate(_) | Deed::Request(_) => true,
            });
            if !heard || !done || step.at < before {
                return Err(wrong(place));
            }
            before = step.at;
        }
        Ok(())
    }
}

impl Tapes {
    /// Reads files that must be of one cluster.
    pub fn read(files: &[String]) -> Result<Self, Usage> {
        let mut tapes = files.iter().map(|file| Tape::read(file)).collect::<Result<Vec<_>, _>>()?;
        tapes.sort_by_key(|tape| (tape.header().node, tape.header().incarnation));
        for pair in tapes.windows(2) {
            let [one, other] = [&pair[0], &pair[1]].map(|tape| tape.header());
            let files = format!("{} and {}", pair[0].file, pair[1].file);
            if (&one.cluster, one.n, &one.settings) != (&other.cluster, other.n, &other.settings) {
                return Err(Usage(format!("{files}: of different clusters")));
            }
            if (one.node, one.incarnation) == (other.node, other.incarnation) {
                let node = one.node;
                let start = one.incarnation;
                return Err(Usage(format!("{files}: both are of start {start} of node {node}")));
            }
        }
        Ok(Self { tapes })
    }

    /// What they all say of the cluster.
    pub fn header(&self) -> &Header {
        self.tapes[0].header()
    }

    /// All nodes of the cluster.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.header().n).map(NodeId)
    }

    /// The tapes of a node, in order.
    pub fn of(&self, node: NodeId) -> impl Iterator<Item = (usize, &Tape)> {
        let all = self.tapes.iter().enumerate();
        all.filter(move |(_, tape)| tape.header().node == node)
    }

    /// The step at a place.
    pub fn step(&self, place: Place) -> Option<&Step> {
        match self.tapes.get(place.tape)?.recording.entries.get(place.entry)? {
            Entry::Step(step) => Some(step),
            Entry::Restored(_) | Entry::Stopped(_) => None,
        }
    }

    /// Every step, with its place.
    pub fn steps(&self) -> impl Iterator<Item = (Place, &Step)> {
        self.tapes.iter().enumerate().flat_map(|(tape, one)| {
            one.steps().map(move |(entry, step)| (Place { tape, entry }, step))
        })
    }

    /// The machines, each with the number of its steps: none, if it only came back from disk.
    pub fn machines(&self) -> BTreeMap<Key, u64> {
        let mut machines = BTreeMap::new();
        for entry in self.tapes.iter().flat_map(|tape| &tape.recording.entries) {
            match entry {
                Entry::Restored(restored) => {
                    machines.entry(restored.key.clone()).or_default();
                }
                Entry::Step(step) => *machines.entry(step.key.clone()).or_default() += 1,
                Entry::Stopped(_) => {}
            }
        }
        machines
    }

    /// The tape of the same node's next start.
    pub fn next_of_same_node(&self, tape: usize) -> Option<&Tape> {
        let node = self.tapes[tape].header().node;
        self.tapes.get(tape + 1).filter(|next| next.header().node == node)
    }
}
