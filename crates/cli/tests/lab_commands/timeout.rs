//! `conclave timeout`: the rule of the lecture notes, and what mistakes get.

use crate::support::{conclave, json};

fn refuses(arguments: &[&str], line: &str) {
    let done = conclave(&[&["timeout"], arguments].concat());
    assert_eq!(done.stderr.trim_end(), format!("error: {line}"), "{arguments:?}");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
}

#[test]
fn the_case_of_the_lecture_notes_comes_out() {
    let costs = ["--cost-of-mistake", "1000", "--cost-of-waiting", "1", "--cost-per-unit", "1"];
    let arguments = [&["timeout", "--latency", "exp:100", "--json"], &costs[..]].concat();
    let advice = json(&arguments);
    let near = |path: &str, known: f64| {
        let found = advice.pointer(path).and_then(serde_json::Value::as_f64).expect(path);
        assert!((found - known).abs() < 1e-3, "{path}: {found}");
    };
    near("/advised/timeout", 690.776);
    near("/advised/probability", 0.001);
    near("/cheapest/timeout", 230.259);
    near("/cheapest/cost", 330.259);
    let stops: Vec<bool> = advice["table"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["stop"].as_bool().expect("a flag"))
        .collect();
    assert!(stops.is_sorted() && stops.contains(&true) && stops.contains(&false), "{stops:?}");
}

#[test]
fn it_is_told_in_words() {
    let done = conclave(&["timeout", "--latency", "exp:100", "--timeout", "500"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for words in [
        "690.776: less than 0.1 % of live processes answer later",
        "500 is too short: 0.674 % of live processes answer later",
        "--set timeout=500 --rule '1>2:HEARTBEAT#2=501'",
    ] {
        assert!(done.stdout.contains(words), "{words}\n{}", done.stdout);
    }
    let long = |line: &&str| line.chars().count() > 80 && !line.contains("conclave sim");
    assert_eq!(done.stdout.lines().find(long), None);
    let done = conclave(&["timeout", "--latency", "exp:100", "--cost-of-mistake", "0.5"]);
    assert!(done.stdout.contains("waiting costs more than all the mistakes"), "{}", done.stdout);
}

#[test]
fn measured_times_are_read_from_a_file() {
    let folder = std::env::temp_dir().join(format!("conclave-timeout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for test files");
    let file = |name: &str, content: &str| {
        let path = folder.join(name);
        std::fs::write(&path, content).expect("a test file");
        path.to_str().expect("a plain path").to_string()
    };
    let times: String = (1..=2_000).map(|time| format!("{time}ms\n")).collect();
    let good = file("good.txt", &times);
    let advice = json(&["timeout", "--samples", &good, "--json"]);
    assert_eq!(advice["samples"], 2_000);
    // One in 2,000 is later: less than one in 1,000.
    assert_eq!(advice["advised"]["timeout"], 1_999.0);
    let few = file("few.txt", "10\n20\n30\n");
    let told = conclave(&["timeout", "--samples", &few]).stdout;
    assert!(told.contains("None of the 3 times did"), "{told}");
    let takes = "takes one time per line: units such as 2.5, or 250ms, or 3s";
    let bad = file("bad.txt", "10\n\nsoon\n");
    refuses(&["--samples", &bad], &format!("--samples line 3: soon: {takes}"));
    let empty = file("empty.txt", "# nothing\n");
    refuses(&["--samples", &empty], &format!("--samples with no lines: {takes}"));
    std::fs::remove_dir_all(&folder).expect("the folder can go");
    refuses(&["--samples", "none.txt"], "--samples none.txt: cannot read: No such file");
}

#[test]
fn what_cannot_be_judged_is_refused() {
    refuses(&[], "--latency <LATENCY>: is missing; see --help");
    let kinds = "takes unit, const:T, uniform:A..B, exp:MEAN, normal:MEAN:DEVIATION, \
                 lognormal:MEDIAN:SIGMA, pareto:MIN:SHAPE, samples:FILE";
    let mean = "MEAN is a time above 0, such as 2.5, 250ms or 3s, not '0'";
    refuses(&["--latency", "exp:0"], &format!("--latency exp:0: {mean}"));
    refuses(&["--latency", "links:x"], &format!("--latency links:x: {kinds}"));
    let shape = "SHAPE is a number above 0, such as 0.5, not '0'";
    refuses(&["--latency", "pareto:1:0"], &format!("--latency pareto:1:0: {shape}"));
    refuses(&["--latency", "gamma:1"], &format!("--latency gamma:1: {kinds}"));
    let with = |flag, value, takes: &str| {
        refuses(&["--latency", "exp:1", flag, value], &format!("{flag} {value}: {takes}"));
    };
    with("--cost-of-mistake", "0", "takes a number above 0");
    with("--cost-of-waiting", "NaN", "takes a number above 0");
    with("--cost-per-unit", "much", "takes a number above 0");
    with("--timeout", "0", "takes a time above 0 in units (2.5), or 250ms, 3s");
}

#[test]
fn a_simulation_takes_the_same_latencies() {
    let kinds = ["const:2", "uniform:1..2", "exp:3", "normal:20:4", "lognormal:3:0.5"];
    for latency in [&kinds[..], &["pareto:1:2.5", "samples:=1,2,9"]].concat() {
        for command in [&["timeout"][..], &["sim", "central", "--nodes", "3"]] {
            let done = conclave(&[command, &["--latency", latency]].concat());
            assert_eq!(done.code, 0, "{command:?} {latency}: {}", done.stderr);
        }
    }
    for wrong in ["expo:3", "uniformm:1-2"] {
        let said = |command: &[&str]| conclave(&[command, &["--latency", wrong]].concat()).stderr;
        let of_links = said(&["sim", "central"]);
        assert_eq!(said(&["timeout"]), of_links.replace(" or links:FILE", ""));
        let takes = format!("error: --latency {wrong}: takes unit, const:T, ");
        assert!(said(&["timeout"]).starts_with(&takes), "{}", said(&["timeout"]));
    }
}
