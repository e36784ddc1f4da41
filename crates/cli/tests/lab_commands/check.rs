//! `conclave check` as a user meets it: verdicts, stories, JSON and exit codes.

use crate::support::{conclave, json};
use std::fs;
use std::path::PathBuf;

fn refuses(arguments: &[&str], line: &str) {
    let done = conclave(arguments);
    assert_eq!(done.stderr.trim_end(), format!("error: {line}"), "{arguments:?}");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
}

#[test]
fn what_cannot_be_checked_is_refused_in_one_line() {
    let flag = |flag, value, takes: &str| {
        refuses(&["check", "central", flag, value], &format!("{flag} {value}: {takes}"));
    };
    flag("--nodes", "0", "takes a whole number from 1 to 64");
    flag("--requests", "many", "takes a whole number from 0 to 1000, or unlimited");
    flag("--network", "lossy", "takes fifo or bag");
    flag("--timers", "never", "takes any or synchronous");
    flag("--memory", "8GB", "takes a size: 512MiB, 8GiB");
    flag("--max-states", "0", "takes a number of states: 20000, 500k, 50M");
    flag("--depth", "0", "takes a whole number from 1");
    flag("--start", "1", "only elections have initiators; central is a mutex");
    flag("--properties", "BW", "takes some of S1,S1-eff,V1,V2,HB,F1");
    flag("--trace", "a.png", "takes a file that ends in .jsonl, .svg, .mmd, .shiviz or .perfetto");
    refuses(
        &["check", "bully", "--stays"],
        "--stays: only a mutex has an inside; bully is an election",
    );
    let families = "heartbeat: only mutex and election can be checked; this is a detector";
    refuses(&["check", "heartbeat"], families);
}

