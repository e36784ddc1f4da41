//! A story in words: one line for each moment.

use crate::story::Line;
use crate::trace::{Cause, Language, Record, Sending, Step, Told, words};
use conclave_core::{Move, NodeId, Story, Ticks};
use std::collections::BTreeMap;

/// The starts that led to anything, then one line for each moment.
pub(super) fn lines(story: &Story, records: &[Record], lost: &BTreeMap<Ticks, u64>) -> Vec<Line> {
    let teller = Teller::new(records);
    let starts = records.iter().filter_map(Record::step).filter(|step| step.at == Ticks::ZERO);
    let active = starts.filter(|step| !step.is_quiet_start());
    let mut lines: Vec<Line> = active
        .map(|step| line(Ticks::ZERO, Some(step.node), teller.step(step, false).join("; ")))
        .collect();
    for (number, moment) in (1..).zip(&story.moments) {
        let at = Ticks::units(number);
        lines.push(match lost.get(&at).and_then(|message| teller.sent(*message)) {
            Some((from, sending)) => {
                let from = from.mark();
                let to = sending.to.mark();
                let text = format!(
                    "{} from {from} to {to} is lost",
                    words::message(sending, Language::English)
                );
                line(at, None, text)
            }
            None => teller.moment(at, &moment.act),
        });
    }
    lines
}

fn in_english(sending: &Sending) -> String {
    words::message(sending, Language::English)
}

fn line(at: Ticks, node: Option<NodeId>, text: String) -> Line {
    Line { at, node, text, follows: false, why: None }
}

struct Teller<'a> {
    /// What happened at each time, but for what was judged.
    moments: BTreeMap<Ticks, Vec<&'a Record>>,
    /// By number: who sent it, and the message.
    sent: BTreeMap<u64, (NodeId, &'a Sending)>,
}

impl<'a> Teller<'a> {
    fn new(records: &'a [Record]) -> Self {
        let mut moments: BTreeMap<Ticks, Vec<&Record>> = BTreeMap::new();
        let mut sent = BTreeMap::new();
        for record in records {
            moments.entry(record.at()).or_default().push(record);
            for (node, sending) in record.step().into_iter().flat_map(sends) {
                sent.insert(sending.number, (node, sending));
            }
        }
        Self { moments, sent }
    }

    fn sent(&self, number: u64) -> Option<(NodeId, &'a Sending)> {
        self.sent.get(&number).copied()
    }

    /// All that happened in one moment, in one sentence.
    fn moment(&self, at: Ticks, act: &Move) -> Line {
        let records = self.moments.get(&at).map_or(&[][..], Vec::as_slice);
        let mut clauses: Vec<String> = Vec::new();
        let mut node = Some(act.node());
        for record in records {
            match record {
                Record::Crash { .. } => clauses.push("CRASHES".to_string()),
                Record::Restart { amnesia: false, .. } => {
                    clauses.push("RESTARTS with its disk".to_string());
                }
                Record::Restart { amnesia: true, .. } => {
                    clauses.push("RESTARTS and remembers nothing".to_string());
                }
                Record::Suspect { of, .. } => {
                    clauses.push(format!("is told, wrongly, that {} crashed", of.mark()));
                }
                Record::Step(step) => clauses.extend(self.step(step, !clauses.is_empty())),
                Record::Lost { node: at, number, .. } => {
                    node = None;
                    clauses.push(self.reaches_nobody(*at, *number));
                }
                Record::Dead { .. }
                | Record::Pause { .. }
                | Record::Resume { .. }
                | Record::Partition { .. }
                | Record::Heal { .. }
                | Record::Violation(_)
                | Record::End { .. } => {}
            }
        }
        if matches!(act, Move::Repeat { .. }) {
            clauses.push("the message will arrive once more".to_string());
        }
        line(at, node, clauses.join("; "))
    }

    fn reaches_nobody(&self, node: NodeId, number: u64) -> String {
        let message = self.sent(number).map_or_else(String::new, |(from, sending)| {
            format!("{} from {}", words::message(sending, Language::English), from.mark())
        });
        format!("{message} reaches {}, which is down", node.mark())
    }

    /// Why a node acts, unless that was told already, and what it does.
    fn step(&self, step: &Step, told: bool) -> Vec<String> {
        let mut clauses = Vec::new();
        if !told {
            clauses.push(self.cause(step));
        }
        clauses.extend(words::consequences(step, Language::English, in_english));
        clauses
    }

    fn cause(&self, step: &Step) -> String {
        match &step.cause {
            Cause::Message { number, from, .. } => match self.sent(*number) {
                Some((_, sending)) => {
                    format!(
                        "receives {} from {}",
                        words::message(sending, Language::English),
                        from.mark()
                    )
                }
                None => words::cause(step, Language::English),
            },
            Cause::Indication(_) => match Told::of(&step.event["Indication"]) {
                Told::Suspect(node) => format!("is told that {} crashed", node.mark()),
                Told::Trust(node) => format!("is told that {} is up", node.mark()),
                Told::Entered { .. } | Told::Elected { .. } | Told::Deposed | Told::Other(_) => {
                    words::cause(step, Language::English)
                }
            },
            Cause::Timer(timer) => format!("is woken by timer {timer}"),
            Cause::Start | Cause::Restart | Cause::Request(_) | Cause::Tell | Cause::Unseen => {
                words::cause(step, Language::English)
            }
        }
    }
}

fn sends(step: &Step) -> impl Iterator<Item = (NodeId, &Sending)> {
    step.sends().map(|sending| (step.node, sending))
}
