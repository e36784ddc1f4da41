//! `conclave compare` under other conditions: chance, losses, parameters; and elections in trouble.

use crate::support::{conclave, json};
use serde_json::Value;

const TWO: [&str; 4] = ["--algorithms", "central,ricart-agrawala", "--nodes", "4"];

fn compared(arguments: &[&str]) -> Vec<Value> {
    let all = [&["compare", "--json"], &TWO[..], arguments].concat();
    json(&all)["rows"].as_array().expect("rows").clone()
}

fn row<'a>(rows: &'a [Value], id: &str, load: &str) -> &'a Value {
    let is = |row: &&Value| row["algorithm"] == id && row["load"] == load;
    rows.iter().find(is).unwrap_or_else(|| panic!("{id} {load}"))
}

#[test]
fn means_over_seeds_come_with_their_interval() {
    let usual = compared(&[]);
    assert_eq!(row(&usual, "central", "light")["seeds"], 1);
    assert!(row(&usual, "central", "light")["half_width_95"]["client_delay"].is_null());
    let random = compared(&["--latency", "exp:1"]);
    let light = row(&random, "ricart-agrawala", "light");
    assert_eq!(light["seeds"], 10, "where chance plays a part");
    assert_eq!(light["messages_per_entry"], 6.0, "latency changes no count");
    assert_eq!(light["half_width_95"]["messages_per_entry"], 0.0);
    let half = light["half_width_95"]["client_delay"].as_f64().expect("a width");
    let delay = light["client_delay"].as_f64().expect("a mean");
    // The slowest of three round trips of mean 2 each.
    assert!((2.0..6.0).contains(&delay) && half > 0.0 && half < 1.0, "{delay} ± {half}");
    assert_eq!(light["outside"], serde_json::json!([]), "the formula speaks of other conditions");
    let more = compared(&["--latency", "exp:1", "--seeds", "100"]);
    let narrower = row(&more, "ricart-agrawala", "light")["half_width_95"]["client_delay"].as_f64();
    assert!(narrower.expect("a width") < half, "{narrower:?} {half}");
}

#[test]
fn the_table_says_how_the_interval_was_made() {
    let told = conclave(&[&["compare", "--latency", "exp:1"], &TWO[..]].concat()).stdout;
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(" ±"), "{told}");
    assert!(flat.contains("95 % interval of the mean, by Student's t over 10 seeds"), "{told}");
    assert!(flat.contains("here they stand for comparison only"), "{told}");
    assert!(!conclave(&[&["compare"], &TWO[..]].concat()).stdout.contains('±'));
}

#[test]
fn losses_and_workloads_are_those_of_the_simulator() {
    let lossy = compared(&["--loss", "0.2"]);
    let notes = row(&lossy, "central", "heavy")["notes"].to_string();
    assert!(notes.contains(" of 10 runs not all got in"), "{notes}");
    let closed = compared(&["--workload", "closed:50"]);
    let wait = |rows: &[Value]| row(rows, "central", "heavy")["wait"].as_f64().expect("a wait");
    assert!(wait(&closed) < wait(&compared(&[])), "they ask less often");
}

#[test]
fn parameters_are_set_where_an_algorithm_has_them() {
    let all = ["compare", "--json", "--nodes", "4", "--algorithms", "voting,lamport", "--set"];
    let rows = json(&[&all[..], &["coordinators=3"]].concat())["rows"].clone();
    let rows = rows.as_array().expect("rows");
    assert_eq!(row(rows, "voting", "light")["messages_per_entry"], 9.0);
    assert_eq!(row(rows, "voting", "light")["formula_low"], 9.0, "the formula is of the setting");
    assert_eq!(row(rows, "lamport", "light")["messages_per_entry"], 9.0);
    let done = conclave(&[&all[..], &["colour=3"]].concat());
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    let told = "error: --set colour=3: none of the algorithms compared has this parameter";
    assert!(done.stderr.starts_with(told), "{}", done.stderr);
}

