//! A run explained: why each step did what it did, and the state of the nodes between the steps.
//!
//! Nothing of this is in a recording. The nodes are run again, as [`verify`] does it, and asked.
//!
//! [`verify`]: super::verify

use super::erased::{AnyProcess, Erased, Fresh};
use super::shown::{self, Field};
use super::verify::Replay;
use super::{Difference, Trace};
use conclave_core::{NodeId, Process, Reason};
use std::ops::Range;

/// What of a run is to be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The records whose steps are to be explained, by their places.
    pub window: Range<usize>,
    /// The nodes are shown as they are when so many records have happened.
    pub at: usize,
}

impl Question {
    /// All of a trace, and its nodes as they are in the end.
    pub fn all(trace: &Trace) -> Self {
        Self { window: 0..trace.records.len(), at: trace.records.len() }
    }
}

/// What the nodes say when they are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// The steps of the window, in order.
    pub steps: Vec<StepExplained>,
    /// Every node at the moment asked for.
    pub nodes: Vec<NodeExplained>,
}

impl Explained {
    /// Why the step of a record did what it did.
    pub fn reasons(&self, place: usize) -> &[Reason] {
        let found = self.steps.binary_search_by_key(&place, |step| step.place);
        found.map_or(&[], |found| &self.steps[found].reasons)
    }
}

/// A step explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepExplained {
    /// Its place among the records.
    pub place: usize,
    /// Why it did what it did.
    pub reasons: Vec<Reason>,
    /// The names of the fields that it changed.
    pub changed: Vec<String>,
}

/// A node at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeExplained {
    /// Its state, field by field; empty if it is not known.
    pub fields: Vec<Field>,
    /// The names of the fields that the last thing that happened has changed, with what they were.
    pub changed: Vec<Field>,
    /// Who waits for whom, as far as this node knows.
    pub waits: Vec<(NodeId, NodeId)>,
}

/// Runs the nodes again, from the state that `fresh` makes, and asks them; or the first thing that
/// is not as recorded.
pub fn explain<P: Process>(
    trace: &Trace,
    question: &Question,
    fresh: &Fresh<P>,
) -> Result<Explained, Box<Difference>> {
    ask(trace, question, &|node| Box::new(Erased::new(node, fresh)))
}

fn ask<'a>(
    trace: &Trace,
    Question { window, at }: &Question,
    process: &dyn Fn(NodeId) -> Box<dyn AnyProcess + 'a>,
) -> Result<Explained, Box<Difference>> {
    let mut replay = Replay::new(trace, process);
    let mut explained = Explained::default();
    let at = (*at).min(trace.records.len());
    let mut before = replay.states();
    if at == 0 {
        explained.nodes = replay.explained(&before);
    }
    for (place, record) in trace.records.iter().enumerate().take(at.max(window.end)) {
        if place + 1 == at {
            before = replay.states();
        }
        let asked = record.step().filter(|_| window.contains(&place)).map(|step| step.node);
        let was = asked.map(|node| replay.listen(node));
        replay.happens(trace, place, record)?;
        if let (Some(node), Some(was)) = (asked, was) {
            let (reasons, is) = replay.heard(node);
            let changed = shown::changed(&was, &is).map(|field| field.name.clone()).collect();
            explained.steps.push(StepExplained { place, reasons, changed });
        }
        if place + 1 == at {
            explained.nodes = replay.explained(&before);
        }
    }
    Ok(explained)
}

impl Replay<'_> {
    /// The state of every node whose state is known.
    fn states(&self) -> Vec<Vec<Field>> {
        (0..self.nodes.len()).map(|node| self.state(NodeId(node as u32))).collect()
    }

    fn state(&self, node: NodeId) -> Vec<Field> {
        let node = &self.nodes[node.index()];
        if node.known { node.process.state() } else { Vec::new() }
    }

    /// Listens to a node, and tells its state.
    fn listen(&mut self, node: NodeId) -> Vec<Field> {
        if let Some(node) = self.nodes.get_mut(node.index()) {
            node.process.listen(true);
        }
        self.state(node)
    }

    /// What a node said, and its state; from now on nobody listens.
    fn heard(&mut self, node: NodeId) -> (Vec<Reason>, Vec<Field>) {
        let process = &mut self.nodes[node.index()].process;
        process.listen(false);
        (process.reasons(), self.state(node))
    }

    fn explained(&self, before: &[Vec<Field>]) -> Vec<NodeExplained> {
        let nodes = self.nodes.iter().zip(self.states()).zip(before);
        nodes
            .map(|((node, fields), was)| NodeExplained {
                changed: shown::changed(&fields, was).cloned().collect(),
                waits: if node.known { node.process.waits() } else { Vec::new() },
                fields,
            })
            .collect()
    }
}
