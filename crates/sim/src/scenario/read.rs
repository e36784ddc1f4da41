//! Reading a scenario file: all that is wrong with it, at once, each with its line.

use super::Mistakes;
use super::file::File;
use crate::error::one_line;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

/// What every file must say, with values to go on with where one is missing.
const NEEDED: &str =
    "title = { en = '' }\ntext = { en = '' }\nsource = ''\nalgorithm = ''\nnodes = 1";

const RUNS: &str = "runs = …: takes [[runs]] tables";

/// A run as the file tells it, and on which lines.
pub(super) struct Told {
    pub file: File,
    pub lines: Lines,
    /// What the file had to say and does not, so that something stands for it.
    pub stood_in: BTreeSet<String>,
}

/// On which line each field stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// The line that a field is on, where it is known.
    pub fn of(&self, field: &str) -> Option<usize> {
        self.0.get(field).copied()
    }
}

/// The runs of a file, as far as they can be read. What is no TOML has none.
pub(super) fn runs(text: &str, mistakes: &mut Mistakes) -> Vec<Told> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        errors.iter().for_each(|error| located(text, error, mistakes));
        return Vec::new();
    }
    let mut common = document.into_inner();
    let parts = match common.remove("runs").map(Spanned::into_inner) {
        Some(DeValue::Array(parts)) => parts.into_iter().map(Spanned::into_inner).collect(),
        Some(_) => {
            mistakes.note(None, RUNS);
            Vec::new()
        }
        None => vec![DeValue::Table(DeTable::new())],
    };
    let mut told = Vec::new();
    for part in parts {
        if let DeValue::Table(own) = part {
            told.extend(run(text, merged(common.clone(), own), mistakes));
        } else {
            mistakes.note(None, RUNS);
        }
    }
    told
}

/// One run. What is wrong is noted and left out, to see what else is.
fn run(text: &str, mut table: DeTable<'_>, mistakes: &mut Mistakes) -> Option<Told> {
    let lines = lines(text, &table);
    let mut stood_in = BTreeSet::new();
    loop {
        let whole = Spanned::new(0..text.len(), table.clone());
        let error = match File::deserialize(Deserializer::from(whole)) {
            Ok(file) => return Some(Told { file, lines, stood_in }),
            Err(error) => error,
        };
        if mistakes.are_many() {
            return None;
        }
        if let Some((name, value)) = missing(error.message(), &table) {
            // What is there, but wrong, was told before.
            if lines.of(&name).is_none() {
                mistakes.note(None, format!("{name} is missing"));
            }
            stood_in.insert(name.clone());
            table.insert(Spanned::new(0..0, name.into()), value);
            continue;
        }
        located(text, &error, mistakes);
        let at = error.span()?.start;
        if !remove(&mut table, at) {
            return None;
        }
    }
}

/// A field that every file must have and this one lacks, with a value to go on with.
fn missing(message: &str, table: &DeTable<'_>) -> Option<(String, Spanned<DeValue<'static>>)> {
    let name = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let needed = DeTable::parse(NEEDED).ok()?.into_inner();
    let value = needed.get(name).filter(|_| table.get(name).is_none())?;
    Some((name.to_string(), value.clone()))
}

/// Takes the innermost field out that stands at this place of the text.
fn remove(table: &mut DeTable<'_>, at: usize) -> bool {
    let mut hit = None;
    for (name, value) in table.iter_mut() {
        let own = name.span().start..value.span().end.max(name.span().end);
        if let DeValue::Table(inner) = value.get_mut()
            && remove(inner, at)
        {
            return true;
        }
        if own.contains(&at) {
            hit = Some(name.get_ref().to_string());
        }
    }
    hit.is_some_and(|name| table.remove(&*name).is_some())
}

/// What a run says itself comes before what is said of all; tables are merged.
fn merged<'a>(mut all: DeTable<'a>, run: DeTable<'a>) -> DeTable<'a> {
    for (name, value) in run {
        let below = all.remove_entry(&**name.get_ref()).map(|(_, below)| below.into_inner());
        let span = value.span();
        let value = match (below, value.into_inner()) {
            (Some(DeValue::Table(below)), DeValue::Table(above)) => {
                DeValue::Table(merged(below, above))
            }
            (_, value) => value,
        };
        all.insert(name, Spanned::new(span, value));
    }
    all
}

fn lines(text: &str, table: &DeTable<'_>) -> Lines {
    let of = |(name, _): (&Spanned<_>, &_)| (name.to_string(), line(text, name.span().start));
    Lines(table.iter().map(of).collect())
}

fn line(text: &str, at: usize) -> usize {
    1 + text.get(..at).map_or(0, |before| before.matches('\n').count())
}

/// What the TOML reader found.
fn located(text: &str, error: &toml::de::Error, mistakes: &mut Mistakes) {
    mistakes.note(error.span().map(|span| line(text, span.start)), one_line(error.message()));
}
