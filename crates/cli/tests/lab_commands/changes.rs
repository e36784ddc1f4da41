//! Scenarios run otherwise than their files say, files with mistakes, and answers kept back.

use crate::scenario::with_file;
use crate::support::{conclave, conclave_reading, json};

#[test]
fn flags_of_the_simulator_replace_what_the_file_says_and_nothing_is_judged() {
    let observed = |arguments: &[&str]| {
        let all = [&["scenario", "run", "raymond-tree", "--json"], arguments].concat();
        let done = conclave(&all);
        assert_eq!(done.code, 0, "{arguments:?}: {}", done.stderr);
        done.json()["results"][0].clone()
    };
    let usual = observed(&[]);
    assert_eq!(usual["ok"], true);
    let slower = observed(&["--latency", "const:3"]);
    assert!(slower["ok"].is_null(), "{slower}");
    assert_eq!(slower["observed"]["messages"], usual["observed"]["messages"]);
    assert_ne!(slower["observed"]["entries"], usual["observed"]["entries"]);
    let chain = observed(&["--set", "tree=chain"]);
    assert_ne!(chain["observed"]["messages"], usual["observed"]["messages"]);
    let dead = observed(&["--crash", "1@0"]);
    assert_eq!(dead["observed"]["V1"], "violated", "{dead}");
    let told = conclave(&["scenario", "run", "raymond-tree", "--loss", "0.5", "--seed", "3"]);
    assert!(told.stdout.contains("\nnot judged: this is not the run"), "{}", told.stdout);
    assert!(!told.stdout.contains("not ok"), "{}", told.stdout);
    let again = "conclave scenario run raymond-tree --loss 0.5 --seed 3 --view all";
    assert!(told.stdout.trim_end().ends_with(again), "{}", told.stdout);
    let of_the_file = conclave(&["scenario", "run", "raymond-tree"]).stdout;
    let text = of_the_file.lines().rev().nth(2).expect("what it shows");
    assert!(!text.is_empty() && !told.stdout.contains(text), "{text}: {}", told.stdout);
    for (arguments, says) in [
        (&["raymond-tree", "--crash", "9@0"][..], "--crash 9: nodes are 1 to 7"),
        (&["raymond-tree", "--set", "colour=1"], "--set colour"),
        (&["--all", "--seed", "3"], "--all: changes are for one scenario; see --help"),
    ] {
        let done = conclave(&[&["scenario", "run"], arguments].concat());
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(done.stderr.contains(says), "{says}: {}", done.stderr);
    }
}

#[test]
fn a_fault_of_one_kind_leaves_those_of_others() {
    let observed = |arguments: &[&str]| {
        let all = [&["scenario", "run", "quorum-c4-forgets", "--json"], arguments].concat();
        json(&all)["results"][0]["observed"]["S1"].clone()
    };
    assert_eq!(observed(&["--restart", "c4@5"]), "holds", "it still crashes, and remembers");
    assert_eq!(observed(&["--crash", "c1@5"]), "violated", "c4 is restarted without its memory");
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once() {
    let wrong = "title = { en = \"A\" }\ntext = { en = \"a\" }\nsource = \"me\"\n\
                 algorithm = \"central\"\nnodes = 3\ncolour = 1\nloss = \"much\"\n";
    with_file("mistakes", wrong, |path| {
        let done = conclave(&["scenario", "run", path]);
        let lines: Vec<&str> = done.stderr.lines().collect();
        assert_eq!((done.code, lines.len()), (2, 2), "{}", done.stderr);
        for (line, number) in lines.iter().zip([6, 7]) {
            let begins = format!("error: {path}: scenario: line {number}: ");
            assert!(line.starts_with(&begins), "{line}");
        }
    });
    let unplanned = wrong.replace("colour = 1\nloss = \"much\"", "crash = \"9@1\"\ncs = \"x\"");
    with_file("unplanned", &unplanned, |path| {
        let done = conclave(&["scenario", "run", path]);
        assert_eq!((done.code, done.stderr.lines().count()), (2, 2), "{}", done.stderr);
        assert!(done.stderr.contains("scenario: line 6: crash = 9: nodes"), "{}", done.stderr);
        assert!(done.stderr.contains("scenario: line 7: cs = x: "), "{}", done.stderr);
    });
}

#[test]
fn a_file_in_one_language_is_told_in_it() {
    let mine = "title = { pt = \"Um sozinho\" }\ntext = { pt = \"Ninguém mais.\" }\n\
                source = \"me\"\nalgorithm = \"central\"\nnodes = 2\nworkload = \"single:1\"\n";
    with_file("one", mine, |path| {
        let done = conclave(&["scenario", "run", path, "--lang", "en"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stdout.starts_with("Um sozinho\n"), "{}", done.stdout);
    });
}

#[test]
fn nothing_gives_the_answer_away_before_it_was_guessed() {
    let done = conclave_reading(&["scenario", "run", "quorum-c4-forgets", "--predict"], "");
    let (before, after) = done.stdout.split_once("What will come of it?").expect("a question");
    for word in ["two are inside", "gives it again", "violated"] {
        assert!(!before.contains(word), "{word}: {before}");
    }
    assert!(after.contains("c4 forgets while somebody is inside"), "{after}");
    let parts = conclave_reading(&["scenario", "run", "which-is-hardest", "--predict"], "");
    let (before, _) = parts.stdout.split_once("What will come of it?").expect("a question");
    assert!(!before.contains("Contention"), "{before}");
    let listed = conclave(&["scenario", "list", "--predict"]).stdout;
    assert!(listed.contains("  quorum-3 "), "{listed}");
    assert!(!listed.contains("forgets"), "{listed}");
    let shown = conclave(&["scenario", "show", "quorum-3"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.starts_with("quorum, "), "{}", shown.stdout);
    let shown = json(&["scenario", "show", "quorum-3", "--json"]);
    assert!(shown["name"] == "quorum-3" && shown["title"].is_null() && shown["text"].is_null());
    assert_eq!(conclave(&["scenario", "show", "quorum-99"]).code, 2);
}
