//! The single list of algorithms: what each is, promises, costs and takes.
//!
//! Command line, documentation and conformance tests derive from it.

mod entry;
mod lamport;
mod maekawa;
mod parameter;
mod ricart_agrawala;
mod roucairol_carvalho;

pub use entry::{Assumption, Cost, Entry, Family, Formula, Rejoin, Setting};
pub use parameter::{Kind, Parameter, Params, parse_ticks};

use crate::Error;
use conclave_core::election::Rule;
use conclave_core::mutex::Mutex;
use conclave_core::{NodeId, Oracle, Process};

/// Every algorithm, in the order in which they are best met.
pub const ENTRIES: &[&Entry] =
    &[&lamport::ENTRY, &ricart_agrawala::ENTRY, &roucairol_carvalho::ENTRY, &maekawa::ENTRY];

/// The entry of that id.
pub fn find(id: &str) -> Result<&'static Entry, Error> {
    ENTRIES
        .iter()
        .copied()
        .find(|entry| entry.id == id)
        .ok_or_else(|| Error::UnknownAlgorithm { id: id.to_string(), hint: hint(id) })
}

/// The nodes of one algorithm, ready to be run by any driver.
pub struct Cluster<P> {
    /// How many nodes the application runs on: the first ones.
    pub clients: u32,
    /// How many nodes behind them only coordinate.
    pub coordinators: u32,
    /// Whether it falls silent when nobody wants to enter.
    pub silent: bool,
    /// How an oracle should elect for it, if it stands on an election.
    pub election: Option<Rule>,
    /// Makes the node in its very first state.
    pub fresh: Box<dyn Fn(NodeId) -> P + Send + Sync>,
}

impl<P> Cluster<P> {
    /// A cluster of equals that falls silent when nobody wants to enter.
    pub fn of_equals(n: u32, fresh: impl Fn(NodeId) -> P + Send + Sync + 'static) -> Self {
        Self { clients: n, coordinators: 0, silent: true, election: None, fresh: Box::new(fresh) }
    }

    /// All nodes, coordinators included.
    pub fn nodes(&self) -> u32 {
        self.clients + self.coordinators
    }
}

/// Code that can run any mutual exclusion algorithm, whatever its types.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Gets the cluster that was asked for.
    fn visit<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Mutex>,
        P::Uses: Oracle;
}

/// Builds the cluster of a setting and hands it to the visitor.
pub fn visit<V: Visitor>(setting: &Setting, visitor: V) -> Result<V::Output, Error> {
    match setting.entry.id {
        "lamport" => Ok(visitor.visit(lamport::cluster(setting)?)),
        "ricart-agrawala" => Ok(visitor.visit(ricart_agrawala::cluster(setting)?)),
        "roucairol-carvalho" => Ok(visitor.visit(roucairol_carvalho::cluster(setting)?)),
        "maekawa" => Ok(visitor.visit(maekawa::cluster(setting)?)),
        other => unreachable!("'{other}' is in the list but cannot be built"),
    }
}

/// The ids that look like what was typed, or where to find them all.
fn hint(typed: &str) -> String {
    let alike: Vec<&str> = ENTRIES
        .iter()
        .map(|entry| entry.id)
        .filter(|id| id.contains(typed) || typed.contains(id) || distance(id, typed) <= 3)
        .take(4)
        .collect();
    match alike.as_slice() {
        [] => "'conclave algorithms' lists them".to_string(),
        alike => format!("did you mean {}?", alike.join(" or ")),
    }
}

/// How many letters must be added, dropped or changed to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = std::mem::replace(&mut row[j + 1], 0);
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.chars().count()]
}
