//! `conclave quorum`: the numbers of the textbooks, from the formula and from runs.

use crate::support::{conclave, json};

#[test]
fn the_lecture_notes_example_comes_out() {
    let found = json(&["quorum", "--json"]);
    let given = ["--coordinators", "32", "--votes", "24", "--probability", "1e-4"];
    assert_eq!(found, json(&[&["quorum", "--json"], &given[..]].concat()));
    assert_eq!((&found["coordinators"], &found["votes"]), (&32.into(), &24.into()));
    assert_eq!((&found["probability"], &found["overlap"]), (&1e-4.into(), &16.into()));
    let violation = found["violation_probability"].as_f64().expect("a number");
    assert_eq!(format!("{violation:.10e}"), "7.3491741662e-59");
    assert_eq!(found["rows"].as_array().expect("a list").len(), 16);
    assert!(found.get("monte_carlo").is_none());
    let told = conclave(&["quorum"]);
    assert_eq!(told.code, 0);
    assert!(told.stdout.contains("7.3491741662e-59"), "{}", told.stdout);
    assert!(told.stdout.contains(">     24   7.349e-59       16          8          15"));
}

#[test]
fn what_no_float_can_hold_is_told_by_its_logarithm() {
    let found = json(&["quorum", "-n", "1000", "-m", "750", "--json"]);
    assert_eq!(found["violation_probability"], 0.0);
    let log10 = found["violation_probability_log10"].as_f64().expect("a number");
    assert!((-1795.0..-1793.0).contains(&log10), "{log10}");
}

#[test]
fn runs_of_the_real_algorithm_agree() {
    let runs = ["-n", "7", "-m", "4", "-p", "0.1", "--monte-carlo", "20000", "--json"];
    let found = json(&[&["quorum"], &runs[..]].concat());
    let share = found["monte_carlo"]["violation_probability"].as_f64().expect("a number");
    assert!((share - 0.3439).abs() < 0.01, "{share}");
    assert_eq!(found["monte_carlo"]["runs"], 20_000);
}

#[test]
fn it_draws() {
    let file = std::env::temp_dir().join(format!("conclave-quorum-{}.svg", std::process::id()));
    let done = conclave(&["quorum", "-n", "7", "-m", "5", "--plot", file.to_str().expect("text")]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let svg = std::fs::read_to_string(&file).expect("it was written");
    std::fs::remove_file(&file).expect("it is there");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("in both: 2m-n = 3"));
}

#[test]
fn mistakes_get_one_line() {
    for (arguments, line) in [
        (
            &["-n", "7", "-m", "8"][..],
            "--votes 8: takes 4 to 7, more than half of the 7 coordinators: smaller sets need not \
             meet",
        ),
        (&["-p", "1.5"], "--probability 1.5: takes a probability from 0 to 1"),
        (&["-n", "0"], "--coordinators 0: takes a whole number from 1 to 10000"),
        (&["-m", "x"], "--votes x: takes a whole number from 1 to 10000"),
        (&["--monte-carlo", "0"], "--monte-carlo 0: takes a whole number from 1 to 1000000000"),
        (&["--plot", "x.png"], "--plot x.png: takes a file name with .svg"),
    ] {
        let done = conclave(&[&["quorum"], arguments].concat());
        assert_eq!(done.stderr, format!("error: {line}\n"), "{arguments:?}");
        assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
    }
}
