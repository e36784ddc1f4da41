//! What mistakes get: one line that names the flag and what it takes, and exit code 2.

use crate::support::conclave;
use std::net::TcpListener;

fn refuses(arguments: &[&str], line: &str) {
    let done = conclave(arguments);
    assert_eq!(done.stderr.trim_end(), format!("error: {line}"), "{arguments:?}");
    assert_eq!(done.stderr.lines().count(), 1, "{arguments:?}");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
}

/// The same where the rest of the line is not fixed here.
fn refuses_naming(arguments: &[&str], begins: &str) {
    let done = conclave(arguments);
    let begins = format!("error: {begins}");
    assert!(done.stderr.starts_with(&begins), "{arguments:?}: {}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{arguments:?}: {}", done.stderr);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
}

#[test]
fn unknown_words_get_a_hint() {
    refuses(&["sim", "ricart"], "no algorithm is called 'ricart'; did you mean ricart-agrawala?");
    refuses_naming(&["algorithms", "paxos"], "no algorithm is called 'paxos'; ");
    refuses(&["sim", "central", "--node", "3"], "--node: no such flag; did you mean --nodes?");
    refuses(&["sim", "central", "--frobnicate"], "--frobnicate: no such flag; see --help");
    let elsewhere = "--answer: no such flag; it belongs to scenario show";
    refuses(&["scenario", "run", "bully-winner-dies", "--answer"], elsewhere);
    refuses(&["simm"], "simm: no such command; did you mean sim?");
    refuses(&["sim"], "<ID>: is missing; see --help");
    refuses(&["sim", "central", "7"], "7: one argument too many; see --help");
}

#[test]
fn help_is_also_a_word() {
    for (word, flag) in [(&["help"][..], &["--help"][..]), (&["help", "sim"], &["sim", "--help"])] {
        let [said, known] = [word, flag].map(conclave);
        assert_eq!((said.code, said.stdout), (0, known.stdout), "{}", said.stderr);
    }
}

#[test]
fn an_engine_is_a_lock() {
    // A mistake in what was typed is told though the port is not free either.
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let http = taken.local_addr().expect("it is bound").to_string();
    let hint = |typed: &str| conclave(&["up", "--http", &http, "--engine", typed]).stderr;
    let misspelt = hint("lamport-clok");
    assert!(misspelt.contains("did you mean lamport?"), "{misspelt}");
    assert!(
        hint("foo")
            .contains("--engine foo: no algorithm is called 'foo'; takes replicated, central"),
        "{}",
        hint("foo")
    );
    assert!(!hint("foo").contains("bully"), "{}", hint("foo"));
}

#[test]
fn numbers_out_of_range_are_refused() {
    let flag = |flag, value, takes: &str| {
        refuses(&["sim", "central", flag, value], &format!("{flag} {value}: {takes}"));
    };
    flag("--loss", "1.5", "takes a probability from 0 to 1");
    flag("--duplicate", "NaN", "takes a probability from 0 to 1");
    flag("--cancel", "x", "takes a probability from 0 to 1");
    flag("--nodes", "0", "takes a whole number from 1 to 10000000");
    flag("--nodes", "many", "takes a whole number from 1 to 10000000");
    flag("--rounds", "0", "takes a whole number from 1");
    flag("--seeds", "0", "takes a whole number from 1");
    flag("--seed", "x", "takes a whole number from 0 to 2^64-1");
    flag("--cs", "soon", "takes a time in units (2.5), or 250ms, 3s");
    flag("--check", "S1", "takes HB; all other properties are always judged");
    refuses(&["sim", "central", "--cs"], "--cs: takes a value; see --help");
    flag("--loss", "-1", "takes a probability from 0 to 1");
    flag("--nodes", "-3", "takes a whole number from 1 to 10000000");
    refuses(&["up", "--nodes", "30"], "--nodes 30: takes a whole number from 1 to 20");
    let in_flight = |value| {
        let line = format!("--in-flight {value}: takes a whole number from 1 to 1000");
        refuses(&["check", "central", "--in-flight", value], &line);
    };
    in_flight("abc");
    in_flight("0");
}

#[test]
fn faults_that_cannot_happen_are_refused() {
    refuses_naming(&["sim", "central", "--crash", "8@5"], "--crash 8");
    refuses_naming(&["sim", "central", "--crash", "c1@5"], "--crash c1");
    refuses_naming(&["sim", "central", "--crash", "1"], "--crash 1");
    refuses_naming(&["sim", "central", "--partition", "1,2/2,3@1..5"], "--partition ");
    refuses_naming(&["sim", "central", "--partition", "1/2@5..1"], "--partition ");
    refuses_naming(&["sim", "central", "--suspect", "1:2@3"], "--suspect 1:2");
    refuses_naming(&["sim", "central", "--dead", "9"], "--dead 9");
    refuses_naming(&["sim", "central", "--view", "9"], "--view 9");
}

