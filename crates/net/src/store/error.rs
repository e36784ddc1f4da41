//! Errors of a node's file, told so that its owner knows what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why the file of a node cannot be used. A node that gets one of these must stop: it cannot know
/// what it promised, or cannot keep what it is about to promise.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refuses: no permission, no space, no such place. It helps to change that.
    #[error("{path}: {source}")]
    System {
        /// Which file or directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is open elsewhere. It helps to stop the other one.
    #[error("another conclave node is using {directory}")]
    InUse {
        /// The directory.
        directory: PathBuf,
    },
    /// The bytes are not what they were. Only a copy of the file helps.
    #[error(
        "{path} is damaged, or no file of a conclave node ({what}); \
         a node cannot go on without what it had promised: bring the file back, or remove the node"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another version of the program wrote it. That version helps.
    #[error(
        "{path} has format {found}, and this version of the program reads format {known}: use the \
         version that wrote it, or begin with an empty directory on all nodes"
    )]
    Format {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The one that is known.
        known: u32,
    },
    /// It was found out to be an old copy. Only the latest one helps.
    #[error(
        "{path} is an old copy, as was found out in an earlier run: {reason}; \
         a node cannot go on without what it had promised: bring the latest one back"
    )]
    OldCopy {
        /// Which file.
        path: PathBuf,
        /// Who said what.
        reason: String,
    },
    /// It is that of another cluster, node or choice of algorithms. Another directory helps.
    #[error("{path} is that of {what} '{found}', not '{expected}'")]
    Other {
        /// Which file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// As the file has it.
        found: String,
        /// As it should be.
        expected: String,
    },
}

/// What went wrong, before it is known where.
#[derive(Debug)]
pub(super) enum Failed {
    System(io::Error),
    InUse,
    Damaged(String),
}

impl Failed {
    pub(super) fn at(self, path: &Path) -> StoreError {
        let path = path.to_path_buf();
        match self {
            Self::System(source) => StoreError::System { path, source },
            Self::InUse => StoreError::InUse {
                directory: path.parent().map(Path::to_path_buf).unwrap_or_default(),
            },
            Self::Damaged(what) => StoreError::Damaged { path, what },
        }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<redb::Error> for Failed {
    #[expect(clippy::wildcard_enum_match_arm, reason = "not our own enum, and open-ended")]
    fn from(error: redb::Error) -> Self {
        match error {
            // A file that ends too soon is found so by reading on.
            redb::Error::Io(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
                ) =>
            {
                Self::Damaged(error.to_string())
            }
            redb::Error::Io(error) => Self::System(error),
            redb::Error::DatabaseAlreadyOpen => Self::InUse,
            redb::Error::Corrupted(what) => Self::Damaged(what),
            other => Self::Damaged(other.to_string()),
        }
    }
}

/// All errors of the library underneath are one.
macro_rules! failures {
    ($($error:ident),*) => {
        $(impl From<redb::$error> for Failed {
            fn from(error: redb::$error) -> Self {
                redb::Error::from(error).into()
            }
        })*
    };
}

failures!(DatabaseError, TransactionError, TableError, StorageError, CommitError);
