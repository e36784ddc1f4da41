//! Reading a scenario file: all that is wrong with it, at once, each with its line.

use super::file::File;
use crate::error::{Error, one_line};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

/// More mistakes than this help nobody.
const MISTAKES_MAX: usize = 20;
/// What every file must say, with values to go on with where one is missing.
const NEEDED: &str =
    "title = { en = '' }\ntext = { en = '' }\nsource = ''\nalgorithm = ''\nnodes = 1";

/// A run as the file tells it, and on which lines.
pub(super) struct Told {
    pub file: File,
    pub lines: Lines,
}

/// On which line each field stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// What is wrong with a field, with its line where it is known.
    pub fn at(&self, field: &str, mistake: String) -> String {
        match self.0.get(field) {
            Some(line) => format!("line {line}: {mistake}"),
            None => mistake,
        }
    }
}

/// The runs of a file, at least one; or all that is wrong with it.
pub(super) fn runs(text: &str) -> Result<Vec<Told>, Error> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut mistakes = Vec::new();
    for error in errors {
        note(&mut mistakes, located(text, &error));
    }
    if !mistakes.is_empty() {
        return Err(Error::scenario(mistakes));
    }
    let mut common = document.into_inner();
    let parts = match common.remove("runs").map(Spanned::into_inner) {
        Some(DeValue::Array(parts)) => parts.into_iter().map(Spanned::into_inner).collect(),
        Some(_) => return Err(Error::scenario(vec!["runs: takes [[runs]] tables".to_string()])),
        None => vec![DeValue::Table(DeTable::new())],
    };
    let mut told = Vec::new();
    for part in parts {
        let DeValue::Table(own) = part else {
            return Err(Error::scenario(vec!["runs: takes [[runs]] tables".to_string()]));
        };
        told.extend(run(text, merged(common.clone(), own), &mut mistakes));
    }
    if mistakes.is_empty() { Ok(told) } else { Err(Error::scenario(mistakes)) }
}

/// One run. What is wrong is noted and left out, to see what else is.
fn run(text: &str, mut table: DeTable<'_>, mistakes: &mut Vec<String>) -> Option<Told> {
    let lines = lines(text, &table);
    let mut sound = true;
    loop {
        let whole = Spanned::new(0..text.len(), table.clone());
        let error = match File::deserialize(Deserializer::from(whole)) {
            Ok(file) => return sound.then_some(Told { file, lines }),
            Err(error) => error,
        };
        sound = false;
        if mistakes.len() >= MISTAKES_MAX {
            return None;
        }
        if let Some((name, value)) = missing(error.message(), &table) {
            // What is there, but wrong, was told before.
            if !lines.0.contains_key(&name) {
                note(mistakes, format!("{name} is missing"));
            }
            table.insert(Spanned::new(0..0, name.into()), value);
            continue;
        }
        note(mistakes, located(text, &error));
        let at = error.span()?.start;
        if !remove(&mut table, at) {
            return None;
        }
    }
}

fn note(mistakes: &mut Vec<String>, mistake: String) {
    if mistakes.len() < MISTAKES_MAX && !mistakes.contains(&mistake) {
        mistakes.push(mistake);
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

/// What the TOML reader found, on one line.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = one_line(error.message());
    match error.span() {
        Some(span) => format!("line {}: {message}", line(text, span.start)),
        None => message,
    }
}
