//! The command that comes with an answer gives the same run; flags are read as the command line
//! reads them, and limits are kept.

use super::{played, refused};
use conclave_lab::lessons::{LESSONS, Moment, Shown};
use conclave_lab::player::answer::{RunQuestion, answer};
use conclave_lab::player::events::Event;
use conclave_lab::player::{EVENTS_MAX, Language};
use conclave_lab::scenarios::ScenarioFile;
use conclave_lab::{cards, lessons};

/// The flags of a command, without what comes before them.
fn flags_of<'a>(command: &'a str, id: &str) -> &'a str {
    command.strip_prefix(&format!("conclave sim {id} ")).expect("a command of sim")
}

#[test]
fn the_command_of_an_answer_gives_the_same_run() {
    let runs: &[(&str, &str, &[&str])] = &[
        ("ricart-agrawala", "--nodes 5 --seed 7 --latency uniform:1..20", &[]),
        ("ricart-agrawala", "--nodes 4 --latency exp:3", &["2>1:OK#1=drop", "crash=3@20"]),
        ("lamport", "--nodes 3 --no-fifo --loss 0.1", &["ask=2@70", "pause=1@4+9"]),
        ("central", "--nodes 4 --workload poisson:0.05 --rounds 3", &["cut=2@30", "heal@60"]),
        ("maekawa", "--nodes 7 --cancel 0.3", &["amnesia=3@9", "leave=1@15"]),
        ("bully", "--nodes 6 --dead 6 --start 2", &["ask=4@20", "cut=1,5@3"]),
        ("heartbeat", "--nodes 3 --until 60", &["crash=2@9"]),
        ("bully", "--ids 3,17,24 --candidates 3,24 --start 3", &[]),
    ];
    for (id, flags, edits) in runs {
        let run = played(id, flags, edits);
        let again = played(id, flags_of(&run.trace.header.command, id), &[]);
        assert_eq!(again.hash, run.hash, "{}", run.trace.header.command);
        assert_eq!(again.trace.records, run.trace.records, "{}", run.trace.header.command);
    }
}

#[test]
fn every_scenario_runs_by_its_flags() {
    let cards = cards::scenarios().expect("the scenarios are sound");
    assert!(cards.len() > 50);
    assert_eq!(cards.iter().filter(|card| card.front.is_some()).count(), 5);
    for file in ScenarioFile::all().expect("the scenarios are sound") {
        let Some(card) = cards.iter().find(|card| card.name == file.name) else { continue };
        for (ran, run) in file.run(false).expect("it runs").iter().zip(&card.runs) {
            let hash = ran.outcome.hash.map(|hash| format!("{hash:016x}"));
            let played = played(&run.algorithm, &run.flags, &[]);
            if !played.overrun && ran.plan.until == played.plan.as_ref().expect("a plan").until {
                assert_eq!(Some(played.hash), hash, "{}: {}", file.name, run.flags);
            }
        }
    }
}

#[test]
fn what_a_lesson_says_is_what_its_run_shows() {
    let cards = cards::scenarios().expect("the scenarios are sound");
    assert_eq!(LESSONS.len(), 13);
    for lesson in LESSONS {
        let (name, place) = lesson.scenario;
        let card = cards.iter().find(|card| card.name == name).expect(name);
        let run = &card.runs[place];
        let played = played(&run.algorithm, &run.flags, &[]);
        let outcome = played.outcome.as_ref().expect("it was simulated");
        let broken = |property| outcome.violations.iter().any(|known| known.property == property);
        let right = match lesson.shown {
            Shown::Broken(property) => broken(property),
            Shown::Kept(property) => !broken(property),
            Shown::Messages(messages) => outcome.messages == messages,
            Shown::Value(value) => {
                outcome.mutex().shared.as_ref().is_some_and(|shared| shared.value == value)
            }
            Shown::Step(event, says) => told(run, event).contains(says),
        };
        assert!(right, "{name}: {:?}", lesson.shown);
        for &Moment { event, says, .. } in lesson.steps {
            let told = told(run, event);
            assert!(told.contains(says), "{name}, event {event}: {told}, not {says}");
        }
        assert!(lesson.options.len() > 1 && lesson.right < lesson.options.len(), "{name}");
    }
    for language in [Language::English, Language::Portuguese] {
        assert!(lessons::all(language).iter().all(|lesson| !lesson.answer.is_empty()));
    }
}

