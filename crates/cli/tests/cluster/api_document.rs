//! What docs/api.md shows is true: its examples are typed into one shell, in order, beside a real
//! cluster, and what comes back has the form that is shown.

use crate::up::cluster::{DEADLINE, Place, Up};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Between what two examples print.
const NEXT: &str = "==== next example";

/// Texts that are the same in every run.
const SAME: [&str; 11] = [
    "code", "message", "name", "next", "kind", "label", "value", "state", "scope", "safety",
    "version",
];

/// An example: what is typed, and what is shown below it, with its language.
#[derive(Debug, Default)]
struct Example {
    line: usize,
    typed: String,
    shown: Option<(String, String)>,
}

fn examples() -> Vec<Example> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let text = fs::read_to_string(path).unwrap();
    let mut all: Vec<Example> = Vec::new();
    let mut fence: Option<String> = None;
    for (line, text) in (1..).zip(text.lines()) {
        match (text.strip_prefix("```"), &fence) {
            (Some("sh"), None) => {
                all.push(Example { line, ..Example::default() });
                fence = Some("sh".to_string());
            }
            (Some(kind), None) => {
                let last = all.last_mut().expect("an example before what it prints");
                last.shown = Some((kind.to_string(), String::new()));
                fence = Some(kind.to_string());
            }
            (Some(_), Some(_)) => fence = None,
            (None, None) => {}
            (None, Some(kind)) => {
                let last = all.last_mut().expect("within an example");
                let block = match (&mut last.shown, &**kind) {
                    (_, "sh") => &mut last.typed,
                    (Some((_, shown)), _) => shown,
                    (None, _) => panic!("line {line}: output of no example"),
                };
                *block += &format!("{text}\n");
            }
        }
    }
    all
}

/// Types all examples; the addresses and the token are those of this cluster.
fn typed(place: &Place, up: &Up, examples: &[Example]) -> String {
    let token = up.running.seen.iter().find_map(|line| line.strip_prefix("token"));
    let token = token.unwrap().split_whitespace().next().unwrap();
    let server = &up.nodes[0].api;
    let mut script = format!("trap 'kill $(jobs -p)' EXIT; SERVER={server}; TOKEN={token}\n");
    for example in examples {
        let own = |line: &&str| !line.starts_with("SERVER=") && !line.starts_with("TOKEN=");
        let lines: Vec<&str> = example.typed.lines().filter(own).collect();
        script += &format!("{}\necho; echo '{NEXT}'\n", lines.join("\n"));
    }
    let output = Command::new("bash").args(["-c", &script]).current_dir(place.path("tmp")).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// All JSON in a text, one after another.
fn values(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.map(|value| value.unwrap_or_else(|error| panic!("{error}: {text}"))).collect()
}

/// Whether a value has the form of another; texts and truth that do not vary are the same.
fn is_like(key: &str, shown: &Value, printed: &Value) -> bool {
    match (shown, printed) {
        (Value::Object(_), Value::Object(_)) if key == "messages" => true,
        (Value::Object(shown), Value::Object(printed)) => {
            shown.len() == printed.len()
                && shown.iter().all(|(key, shown)| {
                    printed.get(key).is_some_and(|printed| is_like(key, shown, printed))
                })
        }
        (Value::Array(shown), Value::Array(printed)) => {
            let mut both = shown.iter().zip(printed);
            shown.len() == printed.len() && both.all(|(a, b)| is_like(key, a, b))
        }
        (Value::String(_), Value::String(_)) => !SAME.contains(&key) || is_same(shown, printed),
        (Value::Number(_), Value::Number(_)) => !SAME.contains(&key) || shown == printed,
        _ => shown == printed,
    }
}

/// Fences vary, also where a sentence has one.
fn is_same(shown: &Value, printed: &Value) -> bool {
    let words = |value: &Value| -> Vec<String> {
        let words = value.as_str().unwrap_or_default().split(|c: char| c.is_ascii_digit());
        words.filter(|word| !word.is_empty()).map(str::to_string).collect()
    };
    words(shown) == words(printed)
}

fn compare(example: &Example, printed: &str) {
    let Example { line, typed, shown } = example;
    match shown {
        None => {}
        Some((kind, shown)) if kind == "json" => {
            let shown = values(shown);
            let printed = values(printed);
            let like = shown.len() == printed.len()
                && shown.iter().zip(&printed).all(|(a, b)| is_like("", a, b));
            assert!(like, "docs/api.md:{line}: {typed}\nshown: {shown:#?}\nprinted: {printed:#?}");
        }
        Some((_, shown)) => {
            for begin in shown.lines().filter_map(|line| line.split(": ").next()) {
                let found = printed.lines().any(|line| line.starts_with(&format!("{begin}: ")));
                assert!(found, "docs/api.md:{line}: no '{begin}:' in\n{printed}");
            }
        }
    }
}

#[test]
fn every_example_of_the_api_does_what_it_shows() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: curl is missing, so the examples of docs/api.md cannot be typed");
        return;
    }
    let place = Place::new("api-document");
    let up = Up::start(&place, &["--nodes", "3"]);
    let examples = examples();
    let end = Instant::now() + DEADLINE;
    let printed = loop {
        let printed = typed(&place, &up, &examples);
        // On a busy machine a session of 3 s may end for want of a keepalive.
        if !printed.contains("no_session") || Instant::now() > end {
            break printed;
        }
    };
    let printed: Vec<&str> = printed.split(NEXT).collect();
    assert!(examples.len() > 10 && printed.len() > examples.len(), "{printed:?}");
    for (example, printed) in examples.iter().zip(printed) {
        compare(example, printed);
    }
}
