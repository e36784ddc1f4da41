//! Values as people write them: what Rust's `Debug` prints, without the names of types.

use super::Language;
use std::iter::Peekable;
use std::str::Chars;

/// A value, as `Debug` tells it.
#[derive(Debug)]
enum Value {
    /// A number, a text, a node.
    Plain(String),
    /// Several, between these.
    List(char, char, Vec<Field>),
    /// Of a type with a name.
    Named(String, Vec<Field>),
}

/// A value, perhaps with a name.
#[derive(Debug)]
struct Field {
    name: Option<String>,
    value: Value,
}

/// What a message of this name carries, in people's words: `time: 3, origin: {1}`. What only says
/// once more which message it is is left out.
pub(super) fn carried(label: &str, details: &str, language: Language) -> String {
    if is_deep(details) {
        return details.to_string();
    }
    let mut letters = details.chars().peekable();
    match fields(&mut letters, None) {
        Some(fields) => flat(label, fields, language).join(", "),
        None => details.to_string(),
    }
}

/// The name of a timer or a request without the layers that it went through: `Sampled(Beat)` is
/// `Beat`, and `Silence({3})` is `Silence 3`.
pub(crate) fn innermost(label: &str) -> String {
    if is_deep(label) {
        return label.to_string();
    }
    let mut letters = label.chars().peekable();
    let Some(mut value) = value(&mut letters) else { return label.to_string() };
    if letters.next().is_some() {
        return label.to_string();
    }
    loop {
        match value {
            Value::Named(_, mut fields)
                if matches!(&fields[..], [Field { name: None, value: Value::Named(..) }]) =>
            {
                value = fields.remove(0).value;
            }
            Value::Named(name, fields) if fields.is_empty() => return name,
            Value::Named(name, fields) => {
                return format!("{name} {}", flat(&name, fields, Language::English).join(", "));
            }
            plain @ (Value::Plain(_) | Value::List(..)) => {
                return spoken(plain, Language::English);
            }
        }
    }
}

/// Fields one by one; those of a value inside take its place where its name says nothing new.
fn flat(label: &str, fields: Vec<Field>, language: Language) -> Vec<String> {
    let alone = fields.len() == 1;
    let mut told = Vec::new();
    for Field { name, value } in fields {
        match (name, value) {
            (name, Value::Named(kind, inner))
                if is_same(&kind, label)
                    || name.as_ref().is_some_and(|name| is_same(&kind, name))
                    || alone
                        && name.is_none()
                        && inner.iter().any(|field| field.name.is_some()) =>
            {
                told.extend(flat(label, inner, language));
            }
            (Some(name), value) => {
                told.push(format!("{}: {}", language.field(&name), spoken(value, language)));
            }
            (None, value) => told.push(spoken(value, language)),
        }
    }
    told
}

fn spoken(value: Value, language: Language) -> String {
    match value {
        Value::Plain(text) => match text.as_str() {
            "true" => language.pick("yes", "sim").to_string(),
            "false" => language.pick("no", "não").to_string(),
            _ => text,
        },
        Value::List(open, close, fields) => {
            format!("{open}{}{close}", flat("", fields, language).join(", "))
        }
        Value::Named(name, fields) if fields.is_empty() => {
            if name == "None" {
                "–".to_string()
            } else {
                language.value(&name.to_lowercase()).to_string()
            }
        }
        Value::Named(_, mut fields) if matches!(&fields[..], [Field { name: None, .. }]) => {
            spoken(fields.remove(0).value, language)
        }
        Value::Named(name, fields) => {
            let [first, second] = numbers(&fields);
            match name.as_str() {
                "Matrix" if first.len() == 1 && first[0] > 0 => rows(first[0], &second),
                "NodeSet" => members(&first),
                _ => format!("({})", flat("", fields, language).join(", ")),
            }
        }
    }
}

