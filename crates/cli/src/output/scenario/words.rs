//! What is expected of a scenario, in people's words.

use crate::output::numbers::local;
use crate::texts::{is_translated, phrase, tr};
use conclave_core::Property;
use std::borrow::Cow;

/// The property of that tag.
pub fn property(what: &str) -> Option<Property> {
    Property::MUTEX
        .into_iter()
        .chain(Property::ELECTION)
        .chain(Property::DETECTOR)
        .chain(Property::CLOCK)
        .find(|property| property.tag() == what)
}

/// What a check is about, in a word or two.
pub fn label(what: &str) -> Cow<'_, str> {
    let known = match what {
        "messages" => phrase("messages"),
        "requests" => phrase("requests"),
        "order" => phrase("order"),
        "entries" => phrase("entries"),
        "fences" => phrase("fences"),
        "same_fence" => phrase("same fence"),
        "refused" => phrase("refused"),
        "messages_per_entry" => phrase("messages per entry"),
        "client_delay" => phrase("delay"),
        "client_delay_serial" => phrase("delay, serially"),
        "value" => phrase("value"),
        "lost_updates" => phrase("lost updates"),
        "unfinished" => phrase("left half done"),
        "violation_probability" => phrase("two inside, odds"),
        "timeout" => phrase("timeout"),
        "leader" => phrase("leader"),
        "agreed" => phrase("agreed"),
        "time_to_leader" => phrase("known to all at"),
        "leaders_seen" => phrase("leaders seen"),
        "leaders_at_once" => phrase("leaders at once"),
        "changes" => phrase("changes of mind"),
        "times" => phrase("times"),
        "vectors" => phrase("vectors"),
        "concurrent" => phrase("concurrent pairs"),
        "ordered_by_lamport" => phrase("of them ordered by Lamport's"),
        "detection_time" => phrase("crash known to all after"),
        "mistakes" => phrase("mistakes"),
        other => return tr(other), // A property, a type of message, or whom somebody follows.
    };
    Cow::Borrowed(known)
}

/// What was expected or seen.
pub fn value(text: &str) -> &str {
    match text {
        "holds" => phrase("holds"),
        "violated" => phrase("violated"),
        "unknown" => phrase("unknown"),
        "not-checked" => phrase("not checked"),
        "nobody" => phrase("nobody"),
        "true" => phrase("yes"),
        "false" => phrase("no"),
        other => other,
    }
}

/// The same as people write it, with the decimal mark of their language; odds as elsewhere.
pub fn shown(text: &str) -> String {
    if let Some(odds) = text.contains('e').then(|| text.parse::<f64>().ok()).flatten() {
        return match odds.abs() >= 1e-3 {
            true => local(&odds.to_string()),
            false => local(text),
        };
    }
    let numbers = |c: char| c.is_ascii_digit() || ".,- ".contains(c);
    match is_translated() && text.contains('.') && text.chars().all(numbers) {
        true => local(&text.replace(", ", "; ")),
        false => value(text).to_string(),
    }
}

/// A check as a question.
pub fn question(what: &str) -> String {
    if let Some(property) = property(what) {
        let how = phrase("holds or violated?");
        return format!("{property}, {}: {how}", meaning(property));
    }
    match what {
        "messages" => phrase("How many messages?"),
        "requests" => phrase("How many requests?"),
        "order" => phrase("Who enters, in order (such as 1 2, or nobody)?"),
        "entries" => phrase("When does each enter?"),
        "fences" => phrase("With which fences?"),
        "same_fence" => phrase("Do two entries have the same fence (yes or no)?"),
        "refused" => phrase("How many writes are refused?"),
        "leader" => phrase("Who leads in the end?"),
        "agreed" => phrase("Do all agree (yes or no)?"),
        "leaders_seen" => phrase("Who is taken for the leader by anybody, in order?"),
        "leaders_at_once" => phrase("How many lead at once, at most?"),
        "value" => phrase("What is the value in the end?"),
        "times" => phrase("What does the clock of each event say, in order?"),
        "vectors" => phrase("What is the vector of each event, in order?"),
        "concurrent" => phrase("How many pairs of events are concurrent?"),
        "ordered_by_lamport" => phrase("How many of these does Lamport's clock put in an order?"),
        "mistakes" => phrase("How many mistakes?"),
        "detection_time" => phrase("How long does it take until all notice the crash?"),
        "time_to_leader" => phrase("When do all know of the leader?"),
        "client_delay" => phrase("How long is the delay?"),
        "lost_updates" => phrase("How many updates are lost?"),
        "unfinished" => phrase("How many are left half done?"),
        "changes" => phrase("How often does anybody change its mind?"),
        "violation_probability" => phrase("What are the odds of two inside?"),
        kind if kind.chars().all(|c| c.is_ascii_uppercase() || c == '_') => {
            return tr(&format!("How many {kind}?")).into_owned();
        }
        other => return question_of(other),
    }
    .to_string()
}

/// Whom somebody follows; of anything else, its name.
fn question_of(what: &str) -> String {
    match what.strip_suffix(" follows") {
        Some(node) => tr(&format!("Whom does {node} follow?")).into_owned(),
        None => format!("{}?", label(what)),
    }
}

