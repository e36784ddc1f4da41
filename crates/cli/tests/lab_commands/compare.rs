//! `conclave compare` as a user meets it: the table, the picture and the fault matrix.

use crate::support::{conclave, json};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// These stand on a detector, which is never silent: their runs take most of the time of all, and
/// are kept small here.
const NEVER_SILENT: [&str; 2] = ["central-failover", "token-ring-regenerating"];

/// All others, as a list of names.
fn silent() -> String {
    let mut ids = ids();
    ids.retain(|id| !NEVER_SILENT.contains(&id.as_str()));
    ids.join(",")
}

fn cells(arguments: &[&str]) -> Vec<Value> {
    let matrix = json(&[&["compare", "--faults", "--json"], arguments].concat());
    matrix["cells"].as_array().expect("cells").clone()
}

/// The fault matrix as it comes by default, but with few of those that are never silent: made once,
/// looked at by many.
fn matrix() -> &'static [Value] {
    static MATRIX: OnceLock<Vec<Value>> = OnceLock::new();
    MATRIX.get_or_init(|| {
        let few = ["--algorithms", &NEVER_SILENT.join(","), "--nodes", "4"];
        [cells(&["--algorithms", &silent()]), cells(&few)].concat()
    })
}

fn cell(algorithm: &str, fault: &str) -> &'static Value {
    let wanted = |cell: &&Value| cell["algorithm"] == algorithm && cell["fault"] == fault;
    matrix().iter().find(wanted).unwrap_or_else(|| panic!("{algorithm} {fault}"))
}

/// Every algorithm of a family.
fn ids_of(family: &str) -> Vec<String> {
    let entries = json(&["algorithms", "--json"]);
    let entries = entries.as_array().expect("a list").iter();
    let ids = entries.filter(|entry| entry["family"] == family).map(|entry| entry["id"].as_str());
    ids.map(|id| id.expect("an id").to_string()).collect()
}

fn ids() -> Vec<String> {
    ids_of("mutex")
}

