//! The trace of a run: who did what, when, because of what. It can be drawn, read and replayed.
//!
//! A [`Trace`] is a header and a list of records, in the order in which things happened. Every
//! record of a step holds the event and the effects as the algorithm's own types have them, so that
//! [`verify`] can run each node again and see whether it does the same. Whatever is drawn is a pure
//! function of the trace; logical clocks are computed from it, not asked of the algorithm.

mod clocks;
pub mod erased;
mod explain;
pub mod frames;
mod jsonl;
mod language;
mod lives;
pub mod mermaid;
pub mod perfetto;
pub(crate) mod plain;
mod record;
mod recorder;
pub mod shiviz;
mod shown;
mod survey;
pub mod svg;
#[cfg(test)]
pub(crate) mod testkit;
mod upkeep;
mod verify;
mod window;
pub(crate) mod words;

pub use clocks::{Clocks, Stamp};
pub use explain::{Explained, Question, survey};
pub use jsonl::{Sealed, read, write};
pub use language::Language;
pub use record::{Cause, Effect, Record, Sending, Step, Told};
pub use recorder::Recorder;
pub(crate) use shown::fields;
pub use shown::{FacetShown, Field, Shown, facets};
pub use survey::{Focus, MomentExplained, NodeExplained, StepExplained, Survey};
pub(crate) use survey::{NodeNow, Surveyor};
pub use verify::{Difference, verify};
pub use window::{Share, Window};
pub use words::{contents, record as sentence, timer};

use conclave_core::{Links, NodeId, Ticks};
use serde::{Deserialize, Serialize};

/// What the first field of a recording says.
pub const FORMAT: &str = "conclave-trace";
/// The version of the format that this program writes and reads.
pub const VERSION: u32 = 1;

/// A run written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What was run.
    pub header: Header,
    /// What happened, in order; the last one is [`Record::End`].
    pub records: Vec<Record>,
}

impl Trace {
    /// The steps, each with its place among the records.
    pub fn steps(&self) -> impl Iterator<Item = (usize, &Step)> {
        let places = self.records.iter().enumerate();
        places.filter_map(|(place, record)| record.step().map(|step| (place, step)))
    }

    /// When the run was over.
    pub fn end(&self) -> Ticks {
        self.records.iter().map(Record::at).max().unwrap_or_default()
    }
}

/// What was run: enough to build the nodes again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always [`FORMAT`].
    pub format: String,
    /// [`VERSION`] at the time of writing.
    pub version: u32,
    /// The id of the algorithm.
    pub algorithm: String,
    /// The question it answers: `mutex`, `election` and so on.
    pub family: String,
    /// How many nodes were asked for.
    pub nodes: u32,
    /// The parameters that were set; where one takes a file, the text of it.
    pub set: Vec<(String, String)>,
    /// The labels of the nodes as they were typed, where they are not 1 to n.
    pub ids: Option<String>,
    /// Who may be elected, as it was typed; everybody if nothing.
    pub candidates: Option<String>,
    /// What people call the nodes, coordinators included, in order of index.
    pub names: Vec<String>,
    /// Which nodes have a link between them.
    pub links: Option<Links>,
    /// The kinds of messages that are sent whether or not anybody asks; drawings leave them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub upkeep: Vec<String>,
    /// What of a real cluster did it; nothing if it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// The command that made it.
    pub command: String,
}

/// A machine of a real cluster. It has no layers below it, but is told what others say; its time
/// is in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Its name on every node: `lock/NAME`, `election` or `detector`.
    pub key: String,
    /// All that the nodes of the cluster agree on.
    pub settings: String,
}

impl Header {
    /// What people call a node.
    pub fn name(&self, node: NodeId) -> &str {
        self.names.get(node.index()).map_or("?", String::as_str)
    }

    /// All nodes, coordinators included.
    pub fn all(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.names.len() as u32).map(NodeId)
    }

    /// A text with marks such as `{3}` in people's words.
    pub fn tell(&self, text: &str) -> String {
        words::tell(text, &self.names)
    }

    /// A title for a drawing.
    pub fn title(&self, language: Language) -> String {
        let clients = self.names.iter().filter(|name| !words::is_coordinator(name)).count();
        let many = |n: usize, [one, several]: [&str; 2]| {
            format!("{n} {}", if n == 1 { one } else { several })
        };
        let nodes = [language.pick("node", "nó"), language.pick("nodes", "nós")];
        let coordinators = [
            language.pick("coordinator", "coordenador"),
            language.pick("coordinators", "coordenadores"),
        ];
        let mut title = format!("{}, {}", self.algorithm, many(clients, nodes));
        if clients < self.names.len() {
            let others = many(self.names.len() - clients, coordinators);
            title += &format!(" {} {others}", language.pick("and", "e"));
        }
        if let Some(machine) = &self.machine {
            return title + &format!(", {}", crate::error::one_line(&machine.key));
        }
        for (name, value) in self.set.iter().filter(|(_, value)| value.len() < 24) {
            title += &format!(", {name}={}", crate::error::one_line(value));
        }
        title
    }
}
