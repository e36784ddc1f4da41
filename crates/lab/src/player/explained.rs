//! What the nodes say when they are run again and asked: why, and what they know.

use super::events::{Event, Reason};
use super::index;
use super::moment::{Asked, Facet, Field};
use super::played::Played;
use conclave_core::{FacetKind, NodeId};
use conclave_sim::trace::{self, Explained, FacetShown, Header, Language, NodeExplained, Question};
use std::ops::Range;

/// Asks the nodes: why they did what they did in the window, and how they are after so many
/// events. Nodes that cannot be asked, those of a recording with gaps, say nothing.
pub fn ask(played: &Played, window: &Range<usize>, at: usize) -> Explained {
    let question = Question { window: window.clone(), at };
    played.experiment.explain(&played.trace, &question).unwrap_or_default()
}

/// Adds to an event why it happened, and what it changed.
pub fn explain(event: &mut Event, explained: &Explained, header: &Header, language: Language) {
    let place = event.i - 1;
    let found = explained.steps.binary_search_by_key(&place, |step| step.place);
    let Some(step) = found.ok().map(|found| &explained.steps[found]) else { return };
    let told = |reason: &conclave_core::Reason| Reason {
        code: reason.why.code,
        rule: reason.why.rule,
        text: header.tell(&language.reason(reason)),
    };
    event.why = step.reasons.iter().map(told).collect();
    event.fields_changed.clone_from(&step.changed);
}

/// The nodes at the moment that was asked for.
pub fn moment(played: &Played, explained: &Explained, language: Language) -> Asked {
    let header = &played.trace.header;
    let declared = played.experiment.setting.entry.facets;
    let mut waits: Vec<(NodeId, NodeId)> =
        explained.nodes.iter().flat_map(|node| node.waits.iter().copied()).collect();
    waits.sort();
    waits.dedup();
    let fields = |node: &NodeExplained| fields(node, header, language);
    let facets = |node: &NodeExplained| {
        let shown = trace::facets(&node.fields, declared);
        shown.iter().map(|shown| facet(shown, header, language)).collect()
    };
    Asked {
        fields: explained.nodes.iter().map(fields).collect(),
        facets: explained.nodes.iter().map(facets).collect(),
        waits,
    }
}

fn fields(node: &NodeExplained, header: &Header, language: Language) -> Vec<Field> {
    let text = |field: &trace::Field| header.tell(&field.value.text(language));
    let was = |name: &str| node.changed.iter().find(|old| old.name == name).map(text);
    let field = |field: &trace::Field| Field {
        name: header.tell(&field.label(language)),
        value: text(field),
        was: was(&field.name),
    };
    node.fields.iter().map(field).collect()
}

fn facet(shown: &FacetShown, header: &Header, language: Language) -> Facet {
    let name = language.pick(shown.facet.english, shown.facet.portuguese).to_string();
    let one = shown.nodes.first().copied().map(index);
    match shown.facet.kind {
        FacetKind::Queue | FacetKind::QueueFromEnd | FacetKind::QueueByNode => {
            let text = |item: &trace::Shown| header.tell(&item.text(language));
            Facet::Queue { name, items: shown.items.iter().map(text).collect() }
        }
        FacetKind::Set => {
            Facet::Set { name, nodes: shown.nodes.iter().copied().map(index).collect() }
        }
        FacetKind::Node => Facet::Node { name, node: one },
        FacetKind::Edge => Facet::Edge { name, to: one },
    }
}
