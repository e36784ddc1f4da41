//! Traces made by hand, for the tests of whatever draws them.

use super::{Cause, Effect, FORMAT, Header, Record, Sending, Step, Trace, VERSION};
use crate::outcome::Ending;
use conclave_core::{Links, NodeId, Ticks};
use serde_json::{Value, json};

/// A trace in the making. Times are in units.
pub struct Draft {
    trace: Trace,
    sent: u64,
}

impl Draft {
    pub fn new(n: u32) -> Self {
        let header = Header {
            format: FORMAT.to_string(),
            version: VERSION,
            algorithm: "by-hand".to_string(),
            family: "mutex".to_string(),
            nodes: n,
            names: (1..=n).map(|name| name.to_string()).collect(),
            links: Some(Links::Complete),
            command: "conclave sim by-hand".to_string(),
            ..Header::default()
        };
        Self { trace: Trace { header, records: Vec::new() }, sent: 0 }
    }

    pub fn step(&mut self, at: u64, node: u32, cause: Cause, event: Value) -> &mut Self {
        let at = Ticks::units(at);
        let node = NodeId(node);
        let step = Step { at, node, cause, event, choices: Vec::new(), effects: Vec::new() };
        self.record(Record::Step(step))
    }

    pub fn start(&mut self, at: u64, node: u32) -> &mut Self {
        self.step(at, node, Cause::Start, json!("Start"))
    }

    pub fn ask(&mut self, at: u64, node: u32, request: &str) -> &mut Self {
        self.step(at, node, Cause::Request(request.to_string()), json!({"Request": request}))
    }

    pub fn receive(&mut self, at: u64, node: u32, number: u64) -> &mut Self {
        let sent = |(_, step): (usize, &Step)| {
            let sending = step.sends().find(|sending| sending.number == number)?;
            Some((step.node, sending.label.clone()))
        };
        let (from, label) = self.trace.steps().find_map(sent).expect("it was sent");
        self.step(at, node, Cause::Message { number, from, label }, json!("Message"))
    }

    /// The last step sends a message.
    pub fn send(&mut self, to: u32, label: &str, arrival: Option<u64>) -> &mut Self {
        self.sent += 1;
        let sending = Sending {
            number: self.sent,
            to: NodeId(to),
            label: label.to_string(),
            details: format!("to: {{{to}}}"),
            arrival: arrival.map(Ticks::units),
            again: Vec::new(),
            effect: Value::Null,
        };
        self.effect(Effect::Send(sending))
    }

    /// The last step tells the layer above.
    pub fn tell(&mut self, told: Value) -> &mut Self {
        self.effect(Effect::Indicate { effect: json!({"Indicate": told}) })
    }

    fn effect(&mut self, effect: Effect) -> &mut Self {
        match self.trace.records.last_mut() {
            Some(Record::Step(step)) => step.effects.push(effect),
            other => panic!("no step but {other:?}"),
        }
        self
    }

    pub fn record(&mut self, record: Record) -> &mut Self {
        self.trace.records.push(record);
        self
    }

    pub fn end(mut self, at: u64) -> Trace {
        let at = Ticks::units(at);
        self.record(Record::End { at, ending: Ending::Quiet, missing: 0 });
        self.trace
    }
}

/// A bit of everything: a request granted, a message lost, a crash and return, a partition, a
/// pause, a timer, and a violation.
pub fn hand_made() -> Trace {
    let mut draft = Draft::new(3);
    for node in 0..3 {
        draft.start(0, node);
    }
    draft.ask(0, 0, "Acquire").send(1, "REQUEST", Some(1)).send(2, "REQUEST", None);
    draft.receive(1, 1, 1).send(0, "OK", Some(2));
    draft.receive(2, 0, 3).tell(json!({"Entered": {"fence": 4}}));
    draft.record(Record::Crash { at: Ticks::units(3), node: NodeId(2) });
    let groups = vec![vec![NodeId(0)], vec![NodeId(1)]];
    draft.record(Record::Partition { at: Ticks::units(4), number: 0, groups });
    draft.record(Record::Pause { at: Ticks::units(5), node: NodeId(1) });
    draft.record(Record::Heal { at: Ticks::units(6), number: 0 });
    draft.ask(12, 0, "Release").send(2, "RELEASE", Some(13));
    draft.record(Record::Lost { at: Ticks::units(13), node: NodeId(2), number: 4 });
    draft.record(Record::Resume { at: Ticks::units(14), node: NodeId(1) });
    draft.record(Record::Restart { at: Ticks::units(15), node: NodeId(2), amnesia: true });
    draft.step(15, 2, Cause::Restart, json!("Restart"));
    draft.step(16, 2, Cause::Timer("Retry".to_string()), json!({"Timer": "Retry"}));
    draft.record(Record::Violation(conclave_core::Violation {
        property: conclave_core::Property::S1,
        at: Ticks::units(16),
        what: "{0} and {2} were inside".to_string(),
    }));
    draft.end(17)
}
