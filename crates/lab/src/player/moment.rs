//! The moment at the cursor: every node, what is under way, what is cut, who waits for whom, and
//! what can be done.

use super::actions::{self, Action};
use super::messages::Messages;
use super::played::Played;
use super::signs::Signs;
use super::{index, units, waits};
use conclave_core::{NodeId, Ticks};
use conclave_sim::trace::{self, Language};
use serde::Serialize;

/// The moment after an event.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Moment {
    pub event: usize,
    pub at: f64,
    pub nodes: Vec<NodeNow>,
    pub flying: Vec<Flying>,
    pub cuts: Vec<(u32, u32)>,
    pub waits: Vec<(u32, u32)>,
    pub cycle: Option<Vec<u32>>,
    pub actions: Vec<Action>,
}

/// A node at a moment.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct NodeNow {
    pub up: bool,
    pub paused: bool,
    pub sign: &'static str,
    pub leader: Option<u32>,
    pub suspects: Vec<u32>,
    pub fields: Vec<Field>,
    pub timers: Vec<Running>,
    pub facets: Vec<Facet>,
}

/// A part of a node's state.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Field {
    pub name: String,
    pub value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}

/// A running timer.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Running {
    pub name: String,
    pub since: f64,
    pub until: f64,
}

/// What of a node's state helps to understand it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub enum Facet {
    Queue { name: String, items: Vec<String> },
    Set { name: String, nodes: Vec<u32> },
    Node { name: String, node: Option<u32> },
    Edge { name: String, to: Option<u32> },
}

/// A message under way.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Flying {
    pub number: u64,
    pub from: u32,
    pub to: u32,
    pub label: String,
    pub details: String,
    pub sent: f64,
    pub arrival: f64,
    pub nth: u32,
    pub key: String,
    pub upkeep: bool,
}

/// What the nodes themselves say, when they are run again and asked.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Of each node its fields.
    pub fields: Vec<Vec<Field>>,
    /// Of each node its facets.
    pub facets: Vec<Vec<Facet>>,
    /// Who waits for whom.
    pub waits: Vec<(NodeId, NodeId)>,
}

/// The moment after so many events.
pub fn moment(
    played: &Played,
    messages: &Messages,
    event: usize,
    asked: Asked,
    language: Language,
) -> Moment {
    let event = event.min(played.trace.records.len());
    let signs = Signs::after(&played.trace, event);
    let under_way = under_way(played, messages, event);
    let flying = under_way.iter().map(|(number, due)| flying(played, messages, *number, *due));
    let flying: Vec<Flying> = flying.map(|flying| flying(language)).collect();
    let pair = |(a, b): (NodeId, NodeId)| (index(a), index(b));
    let cycle = waits::cycle(&asked.waits).map(|cycle| cycle.into_iter().map(index).collect());
    let actions = actions::actions(played, messages, event, &signs, &under_way, language);
    Moment {
        event,
        at: units(signs.now),
        nodes: nodes(played, &signs, &asked, language),
        flying,
        cuts: signs.cut_links().into_iter().map(pair).collect(),
        waits: asked.waits.iter().copied().map(pair).collect(),
        cycle,
        actions,
    }
}

fn nodes(played: &Played, signs: &Signs, asked: &Asked, language: Language) -> Vec<NodeNow> {
    let header = &played.trace.header;
    let timer = |(name, since, until): &(String, Ticks, Ticks)| Running {
        name: trace::timer(name, header, language),
        since: units(*since),
        until: units(*until),
    };
    let now = |(place, node): (usize, &super::signs::NodeSigns)| NodeNow {
        up: !node.down,
        paused: node.paused,
        sign: node.sign(NodeId(place as u32)),
        leader: node.leader.map(index),
        suspects: node.suspects.iter().copied().map(index).collect(),
        fields: asked.fields.get(place).cloned().unwrap_or_default(),
        timers: node.timers.iter().map(timer).collect(),
        facets: asked.facets.get(place).cloned().unwrap_or_default(),
    };
    signs.nodes.iter().enumerate().map(now).collect()
}

/// What has left and not come, with when it comes: a message that comes twice is under way twice.
pub fn under_way(played: &Played, messages: &Messages, event: usize) -> Vec<(u64, Ticks)> {
    let now = played.trace.records[..event].last().map_or(Ticks::ZERO, |record| record.at());
    let mut list = Vec::new();
    for message in messages.iter().filter(|message| message.sent_by <= event) {
        let landed = message.landed.iter().filter(|landing| **landing <= event).count();
        let mut due: Vec<Ticks> = message.arrivals().collect();
        due.sort();
        list.extend(due.into_iter().skip(landed).map(|due| (message.number, due.max(now))));
    }
    list.sort_by_key(|(number, due)| (*due, *number));
    list
}

fn flying<'a>(
    played: &'a Played,
    messages: &'a Messages,
    number: u64,
    due: Ticks,
) -> impl FnOnce(Language) -> Flying + use<'a> {
    move |language| {
        let header = &played.trace.header;
        let message = messages.get(number).expect("what is under way was sent");
        Flying {
            number,
            from: index(message.from),
            to: index(message.to),
            label: message.label.clone(),
            details: trace::contents(&message.label, &message.details, header, language),
            sent: units(message.sent),
            arrival: units(due),
            nth: message.nth,
            key: message.key(&header.names),
            upkeep: header.upkeep.contains(&message.label),
        }
    }
}
