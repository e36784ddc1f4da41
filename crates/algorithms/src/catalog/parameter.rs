//! Parameters of algorithms: their declarations, and the values that were given.

use super::Entry;
use crate::Error;
use conclave_core::Ticks;

/// Something about an algorithm that can be set with `--set name=value`.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is when not set.
    pub default: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// What a parameter takes.
#[derive(Debug)]
pub enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words, or the text of a file. A word that ends with a colon takes something
    /// behind it: `random:` stands for `random:0.3`.
    ChoiceOrFile(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number of at least this, or one of these words.
    Number {
        /// The least it can be.
        min: u32,
        /// Words it takes instead.
        or: &'static [&'static str],
    },
    /// A time in units, with decimals (`2.5`) or as `250ms` or `3s`, or one of these words.
    Time {
        /// Words it takes instead.
        or: &'static [&'static str],
    },
    /// Any text, or one of these words. What it may say, the algorithm knows.
    Text {
        /// What it is, in capitals.
        what: &'static str,
        /// Words it takes instead.
        or: &'static [&'static str],
    },
}

impl Parameter {
    /// What it takes, the default first, as the command line writes it.
    pub fn accepted(&self) -> String {
        let words = |words: &[&str], last: Option<&str>| {
            let rest = words.iter().copied().filter(|&word| word != self.default);
            let default = words.contains(&self.default).then_some(self.default);
            default.into_iter().chain(rest).chain(last).collect::<Vec<_>>().join("|")
        };
        match &self.kind {
            Kind::Choice(choices) => words(choices, None),
            Kind::ChoiceOrFile(choices) => words(choices, Some("FILE")),
            Kind::Flag => words(&["false", "true"], None),
            Kind::Number { or, .. } => words(or, Some("NUMBER")),
            Kind::Time { or } => words(or, Some("TIME")),
            Kind::Text { what, or } => words(or, Some(what)),
        }
    }

    /// Whether this value names a file rather than one of the words.
    pub fn wants_file(&self, value: &str) -> bool {
        let is = |word: &&str| *word == value || word.ends_with(':') && value.starts_with(*word);
        matches!(&self.kind, Kind::ChoiceOrFile(words) if !words.iter().any(is))
    }

    fn takes(&self, value: &str) -> bool {
        match &self.kind {
            Kind::Choice(words) => words.contains(&value),
            Kind::ChoiceOrFile(_) | Kind::Text { .. } => true,
            Kind::Flag => ["false", "true"].contains(&value),
            Kind::Number { min, or } => {
                or.contains(&value) || value.parse::<u32>().is_ok_and(|number| number >= *min)
            }
            Kind::Time { or } => or.contains(&value) || Ticks::parse(value).is_some(),
        }
    }
}

/// The parameters of one algorithm, all of them, as they were set or by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    values: Vec<(&'static str, String)>,
}

impl Params {
    pub(super) fn new(entry: &'static Entry, set: &[(&str, &str)]) -> Result<Self, Error> {
        let mut values: Vec<(&'static str, String)> = entry
            .parameters
            .iter()
            .map(|parameter| (parameter.name, parameter.default.to_string()))
            .collect();
        for &(name, value) in set {
            let parameter = entry.parameters.iter().find(|parameter| parameter.name == name);
            let parameter = parameter.ok_or_else(|| unknown(entry, name))?;
            if !parameter.takes(value) {
                return Err(Error::BadValue {
                    id: entry.id,
                    name: parameter.name,
                    value: value.to_string(),
                    accepted: parameter.accepted(),
                });
            }
            let place = values.iter_mut().find(|(known, _)| *known == name);
            place.expect("every parameter has a default").1 = value.to_string();
        }
        Ok(Self { values })
    }

    /// The value as it was typed; for a file, its text.
    pub fn text(&self, name: &str) -> &str {
        let value = self.values.iter().find(|(known, _)| *known == name);
        &value.unwrap_or_else(|| panic!("the catalogue lists no parameter '{name}'")).1
    }

    /// Whether it was set to this word.
    pub fn is(&self, name: &str, word: &str) -> bool {
        self.text(name) == word
    }

    /// Whether a flag is on.
    pub fn on(&self, name: &str) -> bool {
        self.is(name, "true")
    }

    /// A number, or `None` for one of the words it takes instead.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.text(name).parse().ok()
    }

    /// A time, or `None` for one of the words it takes instead.
    pub fn ticks(&self, name: &str) -> Option<Ticks> {
        Ticks::parse(self.text(name))
    }
}

fn unknown(entry: &'static Entry, name: &str) -> Error {
    let names: Vec<&str> = entry.parameters.iter().map(|parameter| parameter.name).collect();
    let accepted = match names.as_slice() {
        [] => "no parameters".to_string(),
        names => names.join(", "),
    };
    Error::UnknownParameter { id: entry.id, name: name.to_string(), accepted }
}
