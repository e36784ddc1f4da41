//! What the nodes of a run say when they are asked: why they do what they do, and what they know.
//!
//! They can be asked while they run, or when they are run again ([`super::explain`]). A focus says
//! what somebody looks at, so that they are asked that and no more.

use super::shown::{self, Field};
use crate::patience::Patience;
use conclave_core::{NodeId, Reason};
use std::ops::Range;

/// What somebody looks at of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// The records whose steps are to be explained, by their places.
    pub window: Range<usize>,
    /// The nodes are shown as they are when so many records have happened, for each of these.
    pub moments: Range<usize>,
    /// How long they wait for it, where the nodes are run again.
    pub patience: Patience,
}

impl Focus {
    /// How many records must have happened until all was seen.
    pub fn end(&self) -> usize {
        let last = self.moments.end.saturating_sub(1);
        if self.window.is_empty() { last } else { last.max(self.window.end) }
    }
}

/// What the nodes say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The steps of the window, in order.
    pub steps: Vec<StepExplained>,
    /// The moments, in order. Of a run that is over before, its end.
    pub moments: Vec<MomentExplained>,
}

/// The nodes between two records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MomentExplained {
    /// How many records have happened.
    pub at: usize,
    /// Every node.
    pub nodes: Vec<NodeExplained>,
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

/// What a node says of itself now.
pub(crate) struct NodeNow {
    pub fields: Vec<Field>,
    pub waits: Vec<(NodeId, NodeId)>,
}

/// Puts together what the nodes say while records happen.
pub(crate) struct Surveyor {
    focus: Focus,
    /// The nodes as they were when they were last looked at.
    before: Option<Vec<Vec<Field>>>,
    survey: Survey,
}

impl Surveyor {
    pub fn new(focus: Focus) -> Self {
        Self { focus, before: None, survey: Survey::default() }
    }

    /// What somebody looks at.
    pub fn focus(&self) -> &Focus {
        &self.focus
    }

    /// Whether the nodes are looked at when so many records have happened: also before the first
    /// moment, to tell what has changed.
    pub fn looks_at(&self, happened: usize) -> bool {
        let Range { start, end } = self.focus.moments;
        happened + 1 >= start && happened < end
    }

    /// The nodes when so many records have happened, the last of which may have come at once.
    pub fn sees(&mut self, happened: usize, nodes: Vec<NodeNow>) {
        let last = self.survey.moments.last().map(|moment| moment.at + 1);
        let first = last.unwrap_or(self.focus.moments.start);
        let before = self.before.take();
        let changed = |place: usize, now: &[Field]| {
            let was = before.as_ref().and_then(|before| before.get(place));
            was.map_or_else(Vec::new, |was| shown::changed(now, was).cloned().collect())
        };
        for at in first..(happened + 1).min(self.focus.moments.end) {
            let told = nodes.iter().enumerate().map(|(place, node)| NodeExplained {
                changed: changed(place, &node.fields),
                fields: node.fields.clone(),
                waits: node.waits.clone(),
            });
            self.survey.moments.push(MomentExplained { at, nodes: told.collect() });
        }
        self.before = Some(nodes.into_iter().map(|node| node.fields).collect());
    }

    /// A step of the window: what its node said, and its state before and after.
    pub fn hears(&mut self, place: usize, reasons: Vec<Reason>, was: &[Field], is: &[Field]) {
        let changed = shown::changed(was, is).map(|field| field.name.clone()).collect();
        self.survey.steps.push(StepExplained { place, reasons, changed });
    }

    /// So many records have happened, and no more will.
    pub fn finish(mut self, happened: usize, nodes: Vec<NodeNow>) -> Survey {
        let Range { start, end } = self.focus.moments;
        if start < end && start > happened {
            self.focus.moments = happened..happened + 1; // Over before it was to be looked at.
        }
        if self.looks_at(happened) {
            self.sees(happened, nodes);
        }
        self.survey
    }
}
