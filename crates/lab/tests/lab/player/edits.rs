//! Edits: they change what they say, and nothing that came before or has nothing to do with it.

use super::{played, refused};
use conclave_algorithms::catalog::{ENTRIES, Family};
use conclave_core::{NodeId, Ticks};
use conclave_lab::player::answer::{RunQuestion, tell};
use conclave_lab::player::{Played, play};
use conclave_sim::trace::{Record, Sending};
use std::collections::BTreeMap;

/// What becomes of a message: how long it takes, each time; nothing if it is lost.
type Fate = Vec<Ticks>;

/// The fates of all messages, by their keys.
fn fates(run: &Played) -> BTreeMap<(NodeId, NodeId, String, u32), Fate> {
    let mut sent: BTreeMap<(NodeId, NodeId, String), u32> = BTreeMap::new();
    let mut fates = BTreeMap::new();
    for (_, step) in run.trace.steps() {
        for Sending { to, label, arrival, again, .. } in step.sends() {
            let nth = sent.entry((step.node, *to, label.clone())).or_default();
            *nth += 1;
            let arrivals = arrival.iter().chain(again).map(|at| at.since(step.at)).collect();
            fates.insert((step.node, *to, label.clone(), *nth), arrivals);
        }
    }
    fates
}

/// A message somewhere in the middle of a run, as an edit names it.
fn somewhere(run: &Played, seed: u64) -> Option<(String, (NodeId, NodeId, String, u32))> {
    let mut fates = fates(run);
    fates.retain(|_, fate| fate.len() == 1); // One that arrives, and once.
    let place = (seed as usize * 7) % fates.len().max(1);
    let key = fates.keys().nth(place)?.clone();
    let (from, to, label, nth) = &key;
    let name = |node: &NodeId| run.names().name(*node);
    Some((format!("{}>{}:{label}#{nth}", name(from), name(to)), key))
}

/// The counterfactual law: where links do not keep an order, an edit changes the fate of one
/// message, and of no other that is there with it and without.
#[test]
fn an_edit_of_one_message_changes_the_fate_of_no_other() {
    let mut compared = 0;
    for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Mutex) {
        for seed in 1..=20 {
            let flags = format!(
                "--nodes 4 --seed {seed} --no-fifo --latency uniform:1..20 --until 300 --loss 0.02"
            );
            let Ok(trunk) = play(entry.id, &flags, &[]) else { continue };
            let Some((message, key)) = somewhere(&trunk, seed) else { continue };
            let act = ["drop", "delay:33", "twice:40"][seed as usize % 3];
            let branch = played(entry.id, &flags, &[&format!("{message}={act}")]);
            let after = fates(&branch);
            for (known, fate) in fates(&trunk).iter().filter(|(known, _)| **known != key) {
                if let Some(changed) = after.get(known) {
                    assert_eq!(changed, fate, "{} {flags}: {message}={act}: {known:?}", entry.id);
                    compared += 1;
                }
            }
            assert_ne!(after.get(&key), fates(&trunk).get(&key), "{} {message}={act}", entry.id);
        }
    }
    assert!(compared > 5_000, "only {compared} messages were compared");
}

/// Whatever is offered at a moment leaves everything before that moment as it was, whether links
/// keep an order or not.
#[test]
fn nothing_that_is_offered_changes_the_past() {
    let mut tried = 0;
    for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Mutex) {
        for seed in 1..=2 {
            for latency in ["uniform:1..20", "unit"] {
                let flags = format!("--nodes 4 --seed {seed} --latency {latency} --until 200");
                let Ok(trunk) = play(entry.id, &flags, &[]) else { continue };
                let cursor = trunk.trace.records.len() * (1 + seed as usize) / 4;
                tried += all_keep_the_past(entry.id, &flags, &trunk, cursor);
            }
        }
    }
    assert!(tried > 500, "only {tried} were tried");
}

fn all_keep_the_past(id: &str, flags: &str, trunk: &Played, cursor: usize) -> usize {
    let question = RunQuestion { at: cursor, ..RunQuestion::default() };
    let moment = tell(trunk, &question).moment.expect("it was asked for");
    let possible = moment.actions.iter().filter(|action| action.possible);
    let mut tried = 0;
    for action in possible.step_by(5) {
        let branch = played(id, flags, &[&action.edit]);
        let same = |(a, b): (&Record, &Record)| a.at() == b.at() && doer(a) == doer(b);
        let pairs = trunk.trace.records.iter().zip(&branch.trace.records).take(cursor);
        let kept = pairs.take_while(|pair| same(*pair)).count();
        assert_eq!(kept, cursor, "{id} {flags} at {cursor}: {}", action.edit);
        tried += 1;
    }
    tried
}

/// Who does what because of what; what becomes of messages may be different.
fn doer(record: &Record) -> String {
    match record.step() {
        Some(step) => format!("{} {:?} {}", step.node, step.cause, step.event),
        None => format!("{record:?}"),
    }
}

#[test]
fn every_offer_does_what_it_says() {
    let flags = "--nodes 3 --latency uniform:2..9 --seed 3";
    let trunk = played("ricart-agrawala", flags, &[]);
    let moment = |run: &Played, at| {
        tell(run, &RunQuestion { at, ..RunQuestion::default() }).moment.expect("it was asked for")
    };
    let now = moment(&trunk, 6);
    let last = now.flying.last().expect("something is under way");
    let offered = |verb: &str| {
        let action = now.actions.iter().find(|action| {
            action.verb == verb && action.edit.starts_with(&format!("{}=", last.key))
        });
        action.unwrap_or_else(|| panic!("{verb} of {} is offered", last.key))
    };
    let first = offered("first");
    assert!(first.possible, "{:?}", first.why_not);
    let hurried = played("ricart-agrawala", flags, &[&first.edit]);
    let next = &hurried.trace.records[6];
    assert_eq!(next.at(), Ticks((now.at * 1_000.0) as u64 + 1), "it comes next");
    let dropped = played("ricart-agrawala", flags, &[&offered("drop").edit]);
    assert!(fates(&dropped).values().any(Vec::is_empty), "it is lost");
    let twice = played("ricart-agrawala", flags, &[&offered("twice").edit]);
    assert!(fates(&twice).values().any(|fate| fate.len() == 2), "it arrives twice");
}

