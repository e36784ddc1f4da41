//! The tour, the catalogue and the help.

use crate::support::{conclave, json};

#[test]
fn the_tour_shows_every_algorithm_once_and_fits_the_screen() {
    let done = conclave(&["tour"]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(done.stdout.lines().all(|line| line.chars().count() <= 80), "{}", done.stdout);
    for entry in conclave_algorithms::catalog::ENTRIES {
        let ids = done.stdout.split("\nTo begin with").next().expect("there is a beginning");
        let words = ids.split_whitespace().filter(|word| *word == entry.id);
        assert_eq!(words.count(), 1, "{}", entry.id);
    }
}

#[test]
fn the_list_and_an_entry_say_the_same_in_words_and_in_json() {
    let all = json(&["algorithms", "--json"]);
    let list = conclave(&["algorithms"]).stdout;
    for entry in all.as_array().expect("a list") {
        let id = entry["id"].as_str().expect("an id");
        assert!(list.contains(&format!("{id}  ")), "{id}");
        assert_eq!(&json(&["algorithms", id, "--json"]), entry);
        let full = conclave(&["algorithms", id]);
        assert_eq!(full.code, 0);
        for field in ["title", "id", "rejoin_without_disk", "example"] {
            let value = entry[field].as_str().expect("a text");
            assert!(full.stdout.contains(value), "{id}: {field}");
        }
        for parameter in entry["parameters"].as_array().expect("a list") {
            let name = parameter["name"].as_str().expect("a name");
            assert!(full.stdout.contains(&format!("{name}=")), "{id}: {name}");
        }
    }
    assert_eq!(all.as_array().map(Vec::len), Some(conclave_algorithms::catalog::ENTRIES.len()));
}

#[test]
fn help_has_an_example_for_every_command() {
    for arguments in [&["--help"][..], &["sim", "--help"], &["algorithms", "--help"]] {
        let done = conclave(arguments);
        assert_eq!(done.code, 0);
        assert!(done.stdout.contains("Example"), "{arguments:?}");
    }
}
