//! A trace as a Mermaid sequence diagram.
//!
//! Mermaid knows no time: an arrow stands where its message arrives, and a cross where one is lost.

use super::{Cause, Header, Language, Record, Step, Told, Trace, Window, words};
use conclave_core::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// Mermaid refuses to draw texts that are much longer.
const BYTES_MAX: usize = 45_000;

/// A trace as a Mermaid sequence diagram, cut where Mermaid would refuse to draw it.
pub fn write(trace: &Trace, language: Language) -> String {
    diagram(&trace.without_upkeep(), language)
}

/// A stretch of a trace as a Mermaid sequence diagram.
pub fn draw(trace: &Trace, window: &Window, language: Language) -> String {
    let (mut shown, _) = trace.without_upkeep().up_to_the_end_of(window);
    shown.records.retain(|record| record.at() >= window.from);
    diagram(&shown, language)
}

fn diagram(trace: &Trace, language: Language) -> String {
    let mut diagram = Diagram::new(trace, language);
    for (place, record) in trace.records.iter().enumerate() {
        if diagram.text.len() > BYTES_MAX {
            let left = trace.records.len() - place;
            let told = language.fill(
                "cut here: @ more records are left out",
                "cortado aqui: faltam mais @ registros",
                &left.to_string(),
            );
            diagram.over_all(&told);
            break;
        }
        diagram.record(record);
    }
    diagram.text
}

struct Diagram<'a> {
    header: &'a Header,
    language: Language,
    text: String,
    /// Who is inside: Mermaid's activations must come in pairs.
    inside: Vec<bool>,
    /// Who sent what, by number: only a message that is lost at its goal does not say it itself.
    sent: BTreeMap<u64, (NodeId, &'a str)>,
    /// What has reached its goal, if only to be lost there: it may come once more.
    landed: BTreeSet<u64>,
}

impl<'a> Diagram<'a> {
    fn new(trace: &'a Trace, language: Language) -> Self {
        let header = &trace.header;
        let mut text = format!("sequenceDiagram\n    title {}\n", escaped(&header.title(language)));
        for node in header.all() {
            let name = escaped(&words::who(header, node, language));
            text += &format!("    participant {} as {name}\n", id(node));
        }
        let steps = trace.records.iter().filter_map(Record::step);
        let sent = steps.flat_map(|step| {
            step.sends().map(|sending| (sending.number, (step.node, sending.label.as_str())))
        });
        let sent = sent.collect();
        let inside = vec![false; header.names.len()];
        Self { header, language, text, inside, sent, landed: BTreeSet::new() }
    }

    fn record(&mut self, record: &Record) {
        let language = self.language;
        match record {
            Record::Step(step) => self.step(step),
            Record::Dead { node } => {
                self.over(*node, language.pick("dead from the beginning", "morto desde o começo"));
            }
            Record::Crash { node, .. } => {
                self.leaves(*node);
                self.over(*node, language.pick("CRASHES", "CAI"));
            }
            Record::Restart { node, amnesia, .. } => {
                self.leaves(*node);
                self.over(*node, words::returns(*amnesia, language));
            }
            Record::Pause { node, .. } => self.over(*node, language.pick("PAUSED", "PAUSADO")),
            Record::Resume { node, .. } => self.over(*node, language.pick("goes on", "continua")),
            Record::Suspect { by, of, .. } => {
                let whom = words::who(self.header, *of, language);
                self.over(*by, &words::wrongly(&whom, language));
            }
            Record::Lost { node, number, .. } => self.lost(*node, *number),
            Record::Partition { .. } | Record::Heal { .. } | Record::Violation(_) => {
                let told = words::record(record, self.header, language);
                self.over_all(&told);
            }
            Record::End { .. } => {}
        }
    }

    fn step(&mut self, step: &Step) {
        let node = step.node;
        match &step.cause {
            Cause::Start | Cause::Tell | Cause::Unseen => {}
            Cause::Message { from, label, number } => {
                let again = self.again(*number);
                self.arrow(*from, "->>", node, &format!("{label}{again}"));
            }
            Cause::Restart | Cause::Request(_) | Cause::Indication(_) | Cause::Timer(_) => {
                let why = self.header.tell(&words::cause(step, self.language));
                self.over(node, &why);
            }
        }
        if matches!(&step.cause, Cause::Request(request) if request == "Release") {
            self.leaves(node);
        }
        for sending in step.sends().filter(|sending| sending.arrival.is_none()) {
            let lost = self.language.pick("lost", "perdida");
            self.arrow(node, "-x", sending.to, &format!("{} ({lost})", sending.label));
        }
        for told in step.told() {
            let what = self.header.tell(&words::told(&told, self.language));
            self.over(node, &what);
            if matches!(told, Told::Entered { .. }) && !self.inside[node.index()] {
                self.inside[node.index()] = true;
                self.line(&format!("activate {}", id(node)));
            }
        }
    }

    /// A message reaches a node that is down.
    fn lost(&mut self, node: NodeId, number: u64) {
        let again = self.again(number);
        let lost = self.language.pick("down, lost", "fora, perdida");
        match self.sent.get(&number).copied() {
            Some((from, label)) => {
                self.arrow(from, "-x", node, &format!("{label}{again} ({lost})"))
            }
            None => self.over(node, lost),
        }
    }

    /// A message arrives: whether for the first time.
    fn again(&mut self, number: u64) -> &'static str {
        let first = self.landed.insert(number);
        if first { "" } else { self.language.pick(" (again)", " (de novo)") }
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
        let text = write(&hand_made(), Language::English);
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
        let text = write(&hand_made(), Language::English);
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
        let text = write(&draft.end(4_000), Language::English);
        assert!(text.len() < BYTES_MAX + 500);
        assert!(text.lines().last().is_some_and(|line| line.contains("cut here")), "{text}");
    }
}
