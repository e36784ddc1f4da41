//! All that is wrong with a scenario file: each mistake once, in the order of their lines.

use crate::error::Error;

/// More mistakes than this help nobody.
const MISTAKES_MAX: usize = 20;

/// What is wrong with a scenario file, as far as that is known.
#[derive(Clone, Debug, Default)]
pub struct Mistakes(Vec<(Option<usize>, String)>);

impl Mistakes {
    /// Whether no more are told, so that looking for others is in vain.
    pub(super) fn are_many(&self) -> bool {
        self.0.len() >= MISTAKES_MAX
    }

    /// One more, with the line it is on.
    pub(super) fn note(&mut self, line: Option<usize>, mistake: impl Into<String>) {
        let mistake = (line, mistake.into());
        if !self.are_many() && !self.0.contains(&mistake) {
            self.0.push(mistake);
        }
    }

    /// This, if nothing is wrong.
    pub fn or<T>(mut self, otherwise: T) -> Result<T, Error> {
        self.0.sort_by_key(|(line, _)| *line);
        let told = |(line, mistake)| match line {
            Some(line) => format!("line {line}: {mistake}"),
            None => mistake,
        };
        let mut told: Vec<String> = self.0.into_iter().map(told).collect();
        match told.len() {
            0 => Ok(otherwise),
            1 => Err(Error::BadScenario(told.remove(0))),
            _ => Err(Error::BadScenarios(told)),
        }
    }
}
