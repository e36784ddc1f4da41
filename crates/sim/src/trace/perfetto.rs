//! A trace as trace-event JSON, for Perfetto and the browsers' own viewers.
//!
//! Each node has two tracks: its states, and its steps with the messages as flows between them. A
//! unit of time shows as a millisecond.

use super::lives::Lives;
use super::words::who;
use super::{Cause, Clocks, Language, Record, Trace, words};
use conclave_core::{NodeId, Ticks};
use serde_json::{Value, json};

/// How long a step seems to take; it takes no time at all, but must be seen.
const STEP_SHOWN: u64 = 100;

/// A trace as trace-event JSON.
pub fn write(trace: &Trace) -> String {
    let mut events = Vec::new();
    name_tracks(trace, &mut events);
    states(trace, &mut events);
    steps(trace, &mut events);
    misfortunes(trace, &mut events);
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    let about = json!({"command": trace.header.command, "algorithm": trace.header.algorithm});
    format!(
        "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n",
        lines.join(",\n")
    )
}

/// Each node is a process, so that its two tracks stay together.
fn pid(node: NodeId) -> u32 {
    node.0 + 1
}

const STATES: u32 = 1;
const STEPS: u32 = 2;

fn name_tracks(trace: &Trace, events: &mut Vec<Value>) {
    for node in trace.header.all() {
        let name = |what: &str, tid: u32, name: String| {
            let args = json!({"name": name});
            json!({"ph": "M", "name": what, "pid": pid(node), "tid": tid, "args": args})
        };
        events.push(name("process_name", STATES, who(&trace.header, node, Language::English)));
        events.push(name("thread_name", STATES, "states".to_string()));
        events.push(name("thread_name", STEPS, "steps".to_string()));
    }
}

fn states(trace: &Trace, events: &mut Vec<Value>) {
    let lives = Lives::of(trace);
    for (node, life) in trace.header.all().zip(&lives.nodes) {
        let mut state = |name: &str, (from, to): (Ticks, Ticks), args: Value| {
            let span = to.since(from).0;
            events.push(json!({
                "ph": "X", "name": name, "cat": "state", "pid": pid(node), "tid": STATES,
                "ts": from.0, "dur": span, "args": args,
            }));
        };
        for span in &life.waiting {
            state("waiting", *span, json!({}));
        }
        for (span, fence) in &life.inside {
            state("inside", *span, json!({"fence": fence}));
        }
        for span in &life.down {
            state("down", *span, json!({}));
        }
        for span in &life.paused {
            state("paused", *span, json!({}));
        }
    }
}

fn steps(trace: &Trace, events: &mut Vec<Value>) {
    let starts = starts(trace);
    let lamport = Clocks::lamport(trace);
    let shown = trace.steps().filter(|(_, step)| !step.is_quiet_start());
    for ((place, step), (ts, dur)) in shown.zip(starts) {
        let told = trace.header.tell(&words::sentence(step, Language::English));
        let short = trace.header.tell(&words::cause(step, Language::English));
        let on_track = |mut event: Value| {
            event["pid"] = pid(step.node).into();
            event["tid"] = STEPS.into();
            event["ts"] = ts.into();
            event
        };
        let args = json!({"what": told, "lamport": lamport[place]});
        events.push(on_track(
            json!({"ph": "X", "name": short, "cat": "step", "dur": dur, "args": args}),
        ));
        let flow = |ph: &str, number: u64, label: &str| {
            let cat = "message";
            json!({"ph": ph, "bp": "e", "name": label, "cat": cat, "id": number})
        };
        for sending in step.sends() {
            events.push(on_track(flow("s", sending.number, &sending.label)));
        }
        if let Cause::Message { number, label, .. } = &step.cause {
            events.push(on_track(flow("f", *number, label)));
        }
    }
}

/// Where each step begins and how long it seems: steps of one node at one instant stand side by
/// side.
fn starts(trace: &Trace) -> Vec<(u64, u64)> {
    let shown: Vec<_> = trace.steps().filter(|(_, step)| !step.is_quiet_start()).collect();
    let mut free = vec![0; trace.header.names.len()];
    let mut begins = Vec::with_capacity(shown.len());
    for (_, step) in &shown {
        let begin = step.at.0.max(free[step.node.index()]);
        free[step.node.index()] = begin + 1;
        begins.push(begin);
    }
    let mut next = vec![u64::MAX; trace.header.names.len()];
    let mut starts = Vec::with_capacity(shown.len());
    for ((_, step), begin) in shown.iter().zip(begins).rev() {
        let room = next[step.node.index()] - begin;
        next[step.node.index()] = begin;
        starts.push((begin, room.min(STEP_SHOWN)));
    }
    starts.reverse();
    starts
}

fn misfortunes(trace: &Trace, events: &mut Vec<Value>) {
    for record in &trace.records {
        let name = words::record(record, &trace.header, Language::English);
        let (node, scope) = match record {
            Record::Crash { node, .. }
            | Record::Restart { node, .. }
            | Record::Dead { node }
            | Record::Suspect { by: node, .. } => (*node, "p"),
            Record::Partition { .. } | Record::Heal { .. } | Record::Violation(_) => {
                (NodeId(0), "g")
            }
            Record::Step(_)
            | Record::Lost { .. }
            | Record::Pause { .. }
            | Record::Resume { .. }
            | Record::End { .. } => continue,
        };
        let at = record.at().0;
        events.push(json!({
            "ph": "i", "name": name, "cat": "fault", "s": scope,
            "pid": pid(node), "tid": STATES, "ts": at,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testkit::{Draft, hand_made};

    fn events(trace: &Trace) -> Vec<Value> {
        let file: Value = serde_json::from_str(&write(trace)).expect("JSON");
        file["traceEvents"].as_array().expect("a list").clone()
    }

    #[test]
    fn states_are_slices_and_misfortunes_are_instants() {
        let events = events(&hand_made());
        let inside = events.iter().find(|event| event["name"] == "inside").expect("one entered");
        assert_eq!((&inside["ts"], &inside["dur"]), (&json!(2_000), &json!(10_000)));
        let instants = events.iter().filter(|event| event["ph"] == "i").count();
        assert_eq!(instants, 5, "crash, restart, partition, its end, violation");
    }

    #[test]
    fn every_flow_begins_and_ends_inside_a_step() {
        let events = events(&hand_made());
        let flows = events.iter().filter(|event| event["ph"] == "s" || event["ph"] == "f");
        for flow in flows {
            let encloses = |step: &&Value| {
                step["cat"] == "step" && step["pid"] == flow["pid"] && step["ts"] == flow["ts"]
            };
            assert!(events.iter().any(|step| encloses(&step)), "{flow}");
        }
    }

    #[test]
    fn steps_of_one_instant_stand_side_by_side() {
        let mut draft = Draft::new(1);
        for _ in 0..3 {
            draft.ask(1, 0, "Acquire");
        }
        assert_eq!(starts(&draft.end(2)), [(1_000, 1), (1_001, 1), (1_002, 100)]);
    }
}
