//! `conclave scenario` as a user meets it.

use crate::support::{conclave, conclave_reading, json};
use std::fs;
use std::path::Path;

/// The names of the scenario files.
fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = fs::read_dir(folder).expect("there are scenarios");
    let name = |file: std::io::Result<fs::DirEntry>| {
        let name = file.expect("it can be listed").file_name().to_string_lossy().into_owned();
        name.strip_suffix(".toml").map(ToString::to_string)
    };
    files.filter_map(name).collect()
}

/// Runs `test` with a file that holds this text.
pub fn with_file<T>(name: &str, text: &str, test: impl Fn(&str) -> T) -> T {
    let folder = std::env::temp_dir().join(format!("conclave-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for test files");
    let path = folder.join("mine.toml");
    fs::write(&path, text).expect("a test file");
    let seen = test(path.to_str().expect("a plain path"));
    fs::remove_dir_all(&folder).expect("the folder can go");
    seen
}

const MINE: &str = r#"
title = { en = "One alone", pt = "Um sozinho" }
text = { en = "Nobody else wants in.", pt = "Ninguém mais quer entrar." }
source = "folklore"
algorithm = "ricart-agrawala"
nodes = 3
workload = "single:1"
[expect]
messages = 4
order = [1]
holds = ["S1"]
"#;

#[test]
fn every_file_is_in_the_list() {
    let done = conclave(&["scenario", "list"]);
    assert_eq!(done.code, 0);
    assert_eq!(done.stdout, conclave(&["scenario"]).stdout, "the list is what comes by itself");
    let listed = json(&["scenario", "list", "--json"]);
    let listed = listed.as_array().expect("a list");
    assert_eq!(listed.len(), names().len());
    for name in names() {
        assert!(done.stdout.contains(&format!("  {name} ")), "{name}");
        assert!(listed.iter().any(|one| one["name"] == *name), "{name}");
    }
    assert!(done.stdout.lines().all(|line| line.chars().count() <= 80), "{}", done.stdout);
}

#[test]
fn what_comes_of_it_is_hidden_until_asked_for() {
    let done = conclave(&["scenario", "show", "quorum-c4-forgets"]);
    assert_eq!(done.code, 0);
    assert!(done.stdout.starts_with("quorum, 2 nodes + 7 coordinators\n"), "{}", done.stdout);
    assert!(!done.stdout.contains("two are inside"), "{}", done.stdout);
    assert!(done.stdout.contains("  conclave sim quorum --nodes 2 "), "{}", done.stdout);
    assert!(!done.stdout.contains("violated"), "{}", done.stdout);
    let answer = conclave(&["scenario", "show", "quorum-c4-forgets", "--answer"]);
    assert!(answer.stdout.contains("S1          violated  at most one"), "{}", answer.stdout);
    assert!(
        answer.stdout.starts_with("c4 forgets while somebody is inside\n"),
        "{}",
        answer.stdout
    );
    let shown = json(&["scenario", "show", "quorum-c4-forgets", "--json"]);
    assert!(shown.get("expected").is_none());
    let shown = json(&["scenario", "show", "quorum-c4-forgets", "--answer", "--json"]);
    assert_eq!(shown["expected"]["entries"], serde_json::json!([2, 12]));
}

#[test]
fn the_command_that_is_shown_gives_the_same_run() {
    let shown = json(&["scenario", "show", "quorum-c4-forgets", "--json"]);
    let command = shown["command"].as_str().expect("flags can say it").replace('\'', "");
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let run = json(&words);
    assert_eq!(run["order"], serde_json::json!([1, 2]));
    assert_eq!(run["properties"]["S1"], "violated");
}

#[test]
fn a_scenario_runs_whether_its_promises_hold_or_break() {
    let holds = conclave(&["scenario", "run", "raymond-tree"]);
    assert_eq!(holds.code, 0, "{}", holds.stdout);
    assert!(holds.stdout.contains("\nmessages   4         4         ok\n"), "{}", holds.stdout);
    let breaks = conclave(&["scenario", "run", "quorum-c4-forgets"]);
    assert_eq!(breaks.code, 0, "to break as expected is no failure: {}", breaks.stdout);
    assert!(breaks.stdout.contains("violated  violated  ok  at most one inside"));
    assert!(breaks.stdout.contains("properties  S1 violated"), "{}", breaks.stdout);
    assert!(breaks.stdout.contains("One forgetful coordinator"), "{}", breaks.stdout);
    assert!(!breaks.stdout.contains('\u{1b}'));
}

#[test]
fn a_run_is_told_as_sim_tells_it() {
    let done = conclave(&["scenario", "run", "raymond-tree", "--view", "7"]);
    assert_eq!(done.code, 0);
    assert!(done.stdout.contains("\n          ENTERS with fence 1\n"), "{}", done.stdout);
    let done = conclave(&["scenario", "run", "quorum-c4-forgets", "--view", "all"]);
    assert!(done.stdout.contains("\nS1 violated at 12: "), "{}", done.stdout);
}

#[test]
fn all_come_out_as_expected() {
    let done = conclave(&["scenario", "run", "--all"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    for name in names() {
        assert!(done.stdout.contains(&format!("\n{name} ")), "{name}");
    }
    let results = json(&["scenario", "run", "--all", "--json"])["results"].clone();
    let results = results.as_array().expect("a list");
    assert_eq!(results.len(), names().len());
    for result in results {
        assert!(result["ok"] == true || result["skipped"].is_string(), "{result}");
    }
}

#[test]
fn results_have_the_fields_they_promise() {
    let results = json(&["scenario", "run", "quorum-c4-forgets", "--json"])["results"].clone();
    let result = &results[0];
    assert_eq!(result["name"], "quorum-c4-forgets");
    assert_eq!(result["ok"], true);
    for side in ["expected", "observed"] {
        assert_eq!(result[side]["order"], serde_json::json!([1, 2]), "{side}");
        assert_eq!(result[side]["same_fence"], true, "{side}");
        assert_eq!(result[side]["S1-eff"], "violated", "{side}");
    }
}

#[test]
fn a_file_is_run_like_any_other() {
    with_file("own", MINE, |path| {
        let done = conclave(&["scenario", "run", path]);
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("\nmine: ricart-agrawala, 3 nodes"), "{}", done.stdout);
    });
}

#[test]
fn a_wrong_expectation_is_a_failure() {
    let wrong = MINE.replace("messages = 4", "messages = 5");
    with_file("wrong", &wrong, |path| {
        let done = conclave(&["scenario", "run", path]);
        assert_eq!(done.code, 1);
        assert!(done.stdout.contains("messages  5         4         not ok"), "{}", done.stdout);
        assert!(done.stdout.contains("\nnot as expected"), "{}", done.stdout);
        let done = conclave(&["scenario", "run", path, "--json"]);
        assert_eq!((done.code, &done.json()["results"][0]["ok"]), (1, &false.into()));
    });
}

#[test]
fn the_story_is_told_in_portuguese() {
    let done = conclave(&["scenario", "run", "quorum-c4-forgets", "--lang", "pt"]);
    assert!(done.stdout.starts_with("c4 esquece enquanto alguém está dentro\n"), "{}", done.stdout);
    assert!(done.stdout.contains("S1                   violada   violada"), "{}", done.stdout);
    assert!(done.stdout.contains("O cliente 1 está dentro"), "{}", done.stdout);
    let listed = json(&["scenario", "list", "--json", "--lang", "pt"]);
    let c4 = listed.as_array().expect("a list").iter().find(|one| one["name"] == "raymond-tree");
    assert_eq!(c4.expect("it is there")["title"], "Um pedido sobe uma árvore");
}

#[test]
fn guesses_stand_beside_what_happened() {
    let run = ["scenario", "run", "raymond-tree", "--predict"];
    let done = conclave_reading(&run, "4\n1\n\n7\n4\nyes\nviolated\n");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let line = |begins: &str| {
        let (_, after) = done.stdout.split_once("your guess").expect("a table");
        let found = after.lines().find(|line| line.starts_with(begins));
        found.unwrap_or_else(|| panic!("{begins}: {}", done.stdout)).to_string()
    };
    assert!(line("messages").ends_with("right"));
    assert!(line("PRIVILEGE").ends_with("not so"));
    assert!(line("REQUEST").ends_with("2"), "an empty line is no guess");
    assert!(line("S1").ends_with("right"));
    assert!(line("V1").ends_with("not so"));
    assert!(done.stdout.contains("\n4/9 guessed right\n"), "{}", done.stdout);
}

#[test]
fn what_is_no_number_is_asked_again() {
    let run = ["scenario", "run", "raymond-tree", "--predict"];
    let done = conclave_reading(&run, "many\n4\n1\n\n7\n4\nyes\nviolated\n");
    assert!(done.stdout.contains("A number, please."), "{}", done.stdout);
    assert!(done.stdout.contains("\n4/9 guessed right\n"), "{}", done.stdout);
}

#[test]
fn a_word_leaves_those_that_have_it() {
    let named = |arguments: &[&str]| {
        let listed = json(&[&["scenario", "list", "--json"], arguments].concat());
        let all = listed.as_array().expect("a list").clone();
        all.iter().map(|one| one["name"].to_string()).collect::<Vec<_>>()
    };
    let forgetting = named(&["FORGETS"]);
    assert!(forgetting.iter().any(|name| name.contains("quorum-c4-forgets")), "{forgetting:?}");
    assert!(forgetting.len() < names().len() / 2, "{forgetting:?}");
    assert!(named(&["maekawa"]).len() > 1, "the algorithm counts");
    assert!(!named(&["esquece"]).is_empty(), "titles of both languages count");
    let done = conclave(&["scenario", "list", "xyzzy"]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.starts_with("error: xyzzy: no scenario has this"), "{}", done.stderr);
}

#[test]
fn hints_keep_the_language() {
    let list = conclave(&["scenario", "list", "token", "--lang", "pt"]).stdout;
    assert!(list.contains("conclave scenario show NAME --lang pt"), "{list}");
    let show = conclave(&["scenario", "show", "raymond-tree", "--lang", "pt"]).stdout;
    assert!(show.contains("--answer --lang pt"), "{show}");
    assert!(!conclave(&["scenario", "list"]).stdout.contains("--lang"));
}

#[test]
fn mistakes_get_one_line() {
    let refuses = |arguments: &[&str], line: &str| {
        let done = conclave(&[&["scenario"], arguments].concat());
        assert_eq!(done.stderr, format!("error: {line}\n"), "{arguments:?}");
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
    };
    let unknown = "no scenario is called 'quorum-c5-forgets'; did you mean quorum-c4-forgets?";
    refuses(&["run", "quorum-c5-forgets"], unknown);
    refuses(&["show", "quorum-c5-forgets"], unknown);
    refuses(&["run", "x"], "no scenario is called 'x'; 'conclave scenario list' lists them");
    refuses(&["run", "no.toml"], "no.toml: cannot read: No such file");
    refuses(&["run"], "<NAME>: is missing; see --help");
    refuses(&["list", "--lang", "fr"], "--lang fr: takes en or pt");
    let view = ["run", "raymond-tree", "--view", "9"];
    refuses(&view, "--view 9: nodes are 1 to 7");
    let both = ["run", "raymond-tree", "--all"];
    refuses(&both, "--all raymond-tree: one scenario or all, not both");
    let predict = ["run", "--all", "--predict"];
    refuses(&predict, "--predict: asks about one scenario; no --all, no --json");
}

#[test]
fn a_wrong_file_gets_one_line() {
    for (wrong, says) in [
        ("this is no scenario", "scenario: line 1: "),
        (
            &*MINE.replace("single:1", "single:9"),
            "scenario: line 7: workload = 9: nodes are 1 to 3",
        ),
        (&*MINE.replace("nodes = 3", "nodes = 3\nloss = 1.5"), "loss"),
        (
            &*MINE.replace("nodes = 3", "nodes = 4000000000"),
            "scenario: line 6: nodes = 4000000000: at most",
        ),
        (
            &*MINE.replace("nodes = 3", "nodes = 3\nset = { a = 1 }"),
            "scenario: line 7: set = a: ricart-agrawala",
        ),
        (
            &*MINE.replace("ricart-agrawala", "paxos"),
            "scenario: line 5: no algorithm is called 'paxos'",
        ),
    ] {
        with_file("bad", wrong, |path| {
            let done = conclave(&["scenario", "run", path]);
            assert_eq!((done.code, done.stderr.lines().count()), (2, 1), "{}", done.stderr);
            assert!(done.stderr.contains(says), "{says}: {}", done.stderr);
            assert!(done.stderr.starts_with(&format!("error: {path}: ")), "{}", done.stderr);
        });
    }
}

/// Shape, algorithm, parameters, fields and limits: each knows something that the others do not.
#[test]
fn all_mistakes_of_a_file_are_told_at_once() {
    let told = |wrong: &str| {
        with_file("mistaken", wrong, |path| {
            let done = conclave(&["scenario", "run", path]);
            assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{}", done.stderr);
            let begin = format!("error: {path}: scenario: ");
            let lines = done.stderr.lines();
            lines.map(|line| line.strip_prefix(&begin).expect(line).to_string()).collect::<Vec<_>>()
        })
    };
    let holds = |told: &[String], expected: &[&str]| {
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{expected}: {told}");
        }
    };
    let more = "nodes = 3\ncolour = 1\ncrash = [\"9@5\", \"2@soon\"]\nloss = 2.0\nrounds = 0\n\
                set = { a = 1, b = 2 }";
    let file = MINE.replace("nodes = 3", more);
    let of_fields = ["line 8: crash = 9: nodes are 1 to 3", "line 8: crash = "];
    let shape = "line 7: unknown field `colour`";
    let limits = ["line 9: loss = 2: a probability", "line 10: rounds = 0: at least 1"];
    let parameters = ["line 11: set = a: ricart-agrawala", "line 11: set = b: ricart-agrawala"];
    let known = [&[shape], &of_fields[..], &limits, &parameters].concat();
    holds(&told(&file), &known);
    // Limits are those of an algorithm; all else is told without one, too.
    let unknown = [&["line 5: no algorithm is called 'paxos'", shape], &of_fields[..]].concat();
    holds(&told(&file.replace("ricart-agrawala", "paxos")), &unknown);
    // Nobody is called by a label that is not there, and nobody can say who is meant.
    let labelled = MINE.replace("nodes = 3", "nodes = 3\nids = [\"a\", \"b\"]\ncrash = \"c@soon\"");
    holds(&told(&labelled), &["line 7: ids = a,b: one for each", "line 8: crash = "]);
    let nobody = MINE.replace("nodes = 3", "nodes = 0\nlatency = \"fast\"");
    holds(&told(&nobody), &["line 6: nodes = 0: at least 1", "line 7: latency = fast"]);
    // What is no TOML is told alone: where one value ends and the next begins, nobody knows.
    holds(&told(&file.replace("colour = 1", "colour =")), &["line 7: "]);
}
