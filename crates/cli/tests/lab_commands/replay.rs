//! `--trace`, `--frames` and `conclave replay`: a run is written down, drawn, and run again.

use crate::support::{Done, conclave};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder); // What an earlier run left behind.
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn path(folder: &std::path::Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

fn fails(done: &Done, code: i32, says: &str) {
    assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert!(done.stderr.contains(says), "{}", done.stderr);
}

#[test]
fn frames_of_an_earlier_run_go() {
    let folder = folder("old-frames");
    let frames = path(&folder, "frames");
    let draw = |nodes| conclave(&["sim", "central", "--nodes", nodes, "--frames", &frames]);
    let count = || fs::read_dir(&frames).expect("a folder").count();
    assert_eq!(draw("2").code, 0);
    let few = count();
    fs::write(folder.join("frames/mine.svg"), "").expect("a file of somebody else");
    assert_eq!(draw("5").code, 0);
    assert!(count() > few + 1);
    assert_eq!(draw("2").code, 0);
    assert_eq!(count(), few + 1, "and what is not a frame stays");
    fs::remove_dir_all(&folder).expect("the folder can go");
}

/// Somebody else may have put a link where a file is to be; what it points to stays as it is.
#[test]
fn nothing_is_written_through_a_link() {
    let folder = folder("links");
    let file = |name: &str| path(&folder, name);
    let (own, frames) = (file("own.txt"), file("frames"));
    fs::write(&own, "mine").expect("a file");
    fs::create_dir(&frames).expect("a folder");
    let link = |name: &str| {
        let link = file(name);
        std::os::unix::fs::symlink(&own, &link).expect("a link");
        link
    };
    let (trace, plot) = (link("run.jsonl"), link("plot.svg"));
    link("frames/index.html");
    for arguments in [
        vec!["sim", "central", "--nodes", "2", "--trace", &*trace],
        vec!["sim", "central", "--nodes", "2", "--frames", &*frames],
        vec!["quorum", "--coordinators", "5", "--plot", &*plot],
        vec!["compare", "--nodes", "2", "--plot", &*plot],
    ] {
        let done = conclave(&arguments);
        assert_eq!(done.code, 1, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains("it is a link: name the file itself"), "{}", done.stderr);
        assert_eq!(fs::read_to_string(&own).expect("it is there"), "mine", "{arguments:?}");
    }
    fs::remove_dir_all(&folder).expect("the folder can go");
}

#[test]
fn a_run_is_written_in_every_format_and_verified() {
    let folder = folder("every-format");
    let file = |name: &str| path(&folder, name);
    let names = ["a.jsonl", "a.svg", "a.mmd", "a.shiviz", "a.perfetto"].map(file);
    let frames = file("frames");
    let mut arguments = vec!["sim", "central", "--nodes", "3", "--crash", "2@5", "--json"];
    for name in &names {
        arguments.extend(["--trace", name]);
    }
    arguments.extend(["--frames", &frames]);
    let done = conclave(&arguments);
    assert_eq!(done.json()["algorithm"], "central", "the result is still JSON");
    let begins = |name: &str| fs::read_to_string(name).expect("written").chars().take(20).collect();
    let found = names.each_ref().map(|name| -> String { begins(name) });
    assert_eq!(found[0], "{\"format\":\"conclave-");
    assert_eq!(found[1], "<svg xmlns=\"http://w");
    assert_eq!(found[2], "sequenceDiagram\n    ");
    assert_eq!(found[3], "(?<host>\\S*) (?<cloc");
    assert_eq!(found[4], "{\"displayTimeUnit\":\"");
    fs::write(file("usual"), "").expect("a file");
    let mode = |name: &str| fs::metadata(name).expect("written").permissions().mode();
    let usual = mode(&file("usual"));
    assert!(names.iter().all(|name| mode(name) == usual), "nothing simulated is a secret");
    let page = fs::read_to_string(folder.join("frames/index.html")).expect("a page");
    assert!(page.contains("background: #fff"), "what is dark is read on a dark page, too");
    assert!(page.contains("central, 3 nodes") && folder.join("frames/000.svg").exists());

    let again = file("again.svg");
    let done = conclave(&["replay", &names[0], "--trace", &again]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("all as recorded"), "{}", done.stdout);
    assert_eq!(fs::read(&again).ok(), fs::read(&names[1]).ok(), "drawn alike");
    let json = conclave(&["replay", &names[0], "--json"]).json();
    assert_eq!((&json["verified"], &json["nodes"]), (&true.into(), &3.into()));
}

#[test]
fn a_recording_that_was_changed_is_found_out() {
    let folder = folder("changed");
    let whole = path(&folder, "whole.jsonl");
    conclave(&["scenario", "run", "quorum-c4-forgets", "--trace", &whole]);
    let text = fs::read_to_string(&whole).expect("written");
    let replayed = |name: &str, text: &str| {
        let file = path(&folder, name);
        fs::write(&file, text).expect("a file");
        conclave(&["replay", &file])
    };
    assert_eq!(replayed("same.jsonl", &text).code, 0);

    let forged = replayed("forged.jsonl", &text.replacen("\"fence\":1", "\"fence\":2", 1));
    assert_eq!(forged.code, 1, "{}", forged.stdout);
    assert!(forged.stdout.contains("not as recorded: line "), "{}", forged.stdout);
    let moved = replayed("moved.jsonl", &text.replacen("\"at\":62000", "\"at\":62001", 1));
    assert_eq!(moved.code, 1, "{}", moved.stdout);
    assert!(moved.stdout.contains("its checksum does not fit"), "{}", moved.stdout);

    let half: String = text.chars().take(text.len() / 2).collect();
    fails(&replayed("half.jsonl", &half), 2, "half.jsonl: line ");
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..lines.len() - 1].join("\n");
    fails(&replayed("cut.jsonl", &cut), 2, "the recording is cut off");
    fails(&replayed("empty.jsonl", ""), 2, "not a recording of conclave");
    fails(&replayed("foreign.jsonl", "{\"a\": 1}\n"), 2, "not a recording of conclave");
    let other = text.replacen("\"algorithm\":\"quorum\"", "\"algorithm\":\"paxos\"", 1);
    fails(&replayed("other.jsonl", &other), 2, "no algorithm is called 'paxos'");
    let many = text.replacen("\"nodes\":2", "\"nodes\":1000000", 1);
    fails(&replayed("many.jsonl", &many), 2, "fewer nodes than it has");
    fails(&conclave(&["replay", &path(&folder, "none.jsonl")]), 2, "No such file");
}