#[test]
fn parameters_are_those_of_the_catalogue() {
    refuses_naming(&["sim", "maekawa", "--set", "colour=red"], "--set colour: maekawa takes ");
    refuses(
        &["sim", "central", "--set", "busy=maybe"],
        "--set busy=maybe: central takes busy=silent|queued|try",
    );
    refuses_naming(&["sim", "central", "--set", "busy"], "--set busy: takes name=value; ");
}

#[test]
fn elections_flags_are_refused_where_nobody_is_elected() {
    refuses(
        &["sim", "ricart-agrawala", "--start", "3"],
        "--start 3: only elections have initiators; ricart-agrawala is a mutex",
    );
    refuses(
        &["sim", "ricart-agrawala", "--candidates", "3"],
        "--candidates 3: only elections have candidates; ricart-agrawala is a mutex",
    );
}

#[test]
fn a_detector_is_asked_nothing() {
    refuses(
        &["sim", "heartbeat", "--start", "3"],
        "--start 3: only elections have initiators; heartbeat is a detector",
    );
    let nothing = "a detector has none; it watches until the end";
    refuses(&["sim", "heartbeat", "--workload", "single:1"], &format!("--workload …: {nothing}"));
    refuses(&["sim", "heartbeat", "--set", "period=0"], "--set period: it takes a time above 0");
    refuses_naming(&["sim", "adaptive", "--suspect", "1:2@3"], "--suspect 1:2");
}

#[test]
fn files_that_cannot_be_read_or_used_are_refused() {
    let missing = "no-such-file.txt";
    refuses_naming(&["sim", "central", "--latency", missing], &format!("--latency {missing}: "));
    refuses_naming(
        &["sim", "maekawa", "--set", "quorums=no-such-file.txt"],
        "--set quorums=no-such-file.txt: cannot read: No such file; takes quorums=",
    );
    let script = format!("script:{missing}");
    refuses_naming(&["sim", "central", "--workload", &script], "--workload ");
    let folder = std::env::temp_dir().join(format!("conclave-usage-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for test files");
    let file = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, content).expect("a test file");
        path.to_str().expect("a plain path").to_string()
    };
    let nonsense = file("nonsense.txt", b"this is\nno such thing\n");
    let binary = file("binary.txt", &[0xff, 0xfe, 0x00]);
    let large = file("large.txt", &vec![b'\n'; (1 << 20) + 1]);
    for path in [&nonsense, &binary, &large] {
        refuses_naming(&["sim", "central", "--latency", path], "--latency ");
        let script = format!("script:{path}");
        refuses_naming(&["sim", "central", "--workload", &script], "--workload ");
        let quorums = format!("quorums={path}");
        refuses_naming(&["sim", "maekawa", "--set", &quorums], "--set quorums");
    }
    std::fs::remove_dir_all(&folder).expect("the folder can go");
}

#[test]
fn what_does_not_go_together_is_refused() {
    refuses(
        &["sim", "central", "--view", "all", "--json"],
        "--view all: words and --json do not go together",
    );
    refuses(
        &["sim", "central", "--view", "all", "--seeds", "3"],
        "--view all: tells one run; leave out --seeds",
    );
    refuses(
        &["sim", "central", "--nodes", "3", "--ids", "1,2"],
        "--ids 1,2: one for each of the 3 nodes",
    );
}

#[test]
fn of_sixty_thousand_mistakes_the_first_are_said() {
    let config = concat!(env!("CARGO_TARGET_TMPDIR"), "/sixty-thousand-mistakes.toml");
    let denied: Vec<String> = (0..60_000).map(|number| format!("\"print {number}\"")).collect();
    let keys: Vec<String> = (0..60_000).map(|number| format!("wrong{number} = 1")).collect();
    for (text, last) in [
        (format!("deny = [{}]", denied.join(",")), "mistakes"),
        (keys.join("\n"), "perhaps more: after 20 mistakes no others are looked for"),
    ] {
        std::fs::write(config, text).unwrap();
        let done = conclave(&["node", "--config", config]);
        let lines: Vec<&str> = done.stderr.lines().collect();
        assert_eq!((done.code, lines.len() < 40), (2, true), "{} lines", lines.len());
        assert!(lines.last().is_some_and(|line| line.ends_with(last)), "{:?}", lines.last());
    }
}
