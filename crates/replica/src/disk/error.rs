//! Errors of a data directory, told so that its owner knows what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

/// What helps against damage.
const REMEDY: &str = "a node cannot go on without what it had promised: bring the file back, or \
                      remove the node from the cluster and add it again with an empty directory";

/// Why a data directory cannot be used, or no longer. A node that gets one of these must stop: it
/// cannot know what it promised, or cannot keep what it is about to promise.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
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
    /// The bytes are not what they were. Only a copy of the file helps, or a new node.
    #[error("{path} is damaged at byte {offset} ({what}); {REMEDY}")]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A file is gone. Only a copy of it helps, or a new node.
    #[error("{path} is missing ({what}); {REMEDY}")]
    Missing {
        /// Which file.
        path: PathBuf,
        /// How that is known.
        what: String,
    },
    /// A later version of the program wrote it. That version helps.
    #[error(
        "{path} has format {found}, and this version of the program reads format {known}: use the \
         version that wrote it"
    )]
    Format {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The one that is known.
        known: u32,
    },
    /// It was written by rules that this build does not know. A later version helps.
    #[error(
        "{what}, which this version of the program does not know: use the version that wrote it"
    )]
    Unknown {
        /// What and where.
        what: String,
    },
    /// It is that of another cluster, node or engine. Another directory helps.
    #[error("{path} is that of {what} '{found}', not '{expected}': choose another directory")]
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
    /// The node was removed from its cluster. An empty directory helps, and to be added again.
    #[error(
        "{directory} is that of a node that was removed from its cluster: choose an empty \
         directory, and add the node again"
    )]
    Removed {
        /// The directory.
        directory: PathBuf,
    },
    /// There are files that no node put there. An empty directory helps.
    #[error(
        "{directory} has files, but not those of a conclave node ({what}): \
         choose an empty directory"
    )]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// The first of them.
        what: String,
    },
    /// It was found out that it is an older copy. The latest one helps, or a new node.
    #[error("{directory} is an old copy, as was found out in an earlier run: {line}")]
    OldCopy {
        /// The directory.
        directory: PathBuf,
        /// What another node said of it.
        line: String,
    },
    /// The consensus engine and the table disagree about what was applied. Nothing helps but a copy
    /// of the directory, or a new node.
    #[error("entry {index} was to be applied a second time; {REMEDY}")]
    Twice {
        /// Which entry.
        index: u64,
    },
    /// The directory was closed.
    #[error("the data directory was closed")]
    Closed,
}

impl DiskError {
    /// The system refuses.
    pub fn system(path: &Path, source: io::Error) -> Self {
        Self::System { path: path.to_path_buf(), source }
    }

    /// The bytes are not what they were.
    pub fn damaged(path: &Path, offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), offset, what: what.into() }
    }

    /// A file is gone.
    pub fn missing(path: &Path, what: impl Into<String>) -> Self {
        Self::Missing { path: path.to_path_buf(), what: what.into() }
    }
}

impl From<DiskError> for io::Error {
    fn from(error: DiskError) -> Self {
        let kind = match &error {
            DiskError::System { source, .. } => source.kind(),
            DiskError::Damaged { .. } | DiskError::Format { .. } | DiskError::Unknown { .. } => {
                io::ErrorKind::InvalidData
            }
            DiskError::InUse { .. }
            | DiskError::Missing { .. }
            | DiskError::Other { .. }
            | DiskError::Foreign { .. }
            | DiskError::OldCopy { .. }
            | DiskError::Removed { .. }
            | DiskError::Twice { .. }
            | DiskError::Closed => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// The first thing that went wrong for good, for all to see.
#[derive(Clone, Debug)]
pub struct Failure(Arc<watch::Sender<Option<Arc<str>>>>);

impl Default for Failure {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }
}

impl Failure {
    /// Remembers an error, unless there was one before, and gives it back as what the consensus
    /// engine understands.
    pub fn record(&self, error: DiskError) -> io::Error {
        let line: Arc<str> = error.to_string().into();
        self.0.send_if_modified(|first| {
            let new = first.is_none();
            if new {
                *first = Some(line);
            }
            new
        });
        error.into()
    }

    /// The line that says why nothing is written any more.
    pub fn line(&self) -> Option<Arc<str>> {
        self.0.borrow().clone()
    }

    /// The same, to be waited for.
    pub fn watch(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.0.subscribe()
    }

    /// Refuses if something went wrong before.
    pub fn check(&self) -> io::Result<()> {
        self.line().map_or(Ok(()), |line| Err(io::Error::other(line.to_string())))
    }
}
