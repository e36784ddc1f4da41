//! A trace as a log for ShiViz: the host, its vector clock and the event, two lines for each.
//!
//! The first line of the file tells ShiViz how to read the rest, the second, empty one that there
//! is only one run in it.

use super::words::who;
use super::{Clocks, Header, Language, Record, Stamp, Trace, words};
use crate::error::{Error, one_line};
use conclave_core::NodeId;
use serde_json::{Map, Value};

/// How ShiViz is to read the log.
pub const EXPRESSION: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";
/// ShiViz draws in a browser, and a vector has a number for each node.
const NODES_MAX: usize = 256;
const STEPS_MAX: usize = 20_000;

/// A trace as a log for ShiViz. Hosts have the same names in every language.
pub fn write(trace: &Trace, language: Language) -> Result<String, Error> {
    let n = trace.header.names.len();
    let steps = trace.steps().count();
    if n > NODES_MAX || steps > STEPS_MAX {
        let limits = format!("ShiViz takes at most {NODES_MAX} nodes and {STEPS_MAX} steps");
        return Err(Error::Undrawable(format!("{n} nodes, {steps} steps: {limits}")));
    }
    let mut clocks = Clocks::new(n, true);
    let mut text = format!("{EXPRESSION}\n\n");
    for record in &trace.records {
        let Some((node, told)) = told(record, trace, language) else { continue };
        let stamp = match record.step() {
            Some(step) => clocks.step(step),
            None => clocks.happens_to(node),
        };
        let clock = clock(stamp, &trace.header);
        let host = host(&trace.header, node);
        text += &format!("{host} {clock}\n{} [{}]\n", one_line(&told), record.at());
    }
    Ok(text)
}

/// What happened at which node, if it happened at one.
fn told(record: &Record, trace: &Trace, language: Language) -> Option<(NodeId, String)> {
    Some(match record {
        Record::Step(step) if step.is_quiet_start() => return None,
        Record::Step(step) => (step.node, trace.header.tell(&words::sentence(step, language))),
        Record::Dead { node } => {
            (*node, language.pick("dead from the beginning", "morto desde o começo").to_string())
        }
        Record::Crash { node, .. } => (*node, language.pick("CRASHES", "CAI").to_string()),
        Record::Restart { node, amnesia, .. } => {
            (*node, words::returns(*amnesia, language).to_string())
        }
        Record::Pause { node, .. } => (*node, language.pick("is PAUSED", "é PAUSADO").to_string()),
        Record::Resume { node, .. } => (*node, language.pick("goes on", "continua").to_string()),
        Record::Lost { .. }
        | Record::Partition { .. }
        | Record::Heal { .. }
        | Record::Suspect { .. }
        | Record::Violation(_)
        | Record::End { .. } => return None,
    })
}

/// A vector time, as ShiViz has it.
fn clock(stamp: &Stamp, header: &Header) -> Value {
    let count = |(node, count): (NodeId, u64)| (host(header, node), Value::from(count));
    Value::Object(stamp.counts(header.names.len()).map(count).collect::<Map<_, _>>())
}

/// A name without blanks.
fn host(header: &Header, node: NodeId) -> String {
    who(header, node, Language::English).replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testkit::hand_made;
    use std::collections::BTreeMap;

    /// Reads a log as [`EXPRESSION`] does, from its first letter to its last.
    fn matches(log: &str) -> Vec<(String, BTreeMap<String, u64>, String)> {
        let mut lines = log.lines();
        let mut found = Vec::new();
        while let (Some(first), Some(event)) = (lines.next(), lines.next()) {
            let (host, clock) = first.split_once(' ').expect("host, blank, clock");
            assert!(!host.is_empty() && !host.contains(char::is_whitespace));
            assert!(clock.starts_with('{') && clock.ends_with('}'));
            let clock = serde_json::from_str(clock).expect("the clock is JSON");
            found.push((host.to_string(), clock, event.to_string()));
        }
        found
    }

    #[test]
    fn the_log_satisfies_its_expression_and_shiviz_rules_for_clocks() {
        let text = write(&hand_made(), Language::English).expect("small");
        let log = text.strip_prefix(EXPRESSION).and_then(|rest| rest.strip_prefix("\n\n"));
        let entries = matches(log.expect("the expression, then an empty line"));
        assert_eq!(entries.len(), 6 + 4, "steps, a crash, a return, a pause and its end");
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (host, clock, event) in &entries {
            let own = counts.entry(host.clone()).or_default();
            *own += 1;
            assert_eq!(clock.get(host), Some(&*own), "its own count rises by one: {event}");
            assert!(clock.values().all(|count| *count > 0));
        }
        assert_eq!(entries[1].1, BTreeMap::from([("node-1".into(), 1), ("node-2".into(), 1)]));
        let of_third = |text: &str| {
            entries.iter().position(|(host, _, event)| host == "node-3" && event.contains(text))
        };
        assert!(of_third("CRASHES [3]").is_some() && of_third("CRASHES") < of_third("RESTARTS"));
        assert_eq!(entries[1].2, "receives REQUEST from 1; sends OK (to: 1) to 1 [1]");
    }
    #[test]
    fn events_are_told_in_the_language_of_the_reader() {
        let text = write(&hand_made(), Language::Portuguese).expect("small");
        assert!(text.contains("recebe REQUEST de 1; envia OK (para: 1) a 1 [1]"), "{text}");
        assert!(text.contains("\nCAI [3]\n") && !text.contains("RESTARTS"), "{text}");
        assert!(text.contains("\nnode-3 {"), "{text}");
    }
}
