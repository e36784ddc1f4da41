//! A trace in people's words.

use super::{Cause, Effect, Header, Record, Sending, Step, Told};
use crate::story::with_marks;
use conclave_core::{Named, NodeId};
use std::fmt::Debug;

/// A text with marks such as `{3}`, which stands for the node of index 3, in people's words.
pub(super) fn tell(text: &str, names: &[String]) -> String {
    let mut pieces = text.split('{');
    let mut told = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let marked = piece.split_once('}').and_then(|(index, rest)| {
            let plain = index.bytes().all(|byte| byte.is_ascii_digit());
            let name = names.get(index.parse::<usize>().ok().filter(|_| plain)?)?;
            Some((name, rest))
        });
        match marked {
            Some((name, rest)) => {
                told.push_str(name);
                told.push_str(rest);
            }
            None => {
                told.push('{');
                told.push_str(piece);
            }
        }
    }
    told
}

/// Coordinators are called `c1`, `c2` and so on; no other node may be.
pub(super) fn is_coordinator(name: &str) -> bool {
    let number = name.strip_prefix('c');
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The name of a timer: that of its layer, where there are several.
pub(crate) fn label(value: &impl Debug) -> String {
    inner(&with_marks(&format!("{value:?}"))).to_string()
}

/// What a message carries: its fields without its name, `time: 3`.
pub(crate) fn details(message: &(impl Debug + Named)) -> String {
    let debug = with_marks(&format!("{message:?}"));
    let inner = inner(&debug);
    let Some(open) = inner.find([' ', '(']) else { return String::new() };
    let fields = inner[open..].trim();
    let braces = fields.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let brackets = fields.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    braces.or(brackets).unwrap_or(fields).trim().to_string()
}

/// What an arrow is called: the paper's word, and the time or the id that it carries, since these
/// decide what becomes of it. The rest is left to longer texts.
pub(super) fn caption(label: &str, details: &str) -> String {
    let telling = ["time: ", "id: ", "term: ", "clock: ", "rank: "];
    let first = details.split(", ").next().unwrap_or_default();
    let value = telling.iter().find_map(|field| first.strip_prefix(field));
    let short = |value: &&str| value.len() <= 4 && value.bytes().all(|b| b.is_ascii_digit());
    match value.filter(short) {
        Some(value) => format!("{label} {value}"),
        None => label.to_string(),
    }
}

/// Without the layers that it is wrapped in.
fn inner(debug: &str) -> &str {
    let unwrapped =
        ["Upper(", "Lower("].iter().find_map(|layer| debug.strip_prefix(layer)?.strip_suffix(')'));
    unwrapped.map_or(debug, inner)
}

/// What an application asks, as the words of the services have it.
pub(super) fn asks(request: &str) -> String {
    match request {
        "Acquire" => "asks to enter".to_string(),
        "Release" => "leaves".to_string(),
        "Cancel" => "no longer wants to enter".to_string(),
        "Campaign" => "calls an election".to_string(),
        other => format!("is asked {other}"),
    }
}

/// Why a node acts.
pub(crate) fn cause(step: &Step) -> String {
    match &step.cause {
        Cause::Start => "starts".to_string(),
        Cause::Restart => "comes back".to_string(),
        Cause::Request(request) => asks(request),
        Cause::Indication(told) => format!("is told {told}"),
        Cause::Message { from, label, .. } => format!("receives {label} from {}", from.mark()),
        Cause::Timer(timer) => format!("timer {timer} fires"),
        Cause::Tell => "sends a message of the application".to_string(),
        Cause::Unseen => "does something that was not recorded".to_string(),
    }
}

/// A step in a sentence: why, then what it led to.
pub(super) fn sentence(step: &Step) -> String {
    let mut clauses = vec![cause(step)];
    clauses.extend(consequences(step, sending_words));
    clauses.join("; ")
}

/// What a step led to, each in a clause; messages in these words.
pub(crate) fn consequences(step: &Step, words: impl Fn(&Sending) -> String) -> Vec<String> {
    let mut clauses = Vec::new();
    let mut last: Option<(String, Vec<NodeId>)> = None;
    let flush = |last: &mut Option<(String, Vec<NodeId>)>, clauses: &mut Vec<String>| {
        if let Some((what, receivers)) = last.take() {
            let receivers: Vec<String> = receivers.iter().map(|node| node.mark()).collect();
            clauses.push(format!("sends {what} to {}", receivers.join(", ")));
        }
    };
    for effect in &step.effects {
        if let Effect::Send(sending) = effect {
            let what = words(sending);
            match &mut last {
                Some((same, receivers)) if *same == what => receivers.push(sending.to),
                Some(_) | None => {
                    flush(&mut last, &mut clauses);
                    last = Some((what, vec![sending.to]));
                }
            }
            continue;
        }
        flush(&mut last, &mut clauses);
        clauses.extend(effect_words(effect));
    }
    flush(&mut last, &mut clauses);
    clauses
}

fn sending_words(sending: &Sending) -> String {
    let lost = if sending.arrival.is_none() { ", which is lost," } else { "" };
    format!("{}{lost}", message(sending))
}

/// A message with what it carries.
pub(crate) fn message(sending: &Sending) -> String {
    named(&sending.label, &sending.details)
}

/// The paper's word for a message, with what it carries.
pub(crate) fn named(label: &str, details: &str) -> String {
    if details.is_empty() { label.to_string() } else { format!("{label} ({details})") }
}

fn effect_words(effect: &Effect) -> Option<String> {
    match effect {
        Effect::Send(_) | Effect::Request { .. } => None,
        Effect::SetTimer { label, .. } => Some(format!("sets timer {label}")),
        Effect::CancelTimer { label, .. } => Some(format!("stops timer {label}")),
        Effect::Indicate { effect } => Some(told(&Told::of(effect))),
    }
}

/// What a node tells the layer above.
pub(super) fn told(told: &Told) -> String {
    match told {
        Told::Entered { fence } => format!("ENTERS with fence {fence}"),
        Told::Elected { leader, term } => {
            format!("takes {} for the leader, term {term}", leader.mark())
        }
        Told::Deposed => "no longer leads".to_string(),
        Told::Suspect(node) => format!("suspects {}", node.mark()),
        Told::Trust(node) => format!("trusts {} again", node.mark()),
        Told::Other(what) => format!("says {what}"),
    }
}

/// Groups of a partition, `1,2 / 3`.
pub(super) fn groups(groups: &[Vec<NodeId>], header: &Header) -> String {
    let side = |group: &Vec<NodeId>| {
        group.iter().map(|node| header.name(*node)).collect::<Vec<_>>().join(",")
    };
    groups.iter().map(side).collect::<Vec<_>>().join(" / ")
}

/// Whatever happened, in one sentence that begins with whom it happened to.
pub(super) fn record(record: &Record, header: &Header) -> String {
    let of = |node: &NodeId, what: &str| format!("{} {what}", header.name(*node));
    match record {
        Record::Step(step) => header.tell(&of(&step.node, &sentence(step))),
        Record::Lost { node, .. } => of(node, "is down: what reaches it is lost"),
        Record::Dead { node } => of(node, "is dead from the beginning"),
        Record::Crash { node, .. } => of(node, "CRASHES"),
        Record::Restart { node, amnesia: false, .. } => of(node, "RESTARTS with its disk"),
        Record::Restart { node, amnesia: true, .. } => of(node, "RESTARTS and remembers nothing"),
        Record::Pause { node, .. } => of(node, "is PAUSED"),
        Record::Resume { node, .. } => of(node, "goes on"),
        Record::Partition { groups: sides, .. } => format!("PARTITION {}", groups(sides, header)),
        Record::Heal { .. } => "the partition HEALS".to_string(),
        Record::Suspect { by, of: whom, .. } => {
            of(by, &format!("is told, wrongly, that {} crashed", header.name(*whom)))
        }
        Record::Violation(broken) => {
            format!("{} is VIOLATED: {}", broken.property, header.tell(&broken.what))
        }
        Record::End { .. } => "the end".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Layer;

    #[derive(Debug)]
    #[allow(dead_code, reason = "only printed")]
    enum Message {
        Plain,
        Grant(u64),
        Request { time: u64, origin: NodeId },
    }

    impl Named for Message {
        fn name(&self) -> &'static str {
            "ANY"
        }
    }

    #[test]
    fn what_a_message_carries_is_told_without_its_name() {
        assert_eq!(details(&Message::Plain), "");
        assert_eq!(details(&Message::Grant(5)), "5");
        let request = Message::Request { time: 3, origin: NodeId(1) };
        assert_eq!(details(&request), "time: 3, origin: {1}");
        let stacked: Layer<Message, Layer<Message, Message>> =
            Layer::Lower(Layer::Upper(Message::Grant(7)));
        assert_eq!(details(&stacked), "7");
    }

    #[test]
    fn an_arrow_shows_the_time_or_the_id_that_it_carries() {
        assert_eq!(caption("REQUEST", "time: 3, seq: 1"), "REQUEST 3");
        assert_eq!(caption("ELECTION", "id: 24, hops: 2"), "ELECTION 24");
        assert_eq!(caption("GRANT", "seq: 1, fence: 0"), "GRANT");
        assert_eq!(caption("TOKEN", "time: {3}"), "TOKEN");
        assert_eq!(caption("TOKEN", ""), "TOKEN");
    }

    #[test]
    fn marks_become_names_and_other_braces_stay() {
        let names = ["a".to_string(), "c1".to_string()];
        assert_eq!(tell("{0} to {1}: {9} {x} {} {", &names), "a to c1: {9} {x} {} {");
        assert!(is_coordinator("c12") && !is_coordinator("c") && !is_coordinator("cat"));
    }
}
