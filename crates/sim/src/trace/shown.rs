//! A node's state as people read it: named fields, in words of their language.
//!
//! A state is serialized into a tree ([`Shown`]) that knows what a node, a set of nodes and a
//! Lamport stamp are, and has nothing of Rust's own words for them.

mod serializer;

use super::Language;
use conclave_core::clock::Stamp;
use conclave_core::{Facet, FacetKind, NodeId};
use serde::Serialize;
use std::borrow::Cow;

/// A value as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// None at all.
    Nothing,
    /// A number.
    Number(i128),
    /// One of a few words that a type has: `Waiting`, `yes`.
    Word(String),
    /// A text as it is.
    Text(String),
    /// A node.
    Node(NodeId),
    /// A set of nodes.
    Nodes(Vec<NodeId>),
    /// A moment of Lamport time.
    Stamp(Stamp),
    /// Several, in order.
    List(Vec<Shown>),
    /// One for each of these.
    Map(Vec<(Shown, Shown)>),
    /// One of a few kinds, with what belongs to it.
    Variant(String, Box<Shown>),
    /// Values with names, of a type of this name.
    Fields(String, Vec<(String, Shown)>),
}

/// A field of a node's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; that of a layer below comes with the layer's, `bully.leader`.
    pub name: String,
    /// Its value.
    pub value: Shown,
}

impl Field {
    /// What people call it.
    pub fn label(&self, language: Language) -> String {
        let (layer, name) = self.name.rsplit_once('.').unwrap_or(("", &self.name));
        let name = language.field(name).replace('_', " ");
        if layer.is_empty() { name } else { format!("{layer}: {name}") }
    }
}

/// Never change, and everybody knows them.
const CONSTANT: [&str; 3] = ["me", "n", "setup"];

/// The state of a node, field by field: of a stack, those of its upper layer first.
pub fn fields(state: &impl Serialize) -> Vec<Field> {
    let mut fields = Vec::new();
    match state.serialize(serializer::Shower) {
        Ok(shown) => spread(shown, String::new(), &mut fields),
        Err(unreadable) => {
            let value = Shown::Text(unreadable.to_string());
            fields.push(Field { name: "state".to_string(), value });
        }
    }
    fields
}

fn spread(state: Shown, layer: String, into: &mut Vec<Field>) {
    match state {
        Shown::Fields(name, layers) if name == "Stack" => {
            for (place, (_, inner)) in layers.into_iter().enumerate() {
                let below = if place == 0 { layer.clone() } else { layer_name(&inner) };
                spread(inner, below, into);
            }
        }
        Shown::Variant(_, inner) => spread(*inner, layer, into), // Whichever was chosen.
        Shown::Fields(_, fields) => {
            let first = first_seat(&fields);
            for (name, value) in fields.into_iter().filter(|(name, _)| !is_constant(name)) {
                let value = value.seated(first);
                let name = if layer.is_empty() { name } else { format!("{layer}.{name}") };
                into.push(Field { name, value });
            }
        }
        other @ (Shown::Nothing
        | Shown::Number(_)
        | Shown::Word(_)
        | Shown::Text(_)
        | Shown::Node(_)
        | Shown::Nodes(_)
        | Shown::Stamp(_)
        | Shown::List(_)
        | Shown::Map(_)) => into.push(Field { name: "state".to_string(), value: other }),
    }
}

/// Where an algorithm has coordinators, its sets are of their seats, counted from 0: the node of
/// the first seat.
fn first_seat(fields: &[(String, Shown)]) -> u32 {
    let setup = fields.iter().find(|(name, _)| name == "setup").map(|(_, setup)| setup);
    match setup.and_then(|setup| setup.field("places")?.field("first")) {
        Some(Shown::Number(first)) => u32::try_from(*first).unwrap_or(0),
        Some(_) | None => 0,
    }
}

fn is_constant(name: &str) -> bool {
    CONSTANT.contains(&name)
}

/// What a layer is called: after the type of its state, as in the catalogue, `phi-accrual`.
fn layer_name(state: &Shown) -> String {
    match state {
        Shown::Variant(_, inner) => layer_name(inner),
        Shown::Fields(name, layers) if name == "Stack" => {
            layers.first().map_or_else(String::new, |(_, upper)| layer_name(upper))
        }
        Shown::Fields(name, _) => Shown::spaced(name).replace(' ', "-"),
        Shown::Nothing
        | Shown::Number(_)
        | Shown::Word(_)
        | Shown::Text(_)
        | Shown::Node(_)
        | Shown::Nodes(_)
        | Shown::Stamp(_)
        | Shown::List(_)
        | Shown::Map(_) => String::new(),
    }
}