#[test]
fn nodes_crash_return_and_ask_where_they_are_told_to() {
    let run = |edits: &[&str]| played("ricart-agrawala", "--nodes 3", edits);
    let has = |run: &Played, wanted: &str| {
        run.trace.records.iter().any(|record| format!("{record:?}").contains(wanted))
    };
    assert!(has(&run(&["crash=2@5"]), "Crash { at: Ticks(5000), node: NodeId(1) }"));
    let back = run(&["crash=2@5", "amnesia=2@9"]);
    assert!(has(&back, "Restart { at: Ticks(9000), node: NodeId(1), amnesia: true }"));
    assert!(has(&run(&["pause=1@5+7"]), "Resume { at: Ticks(12000)"));
    assert!(has(&run(&["cut=1,2@0.5"]), "Partition"));
    let asked = run(&["ask=3@90"]);
    let entries = asked.outcome.as_ref().map(|outcome| outcome.mutex().entries);
    assert_eq!(entries, Some(4), "once more than all once");
    let early = run(&["leave=1@4"]);
    assert!(early.trace.end() < run(&[]).trace.end(), "it stays inside for less");
    let elected = played("bully", "--nodes 4 --start 1", &["ask=3@50"]);
    assert!(has(&elected, "Request(\"Campaign\")") && elected.trace.end() > Ticks::units(50));
}

#[test]
fn a_cut_heals_link_by_link_or_at_once() {
    let flags = "--nodes 4 --workload closed:20 --rounds 3 --latency unit";
    let cuts = |edits: &[&str], at: u64| {
        let run = played("ricart-agrawala", flags, edits);
        let before = |record: &&Record| record.at() < Ticks::units(at);
        let events = run.trace.records.iter().take_while(before).count();
        let question = RunQuestion { at: events, ..RunQuestion::default() };
        tell(&run, &question).moment.expect("it was asked for").cuts
    };
    assert_eq!(cuts(&["cut=1@2"], 9), [(0, 1), (0, 2), (0, 3)]);
    assert_eq!(cuts(&["cut=1@2", "heal=1,3@5"], 9), [(0, 1), (0, 3)]);
    assert_eq!(cuts(&["cut=1@2", "heal=3,1@5", "heal=1,2@6"], 9), [(0, 3)]);
    assert_eq!(cuts(&["cut=1@2", "heal@5"], 9), []);
    assert_eq!(cuts(&["cut=1,4@2", "cut=2@3", "heal=2,3@5"], 9), [(0, 1), (0, 3), (1, 3)]);
}

#[test]
fn what_cannot_be_edited_is_refused_in_a_line() {
    let wrong = [
        "",
        "drop",
        "1>2=drop",
        "1>9:OK#1=drop",
        "1>2:OK#0=drop",
        "1>2:OK#1=fly",
        "crash=9@1",
        "crash=1",
        "crash=1@x",
        "heal",
        "heal=1@2",
        "cut=1,1,1@2",
        "ask=1",
        "1>2:OK#1=first@",
        "suspect=1:2@3",
    ];
    for edit in wrong {
        let refused = refused("ricart-agrawala", "--nodes 3", &[edit]);
        assert_eq!(refused.field, "edits", "{edit}: {}", refused.words);
        assert!(!refused.words.contains('\n') && refused.words.len() < 600, "{}", refused.words);
    }
    let missing = refused("ricart-agrawala", "--nodes 3", &["1>2:OK#99=drop"]);
    assert_eq!(missing.words, "there is no such message in this run");
    let many: Vec<&str> = vec!["crash=1@5"; 65];
    assert!(refused("ricart-agrawala", "--nodes 3", &many).words.contains("at most 64"));
}

/// Messages that arrive at the same time have an order, too, and each of them can be the first.
#[test]
fn of_messages_that_arrive_at_once_any_can_be_the_first() {
    let mut reordered = 0;
    for id in ["ricart-agrawala", "maekawa", "lamport", "suzuki-kasami", "bully"] {
        let flags = "--nodes 4 --until 40";
        let trunk = played(id, flags, &[]);
        for at in 1..trunk.trace.records.len() {
            let question = RunQuestion { at, ..RunQuestion::default() };
            let moment = tell(&trunk, &question).moment.expect("it was asked for");
            for flying in &moment.flying {
                let first = moment.actions.iter().find(|action| {
                    action.verb == "first" && action.edit.starts_with(&format!("{}=", flying.key))
                });
                let first = first.expect("it is offered, or there is a reason");
                assert_eq!(first.possible, first.why_not.is_none());
                if !first.possible || !first.edit.contains("=before:") {
                    continue;
                }
                let branch = played(id, flags, &[&first.edit]);
                let records = branch.trace.records.iter().zip(&trunk.trace.records);
                let kept = records.take(at).filter(|(a, b)| doer(a) == doer(b)).count();
                assert_eq!(kept, at, "{id} at {at}: {} changes the past", first.edit);
                let next = branch.trace.records[at..].iter().find_map(Record::landing);
                assert_eq!(next, Some(flying.number), "{id} at {at}: {}", first.edit);
                reordered += 1;
            }
        }
    }
    assert!(reordered > 100, "only {reordered} were put first");
}
