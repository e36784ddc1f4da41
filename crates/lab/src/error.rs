//! Errors: what was asked for cannot be done, and why, in one line. To ask the same again helps
//! with none of them.

use std::fmt;

/// Why something cannot be run, checked, compared or replayed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was typed, or stands in a file, makes no sense.
    #[error(transparent)]
    Usage(#[from] Usage),
    /// The catalogue knows no such algorithm, or not with these parameters.
    #[error(transparent)]
    Algorithm(#[from] conclave_algorithms::Error),
    /// The simulator cannot run such a plan.
    #[error(transparent)]
    Simulation(#[from] conclave_sim::Error),
    /// The checker stateright says that a property does not hold which ours says holds.
    #[error("stateright says that it does not hold: {0}")]
    Contradicted(&'static str),
    /// One of the others, with the place where it was found.
    #[error("{place}: {source}")]
    In {
        /// A file or a scenario.
        place: String,
        /// What is wrong there.
        source: Box<Error>,
    },
}

impl Error {
    /// Whether what was asked for is wrong, rather than what was found.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) | Self::Algorithm(_) | Self::Simulation(_) => true,
            Self::Contradicted(_) => false,
            Self::In { source, .. } => source.is_usage(),
        }
    }

    /// Each thing that is wrong, in a line of its own.
    pub fn each(&self) -> Vec<String> {
        match self {
            Self::Simulation(error) => error.each(),
            Self::In { place, source } => {
                source.each().iter().map(|one| format!("{place}: {one}")).collect()
            }
            Self::Usage(_) | Self::Algorithm(_) | Self::Contradicted(_) => vec![self.to_string()],
        }
    }

    /// The same error, with the place where it was found.
    pub fn within(self, place: impl Into<String>) -> Self {
        Self::In { place: place.into(), source: Box::new(self) }
    }
}

/// A mistake in what was typed, said in one line: `--flag value: what it takes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage(pub String);

impl Usage {
    /// A flag was given a value that it does not take.
    pub fn flag(flag: &str, value: impl fmt::Display, accepted: impl fmt::Display) -> Self {
        Self(format!("{flag} {value}: {accepted}"))
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}
