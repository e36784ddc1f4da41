//! Explanations: why a step did what it did, as a rule of the algorithm with arguments.
//!
//! Beside each algorithm lies a table of [`Why`]: the reasons that its steps may have, each with
//! the rule it comes from and a sentence in every language. A step says [`Context::because`] with
//! one of them, and with the values that fill the holes of its sentence, in the order in which the
//! English one has them. Reasons are for people: they are no effect, no part of the state and none
//! of a recording, and nothing is kept of them unless somebody listens.
//!
//! [`Context::because`]: crate::Context::because

use crate::clock::Stamp;
use crate::{NodeId, NodeSet, Ticks};
use std::fmt;

/// A reason that a step may have.
#[derive(Debug, PartialEq, Eq)]
pub struct Why {
    /// A word for it, `deferred`; no other reason of the same algorithm has it.
    pub code: &'static str,
    /// The rule of the algorithm's module doc that it comes from, `R2`; or an assumption, `A1`,
    /// that must be broken for it to be seen.
    pub rule: &'static str,
    /// The sentence in English, with a name in braces for each argument: `{from} is before {me}`.
    pub english: &'static str,
    /// The same in Portuguese, with the same names.
    pub portuguese: &'static str,
}

impl Why {
    /// The names of the holes of a sentence, in the order in which they first appear.
    pub fn holes(sentence: &'static str) -> Vec<&'static str> {
        let mut names = Vec::new();
        for piece in sentence.split('{').skip(1) {
            let name = piece.split('}').next().unwrap_or_default();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// Why a step did what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What kind of reason.
    pub why: &'static Why,
    /// What fills the holes of its sentence.
    pub arguments: Vec<Argument>,
    /// Whether it was said of a message to itself, which the node handled in the same action.
    pub own: bool,
}

impl Reason {
    /// One of the sentences of this reason with its holes filled. Nodes appear as marks, `{3}`.
    pub fn fill(&self, sentence: &'static str) -> String {
        self.fill_with(sentence, Argument::text)
    }

    /// The same, with arguments as they are written here.
    pub fn fill_with(
        &self,
        sentence: &'static str,
        written: impl Fn(&Argument) -> String,
    ) -> String {
        let names = Why::holes(self.why.english);
        let mut pieces = sentence.split('{');
        let mut text = pieces.next().unwrap_or_default().to_string();
        for piece in pieces {
            let (name, rest) = piece.split_once('}').unwrap_or((piece, ""));
            let place = names.iter().position(|known| *known == name);
            match place.and_then(|place| self.arguments.get(place)) {
                Some(argument) => text += &written(argument),
                None => text += &format!("{{{name}}}"),
            }
            text += rest;
        }
        text
    }
}

/// A value in a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A node.
    Node(NodeId),
    /// Several nodes.
    Nodes(Vec<NodeId>),
    /// A number.
    Number(u64),
    /// The time and the node of a request.
    Stamp(Stamp),
    /// The paper's word for a message.
    Name(&'static str),
    /// A span of time.
    Span(Ticks),
    /// Whatever else is written the same in every language, such as what a clock shows.
    Text(String),
}

impl Argument {
    /// As people read it, with marks for nodes.
    pub fn text(&self) -> String {
        match self {
            Self::Node(node) => node.mark(),
            Self::Nodes(nodes) if nodes.is_empty() => "\u{2013}".to_string(),
            Self::Nodes(nodes) => {
                nodes.iter().map(|node| node.mark()).collect::<Vec<_>>().join(", ")
            }
            Self::Number(number) => number.to_string(),
            Self::Stamp(stamp) => format!("({},{})", stamp.time, stamp.node.mark()),
            Self::Name(name) => (*name).to_string(),
            Self::Span(span) => span.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// What can be a value in a reason. Cheap to have at hand: it becomes an [`Argument`] only if
/// somebody listens.
pub trait Tellable {
    /// The argument that it is.
    fn argument(self) -> Argument;
}

impl Tellable for NodeId {
    fn argument(self) -> Argument {
        Argument::Node(self)
    }
}

impl Tellable for &NodeSet {
    fn argument(self) -> Argument {
        Argument::Nodes(self.iter().collect())
    }
}

impl Tellable for u32 {
    fn argument(self) -> Argument {
        Argument::Number(self.into())
    }
}

impl Tellable for u64 {
    fn argument(self) -> Argument {
        Argument::Number(self)
    }
}

impl Tellable for usize {
    fn argument(self) -> Argument {
        Argument::Number(self as u64)
    }
}

impl Tellable for Stamp {
    fn argument(self) -> Argument {
        Argument::Stamp(self)
    }
}

impl Tellable for &'static str {
    fn argument(self) -> Argument {
        Argument::Name(self)
    }
}

impl Tellable for Ticks {
    fn argument(self) -> Argument {
        Argument::Span(self)
    }
}

/// Whatever else can be read, written out only if somebody listens.
#[derive(Clone, Copy, Debug)]
pub struct Written<T>(pub T);

impl<T: fmt::Display> Tellable for Written<T> {
    fn argument(self) -> Argument {
        Argument::Text(self.0.to_string())
    }
}

/// Nodes one after the other, gone through only if somebody listens.
#[derive(Clone, Debug)]
pub struct Each<I>(pub I);

impl<I: Iterator<Item = NodeId>> Tellable for Each<I> {
    fn argument(self) -> Argument {
        Argument::Nodes(self.0.collect())
    }
}

/// All values of a reason: nothing, `()`; one; or a tuple of several.
pub trait Arguments {
    /// One by one.
    fn list(self) -> Vec<Argument>;
}

impl Arguments for () {
    fn list(self) -> Vec<Argument> {
        Vec::new()
    }
}

impl<A: Tellable> Arguments for A {
    fn list(self) -> Vec<Argument> {
        vec![self.argument()]
    }
}

impl<A: Tellable, B: Tellable> Arguments for (A, B) {
    fn list(self) -> Vec<Argument> {
        vec![self.0.argument(), self.1.argument()]
    }
}

impl<A: Tellable, B: Tellable, C: Tellable> Arguments for (A, B, C) {
    fn list(self) -> Vec<Argument> {
        vec![self.0.argument(), self.1.argument(), self.2.argument()]
    }
}

impl<A: Tellable, B: Tellable, C: Tellable, D: Tellable> Arguments for (A, B, C, D) {
    fn list(self) -> Vec<Argument> {
        vec![self.0.argument(), self.1.argument(), self.2.argument(), self.3.argument()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static DEFERRED: Why = Why {
        code: "deferred",
        rule: "R2",
        english: "OK to {from} waits: own request {own} is before {other}",
        portuguese: "o pedido {own} vem antes de {other}: o OK a {from} espera",
    };

    #[test]
    fn arguments_fill_the_holes_of_every_language_by_their_names() {
        let own = Stamp::new(3, NodeId(0));
        let other = Stamp::new(5, NodeId(1));
        let arguments = (NodeId(1), own, other).list();
        let reason = Reason { why: &DEFERRED, arguments, own: false };
        let english = "OK to {1} waits: own request (3,{0}) is before (5,{1})";
        assert_eq!(reason.fill(DEFERRED.english), english);
        let portuguese = "o pedido (3,{0}) vem antes de (5,{1}): o OK a {1} espera";
        assert_eq!(reason.fill(DEFERRED.portuguese), portuguese);
    }

    #[test]
    fn several_nodes_are_told_one_by_one_and_none_as_a_dash() {
        let set: NodeSet = [2, 0].map(NodeId).into_iter().collect();
        assert_eq!((&set).argument().text(), "{0}, {2}");
        assert_eq!(Each(std::iter::empty()).argument().text(), "\u{2013}");
    }
}
