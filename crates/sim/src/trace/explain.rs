//! A run explained: why each step did what it did, and the state of the nodes between the steps.
//!
//! Nothing of this is in a recording. The nodes are run again, as [`verify`] does it, and asked.
//!
//! [`verify`]: super::verify

use super::erased::{AnyProcess, Erased, Fresh};
use super::shown::Field;
use super::survey::{Focus, NodeExplained, NodeNow, StepExplained, Survey, Surveyor};
use super::verify::{Node, Replay};
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

    /// What is looked at for it.
    pub fn focus(&self, trace: &Trace) -> Focus {
        let at = self.at.min(trace.records.len());
        Focus { window: self.window.clone(), moments: at..at + 1, ..Focus::default() }
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

impl From<Survey> for Explained {
    fn from(Survey { steps, mut moments }: Survey) -> Self {
        let nodes = moments.pop().map(|moment| moment.nodes).unwrap_or_default();
        Self { steps, nodes }
    }
}

/// Runs the nodes again, from the state that `fresh` makes, and asks them all that is to be seen;
/// or the first thing that is not as recorded.
pub fn survey<P: Process>(
    trace: &Trace,
    focus: &Focus,
    fresh: &Fresh<P>,
) -> Result<Survey, Box<Difference>> {
    ask(trace, focus, &|node| Box::new(Erased::new(node, fresh)))
}

fn ask<'a>(
    trace: &Trace,
    focus: &Focus,
    process: &dyn Fn(NodeId) -> Box<dyn AnyProcess + 'a>,
) -> Result<Survey, Box<Difference>> {
    let mut replay = Replay::new(trace, focus.patience, process);
    let mut surveyor = Surveyor::new(focus.clone());
    let last = trace.records.len().min(focus.end());
    for (place, record) in trace.records[..last].iter().enumerate() {
        if surveyor.looks_at(place) {
            surveyor.sees(place, replay.nodes_now());
        }
        let asked = record.step().filter(|_| focus.window.contains(&place)).map(|step| step.node);
        let was = asked.map(|node| replay.listen(node));
        replay.happens(trace, place, record)?;
        if let (Some(node), Some(was)) = (asked, was) {
            let (reasons, is) = replay.heard(node);
            surveyor.hears(place, reasons, &was, &is);
        }
    }
    Ok(surveyor.finish(last, replay.nodes_now()))
}

impl Replay<'_> {
    /// Every node, as far as its state is known.
    fn nodes_now(&self) -> Vec<NodeNow> {
        let now = |node: &Node<'_>| NodeNow {
            fields: node.fields(),
            waits: if node.known { node.process.waits() } else { Vec::new() },
        };
        self.nodes.iter().map(now).collect()
    }

    /// Listens to a node, and tells its state.
    fn listen(&mut self, node: NodeId) -> Vec<Field> {
        let Some(node) = self.nodes.get_mut(node.index()) else { return Vec::new() };
        node.process.listen(true);
        node.fields()
    }

    /// What a node said, and its state; from now on nobody listens.
    fn heard(&mut self, node: NodeId) -> (Vec<Reason>, Vec<Field>) {
        let node = &mut self.nodes[node.index()];
        node.process.listen(false);
        (node.process.reasons(), node.fields())
    }
}

impl Node<'_> {
    fn fields(&self) -> Vec<Field> {
        if self.known { self.process.state() } else { Vec::new() }
    }
}
