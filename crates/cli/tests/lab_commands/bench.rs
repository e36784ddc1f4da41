//! `conclave bench`, small.

use crate::support::conclave;

#[test]
fn the_rows_name_what_was_run_and_what_it_is_measured_against() {
    let output = conclave(&["bench", "sim", "--divide", "100", "--repeat", "1", "--json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let parsed: serde_json::Value = serde_json::from_str(&output.stdout).expect("it is JSON");
    let rows = parsed["rows"].as_array().expect("rows are a list");
    let messages: Vec<_> = rows.iter().map(|row| row["messages"].as_u64()).collect();
    assert_eq!(messages, [Some(10_000), Some(29_996), Some(180), Some(10_000)]);
    for row in rows {
        for field in [
            "nodes",
            "events_per_second",
            "floor_events_per_second",
            "ratio_to_floor",
            "bytes_per_node",
        ] {
            assert!(row[field].as_f64().is_some_and(|number| number > 0.0), "{field} in {row}");
        }
    }
}

#[test]
fn the_checker_finds_all_states_and_its_peer_as_many_if_it_is_there() {
    let output = conclave(&["bench", "check", "--requests", "1", "--repeat", "1", "--json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let parsed: serde_json::Value = serde_json::from_str(&output.stdout).expect("it is JSON");
    let rows = parsed["rows"].as_array().expect("rows are a list");
    let states: Vec<_> = rows.iter().map(|row| row["unique_states"].as_u64()).collect();
    assert_eq!(states, [Some(2_551), Some(505), Some(579)]);
    for row in rows {
        let positive = |field| row[field].as_f64().is_some_and(|number: f64| number > 0.0);
        for field in ["states_per_cpu_second", "bytes_per_state"] {
            assert!(positive(field), "{field} in {row}");
        }
        // Not every build has the peer.
        for field in ["peer_states_per_cpu_second", "ratio"] {
            assert!(row[field].is_null() || positive(field), "{field} in {row}");
        }
    }
    let told = conclave(&["bench", "check", "--requests", "1", "--repeat", "1"]).stdout;
    assert_eq!(told.contains("--features stateright"), !cfg!(feature = "stateright"), "{told}");
}