#[test]
fn comma_separated_values_have_a_line_for_each_row() {
    for family in ["mutex", "election"] {
        let done = conclave(&["compare", "--family", family, "--nodes", "1,4", "--csv"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let mut lines = done.stdout.lines();
        let columns = lines.next().expect("a heading").split(',').count();
        let mut rows = 0;
        for line in lines {
            let outside = line.split('"').step_by(2).collect::<String>();
            assert_eq!(outside.split(',').count(), columns, "{line}");
            rows += 1;
        }
        assert!(rows > 20, "{}", done.stdout);
    }
    let done = conclave(&["compare", "--algorithms", "bully", "--family", "election", "--csv"]);
    assert!(done.stdout.contains("\nbully,7,one,1,"), "{}", done.stdout);
}

#[test]
fn a_curve_that_ends_early_is_marked_and_the_reason_is_below() {
    let file = std::env::temp_dir().join(format!("conclave-early-{}.svg", std::process::id()));
    let name = file.to_str().expect("a name");
    let few = ["--algorithms", "central,lamport", "--nodes", "2,4,3000", "--plot", name];
    let done = conclave(&[&["compare"], &few[..]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let svg = std::fs::read_to_string(&file).expect("it was written");
    std::fs::remove_file(&file).expect("it is there");
    let note = "× not run: lamport from N = 3,000: about ";
    assert!(svg.contains(note), "{note}");
    let random = ["--latency", "exp:1", "--nodes", "2,4", "--algorithms", "central"];
    let done = conclave(&[&["compare", "--plot", name], &random[..]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let svg = std::fs::read_to_string(&file).expect("it was written");
    std::fs::remove_file(&file).expect("it is there");
    assert!(svg.contains("Bars: 95 % interval of the mean, by Student"), "{svg}");
    assert!(svg.contains("Measured with --latency exp:1."), "{svg}");
}

#[test]
fn a_curve_without_a_figure_says_from_where_on_and_why() {
    let file = std::env::temp_dir().join(format!("conclave-figure-{}.svg", std::process::id()));
    let name = file.to_str().expect("a name");
    // Votes of many clients are split sooner or later, and then nobody gets in.
    let split = ["--algorithms", "quorum", "--nodes", "2,32", "--latency", "exp:1", "--seeds", "3"];
    for (language, note, caption) in [
        ("en", "× no figure: quorum from N = 32: in 3 of 3 runs not all got in", "Curves that"),
        ("pt", "× sem valor: quorum a partir de N = 32: em 3 de 3 execuções", "Curvas que"),
    ] {
        let plot = ["compare", "--plot", name, "--lang", language];
        let done = conclave(&[&plot[..], &split[..]].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let svg = std::fs::read_to_string(&file).expect("it was written");
        std::fs::remove_file(&file).expect("it is there");
        assert!(svg.contains(note) && svg.contains(caption), "{language}: {svg}");
    }
}

#[test]
fn faults_are_tried_on_elections_and_each_command_shows_what_its_cell_says() {
    let few = ["--algorithms", "bully,ring,chang-roberts,majority", "--nodes", "4,5"];
    let all = [&["compare", "--family", "election", "--faults", "--json"], &few[..]].concat();
    let cells = json(&all)["cells"].clone();
    let cells = cells.as_array().expect("cells");
    assert_eq!(cells.len(), 4 * 2 * 7);
    let outcome = |id: &str, fault: &str| {
        let is =
            |cell: &&Value| cell["algorithm"] == id && cell["fault"] == fault && cell["nodes"] == 5;
        cells.iter().find(is).expect("a cell")["outcome"].clone()
    };
    assert_eq!(outcome("bully", "leader-crash"), "holds");
    assert_eq!(outcome("ring", "winner-crash"), "holds");
    assert_ne!(outcome("chang-roberts", "winner-crash"), "holds", "it bears no failures");
    for cell in cells {
        let replay = cell["replay"].as_str().expect("something can always be hit");
        let words: Vec<String> =
            replay.split(' ').skip(1).map(|word| word.trim_matches('\'').to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
        let run = json(&words);
        let e1 = &run["properties"]["E1"];
        let e2 = &run["properties"]["E2"];
        match cell["outcome"].as_str().expect("a word") {
            "holds" => assert!(e1 == "holds" && e2 == "holds", "{cell}"),
            "no leader" => assert_eq!(e2, "violated", "{cell}"),
            "E1 broken" => assert_eq!(e1, "violated", "{cell}"),
            "goes on" => assert!(e1 == "unknown" || e2 == "unknown", "{cell}"),
            other => panic!("{other}: {cell}"),
        }
    }
}

#[test]
fn the_matrix_of_elections_fits_eighty_columns() {
    let done = conclave(&["compare", "--family", "election", "--faults", "--nodes", "4"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let told = |line: &&str| !line.trim_start().starts_with("conclave ");
    let wide = done.stdout.lines().filter(told).find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
    assert!(done.stdout.contains("The leader crashes after the election, N = 4"));
}

#[test]
fn what_does_not_go_together_is_refused_in_one_line() {
    for (arguments, told) in [
        (&["--faults", "--latency", "exp:1"][..], "--faults: does not go with --latency"),
        (&["--csv", "--json"], "--csv: does not go with --json"),
        (&["--latency", "unti"], "did you mean unit?"),
        (&["--loss", "1.5"], "--loss 1.5: takes a probability from 0 to 1"),
        (&["--seeds", "0"], "--seeds 0: takes a whole number from 1"),
        (
            &["--family", "election", "--workload", "closed:1"],
            "--workload closed:1: elections have no workload",
        ),
    ] {
        let done = conclave(&[&["compare"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(told), "{arguments:?}: {}", done.stderr);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    }
}
