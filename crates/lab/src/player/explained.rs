//! What the nodes say when they are run again and asked: why, and what they know.

use super::events::{Event, Reason};
use super::index;
use super::moment::{Asked, Facet, Field};
use super::played::Played;
use crate::documents;
use conclave_core::{FacetKind, NodeId};
use conclave_sim::trace::{self, FacetShown, Focus, Header, Language, NodeExplained, Survey};
use std::borrow::Cow;

/// What the nodes said while they ran; else they are run again, and asked. Nodes that cannot be
/// asked, those of a recording with gaps, say nothing.
pub fn survey<'a>(played: &'a Played, focus: &Focus) -> Cow<'a, Survey> {
    match &played.survey {
        Some(survey) => Cow::Borrowed(survey),
        None => {
            let survey = played.experiment.survey(&played.trace, focus);
            Cow::Owned(survey.unwrap_or_default())
        }
    }
}

/// Adds to an event why it happened, and what it changed.
pub fn explain(event: &mut Event, survey: &Survey, played: &Played, language: Language) {
    let place = event.i - 1;
    let found = survey.steps.binary_search_by_key(&place, |step| step.place);
    let Some(step) = found.ok().map(|found| &survey.steps[found]) else { return };
    let header = &played.trace.header;
    let told = |reason: &conclave_core::Reason| Reason {
        code: reason.why.code,
        rule: language.rule(reason.why.rule),
        text: header.tell(&language.reason(reason)),
        place: documents::place(played.experiment.setting.entry, reason.why),
        own: reason.own,
    };
    event.why = step.reasons.iter().map(told).collect();
    event.fields_changed.clone_from(&step.changed);
}

/// The nodes after so many events, if they were asked then.
pub fn moment(played: &Played, survey: &Survey, at: usize, language: Language) -> Asked {
    let found = survey.moments.iter().find(|moment| moment.at == at);
    let explained = found.map(|moment| moment.nodes.as_slice()).unwrap_or_default();
    let header = &played.trace.header;
    let declared = played.experiment.setting.entry.facets;
    let mut waits: Vec<(NodeId, NodeId)> =
        explained.iter().flat_map(|node| node.waits.iter().copied()).collect();
    waits.sort();
    waits.dedup();
    let fields = |node: &NodeExplained| fields(node, header, language);
    let facets = |node: &NodeExplained| {
        let shown = trace::facets(&node.fields, declared);
        shown.iter().map(|shown| facet(shown, header, language)).collect()
    };
    Asked {
        fields: explained.iter().map(fields).collect(),
        facets: explained.iter().map(facets).collect(),
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