#[test]
fn every_row_has_the_fields_it_promises() {
    let compared = json(&["compare", "--nodes", "3,5", "--json"]);
    let rows = compared["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), ids().len() * 4);
    for row in rows {
        for field in [
            "algorithm",
            "nodes",
            "load",
            "messages_per_entry",
            "formula",
            "formula_low",
            "formula_high",
            "client_delay",
            "client_delay_serial",
            "sync_delay",
            "wait",
            "jain",
            "max_bypass",
        ] {
            assert!(row.get(field).is_some(), "{field}: {row}");
        }
        assert!(row["messages_per_entry"].is_number(), "{row}");
        assert_eq!(row["outside"], serde_json::json!([]), "{row}");
        let light = row["load"] == "light";
        assert_eq!(row["client_delay"].is_number(), light, "{row}");
        assert_eq!(row["jain"].is_number(), !light, "{row}");
    }
}

#[test]
fn with_seven_nodes_the_textbooks_numbers_come_out() {
    let compared = json(&["compare", "--json"]);
    let rows = compared["rows"].as_array().expect("rows");
    let value = |id: &str, load: &str, field: &str| {
        let row = rows.iter().find(|row| row["algorithm"] == id && row["load"] == load);
        row.and_then(|row| row[field].as_f64()).unwrap_or_else(|| panic!("{id} {load} {field}"))
    };
    for (id, messages) in [
        ("central", 18.0),
        ("quorum", 105.0),
        ("total-order", 105.0),
        ("lamport", 126.0),
        ("ricart-agrawala", 84.0),
        ("roucairol-carvalho", 42.0),
        ("maekawa", 50.0),
        ("token-ring", 7.0),
        ("suzuki-kasami", 42.0),
        ("raymond", 20.0),
        ("naimi-trehel", 17.0),
    ] {
        let measured = value(id, "heavy", "messages_per_entry");
        assert!((measured * 7.0 - messages).abs() < 1e-9, "{id}: {measured}");
    }
    assert_eq!(value("ricart-agrawala", "light", "client_delay"), 2.0);
    assert_eq!(value("ricart-agrawala", "light", "client_delay_serial"), 12.0);
    assert_eq!(value("voting", "light", "client_delay_serial"), 10.0);
    assert_eq!(value("lamport", "heavy", "sync_delay"), 1.0);
    assert_eq!(value("total-order", "heavy", "sync_delay"), 3.0);
    assert!(value("token-ring", "heavy", "jain") > 0.99);
    assert!(value("voting", "heavy", "jain") < 0.5);
    let voting = rows.iter().find(|row| row["algorithm"] == "voting" && row["load"] == "heavy");
    assert_eq!(voting.map(|row| &row["formula_high"]), Some(&Value::Null));
}

#[test]
fn the_table_is_plain_when_piped_and_fits_eighty_columns() {
    let tabled = |nodes: &str, algorithms: &str| {
        let done = conclave(&["compare", "--nodes", nodes, "--algorithms", algorithms]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(!done.stdout.contains('\u{1b}'));
        assert!(done.stdout.lines().all(|line| line.chars().count() <= 80), "{}", done.stdout);
        assert!(!done.stdout.contains("outside"), "{}", done.stdout);
        assert_eq!(done.stderr, "");
        done.stdout
    };
    let told = tabled("1,2,7,64", &silent());
    assert!(told.contains("Books print 2mk + m messages"), "{told}");
    tabled("1,2,7,20", &NEVER_SILENT.join(","));
    tabled("1,2", &ids().join(","));
}

#[test]
#[ignore = "takes most of a minute"]
fn with_many_nodes_every_algorithm_stays_within_its_formulas() {
    let compared = json(&["compare", "--nodes", "64", "--json"]);
    let rows = compared["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), ids().len() * 2);
    assert!(rows.iter().all(|row| row["outside"] == serde_json::json!([])), "{compared}");
}

#[test]
fn what_would_take_too_long_is_left_out_with_a_note() {
    let arguments = ["--algorithms", "lamport,naimi-trehel", "--nodes", "20000", "--json"];
    let compared = json(&[&["compare"], &arguments[..]].concat());
    assert_eq!(compared["omitted"][0]["algorithm"], "lamport");
    let rows = compared["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{compared}");
    assert_eq!(rows[1]["messages_per_entry"].as_f64(), Some(3.0 - 4.0 / 20_000.0));
}

#[test]
fn elections_stay_within_what_their_formulas_allow() {
    let compared = json(&["compare", "--family", "election", "--nodes", "3,5,9", "--json"]);
    let rows = compared["rows"].as_array().expect("rows");
    let omitted = compared["omitted"].as_array().expect("a list");
    assert_eq!(rows.len() + 2 * omitted.len(), ids_of("election").len() * 6);
    for row in rows {
        let messages = |which: &str| row["messages"][which].as_f64().expect("a number");
        assert!(messages("best") <= messages("mean") && messages("mean") <= messages("worst"));
        assert_eq!((&row["outside"], &row["failed"]), (&false.into(), &0.into()), "{row}");
    }
    let all = |row: &&Value| row["algorithm"] == "chang-roberts" && row["load"] == "all";
    let row = rows.iter().find(all).expect("it is there");
    assert!(row["every_order"] == true && row["messages"]["mean"] == row["formula_mean"], "{row}");
}

#[test]
fn the_table_of_elections_names_measures_and_formulas() {
    let done = conclave(&["compare", "--family", "election", "--nodes", "5"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let row = "chang-roberts        5    14  16.42     20  14 to 20, mean 16.42";
    assert!(done.stdout.contains(row), "{}", done.stdout);
    assert!(done.stdout.lines().all(|line| line.chars().count() <= 80), "{}", done.stdout);
}

#[test]
fn a_wrong_word_is_an_error_in_one_line() {
    for (arguments, told) in [
        (&["--family", "lock"][..], "--family lock: takes mutex or election"),
        (&["--algorithms", "peterson"], "is of --family election, not of --family mutex"),
        (&["--nodes", "0"], "--nodes 0: takes whole numbers"),
        (&["--nodes", "2,x"], "--nodes x: takes whole numbers"),
        (&["--algorithms", "lamprot"], "did you mean lamport?"),
        (&["--plot", "x.png"], "--plot x.png: takes a file name with .svg"),
        (&["--faults", "--nodes", "3,5"], "--nodes 3: with --faults, takes numbers from 4 to 31"),
        (&["--faults", "--nodes", "2"], "--nodes 2: with --faults, takes numbers from 4 to 31"),
    ] {
        let done = conclave(&[&["compare"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stderr);
        assert!(done.stderr.contains(told), "{arguments:?}: {}", done.stderr);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    }
}

#[test]
fn the_picture_is_well_formed_and_names_every_algorithm() {
    let file = std::env::temp_dir().join(format!("conclave-plot-{}.svg", std::process::id()));
    let name = file.to_str().expect("a name");
    let done = conclave(&["compare", "--nodes", "1,2,5,9", "--plot", name]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let svg = std::fs::read_to_string(&file).expect("it was written");
    std::fs::remove_file(&file).expect("it is there");
    assert_well_formed(&svg);
    for id in ids() {
        let labels = svg.lines().filter(|line| line.trim() == id).count();
        assert_eq!(labels, 4, "{id} has a label in each panel");
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

/// Every tag that is opened is closed, in order.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        assert!(!text.contains('&') || text.contains(';'), "{text}");
        let name = tag.trim_end_matches('/').split_whitespace().next().expect("a name");
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed));
        } else if !tag.ends_with('/') && !name.starts_with(['?', '!']) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn what_must_break_breaks_and_what_must_hold_holds() {
    for (algorithm, fault, outcome) in [
        ("central", "coordinator-crash", "stalls"),
        ("central", "majority-crash", "-"),
        ("central", "holder-crash", "stalls"),
        ("central", "bystander-crash", "holds"),
        ("central", "coordinator-amnesia", "S1 broken"),
        ("voting", "coordinator-crash", "holds"),
        ("voting", "majority-crash", "stalls"),
        ("voting", "coordinator-amnesia", "S1 broken"),
        ("quorum", "coordinator-crash", "holds"),
        ("quorum", "coordinator-amnesia", "S1 broken"),
        ("total-order", "coordinator-crash", "stalls"),
        ("lamport", "coordinator-crash", "-"),
        ("lamport", "bystander-crash", "stalls"),
        ("lamport", "bystander-amnesia", "S1 broken"),
        ("ricart-agrawala", "bystander-crash", "stalls"),
        ("ricart-agrawala", "bystander-amnesia", "S1 broken"),
        ("roucairol-carvalho", "bystander-amnesia", "S1 broken"),
        ("maekawa", "bystander-crash", "stalls"),
        ("maekawa", "coordinator-amnesia", "S1 broken"),
        ("token-ring", "holder-crash", "stalls"),
        ("token-ring", "bystander-crash", "stalls"),
        ("token-ring", "message-lost", "stalls"),
        ("suzuki-kasami", "holder-crash", "stalls"),
        ("suzuki-kasami", "bystander-crash", "holds"),
        ("suzuki-kasami", "bystander-amnesia", "starves"),
        ("raymond", "holder-crash", "stalls"),
        ("naimi-trehel", "holder-crash", "stalls"),
        ("naimi-trehel", "bystander-crash", "starves"),
    ] {
        assert_eq!(cell(algorithm, fault)["outcome"], outcome, "{algorithm} {fault}");
    }
}

#[test]
fn what_a_lost_message_does_depends_on_its_kind() {
    let outcomes = |algorithm| {
        let detail = cell(algorithm, "message-lost")["detail"].as_array().expect("details");
        let told = |one: &Value| {
            let word = |field: &str| one[field].as_str().expect("a word").to_string();
            (word("hits"), word("outcome"))
        };
        detail.iter().map(told).collect::<BTreeMap<String, String>>()
    };
    let suzuki = outcomes("suzuki-kasami");
    assert_eq!((&*suzuki["REQUEST"], &*suzuki["TOKEN"]), ("starves", "stalls"));
    let central = outcomes("central");
    assert_eq!((&*central["REQUEST"], &*central["RELEASE"]), ("starves", "stalls"));
    assert_eq!(outcomes("lamport")["REQUEST"], "S1 broken");
}

#[test]
fn every_cell_is_filled_and_its_command_shows_what_it_says() {
    assert_shown(matrix());
}

#[test]
#[ignore = "takes most of a minute"]
fn every_cell_of_the_matrix_by_default_is_filled_and_shown_too() {
    assert_shown(&cells(&[]));
}

/// There is a cell for each algorithm and fault, and its command does what the cell says.
fn assert_shown(cells: &[Value]) {
    assert_eq!(cells.len(), ids().len() * 9);
    for cell in cells {
        let Some(replay) = cell["replay"].as_str() else {
            assert_eq!(cell["outcome"], "-", "{cell}");
            continue;
        };
        let words: Vec<String> =
            replay.split(' ').skip(1).map(|word| word.trim_matches('\'').to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
        let run = json(&words);
        let (s1, v2) = (&run["properties"]["S1"], &run["properties"]["V2"]);
        match cell["outcome"].as_str().expect("a word") {
            "holds" => assert!(s1 == "holds" && v2 != "violated", "{cell}"),
            "S1 broken" => assert_eq!(s1, "violated", "{cell}"),
            "stalls" | "starves" => assert_eq!(v2, "violated", "{cell}"),
            other => panic!("{other}: {cell}"),
        }
    }
}

#[test]
fn the_matrix_fits_eighty_columns_and_numbers_its_commands() {
    let told = |line: &&str| !line.trim_start().starts_with("conclave ");
    let all = conclave(&["compare", "--faults", "--nodes", "4"]);
    let wide = all.stdout.lines().filter(told).find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
    let done = conclave(&["compare", "--faults", "--algorithms", "central,suzuki-kasami"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let commands = done.stdout.lines().filter(|line| !told(line)).count();
    assert_eq!(commands, 8 + 6, "{}", done.stdout);
    assert!(done.stdout.contains("  14  bystander amnesia"), "{}", done.stdout);
}

#[test]
fn what_is_of_another_family_is_not_compared() {
    let done = conclave(&["compare", "--algorithms", "heartbeat"]);
    assert_eq!(done.code, 2);
    let line = "error: --algorithms heartbeat: is of --family detector, not of --family mutex";
    assert_eq!(done.stderr.trim_end(), line);
}

#[test]
fn every_cell_of_the_matrix_shows_the_number_of_its_command() {
    let all = conclave(&["compare", "--faults", "--nodes", "4", "--algorithms", "central,quorum"]);
    let tables = all.stdout.split("Each cell is").next().expect("tables come first");
    let rows =
        tables.lines().filter(|line| line.starts_with("central ") || line.starts_with("quorum "));
    let mut shown = 0;
    for row in rows {
        let words: Vec<&str> = row.split_whitespace().skip(1).collect();
        let outcomes = ["holds", "stalls", "starves", "S1!"];
        for (place, _) in words.iter().enumerate().filter(|(_, word)| outcomes.contains(word)) {
            let number = place.checked_sub(1).and_then(|before| words[before].parse::<u32>().ok());
            assert!(number.is_some(), "{row}");
            shown += 1;
        }
    }
    let commands = all.stdout.lines().filter(|line| line.contains("conclave sim ")).count();
    assert_eq!(shown, commands, "{}", all.stdout);
}
