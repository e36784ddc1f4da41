//! A trace as a Mermaid sequence diagram.
//!
//! Mermaid knows no time: an arrow stands where its message arrives, and a cross where one is lost.

use super::{Cause, Header, Record, Step, Told, Trace, Window, words};
use conclave_core::NodeId;
use std::collections::BTreeMap;

/// Mermaid refuses to draw texts that are much longer.
const BYTES_MAX: usize = 45_000;

/// A trace as a Mermaid sequence diagram, cut where Mermaid would refuse to draw it.
pub fn write(trace: &Trace) -> String {
    diagram(&trace.without_upkeep())
}

/// A stretch of a trace as a Mermaid sequence diagram.
pub fn draw(trace: &Trace, window: &Window) -> String {
    let (mut shown, _) = trace.without_upkeep().up_to_the_end_of(window);
    shown.records.retain(|record| record.at() >= window.from);
    diagram(&shown)
}

fn diagram(trace: &Trace) -> String {
    let mut diagram = Diagram::new(trace);
    for (place, record) in trace.records.iter().enumerate() {
        if diagram.text.len() > BYTES_MAX {
            let left = trace.records.len() - place;
            diagram.over_all(&format!("cut here: {left} more records are left out"));
            break;
        }
        diagram.record(record);
    }
    diagram.text
}

struct Diagram<'a> {
    header: &'a Header,
    text: String,
    /// Who is inside: Mermaid's activations must come in pairs.
    inside: Vec<bool>,
    /// Who sent what, by number: only a message that is lost at its goal does not say it itself.
    sent: BTreeMap<u64, (NodeId, &'a str)>,
}

impl<'a> Diagram<'a> {
    fn new(trace: &'a Trace) -> Self {
        let header = &trace.header;
        let mut text = format!("sequenceDiagram\n    title {}\n", escaped(&header.title()));
        for node in header.all() {
            let name = escaped(&who(header, node));
            text += &format!("    participant {} as {name}\n", id(node));
        }
        let steps = trace.records.iter().filter_map(Record::step);
        let sent = steps.flat_map(|step| {
            step.sends().map(|sending| (sending.number, (step.node, sending.label.as_str())))
        });
        Self { header, text, inside: vec![false; header.names.len()], sent: sent.collect() }
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::Step(step) => self.step(step),
            Record::Dead { node } => self.over(*node, "dead from the beginning"),
            Record::Crash { node, .. } => {
                self.leaves(*node);
                self.over(*node, "CRASHES");
            }
            Record::Restart { node, amnesia, .. } => {
                self.leaves(*node);
                let how = if *amnesia { "RESTARTS, disk lost" } else { "RESTARTS with its disk" };
                self.over(*node, how);
            }
            Record::Pause { node, .. } => self.over(*node, "PAUSED"),
            Record::Resume { node, .. } => self.over(*node, "goes on"),
            Record::Suspect { by, of, .. } => {
                let whom = who(self.header, *of);
                self.over(*by, &format!("is told, wrongly, that {whom} crashed"));
            }
            Record::Lost { node, number, .. } => self.lost(*node, *number),
            Record::Partition { .. } | Record::Heal { .. } | Record::Violation(_) => {
                let told = words::record(record, self.header);
                self.over_all(&told);
            }
            Record::End { .. } => {}
        }
    }

    fn step(&mut self, step: &Step) {
        let node = step.node;
        match &step.cause {
            Cause::Start | Cause::Tell | Cause::Unseen => {}
            Cause::Message { from, label, .. } => self.arrow(*from, "->>", node, label),
            Cause::Restart | Cause::Request(_) | Cause::Indication(_) | Cause::Timer(_) => {
                let why = self.header.tell(&words::cause(step));
                self.over(node, &why);
            }
        }
        if matches!(&step.cause, Cause::Request(request) if request == "Release") {
            self.leaves(node);
        }
        for sending in step.sends().filter(|sending| sending.arrival.is_none()) {
            self.arrow(node, "-x", sending.to, &format!("{} (lost)", sending.label));
        }
        for told in step.told() {
            let what = self.header.tell(&words::told(&told));
            self.over(node, &what);
            if matches!(told, Told::Entered { .. }) && !self.inside[node.index()] {
                self.inside[node.index()] = true;
                self.line(&format!("activate {}", id(node)));
            }
        }
    }

    /// A message reaches a node that is down.
    fn lost(&mut self, node: NodeId, number: u64) {
        match self.sent.get(&number).copied() {
            Some((from, label)) => self.arrow(from, "-x", node, &format!("{label} (down, lost)")),
            None => self.over(node, "down, a message is lost"),
        }
    }

    fn leaves(&mut self, node: NodeId) {
        if std::mem::take(&mut self.inside[node.index()]) {
            self.line(&format!("deactivate {}", id(node)));
        }
    }

    fn arrow(&mut self, from: NodeId, arrow: &str, to: NodeId, label: &str) {
        self.line(&format!("{}{arrow}{}: {}", id(from), id(to), escaped(label)));
    }

    fn over(&mut self, node: NodeId, text: &str) {
        self.line(&format!("Note over {}: {}", id(node), escaped(text)));
    }

    fn over_all(&mut self, text: &str) {
        let last = NodeId(self.header.names.len().saturating_sub(1) as u32);
        let whom = if last == NodeId(0) { id(last) } else { format!("n0,{}", id(last)) };
        self.line(&format!("Note over {whom}: {}", escaped(text)));
    }

    fn line(&mut self, line: &str) {
        self.text += &format!("    {line}\n");
    }
}

