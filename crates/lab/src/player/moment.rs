//! The moment at the cursor: every node, what is under way, what is cut, who waits for whom, and
//! what can be done.

use super::actions::{self, Action};
use super::limits::FLYING_MAX;
use super::messages::{Message, Messages};
use super::played::Played;
use super::signs::Signs;
use super::{index, units, waits};
use conclave_core::{NodeId, Ticks};
use conclave_sim::trace::{self, Language, Sending};
use serde::Serialize;
use std::ops::Range;

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

impl Moment {
    /// About how many bytes there are to tell of what is under way and of what runs.
    pub fn size(&self) -> usize {
        let flying = self.flying.iter().map(|flying| size_of::<Flying>() + flying.details.len());
        let timers = self.nodes.iter().flat_map(|node| &node.timers);
        flying.sum::<usize>() + timers.map(|timer| timer.name.len()).sum::<usize>()
    }
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

/// Moments of a run, told in their order.
pub struct Clockwork<'a> {
    played: &'a Played,
    messages: &'a Messages<'a>,
    language: Language,
    signs: Signs,
    /// How many events have happened.
    happened: usize,
    /// What may be under way at these moments.
    afloat: Vec<&'a Message<'a>>,
}

impl<'a> Clockwork<'a> {
    /// For moments among these, after so many events.
    pub fn new(
        played: &'a Played,
        messages: &'a Messages<'a>,
        moments: &Range<usize>,
        language: Language,
    ) -> Self {
        let afloat = messages.iter().filter(|message| {
            let gone = message.sending.arrivals().count() <= message.landed.len();
            let landed = message.landed.last().is_some_and(|landing| *landing <= moments.start);
            message.sent_by < moments.end && !(gone && landed) && message.sending.arrival.is_some()
        });
        let afloat = afloat.collect();
        let signs = Signs::new(&played.trace);
        Self { played, messages, language, signs, happened: 0, afloat }
    }

    /// The moment after so many events, no fewer than before.
    pub fn moment(&mut self, event: usize, asked: &Asked) -> Moment {
        let records = &self.played.trace.records;
        let event = event.min(records.len());
        for record in &records[self.happened.min(event)..event] {
            if self.played.patience.is_over() {
                break;
            }
            self.signs.happens(record);
        }
        self.happened = event;
        let Self { played, messages, language, ref signs, .. } = *self;
        let under_way = self.under_way();
        let flying = under_way.iter().map(|(number, due)| self.flying(*number, *due)).collect();
        let pair = |(a, b): (NodeId, NodeId)| (index(a), index(b));
        let cycle = waits::cycle(&asked.waits).map(|cycle| cycle.into_iter().map(index).collect());
        Moment {
            event,
            at: units(signs.now),
            nodes: nodes(played, signs, asked, language),
            flying,
            cuts: signs.cut_links().into_iter().map(pair).collect(),
            waits: asked.waits.iter().copied().map(pair).collect(),
            cycle,
            actions: actions::actions(played, messages, event, signs, &under_way, language),
        }
    }

    /// What has left and not come, with when it comes: a message that comes twice is under way
    /// twice.
    fn under_way(&self) -> Vec<(u64, Ticks)> {
        let mut list = Vec::new();
        let sent = self.afloat.iter().filter(|message| message.sent_by <= self.happened);
        for message in sent.take_while(|_| !self.played.patience.is_over()) {
            let due = message.still_due(self.happened).into_iter();
            list.extend(due.map(|due| (message.sending.number, due.max(self.signs.now))));
        }
        list.sort_by_key(|(number, due)| (*due, *number));
        list.truncate(FLYING_MAX);
        list
    }

    fn flying(&self, number: u64, due: Ticks) -> Flying {
        let header = &self.played.trace.header;
        let message = self.messages.get(number).expect("what is under way was sent");
        let Sending { to, label, details, .. } = message.sending;
        Flying {
            number,
            from: index(message.from),
            to: index(*to),
            label: label.clone(),
            details: trace::contents(label, details, header, self.language),
            sent: units(message.sent),
            arrival: units(due),
            nth: message.nth,
            key: message.key(&header.names),
            upkeep: header.upkeep.contains(label),
        }
    }
}

fn nodes(played: &Played, signs: &Signs, asked: &Asked, language: Language) -> Vec<NodeNow> {
    let header = &played.trace.header;
    let timer = |(name, (since, until)): (&String, &(Ticks, Ticks))| Running {
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
