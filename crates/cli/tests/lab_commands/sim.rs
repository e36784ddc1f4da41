//! `conclave sim` as a user meets it: numbers, JSON and exit codes.

use crate::support::{binary, conclave, json};

#[test]
fn a_bare_run_gives_the_textbooks_numbers() {
    for (id, messages) in [
        ("central", 18),
        ("lamport", 126),
        ("ricart-agrawala", 84),
        ("maekawa", 50),
        ("token-ring", 7),
        ("suzuki-kasami", 42),
        ("naimi-trehel", 17),
    ] {
        let run = json(&["sim", id, "--json"]);
        assert_eq!(run["messages"], messages, "{id}");
        assert_eq!(run["entries"], 7, "{id}");
    }
    assert_eq!(
        json(&["sim", "central", "--set", "coordinator=separate", "--json"])["messages"],
        21
    );
}

#[test]
fn the_object_has_the_fields_it_promises_in_their_order() {
    let done = conclave(&["sim", "ricart-agrawala", "--json"]);
    assert_eq!(done.code, 0);
    let fields = [
        "algorithm",
        "family",
        "nodes",
        "seed",
        "runs",
        "events",
        "messages",
        "messages_by_type",
        "virtual_time",
        "wall_seconds",
        "events_per_second",
        "trace_hash",
        "properties",
        "violations",
        "requests",
        "entries",
        "order",
        "messages_per_entry",
        "client_delay",
        "client_delay_serial",
        "sync_delay",
        "wait",
        "jain",
        "max_bypass",
        "starving",
        "fences",
    ];
    let at = fields.map(|field| done.stdout.find(&format!("\n  \"{field}\":")));
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{at:?}\n{}", done.stdout);
    let run = done.json();
    assert_eq!(run.as_object().map(|object| object.len()), Some(fields.len()));
    assert_eq!(run["order"], serde_json::json!([1, 2, 3, 4, 5, 6, 7]));
    assert_eq!(run["client_delay"], serde_json::Value::Null);
    assert_eq!(run["trace_hash"].as_str().map(str::len), Some(16));
    assert_eq!(run["properties"]["S1-eff"], "holds");
}

