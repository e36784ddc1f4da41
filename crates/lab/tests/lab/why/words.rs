//! Whatever is shown of a state has a name in Portuguese.

use super::{explained, plans, settings};
use conclave_algorithms::catalog::ENTRIES;
use conclave_sim::trace::{Language, Shown};
use std::collections::BTreeSet;

/// Written the same in both languages, or names of the papers.
const SAME: &[&str] = &["id", "me", "n", "nok", "noks", "ok", "oks", "sanders", "seq", "token"];

#[test]
fn every_field_and_every_word_of_a_state_has_a_portuguese_name() {
    let mut words = BTreeSet::new();
    for entry in ENTRIES {
        for setting in settings(entry).iter().take(3) {
            for plan in plans(entry.family, 1) {
                let nodes = explained(setting, &plan);
                for field in nodes.iter().flat_map(|node| &node.fields) {
                    let name = field.name.rsplit('.').next().unwrap_or_default();
                    words.insert((true, name.to_string()));
                    collect(&field.value, &mut words);
                }
            }
        }
    }
    let language = Language::Portuguese;
    let is_left = |(field, word): &&(bool, String)| {
        let told = if *field { language.field(word) } else { language.value(word) };
        told == word && !SAME.contains(&word.as_str())
    };
    let left: Vec<&String> = words.iter().filter(is_left).map(|(_, word)| word).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn collect(value: &Shown, words: &mut BTreeSet<(bool, String)>) {
    match value {
        Shown::Word(word) => {
            words.insert((false, Shown::spaced(word)));
        }
        Shown::List(items) => items.iter().for_each(|item| collect(item, words)),
        Shown::Map(pairs) => pairs.iter().for_each(|(_, item)| collect(item, words)),
        Shown::Variant(name, inner) => {
            words.insert((false, Shown::spaced(name)));
            collect(inner, words);
        }
        Shown::Fields(_, fields) => {
            for (name, item) in fields {
                words.insert((true, name.clone()));
                collect(item, words);
            }
        }
        Shown::Nothing
        | Shown::Number(_)
        | Shown::Text(_)
        | Shown::Node(_)
        | Shown::Nodes(_)
        | Shown::Stamp(_) => {}
    }
}