/// The numbers in each of two fields; none where there are not two, or others than numbers.
fn numbers(fields: &[Field]) -> [Vec<u64>; 2] {
    let of = |field: Option<&Field>| match field.map(|field| &field.value) {
        Some(Value::Plain(number)) => number.parse().into_iter().collect(),
        Some(Value::List(_, _, items)) => {
            let number = |item: &Field| match &item.value {
                Value::Plain(number) => number.parse().ok(),
                Value::List(..) | Value::Named(..) => None,
            };
            items.iter().filter_map(number).collect()
        }
        Some(Value::Named(..)) | None => Vec::new(),
    };
    [of(fields.first()), of(fields.get(1))]
}

/// A matrix, row by row.
fn rows(n: u64, cells: &[u64]) -> String {
    let row = |row: &[u64]| row.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = cells.chunks(n as usize).map(row).collect();
    format!("[{}]", rows.join(" / "))
}

/// The nodes of a set, which has one bit for each.
fn members(words: &[u64]) -> String {
    let bits = |(place, word): (usize, &u64)| {
        let word = *word;
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * place + bit)
    };
    let nodes: Vec<String> =
        words.iter().enumerate().flat_map(bits).map(|node| format!("{{{node}}}")).collect();
    format!("[{}]", nodes.join(", "))
}

/// Whether two names differ only in how they are written: `HeartbeatAck` and `HEARTBEAT_ACK`.
fn is_same(a: &str, b: &str) -> bool {
    let letters = |text: &str| {
        text.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect::<String>()
    };
    letters(a) == letters(b)
}

/// No message of any algorithm has values within values to this depth.
const DEPTH_MAX: u32 = 32;

/// Whether a text has values so deep within each other that no algorithm wrote it: it may come out
/// of a forged recording, and to read it would take a stack without end.
fn is_deep(text: &str) -> bool {
    let mut depth: u32 = 0;
    text.chars().any(|letter| {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH_MAX
    })
}

type Letters<'a> = Peekable<Chars<'a>>;

/// Values up to this letter, or up to the end.
fn fields(letters: &mut Letters<'_>, close: Option<char>) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    loop {
        skip(letters);
        if letters.peek().copied() == close {
            letters.next();
            return Some(fields);
        }
        let mut field = Field { name: None, value: value(letters)? };
        if letters.peek() == Some(&':') {
            letters.next();
            let Value::Named(name, _) = field.value else { return None };
            field = Field { name: Some(name), value: value(letters)? };
        }
        fields.push(field);
        skip(letters);
        match letters.peek().copied() {
            Some(',') => letters.next(),
            other if other == close => continue,
            Some(_) | None => return None,
        };
    }
}

fn value(letters: &mut Letters<'_>) -> Option<Value> {
    skip(letters);
    let first = *letters.peek()?;
    let close = match first {
        '[' => ']',
        '(' => ')',
        '{' => '}',
        '"' => return text(letters),
        _ => return named(letters),
    };
    letters.next();
    let fields = fields(letters, Some(close))?;
    match &fields[..] {
        // The mark of a node.
        [Field { name: None, value: Value::Plain(index) }] if first == '{' => {
            Some(Value::Plain(format!("{{{index}}}")))
        }
        _ => Some(Value::List(first, close, fields)),
    }
}

fn text(letters: &mut Letters<'_>) -> Option<Value> {
    let mut text = String::from(letters.next()?);
    loop {
        let letter = letters.next()?;
        text.push(letter);
        match letter {
            '\\' => text.push(letters.next()?),
            '"' => return Some(Value::Plain(text)),
            _ => {}
        }
    }
}

/// A number, or a name with what belongs to it.
fn named(letters: &mut Letters<'_>) -> Option<Value> {
    let mut name = String::new();
    while let Some(letter) = letters.next_if(|c| c.is_alphanumeric() || "_-+.#".contains(*c)) {
        name.push(letter);
    }
    if name.is_empty() {
        return None;
    }
    if !name.starts_with(char::is_alphabetic) || name == "true" || name == "false" {
        return Some(Value::Plain(name));
    }
    let before = letters.clone();
    skip(letters);
    match letters.peek() {
        Some('{') => {
            letters.next();
            Some(Value::Named(name, fields(letters, Some('}'))?))
        }
        Some('(') => {
            letters.next();
            Some(Value::Named(name, fields(letters, Some(')'))?))
        }
        Some(_) | None => {
            *letters = before;
            Some(Value::Named(name, Vec::new()))
        }
    }
}

