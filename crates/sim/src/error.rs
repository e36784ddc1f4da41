//! Errors in a plan. All of them are the caller's to mend.

use thiserror::Error;

/// A plan that cannot be run, said in one line that names the flag.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A value outside its range.
    #[error("{flag} {value}: {accepted}")]
    BadValue {
        /// The flag.
        flag: &'static str,
        /// What it was given.
        value: String,
        /// What it takes.
        accepted: String,
    },
    /// A file that cannot be read as what it should be.
    #[error("{flag} line {line}: {reason}")]
    BadLine {
        /// The flag that names the file.
        flag: &'static str,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that is no recording, or not a whole one.
    #[error("{0}")]
    BadRecording(String),
    /// A run that cannot be drawn.
    #[error("{0}")]
    Undrawable(String),
    /// A story that cannot have happened.
    #[error("the story does not fit: {0}")]
    BadStory(String),
    /// A scenario file that says something wrong.
    #[error("scenario: {0}")]
    BadScenario(String),
    /// One that says several things wrong, each in one line.
    #[error("scenario: {}", .0.join("; "))]
    BadScenarios(Vec<String>),
}

impl Error {
    /// Each thing that is wrong, in a line of its own.
    pub fn each(&self) -> Vec<String> {
        match self {
            Self::BadScenarios(all) => all.iter().map(|one| format!("scenario: {one}")).collect(),
            Self::BadValue { .. }
            | Self::BadLine { .. }
            | Self::BadRecording(_)
            | Self::Undrawable(_)
            | Self::BadStory(_)
            | Self::BadScenario(_) => vec![self.to_string()],
        }
    }

    /// A value that a flag does not take. Whatever was typed, the message stays one short line.
    pub(crate) fn value(flag: &'static str, value: impl ToString, accepted: impl ToString) -> Self {
        let value = excerpt(&value.to_string());
        Self::BadValue { flag, value, accepted: accepted.to_string() }
    }
}

/// The beginning of a text, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    const LENGTH_MAX: usize = 60;
    let mut short: String = one_line(text).chars().take(LENGTH_MAX).collect();
    if text.chars().nth(LENGTH_MAX).is_some() {
        short.push('…');
    }
    if short.trim().is_empty() { "''".to_string() } else { short }
}

/// A text without line ends and whatever else could upset a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let visible = |c: char| !c.is_control() && c.escape_debug().len() <= 2;
    text.chars().map(|c| if visible(c) { c } else { ' ' }).collect()
}