#[test]
fn an_assumption_that_is_not_made_cannot_be_dropped() {
    let id = "ricart-agrawala";
    let sets = "--nodes 20: every set of initiators is looked at, of at most 16 nodes; \
                --start ID,… names them";
    refuses(&["check", "bully", "--nodes", "20"], sets);
    let many = ["check", "quorum", "--set", "coordinators=99"];
    refuses(&many, "quorum: 102 nodes with its coordinators; at most 64");
    refuses(&["check", id, "--without", "A9"], "--without A9: ricart-agrawala assumes A1, A2, A3");
    let done = conclave(&["check", id, "--nodes", "2", "--without", "A2"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("without     A2: no node crashes"), "{}", done.stdout);
}

#[test]
fn without_an_assumption_the_bounds_are_those_that_show_the_harm() {
    let shown = |arguments: &[&str]| {
        let done = conclave(&[&["check"], arguments, &["--properties", "V1"]].concat());
        (done.code, done.stdout)
    };
    let (code, told) = shown(&["maekawa", "--without", "A4"]);
    assert_eq!(code, 3, "{told}");
    assert!(told.starts_with("maekawa  4 nodes, "), "{told}");
    let (code, told) = shown(&["maekawa", "--without", "A4", "--nodes", "3"]);
    assert_eq!(code, 0, "what is typed counts: {told}");
    assert!(told.contains("\n'conclave check maekawa --without A4' breaks V1, V2"), "{told}");
    let (_, told) = shown(&["voting", "--without", "A2", "--set", "coordinators=1"]);
    assert!(told.starts_with("voting  2 nodes + 1 coordinator, "), "{told}");
}

#[test]
fn where_nothing_breaks_the_catalogue_says_why() {
    let harmless = ["check", "voting", "--without", "A3", "--properties", "S1"];
    let done = conclave(&harmless);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let why = "\nwithout A3 no promise breaks: who stays keeps its votes, so nobody else gets in;";
    assert!(done.stdout.contains(why), "{}", done.stdout);
    let told = json(&[&harmless[..], &["--json"]].concat());
    assert!(told["known"].as_str().is_some_and(|known| known.contains("keeps its votes")));
    let done = conclave(&["check", "flood-max", "--without", "A4"]);
    assert!(done.stdout.contains("\nwithout A4, out of reach: it would take "), "{}", done.stdout);
    refuses(
        &["check", "raymond", "--without", "A4"],
        "--without A4: no bounds drop it (the tree does not change): it would take nodes whose \
         neighbours change under way; all know one tree from the start",
    );
}

#[test]
fn what_holds_is_said_with_its_bounds() {
    let done = conclave(&["check", "ricart-agrawala", "--nodes", "2", "--requests", "2"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let bounds = "bounds      2 requests per node; FIFO links; no faults\n";
    assert!(done.stdout.contains(bounds), "without timers, none are spoken of: {}", done.stdout);
    assert!(done.stdout.contains("\nS1      holds "), "{}", done.stdout);
    assert!(!done.stdout.contains("violated"), "{}", done.stdout);
}

#[test]
fn what_is_broken_is_told_as_a_story() {
    let done = conclave(&["check", "lamport", "--nodes", "2", "--network", "bag"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let story = "\
S1 is violated, in 4 moments (shortest):
  1.  1 asks to enter; sends REQUEST (time: 1) to 2
  2.  2 asks to enter; sends REQUEST (time: 1) to 1
  3.  1 receives REQUEST (time: 1) from 2; sends REPLY (time: 3) to 2; ENTERS
      with fence 2
  4.  2 receives REPLY (time: 3) from 1; ENTERS with fence 3
  =>  2 entered while 1 was inside
";
    assert!(done.stdout.contains(story), "{}", done.stdout);
}

#[test]
fn what_was_not_looked_at_is_not_said_to_hold() {
    let deep = conclave(&["check", "ricart-agrawala", "--depth", "4"]);
    assert_eq!(deep.code, 4, "{}", deep.stderr);
    assert!(deep.stdout.contains("not complete: runs were cut short after 4 moves"));
    assert!(!deep.stdout.contains(" holds "), "{}", deep.stdout);
    let wide = conclave(&["check", "ricart-agrawala", "--max-states", "300"]);
    assert_eq!(wide.code, 4, "{}", wide.stderr);
    assert!(wide.stdout.contains("limit reached (raise --max-states)"), "{}", wide.stdout);
}

#[test]
fn the_object_has_the_fields_it_promises() {
    let held = json(&["check", "ricart-agrawala", "--nodes", "2", "--json"]);
    assert_eq!(held["complete"], true);
    assert_eq!(held["properties"]["S1"], "holds");
    assert_eq!(held["counterexample"], serde_json::Value::Null);
    assert_eq!(held["bounds"]["network"], "fifo");
    for field in ["states", "unique_states", "depth", "seconds", "states_per_second"] {
        assert!(held[field].is_number(), "{field}: {held}");
    }
    let broken = json(&["check", "lamport", "--nodes", "2", "--network", "bag", "--json"]);
    assert_eq!(broken["properties"]["S1"], "violated");
    let first = &broken["counterexample"][0];
    assert_eq!((&first["step"], &first["move"]), (&1.into(), &"acquire".into()));
    assert_eq!(first["node"], "1", "people count from one");
    assert_eq!(broken["counterexample"].as_array().map(Vec::len), Some(4));
    assert_eq!(broken["stories"][0]["what"], "2 entered while 1 was inside");
}

#[test]
fn a_story_is_drawn_and_run_again() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("check-story");
    let _ = fs::remove_dir_all(&folder); // What an earlier run left behind.
    fs::create_dir_all(&folder).expect("a folder for the test");
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (svg, jsonl) = (file("story.svg"), file("story.jsonl"));
    let check = ["check", "lamport", "--nodes", "2", "--network", "bag"];
    let done = conclave(&[&check[..], &["--trace", &svg, "--trace", &jsonl]].concat());
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert!(fs::read_to_string(&svg).expect("drawn").starts_with("<svg"));
    let again = conclave(&["replay", &jsonl]);
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("conclave check lamport --nodes 2 --network bag"));
    assert!(again.stdout.contains("verified: 6 steps run again"), "{}", again.stdout);
    let held = conclave(&["check", "ricart-agrawala", "--nodes", "2", "--trace", &file("no.svg")]);
    assert_eq!(held.code, 0);
    assert!(held.stderr.contains("nothing was drawn: there is no story to tell"));
}

#[test]
fn who_waits_because_the_bounds_stop_its_timer_is_not_said_to_starve() {
    let bounded = ["check", "voting", "--nodes", "2", "--set", "coordinators=1"];
    let bounded =
        conclave(&[&bounded[..], &["--requests", "unlimited", "--timeouts", "2"]].concat());
    assert_eq!(bounded.code, 4, "{}", bounded.stdout);
    assert!(bounded.stdout.contains("V2      unknown"), "{}", bounded.stdout);
}

#[test]
fn what_bounds_one_check_is_refused_for_all_claims() {
    for flags in [["--losses", "1"], ["--in-flight", "1"], ["--nodes", "2"], ["--network", "bag"]] {
        let done = conclave(&[&["check", "--all"], &flags[..]].concat());
        assert_eq!(done.code, 2, "{flags:?}: {}", done.stdout);
        assert!(done.stderr.contains(flags[0]), "{flags:?}: {}", done.stderr);
    }
}

#[test]
fn a_bound_that_leaves_no_way_to_go_on_says_nothing_of_liveness() {
    let narrow = ["check", "hirschberg-sinclair", "--nodes", "2", "--in-flight", "1"];
    for start in ["any", "together"] {
        let done = conclave(&[&narrow[..], &["--start", start]].concat());
        assert_eq!(done.code, 4, "{start}: {}", done.stdout);
        assert!(done.stdout.contains("E2      unknown"), "{start}: {}", done.stdout);
    }
}

#[test]
fn the_lock_table_of_the_replicated_service_is_checked_like_an_algorithm() {
    let told = json(&["check", "lock-table", "--nodes", "2", "--losses", "1", "--json"]);
    assert_eq!(told["complete"], true, "{told}");
    assert_eq!(told["properties"]["BW"], "holds", "{told}");
    let done = conclave(&["check", "lock-table", "--without", "A3", "--properties", "S1"]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("SILENT (session: 1)"), "{}", done.stdout);
}