#[test]
fn what_cannot_be_written_is_said_before_the_run_or_plainly() {
    fails(
        &conclave(&["sim", "central", "--trace", "run.png"]),
        2,
        "--trace run.png: takes a file that ends in .jsonl, .svg, .mmd, .shiviz or .perfetto",
    );
    let many = ["sim", "central", "--seeds", "3", "--trace", "run.svg"];
    fails(&conclave(&many), 2, "--trace run.svg: writes one run, not many");
    let all = ["scenario", "run", "--all", "--frames", "x"];
    fails(&conclave(&all), 2, "--frames x: draws one run, not many");
    let nowhere = path(&folder("nowhere"), "no/such/run.svg");
    fails(&conclave(&["sim", "central", "--trace", &nowhere]), 1, "cannot write");
    let large = path(&folder("large"), "run.svg");
    let done = conclave(&["sim", "central", "--nodes", "100", "--trace", &large]);
    fails(&done, 2, "a space-time diagram of 100 nodes: at most 64");
}

#[test]
fn a_film_that_was_cut_says_so() {
    let folder = folder("cut-film");
    let film = path(&folder, "film");
    let done = conclave(&["sim", "lamport", "--rounds", "20", "--frames", &film]);
    assert!(done.stderr.contains("drew 999 steps of "), "{}", done.stderr);
    let done = conclave(&["sim", "central", "--nodes", "2", "--frames", &film]);
    let told = done.stderr.lines().find(|line| line.contains("drew")).expect("it says so");
    assert!(!told.contains(" of "), "{told}");
    fs::remove_dir_all(&folder).expect("the folder can go");
}

#[test]
fn labels_are_in_the_language_of_the_reader() {
    let folder = folder("labels");
    let drawn = |lang: &str, format: &str| {
        let file = path(&folder, &format!("run.{format}"));
        let run = ["sim", "bully", "--nodes", "3", "--crash", "3@9", "--until", "30"];
        let mut command = crate::support::binary();
        command.args(run).args(["--trace", &file]).env("LANG", lang).env_remove("LC_ALL");
        command.output().expect("it runs");
        fs::read_to_string(&file).expect("drawn")
    };
    for format in ["svg", "mmd"] {
        assert!(drawn("en_GB.UTF-8", format).contains("node 3"));
        let portuguese = drawn("pt_BR.UTF-8", format);
        assert!(portuguese.contains("nó 3") && !portuguese.contains("node 3"), "{portuguese}");
        assert!(portuguese.contains(", 3 nós"), "{portuguese}");
    }
    assert!(drawn("pt_BR.UTF-8", "svg").contains(">toma-se por líder<"));
    fs::remove_dir_all(&folder).expect("the folder can go");
}
