//! What the module docs of the algorithms say for people, and which of it belongs to which row of
//! the catalogue: the messages, the rules, and where a reason points to.

use conclave_algorithms::catalog::{ENTRIES, Entry, Family, Setting};
use conclave_core::Why;

/// Out of the module doc of one file.
#[derive(Debug)]
pub struct Document {
    family: &'static str,
    name: &'static str,
    /// Name, from and to, sent when, carries.
    pub messages: &'static [[&'static str; 4]],
    /// `R1` and what it says.
    pub rules: &'static [(&'static str, &'static str)],
}

const DOCUMENTS: &[Document] = include!(concat!(env!("OUT_DIR"), "/documents.rs"));

/// The token ring has a part with rules of its own.
const PING_PONG: &str = "ping-pong";

/// The documents of a row, each with the name of the part that it is about; the row itself has
/// none.
pub fn of(entry: &Entry) -> Vec<(&'static str, &'static Document)> {
    let stem = entry.id.replace('-', "_");
    let own = find(entry.family, stem.trim_end_matches("_clock"));
    let more = match entry.id {
        "token-ring" => find(entry.family, "ping_pong").map(|part| (PING_PONG, part)),
        _ if entry.family == Family::Clock => find(entry.family, "timekeeper").map(|all| ("", all)),
        _ => None,
    };
    own.map(|own| ("", own)).into_iter().chain(more).collect()
}

fn find(family: Family, name: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|known| known.family == family.name() && known.name == name)
}

/// Where on the page a rule or an assumption stands.
pub fn anchor(id: &str, part: &str, rule: &str) -> String {
    match part {
        "" => format!("{id}.{rule}"),
        part => format!("{id}.{part}.{rule}"),
    }
}

/// Where the rule of a reason stands that was given in a run of this row. What a layer below says
/// is among the rules of the layer's own row.
pub fn place(entry: &'static Entry, why: &'static Why) -> String {
    let has = |row: &&Entry| row.why.iter().any(|table| is_in(table, why));
    let mut rows = ENTRIES.iter().copied();
    let row = if has(&entry) { entry } else { rows.find(has).unwrap_or(entry) };
    let in_first = row.why.first().is_some_and(|table| is_in(table, why));
    let part = if row.id == "token-ring" && !in_first { PING_PONG } else { "" };
    anchor(row.id, part, why.rule)
}

fn is_in(table: &[&'static Why], why: &'static Why) -> bool {
    table.iter().any(|known| std::ptr::eq(*known, why))
}

/// The place of a kind of message among all those that a setting can send: first those of the row
/// in the order of its table, then those of the layers below. It is the same in every run, so that
/// a kind can have a colour of its own.
pub fn place_of_kind(setting: &Setting, label: &str) -> usize {
    let layers = ["election", "detector"].into_iter().filter_map(|layer| {
        let chosen = setting.entry.parameters.iter().find(|known| known.name == layer)?;
        let id = setting.params.text(chosen.name);
        ENTRIES.iter().copied().find(|row| row.id == id)
    });
    let rows = std::iter::once(setting.entry).chain(layers);
    let mut kinds: Vec<String> = Vec::new();
    for [name, ..] in rows.flat_map(of).flat_map(|(_, document)| document.messages) {
        let kind = bare(name);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let kind = bare(label);
    let known = kinds.iter().position(|known| *known == kind);
    known.unwrap_or_else(|| kind.bytes().map(usize::from).sum())
}

/// A name without what is written in one way here and in another there: `TokenAck`, `TOKEN_ACK`.
fn bare(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}
