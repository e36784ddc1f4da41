//! A recorded run can be run again, and a recording that was changed is found out.

use super::support::{crash, restart, setting};
use crate::cluster;
use conclave_algorithms::catalog::{ENTRIES, Family, Setting};
use conclave_core::{NodeId, Ticks};
use conclave_sim::trace::{
    self, Cause, Explained, FORMAT, Header, Language, Record, Sealed, Trace, VERSION, frames,
    mermaid, perfetto, shiviz, svg,
};
use conclave_sim::{Act, Fault, Latency, Options, Outcome, Plan, ScriptLine, Workload};
use serde_json::Value;

/// A plan in which everything happens that a recording has a word for.
fn eventful(seed: u64, family: Family) -> Plan {
    let pause = Fault::Pause { node: NodeId(2), span: Ticks::units(9) };
    let groups = vec![vec![NodeId(0), NodeId(1)], vec![NodeId(2), NodeId(3)]];
    let partition = Fault::Partition { groups, until: Ticks::units(70) };
    let mutex = family == Family::Mutex;
    Plan {
        seed,
        latency: Latency::Exponential(Ticks::units(2)),
        duplicate: 0.1,
        loss: 0.05,
        cancel: if mutex { 0.3 } else { 0.0 },
        workload: if mutex { Workload::Closed(Ticks::units(5)) } else { Workload::AllAtOnce },
        rounds: 3,
        faults: vec![
            (Ticks::units(7), pause),
            crash(1, 20),
            restart(1, 40, !mutex), // Not all elections have a rule for a return.
            (Ticks::units(50), partition),
            restart(0, 60, true),
        ],
        // Detectors never rest; what they send in a while is enough.
        until: Ticks::units(if family == Family::Detector { 100 } else { 400 }),
        ..Plan::default()
    }
}