/// What a run says of an event, and why.
fn told(run: &cards::RunCard, event: usize) -> String {
    let question = RunQuestion {
        algorithm: run.algorithm.clone(),
        flags: run.flags.clone(),
        ..RunQuestion::default()
    };
    let list = answer(&question).ok().and_then(|answer| answer.list).expect("all events");
    let Event { text, why, .. } = &list[event - 1];
    let reasons = why.iter().map(|reason| format!("; {}", reason.text));
    text.clone() + &reasons.collect::<String>()
}

#[test]
fn flags_that_name_files_or_ask_for_too_much_are_refused() {
    let wrong = [
        ("ricart-agrawala", "--nodes 65", "flags"),
        ("ricart-agrawala", "--nodes 0", "flags"),
        ("ricart-agrawala", "--nodes 999999999", "flags"),
        ("ricart-agrawala", "--workload script:/etc/passwd", "flags"),
        ("ricart-agrawala", "--latency links:/etc/passwd", "flags"),
        ("ricart-agrawala", "--latency samples:/etc/passwd", "flags"),
        ("maekawa", "--set quorums=/etc/passwd", "flags"),
        ("ricart-agrawala", "--trace x.svg", "flags"),
        ("ricart-agrawala", "--seeds 5", "flags"),
        ("ricart-agrawala", "--json", "flags"),
        ("ricart-agrawala", "--nodes 3 --nodes 4", "flags"),
        ("ricart-agrawala", "--nodes", "flags"),
        ("ricart-agrawala", "--rounds 99999999", "flags"),
        ("ricart-agrawala", "--set 'x", "flags"),
        ("ricart-agrawala", "3", "flags"),
        ("no-such-algorithm", "", "algorithm"),
    ];
    for (id, flags, field) in wrong {
        let refused = refused(id, flags, &[]);
        assert_eq!(refused.field, field, "{id} {flags}: {}", refused.words);
        assert!(!refused.words.contains("root:"), "{}", refused.words);
    }
}

#[test]
fn a_run_without_end_is_cut_short() {
    let run = played("token-ring", "--nodes 64 --workload script:=90000,1,acquire", &[]);
    assert!(run.overrun);
    assert!(run.trace.records.len() as u64 <= EVENTS_MAX + 70, "{}", run.trace.records.len());
}

#[test]
fn a_part_that_is_asked_for_alone_comes_alone() {
    let question = |text: &str| -> RunQuestion { serde_json::from_str(text).expect("a question") };
    let whole = question(r#"{"algorithm":"central","flags":"--nodes 3","at":4,"window":[0,5]}"#);
    let whole = serde_json::to_value(answer(&whole).expect("it is sound")).expect("plain data");
    for field in ["hash", "command", "lamps", "index", "list", "keys", "moment", "spans", "costs"] {
        assert!(whole.get(field).is_some(), "{field}");
    }
    assert_eq!(whole["list"].as_array().map(Vec::len), Some(5));
    let part = question(r#"{"algorithm":"central","flags":"--nodes 3","at":4,"only":["moment"]}"#);
    let part = serde_json::to_value(answer(&part).expect("it is sound")).expect("plain data");
    assert_eq!(part["moment"], whole["moment"]);
    assert!(part.get("lamps").is_none() && part.get("list").is_none());
}

#[test]
fn every_switch_of_an_assumption_can_be_thrown() {
    let cards = cards::all();
    let switches = cards.iter().flat_map(|card| {
        let flags = card.assumptions.iter().filter_map(|known| known.without.as_deref());
        flags.map(|flags| (card.id, flags))
    });
    let mut thrown = 0;
    for (id, flags) in switches {
        played(id, &format!("{flags} --until 100"), &[]);
        thrown += 1;
    }
    assert!(thrown > 40, "only {thrown} switches");
}
