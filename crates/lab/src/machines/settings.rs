//! Cluster settings, which all nodes must share: the number of nodes and their algorithms, as a
//! text that people and programs can read.
//!
//! ```text
//! 3 nodes; engine central-failover mode=lease lease=8000; election majority; detector phi-accrual
//! ```
//!
//! The handshake compares it, the disk keeps it, and a recording has it, so that the machines can
//! be made again. A value that is not one plain word is written as JSON writes it.

use crate::Usage;
use std::fmt;
use std::str::FromStr;

/// The size of a cluster and its algorithms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How many nodes there are.
    pub nodes: u32,
    /// The lock algorithm.
    pub engine: Chosen,
    /// The election.
    pub election: Chosen,
    /// The failure detector.
    pub detector: Chosen,
}

/// An algorithm with parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Its id in the catalogue.
    pub id: String,
    /// Parameters as `(name, value)`; where one takes a file, the text of it.
    pub set: Vec<(String, String)>,
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes", self.nodes)?;
        let parts =
            [("engine", &self.engine), ("election", &self.election), ("detector", &self.detector)];
        for (part, chosen) in parts {
            write!(f, "; {part} {}", chosen.id)?;
            for (name, value) in &chosen.set {
                let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:,".contains(c);
                match !value.is_empty() && value.chars().all(plain) {
                    true => write!(f, " {name}={value}")?,
                    false => write!(f, " {name}={}", serde_json::Value::from(value.as_str()))?,
                }
            }
        }
        Ok(())
    }
}

impl FromStr for Settings {
    type Err = Usage;

    fn from_str(text: &str) -> Result<Self, Usage> {
        let unreadable = || Usage(format!("no settings of a cluster: {text:.80}"));
        let (nodes, mut rest) = text.split_once(" nodes").ok_or_else(unreadable)?;
        let nodes = nodes.parse().map_err(|_| unreadable())?;
        let mut part = |name: &str| {
            let begun = rest.strip_prefix("; ")?.strip_prefix(name)?.strip_prefix(' ')?;
            let (chosen, after) = chosen(begun)?;
            rest = after;
            Some(chosen)
        };
        let parts = (part("engine"), part("election"), part("detector"));
        match parts {
            (Some(engine), Some(election), Some(detector)) if rest.is_empty() => {
                Ok(Self { nodes, engine, election, detector })
            }
            (_, _, _) => Err(unreadable()),
        }
    }
}

/// An algorithm with its parameters, and what follows.
fn chosen(text: &str) -> Option<(Chosen, &str)> {
    let end = text.find([' ', ';']).unwrap_or(text.len());
    let (id, mut rest) = text.split_at(end);
    let mut set = Vec::new();
    while let Some(parameter) = rest.strip_prefix(' ') {
        let (name, value) = parameter.split_once('=')?;
        if value.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
            let read = values.next()?.ok()?;
            rest = &value[values.byte_offset()..];
            set.push((name.to_string(), read));
        } else {
            let end = value.find([' ', ';']).unwrap_or(value.len());
            set.push((name.to_string(), value[..end].to_string()));
            rest = &value[end..];
        }
    }
    Some((Chosen { id: id.to_string(), set }, rest))
}
