//! Both language files of the page have the same keys with the same placeholders, and every text
//! that a module asks for by name is there.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// At most; a third of it when compressed, and a part of the first load.
const BYTES_MAX: usize = 28 * 1024;

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")
}

fn read(name: &str) -> String {
    fs::read_to_string(assets().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn words(language: &str) -> Map<String, Value> {
    let name = format!("{language}.json");
    let text = read(&name);
    assert!(text.len() <= BYTES_MAX, "{name}: {} bytes, at most {BYTES_MAX}", text.len());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text of a language file is a string")
}

/// The names in braces.
fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect()
}

#[test]
fn both_languages_have_the_same_keys() {
    let (english, portuguese) = (words("en"), words("pt"));
    let missing = |from: &Map<String, Value>, other: &Map<String, Value>| {
        from.keys().filter(|key| !other.contains_key(*key)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(missing(&english, &portuguese), Vec::<String>::new(), "only in en.json");
    assert_eq!(missing(&portuguese, &english), Vec::<String>::new(), "only in pt.json");
}

#[test]
fn both_languages_have_the_same_placeholders_and_no_empty_text() {
    let (english, portuguese) = (words("en"), words("pt"));
    for (key, value) in &english {
        let (one, other) = (text(value), portuguese.get(key).map_or("", text));
        assert!(!one.trim().is_empty() && !other.trim().is_empty(), "{key}: an empty text");
        assert_eq!(placeholders(one), placeholders(other), "{key}");
    }
}

/// The keys that a module names in full: `t("lab.play")`, and `data-t="shell.lab"` in the page.
fn keys_asked_for(source: &str) -> BTreeSet<&str> {
    ["t(\"", "data-t=\"", "data-t-label=\""]
        .iter()
        .flat_map(|opening| {
            source.match_indices(opening).filter_map(|(at, _)| {
                let before = source[..at].chars().next_back();
                let own = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
                let (key, _) = source[at + opening.len()..].split_once('"')?;
                (own && key.contains('.') && !key.contains(' ')).then_some(key)
            })
        })
        .collect()
}

#[test]
fn every_text_that_is_asked_for_is_there() {
    let english = words("en");
    let mut holes = Vec::new();
    let mut asked = 0;
    for entry in fs::read_dir(assets()).expect("the assets are a folder") {
        let name = entry.expect("an entry can be read").file_name();
        let name = name.to_string_lossy();
        if !name.ends_with(".js") && !name.ends_with(".html") {
            continue;
        }
        let source = read(&name);
        for key in keys_asked_for(&source) {
            asked += 1;
            if !english.contains_key(key) {
                holes.push(format!("{name}: {key}"));
            }
        }
    }
    assert!(asked > 100, "only {asked} keys were found: does the search still work?");
    assert!(holes.is_empty(), "no text for\n{}", holes.join("\n"));
}

#[test]
fn the_search_tells_a_key_from_other_calls() {
    let source = "t(\"lab.play\") + split(\"a.b\") + t(\"no key\") <p data-t=\"shell.lab\">";
    assert_eq!(keys_asked_for(source), BTreeSet::from(["lab.play", "shell.lab"]));
}