/// The fields of one state that are not so in another.
pub fn changed<'a>(other: &'a [Field], state: &'a [Field]) -> impl Iterator<Item = &'a Field> {
    state.iter().filter(|field| !other.contains(field))
}

impl Shown {
    /// As people read it in this language, with marks for nodes.
    pub fn text(&self, language: Language) -> String {
        let each = |items: &[Self]| {
            items.iter().map(|item| item.text(language)).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Nothing => "–".to_string(),
            Self::Number(number) => number.to_string(),
            Self::Word(word) => language.value(&Self::spaced(word)).to_string(),
            Self::Text(text) => language.number(text),
            Self::Node(node) => node.mark(),
            Self::Nodes(nodes) if nodes.is_empty() => "–".to_string(),
            Self::Nodes(nodes) => {
                nodes.iter().map(|node| node.mark()).collect::<Vec<_>>().join(", ")
            }
            Self::Stamp(stamp) => format!("({},{})", stamp.time, stamp.node.mark()),
            Self::List(items) => format!("[{}]", each(items)),
            Self::Map(pairs) => {
                let pair = |(key, value): &(Self, Self)| {
                    format!("{}: {}", key.text(language), value.text(language))
                };
                format!("[{}]", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
            Self::Variant(name, inner) => {
                let name = language.value(&Self::spaced(name)).to_string();
                if let Self::List(items) = &**inner {
                    format!("{name} ({})", each(items))
                } else {
                    format!("{name} {}", inner.text(language))
                }
            }
            Self::Fields(_, fields) => {
                let field = |(name, value): &(String, Self)| {
                    let name = language.field(name).replace('_', " ");
                    format!("{name}: {}", value.text(language))
                };
                format!("({})", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// A name of a type in small letters: `AllReplied` is `all replied`.
    pub fn spaced(name: &str) -> String {
        let mut text = String::new();
        for letter in name.chars() {
            if letter.is_uppercase() && !text.is_empty() {
                text.push(' ');
            }
            text.extend(letter.to_lowercase());
        }
        text
    }

    /// A set of seats as the nodes that sit there; anything else as it is.
    fn seated(self, first: u32) -> Self {
        let Self::Nodes(seats) = self else { return self };
        Self::Nodes(seats.into_iter().map(|seat| NodeId(seat.0 + first)).collect())
    }

    /// The field of this name, if it has fields.
    fn field(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Fields(_, fields) => {
                fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)
            }
            Self::Variant(_, inner) => inner.field(name),
            Self::Nothing
            | Self::Number(_)
            | Self::Word(_)
            | Self::Text(_)
            | Self::Node(_)
            | Self::Nodes(_)
            | Self::Stamp(_)
            | Self::List(_)
            | Self::Map(_) => None,
        }
    }

    /// Whether one of its fields is this word.
    fn has_word(&self, word: &str) -> bool {
        let is_it = |(_, value): &(String, Self)| matches!(value, Self::Word(it) if it == word);
        matches!(self, Self::Fields(_, fields) if fields.iter().any(is_it))
    }

    /// Every node in it, in order.
    fn nodes(&self) -> Vec<NodeId> {
        match self {
            Self::Node(node) => vec![*node],
            Self::Stamp(stamp) => vec![stamp.node],
            Self::Nodes(nodes) => nodes.clone(),
            Self::List(items) => items.iter().flat_map(Self::nodes).collect(),
            Self::Map(pairs) => pairs.iter().flat_map(|(key, _)| key.nodes()).collect(),
            Self::Variant(_, inner) => inner.nodes(),
            Self::Fields(_, fields) => fields.iter().flat_map(|(_, value)| value.nodes()).collect(),
            Self::Nothing | Self::Number(_) | Self::Word(_) | Self::Text(_) => Vec::new(),
        }
    }

    /// The times of requests, one for each node, as a queue.
    fn by_time(&self) -> Vec<Self> {
        let time = |(node, item): (u32, &Self)| {
            let Self::Number(time) = item else { return None };
            Some(Stamp::new(u64::try_from(*time).ok()?, NodeId(node)))
        };
        let items = self.items();
        let mut stamps: Vec<Stamp> = (0..).zip(&items).filter_map(time).collect();
        stamps.sort();
        stamps.into_iter().map(Self::Stamp).collect()
    }

    /// What stands in a queue, one by one: of each, who it is.
    fn items(&self) -> Vec<Self> {
        match self {
            Self::List(items) => items.iter().map(Self::who).collect(),
            Self::Nodes(nodes) => nodes.iter().copied().map(Self::Node).collect(),
            Self::Map(pairs) => pairs.iter().map(|(key, _)| key.clone()).collect(),
            Self::Nothing => Vec::new(),
            Self::Number(_)
            | Self::Word(_)
            | Self::Text(_)
            | Self::Node(_)
            | Self::Stamp(_)
            | Self::Variant(..)
            | Self::Fields(..) => vec![self.who()],
        }
    }

    /// The request or the node that a value is about, if it is about one.
    fn who(&self) -> Self {
        let stamp = |(_, value): &(String, Self)| matches!(value, Self::Stamp(_));
        match self {
            Self::Fields(_, fields) => match fields.iter().find(|field| stamp(field)) {
                Some((_, stamp)) => stamp.clone(),
                None => self.nodes().first().map_or_else(|| self.clone(), |node| Self::Node(*node)),
            },
            Self::List(items) => items.first().map_or_else(|| self.clone(), Self::who),
            Self::Nothing
            | Self::Number(_)
            | Self::Word(_)
            | Self::Text(_)
            | Self::Node(_)
            | Self::Nodes(_)
            | Self::Stamp(_)
            | Self::Map(_)
            | Self::Variant(..) => self.clone(),
        }
    }
}

/// A facet of a node's state, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetShown {
    /// Which.
    pub facet: Facet,
    /// What stands in a queue, as people read it in any language.
    pub items: Vec<Shown>,
    /// The nodes of a set; of an edge or a vote, at most one.
    pub nodes: Vec<NodeId>,
}

/// The facets that a state has; an edge that leads nowhere now, and a vote that nobody has, are
/// left out.
pub fn facets(state: &[Field], declared: &[Facet]) -> Vec<FacetShown> {
    let shown = |facet: &Facet| {
        let value = find(state, facet.field)?;
        Some(match (facet.kind, &*value) {
            (FacetKind::Edge, Shown::List(edges)) => {
                edges.iter().filter_map(|edge| show(*facet, edge)).collect::<Vec<_>>()
            }
            (_, value) => show(*facet, value).into_iter().collect(),
        })
    };
    declared.iter().filter_map(shown).flatten().collect()
}

/// What a facet's path leads to. The name of a field may itself have a dot, after that of a layer.
fn find<'a>(state: &'a [Field], path: &str) -> Option<Cow<'a, Shown>> {
    let of_field = |field: &'a Field| {
        let rest = path.strip_prefix(field.name.as_str())?;
        (rest.is_empty() || rest.starts_with('.')).then_some((&field.value, rest))
    };
    let (root, rest) = state.iter().find_map(of_field)?;
    let mut names = rest.split('.').skip(1);
    names.try_fold(Cow::Borrowed(root), |value, name| match value {
        Cow::Borrowed(Shown::List(items)) => {
            let chosen = items.iter().filter(|item| item.has_word(name)).cloned();
            Some(Cow::Owned(Shown::List(chosen.collect())))
        }
        Cow::Borrowed(value) => value.field(name).map(Cow::Borrowed),
        Cow::Owned(value) => value.field(name).cloned().map(Cow::Owned),
    })
}

fn show(facet: Facet, value: &Shown) -> Option<FacetShown> {
    let mut nodes = value.nodes();
    let items = match facet.kind {
        FacetKind::Queue => value.items(),
        FacetKind::QueueFromEnd => value.items().into_iter().rev().collect(),
        FacetKind::QueueByNode => value.by_time(),
        FacetKind::Set | FacetKind::Node | FacetKind::Edge => Vec::new(),
    };
    match facet.kind {
        FacetKind::Node | FacetKind::Edge if nodes.is_empty() => return None,
        FacetKind::Node | FacetKind::Edge => nodes.truncate(1),
        FacetKind::Queue | FacetKind::QueueFromEnd | FacetKind::QueueByNode => {
            nodes = items.iter().flat_map(Shown::nodes).collect();
        }
        FacetKind::Set => {}
    }
    Some(FacetShown { facet, items, nodes })
}

#[cfg(test)]
mod tests;