fn skip(letters: &mut Letters<'_>) {
    while letters.next_if(|c| c.is_whitespace()).is_some() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(label: &str, details: &str) -> String {
        carried(label, details, Language::English)
    }

    #[test]
    fn types_have_no_names_and_what_is_said_already_is_left_out() {
        for (label, details, told) in [
            ("REQUEST", "request: 1, clock: 3, body: Request", "request: 1, clock: 3"),
            ("GRANT", "request: 1, body: Grant { fence: 2 }", "request: 1, fence: 2"),
            ("HEARTBEAT_ACK", "HeartbeatAck { term: 1, number: 2 }", "term: 1, number: 2"),
            ("TOKEN", "Token { served: [0, 1], queue: [{2}] }", "served: [0, 1], queue: [{2}]"),
            ("ONE", "Candidate { id: 7, node: {0} }", "id: 7, node: {0}"),
            (
                "FORWARD",
                "number: 1, broadcast: Broadcast { client: {0}, release: true }",
                "number: 1, client: {0}, release: yes",
            ),
            ("ACK", "best: Some(7), counter: 1", "best: 7, counter: 1"),
            ("ACK", "best: None", "best: –"),
            ("TELL", "time: Vector([0, 2]), sent: 5", "time: [0, 2], sent: 5"),
            ("TELL", "time: Hybrid { physical: 5, count: 1 }", "time: (physical: 5, count: 1)"),
            ("TELL", "time: Matrix { n: 2, cells: [1, 0, 2, 3] }", "time: [1 0 / 2 3]"),
            ("TOKEN", "Token { queued: NodeSet { words: [5], len: 2 } }", "queued: [{0}, {2}]"),
            ("PROBE", "id: 3, way: Forward", "id: 3, way: forward"),
            ("ID", "7", "7"),
            ("ANY", "", ""),
            ("TELL", "Observe(5)", "5"),
            ("ANY", "set: {{0}, {1}}, text: \"a, {b\"", "set: {{0}, {1}}, text: \"a, {b\""),
        ] {
            assert_eq!(english(label, details), told);
        }
    }

    #[test]
    fn what_cannot_be_read_is_left_as_it_is() {
        for odd in ["time: ", "a: [1, 2", "Request {", "\"open", "3 4", "}", "a: b: c"] {
            assert_eq!(english("ANY", odd), odd);
        }
    }

    #[test]
    fn what_is_too_deep_for_any_algorithm_is_left_as_it_is() {
        for one in ["(", "[", "{", "A(", "a: {"] {
            let forged = one.repeat(1_000_000);
            assert!(english("ANY", &forged) == forged && innermost(&forged) == forged, "{one}");
        }
        let odd = format!("{}1{}", "[".repeat(40), "]".repeat(40));
        assert_eq!(english("ANY", &odd), odd);
        assert_eq!(english("ANY", "a: [[[1]], [[2]]]"), "a: [[[1]], [[2]]]");
    }

    #[test]
    fn timers_are_called_by_their_own_names() {
        assert_eq!(innermost("Beat"), "Beat");
        assert_eq!(innermost("Sampled(Majority(Beat))"), "Beat");
        assert_eq!(innermost("Silence({3})"), "Silence {3}");
        assert_eq!(innermost("Half (open"), "Half (open");
    }

    #[test]
    fn fields_have_portuguese_names() {
        let told = carried("VOTE", "term: 3, granted: false, id: 4", Language::Portuguese);
        assert_eq!(told, "mandato: 3, concedido: não, id: 4");
    }
}