/// What to say to a guess that cannot be an answer to this question.
pub fn plea(what: &str, guess: &str, observed: &str) -> Option<&'static str> {
    let guess = guess.to_lowercase();
    let words = || guess.split(|c: char| c.is_whitespace() || ",;".contains(c));
    let one_of = |known: [&str; 2], judged| known.contains(&&*canonical(&guess, judged));
    let (fits, plea) = match what {
        _ if guess.is_empty() => return None,
        _ if property(what).is_some() => {
            (one_of(["holds", "violated"], true), "Holds or violated, please.")
        }
        "same_fence" | "agreed" => (one_of(["true", "false"], false), "Yes or no, please."),
        "entries" | "fences" | "times" => {
            let numbers =
                words().filter(|word| !word.is_empty()).all(|word| number(word).is_some());
            (numbers || canonical(&guess, false) == "nobody", "Numbers, please.")
        }
        _ if asks_for_nodes(what) && are_nodes(observed) => {
            (are_nodes(&guess), "Numbers of nodes, please, or nobody.")
        }
        _ if wants_number(what) => (number(&guess).is_some(), "A number, please."),
        _ => return None,
    };
    (!fits).then_some(plea)
}

fn asks_for_nodes(what: &str) -> bool {
    ["order", "leader", "leaders_seen"].contains(&what) || what.ends_with(" follows")
}

/// Whether these are nodes by their numbers, or nobody. Where nodes have other names, anything may
/// be one.
fn are_nodes(text: &str) -> bool {
    let words = text.split(|c: char| c.is_whitespace() || ",;".contains(c));
    let is_node = |word: &str| {
        let digits = word.strip_prefix('c').unwrap_or(word);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    canonical(text, false) == "nobody" || words.filter(|word| !word.is_empty()).all(is_node)
}

/// Whether the answer to this question is a number and nothing else.
fn wants_number(what: &str) -> bool {
    const COUNTS: [&str; 12] = [
        "messages",
        "requests",
        "refused",
        "leaders_at_once",
        "value",
        "mistakes",
        "time_to_leader",
        "client_delay",
        "lost_updates",
        "unfinished",
        "changes",
        "messages_per_entry",
    ];
    let kind = || what.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    COUNTS.contains(&what) || kind()
}

/// A promise in a few words.
pub fn meaning(property: Property) -> &'static str {
    phrase(property.meaning())
}

/// Whether a guess says what was seen, however it is typed.
pub fn same(what: &str, guess: &str, observed: &str) -> bool {
    if let (Some(guess), Some(observed)) = (number(guess), number(observed)) {
        return guess == observed;
    }
    let judged = property(what).is_some();
    let plain = |text: &str| -> Vec<String> {
        let text = text.to_lowercase();
        let words = text.split(|c: char| c.is_whitespace() || ",;".contains(c));
        words.filter(|word| !word.is_empty()).map(|word| canonical(word, judged)).collect()
    };
    plain(guess) == plain(observed)
}

/// A number, whatever its decimal mark.
pub fn number(text: &str) -> Option<f64> {
    text.trim().replace(',', ".").parse().ok()
}

fn canonical(word: &str, judged: bool) -> String {
    let (yes, no) = if judged { ("holds", "violated") } else { ("true", "false") };
    match word {
        _ if judged && "holds".starts_with(word) && !word.is_empty() => yes.to_string(),
        "val" | "va" if judged => yes.to_string(),
        _ if judged
            && word.len() > 1
            && ["violated", "violada"].iter().any(|one| one.starts_with(word)) =>
        {
            no.to_string()
        }
        "holds" | "vale" => "holds".to_string(),
        "violated" | "broken" | "violada" | "violado" => "violated".to_string(),
        "y" | "yes" | "s" | "sim" | "true" => yes.to_string(),
        "n" | "no" | "não" | "nao" | "false" => no.to_string(),
        "nobody" | "none" | "ninguém" | "ninguem" => "nobody".to_string(),
        other => match other.parse::<f64>() {
            Ok(number) => number.to_string(),
            Err(_) => other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_an_answer_is_asked_again() {
        for (what, guess, asks) in [
            ("messages", "many", Some("A number, please.")),
            ("REQUEST", "6", None),
            ("entries", "99x", Some("Numbers, please.")),
            ("entries", "2, 12,5", None),
            ("entries", "Ninguém", None),
            ("same_fence", "2", Some("Yes or no, please.")),
            ("same_fence", "Sim", None),
            ("S1", "maybe", Some("Holds or violated, please.")),
            ("S1", "violada", None),
            ("S1", "hold", None),
            ("S1", "viol", None),
            ("S1", "v", Some("Holds or violated, please.")),
            ("order", "1 2", None),
            ("order", "abc", Some("Numbers of nodes, please, or nobody.")),
            ("order", "1, x", Some("Numbers of nodes, please, or nobody.")),
            ("order", "ninguém", None),
            ("leader", "c1", None),
            ("leader", "the best", Some("Numbers of nodes, please, or nobody.")),
            ("3 follows", "somebody", Some("Numbers of nodes, please, or nobody.")),
            ("messages", "", None),
        ] {
            assert_eq!(plea(what, guess, "1, 2"), asks, "{what}: {guess}");
        }
        assert_eq!(plea("order", "ana rui", "rui, ana"), None, "names may be words");
    }

    #[test]
    fn a_guess_counts_however_it_is_typed() {
        for (what, guess, observed) in [
            ("order", "1 2", "1, 2"),
            ("order", "1,2", "1, 2"),
            ("order", "Ninguém", "nobody"),
            ("entries", "2.0, 12", "2, 12"),
            ("messages_per_entry", "2,50", "2.5"),
            ("S1", "no", "violated"),
            ("S1", "Vale", "holds"),
            ("same_fence", "sim", "true"),
        ] {
            assert!(same(what, guess, observed), "{what}: {guess}");
        }
        for (what, guess, observed) in
            [("order", "2 1", "1, 2"), ("S1", "yes", "violated"), ("messages", "", "3")]
        {
            assert!(!same(what, guess, observed), "{what}: {guess}");
        }
    }
}