fn id(node: NodeId) -> String {
    format!("n{}", node.0)
}

/// What people call a node, so that it cannot be taken for a number or a word of Mermaid's.
pub(super) fn who(header: &Header, node: NodeId) -> String {
    let name = header.name(node);
    if words::is_coordinator(name) { name.to_string() } else { format!("node {name}") }
}

/// Letters that mean something to Mermaid, as it wants them written.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' | ';' | '<' | '>' | '"' | '&' | '%' => safe += &format!("#{};", u32::from(c)),
            _ if c.is_control() => safe.push(' '),
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testkit::{Draft, hand_made};

    #[test]
    fn arrows_stand_where_messages_arrive_and_crosses_where_they_are_lost() {
        let text = write(&hand_made());
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines[..3],
            ["sequenceDiagram", "title by-hand, 3 nodes", "participant n0 as node 1"]
        );
        let middle = lines.iter().position(|line| *line == "n0-xn2: REQUEST (lost)");
        let middle = middle.expect("a lost message");
        assert_eq!(lines[middle - 1], "Note over n0: asks to enter");
        assert_eq!(
            lines[middle + 1..middle + 5],
            ["n0->>n1: REQUEST", "n1->>n0: OK", "Note over n0: ENTERS with fence 4", "activate n0"]
        );
        assert!(lines.contains(&"n0-xn2: RELEASE (down, lost)"), "{text}");
        assert!(lines.contains(&"Note over n0,n2: S1 is VIOLATED: 1 and 3 were inside"));
    }

    #[test]
    fn activations_come_in_pairs() {
        let text = write(&hand_made());
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let count = |word: &str| lines.iter().filter(|line| line.starts_with(word)).count();
        assert_eq!((count("activate"), count("deactivate")), (1, 1));
    }

    #[test]
    fn letters_of_mermaids_own_are_escaped() {
        assert_eq!(escaped("a;b#c\n<d>"), "a#59;b#35;c #60;d#62;");
    }

    #[test]
    fn a_long_run_is_cut_with_a_note() {
        let mut draft = Draft::new(2);
        for at in 0..4_000 {
            draft.ask(at, 0, "Acquire");
        }
        let text = write(&draft.end(4_000));
        assert!(text.len() < BYTES_MAX + 500);
        assert!(text.lines().last().is_some_and(|line| line.contains("cut here")), "{text}");
    }
}
