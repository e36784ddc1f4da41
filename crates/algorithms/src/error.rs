//! What can be wrong with a setting. All of it is the caller's to mend: trying again cannot help.

use thiserror::Error;

/// A setting that no algorithm can be built from, said in one line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// No algorithm of that name.
    #[error("no algorithm is called '{id}'; {hint}")]
    UnknownAlgorithm {
        /// The name given.
        id: String,
        /// What there is instead.
        hint: String,
    },
    /// The algorithm is listed, but nothing builds it. A test fails before anybody sees this.
    #[error("'{id}' is in ENTRIES, but catalog::visit has no arm that builds it")]
    NotBuilt {
        /// Its id.
        id: &'static str,
    },
    /// The algorithm has no parameter of that name.
    #[error("--set {name}: {id} takes {accepted}")]
    UnknownParameter {
        /// The algorithm.
        id: &'static str,
        /// The name given.
        name: String,
        /// The parameters it has.
        accepted: String,
    },
    /// The parameter does not take that value.
    #[error("--set {name}={value}: {id} takes {name}={accepted}")]
    BadValue {
        /// The algorithm.
        id: &'static str,
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values it takes.
        accepted: String,
    },
    /// The values do not go together, or a file says something that cannot be used.
    #[error("--set {name}: {reason}")]
    Unusable {
        /// The parameter.
        name: &'static str,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// The algorithm cannot be run with so many nodes.
    #[error("--nodes {n}: {reason}")]
    BadSize {
        /// The number given.
        n: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// The ids do not name the nodes.
    #[error("--ids: {reason}")]
    BadIds {
        /// What is wrong with them.
        reason: String,
    },
}