#[test]
fn a_detector_is_measured_by_how_soon_it_notices_and_how_often_it_errs() {
    let done = conclave(&["sim", "heartbeat", "--crash", "3@100", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let fields = [
        "violations",
        "detection_time",
        "missed",
        "mistakes",
        "mistake_rate",
        "mistake_duration",
        "query_accuracy",
    ];
    let at = fields.map(|field| done.stdout.find(&format!("\n  \"{field}\":")));
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{at:?}\n{}", done.stdout);
    let run = done.json();
    assert_eq!((&run["family"], &run["virtual_time"]), (&"detector".into(), &1000.0.into()));
    assert_eq!(run["detection_time"]["max"], 3.0);
    assert_eq!((&run["mistakes"], &run["query_accuracy"]), (&0.into(), &1.0.into()));
    let slow = conclave(&["sim", "heartbeat", "--latency", "exp:2", "--crash", "3@100"]);
    assert_eq!(slow.code, 3);
    for words in ["noticed by every live node (6 times in all)", "D2      violated", "accuracy"] {
        assert!(slow.stdout.contains(words), "{words}\n{}", slow.stdout);
    }
    assert!(!slow.stdout.contains("cut short"), "{}", slow.stdout);
    let many = json(&["sim", "adaptive", "--crash", "1@10", "--seeds", "3", "--json"]);
    assert_eq!((&many["runs"], &many["properties"]["D1"]), (&3.into(), &"holds".into()));
}

#[test]
fn a_violation_is_a_result_with_its_own_code_and_a_command_that_shows_it_again() {
    let crash = ["sim", "central", "--crash", "1@5", "--json"];
    let done = conclave(&crash);
    assert_eq!(done.code, 3);
    let run = done.json();
    assert_eq!(run["properties"]["V1"], "violated");
    let replay = run["violations"][0]["replay"].as_str().expect("a command");
    let words: Vec<&str> = replay.split(' ').skip(1).chain(["--json"]).collect();
    assert_eq!(json(&words)["trace_hash"], run["trace_hash"]);
    assert!(run["violations"][0].get("seed").is_none());
}

#[test]
fn a_run_cut_short_is_not_complete() {
    let done = conclave(&["sim", "central", "--until", "30"]);
    assert_eq!(done.code, 4, "{}", done.stdout);
    assert!(done.stdout.contains("cut short at 30"), "{}", done.stdout);
}

#[test]
fn many_runs_are_added_up_and_each_violation_names_its_seed() {
    let run = json(&["sim", "central", "--seeds", "3", "--seed", "5", "--json"]);
    assert_eq!((&run["seed"], &run["runs"], &run["messages"]), (&5.into(), &3.into(), &54.into()));
    assert_eq!(run["order"], serde_json::Value::Null);
    let done = conclave(&["sim", "central", "--seeds", "2", "--crash", "1@5", "--json"]);
    assert_eq!(done.code, 3);
    let violations = done.json()["violations"].clone();
    assert_eq!(violations[2]["seed"], 2);
    let replay = violations[2]["replay"].as_str().expect("a command").to_string();
    assert!(replay.ends_with("--seed 2") && !replay.contains("--seeds"), "{replay}");
}

#[test]
fn the_report_is_plain_when_piped_and_fits_eighty_columns() {
    let done = conclave(&["sim", "maekawa", "--latency", "exp:2", "--seeds", "20"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(!done.stdout.contains('\u{1b}'));
    assert!(done.stdout.lines().all(|line| line.chars().count() <= 80), "{}", done.stdout);
    assert_eq!(done.stderr, "");
}

#[test]
fn a_run_is_told_as_one_process_saw_it() {
    let done = conclave(&["sim", "raymond", "--nodes", "3", "--view", "2"]);
    assert_eq!(done.code, 0);
    assert!(done.stdout.contains("     0  asks to enter\n"), "{}", done.stdout);
    assert!(done.stdout.contains("          ENTERS with fence 2\n"), "{}", done.stdout);
    let all = conclave(&["sim", "raymond", "--nodes", "3", "--view", "all"]);
    assert!(all.stdout.contains("     0  3  asks to enter\n"), "{}", all.stdout);
}

#[test]
fn nodes_go_by_the_names_they_were_given() {
    let run = json(&["sim", "lamport", "--ids", "3,17,24", "--json"]);
    assert_eq!(run["nodes"], 3);
    assert_eq!(run["order"], serde_json::json!([3, 17, 24]));
}

#[test]
fn the_shortest_run_found_breaks_the_same_promise() {
    let unfair = ["sim", "lamport", "--nodes", "4", "--no-fifo", "--latency", "uniform:1..20"];
    let done = conclave(&[&unfair[..], &["--seeds", "50"]].concat());
    assert_eq!(done.code, 3);
    let (_, shortest) = done.stdout.split_once("shortest found that breaks S1:\n").expect("S1");
    let words: Vec<String> =
        shortest.split_whitespace().skip(1).map(|word| word.replace('\'', "")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
    assert!(words.contains(&"--rule"), "{shortest}");
    let run = json(&words);
    assert_eq!(run["properties"]["S1"], "violated", "{shortest}");
    assert_eq!(run["requests"], 2, "two nodes suffice: {shortest}");
}

#[test]
fn messages_are_told_as_diagrams_have_them() {
    let told = conclave(&["sim", "ricart-agrawala", "--nodes", "2", "--view", "all"]).stdout;
    assert!(told.contains("sends REQUEST (") && !told.contains("REQUEST {"), "{told}");
}

#[test]
fn a_wait_in_vain_begins_where_somebody_asked() {
    let late =
        ["sim", "central", "--nodes", "2", "--dead", "1", "--workload", "script:=7,2,acquire"];
    let told = conclave(&late);
    assert!(told.stdout.contains("V1 violated at 7"), "{}{}", told.stdout, told.stderr);
}

#[test]
fn no_algorithm_is_told_in_the_words_of_its_program() {
    let catalogue = json(&["algorithms", "--json"]);
    let list = catalogue["algorithms"].as_array().or(catalogue.as_array()).expect("a list");
    let ids: Vec<&str> = list.iter().filter_map(|entry| entry["id"].as_str()).collect();
    assert!(ids.len() > 20, "{ids:?}");
    for id in ids {
        let run = ["sim", id, "--nodes", "4", "--until", "60", "--crash", "4@9", "--view", "all"];
        let told = conclave(&run).stdout;
        assert!(told.contains("sends") || told.contains("receives"), "{id}: {told}");
        for word in ["{ ", " }", "Some(", "None", "NodeId", "Vector(", "Sampled(", "Majority("] {
            let line = told.lines().find(|line| line.contains(word));
            assert_eq!(line, None, "{id} says {word}");
        }
    }
}

#[test]
fn what_one_layer_tells_another_is_a_sentence() {
    let run = ["sim", "bully", "--nodes", "3", "--crash", "3@9", "--until", "60", "--view", "all"];
    let told = conclave(&run).stdout;
    assert!(told.contains("is told that 3 crashed"), "{told}");
}

#[test]
fn a_story_is_as_wide_as_the_screen() {
    let run = ["sim", "suzuki-kasami", "--nodes", "5", "--view", "all"];
    let told = |columns: &str| {
        let done = binary().args(run).env("COLUMNS", columns).output().expect("it runs");
        String::from_utf8(done.stdout).expect("a text")
    };
    // The story is between the first two empty lines.
    let story = |text: &str| text.split("\n\n").nth(1).unwrap_or_default().to_string();
    let widest = |text: &str| story(text).lines().map(|line| line.chars().count()).max();
    assert!(widest(&told("")) > Some(90), "what is piped is not broken");
    assert!(widest(&told("110")) > Some(90));
    assert!(widest(&told("60")) <= Some(60), "{}", told("60"));
    assert!(widest(&told("44")) <= Some(44), "{}", told("44"));
}