fn run(setting: &Setting, plan: &Plan, trace: bool) -> Outcome {
    let cluster = cluster(setting).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { trace, hash: true, ..Options::default() };
    cluster.run(plan, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn recorded(setting: &Setting, plan: &Plan) -> Trace {
    let cluster = cluster(setting).unwrap_or_else(|error| panic!("{error}"));
    let nodes = (0..cluster.clients() + cluster.coordinators()).map(NodeId);
    let header = Header {
        format: FORMAT.to_string(),
        version: VERSION,
        algorithm: setting.entry.id.to_string(),
        nodes: setting.n,
        names: nodes.map(|node| node.to_string()).collect(),
        links: Some(cluster.links().clone()),
        ..Header::default()
    };
    Trace { header, records: run(setting, plan, true).records }
}

fn verify(setting: &Setting, trace: &Trace) -> Result<u64, String> {
    let cluster = cluster(setting).unwrap_or_else(|error| panic!("{error}"));
    cluster.verify(trace).map_err(|difference| difference.to_string())
}

#[test]
fn every_algorithm_does_the_same_when_its_recording_is_run_again() {
    for entry in ENTRIES {
        let setting = setting(entry.id, 5, &[]);
        for seed in 1..=5 {
            let plan = eventful(seed, entry.family);
            let trace = recorded(&setting, &plan);
            let file = trace::write(&trace);
            assert_eq!(trace::read(&file), Ok((trace.clone(), Sealed::Whole)), "{}", entry.id);
            let events = run(&setting, &plan, false).events;
            assert_eq!(verify(&setting, &trace), Ok(events), "{} seed {seed}", entry.id);
        }
    }
}

#[test]
fn writing_a_run_down_does_not_change_it() {
    for entry in ENTRIES {
        let setting = setting(entry.id, 5, &[]);
        let plan = eventful(3, entry.family);
        assert_eq!(run(&setting, &plan, true).hash, run(&setting, &plan, false).hash);
    }
}

#[test]
fn every_recording_can_be_drawn_in_every_way() {
    for entry in ENTRIES {
        let trace = recorded(&setting(entry.id, 5, &[]), &eventful(2, entry.family));
        let language = Language::English;
        assert!(svg::write(&trace, language).is_ok(), "{}", entry.id);
        assert!(shiviz::write(&trace, Language::English).is_ok(), "{}", entry.id);
        assert!(
            frames::write(&trace, &Explained::default(), language)
                .is_ok_and(|film| film.files.len() > 10),
            "{}",
            entry.id
        );
        assert!(mermaid::write(&trace, language).starts_with("sequenceDiagram\n"), "{}", entry.id);
        let perfetto: Result<Value, _> = serde_json::from_str(&perfetto::write(&trace));
        assert!(perfetto.is_ok(), "{}", entry.id);
    }
}

#[test]
fn what_one_application_tells_another_is_a_message_too() {
    let line = |at, node, act| ScriptLine { at: Ticks::units(at), node: NodeId(node), act };
    let script =
        vec![line(0, 0, Act::Acquire), line(1, 0, Act::Tell(NodeId(1))), line(3, 1, Act::Acquire)];
    let plan = Plan { workload: Workload::Script(script), ..Plan::default() };
    let setting = setting("lamport", 3, &[]);
    let trace = recorded(&setting, &plan);
    let told = trace.steps().filter(|(_, step)| step.sends().any(|send| send.label == "TELL"));
    assert_eq!(told.count(), 1);
    assert_eq!(verify(&setting, &trace).map(|steps| steps > 0), Ok(true));
}

/// Every value of a line, as a path of keys and indices.
fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                leaves(inner, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                leaves(inner, &format!("{path}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(path.to_string());
        }
    }
}

fn change(value: &mut Value) {
    *value = match &*value {
        Value::Number(number) => Value::from(number.as_u64().unwrap_or_default() + 1),
        Value::String(text) if text == "Acquire" => Value::from("Release"),
        Value::String(text) => Value::from(format!("{text}x")),
        Value::Bool(flag) => Value::from(!flag),
        Value::Null | Value::Array(_) | Value::Object(_) => Value::from(1),
    };
}

/// What only the seal protects: when things happened, within what could have been; what was judged;
/// what became of messages and nodes that nobody noticed any more; and whom an oracle told what.
fn is_circumstance(line: &Value, path: &str) -> bool {
    let of_step = line.get("record").is_some_and(|record| record == "step")
        && line.pointer("/cause/indication").is_none();
    let timing = ["/at", "/arrival", "/until", "/again"];
    !of_step || timing.iter().any(|name| path.ends_with(name))
}

#[test]
fn whatever_is_changed_in_a_step_is_found_by_running_it_again() {
    // Without heartbeats: each value of each line costs a whole run.
    let quiet = [("election", "bully"), ("detector", "perfect")];
    for (id, n, set) in [
        ("ricart-agrawala", 3, &[][..]),
        ("voting", 2, &[]),
        ("token-ring-regenerating", 3, &quiet),
    ] {
        let setting = setting(id, n, set);
        let faults = vec![crash(1, 20), restart(1, 40, false)];
        let plan = Plan { faults, until: Ticks::units(90), ..Plan::default() };
        let file = trace::write(&recorded(&setting, &plan));
        let lines: Vec<&str> = file.lines().collect();
        for (place, line) in lines.iter().enumerate().skip(1).take(lines.len() - 2) {
            let before: Value = serde_json::from_str(line).expect("a record");
            let mut paths = Vec::new();
            leaves(&before, "", &mut paths);
            for path in paths {
                let mut after = before.clone();
                change(after.pointer_mut(&path).expect("it is there"));
                let mut changed: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
                changed[place] = after.to_string();
                let Ok((trace, sealed)) = trace::read(&(changed.join("\n") + "\n")) else {
                    continue; // Found even sooner.
                };
                assert_eq!(sealed, Sealed::Broken, "{id} line {place}: {path}");
                let found = verify(&setting, &trace).is_err();
                assert!(found || is_circumstance(&before, &path), "{id} {after}: {path}");
            }
        }
    }
}

/// Each of these would have a node do what it asserts never to be asked for.
#[test]
fn a_recording_that_wakes_the_dead_is_refused() {
    let setting = setting("central", 3, &[]);
    let plan = Plan { faults: vec![crash(0, 3), restart(0, 6, false)], ..Plan::default() };
    let honest = recorded(&setting, &plan);
    assert!(verify(&setting, &honest).is_ok());
    let place = |is: fn(&Record) -> bool| honest.records.iter().position(is).expect("it is there");
    let crash = place(|record| matches!(record, Record::Crash { .. }));
    let restart = place(|record| matches!(record, Record::Restart { .. }));
    let begins =
        |record: &Record| matches!(record, Record::Step(step) if step.cause == Cause::Restart);
    let begun = honest.records.iter().position(begins).expect("it starts again");
    let mut resumed = honest.clone();
    let Record::Crash { node, at } = honest.records[crash] else { panic!("a crash") };
    resumed.records[restart] = Record::Resume { at, node };
    resumed.records.remove(begun);
    let mut hasty = honest.clone();
    hasty.records.remove(begun);
    for forged in [resumed, hasty] {
        assert!(verify(&setting, &forged).is_err());
    }
}

#[test]
fn the_first_difference_is_told_with_its_line_and_time() {
    let setting = setting("ricart-agrawala", 3, &[]);
    let mut trace = recorded(&setting, &Plan::default());
    let receipt = trace.records.iter().position(|record| record.at() == Ticks::units(1));
    let place = receipt.expect("messages take one unit");
    trace.records.remove(place);
    let told = verify(&setting, &trace).expect_err("a message is missing");
    assert!(told.starts_with("line "), "{told}");
    let Some(Record::Step(step)) = trace.records.get_mut(place) else { panic!("a step") };
    step.effects.clear();
    let told = verify(&setting, &trace).expect_err("effects are missing");
    assert!(told.contains(", at 1: "), "{told}");
}
