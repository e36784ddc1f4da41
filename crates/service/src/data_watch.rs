//! Watches the data directory of a running node: a file that was removed, or replaced by another,
//! takes what is written to it along when the node stops.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;

/// How often it is looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// Watches until it is dropped.
pub struct DataWatch {
    vanished: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl DataWatch {
    /// Begins to watch this file, which is there. Must be called within a tokio runtime.
    pub fn start(file: PathBuf) -> Self {
        let vanished = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(watch(file, Arc::clone(&vanished)));
        Self { vanished, task }
    }

    /// Set once the file is not where it was, for good: what was once gone is not trusted again.
    pub fn vanished(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.vanished)
    }
}

impl Drop for DataWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Looks until the file is gone, and says so.
async fn watch(file: PathBuf, vanished: Arc<AtomicBool>) {
    let Ok(first) = tokio::fs::metadata(&file).await else {
        return gone(&file, &vanished);
    };
    loop {
        tokio::time::sleep(PERIOD).await;
        match tokio::fs::metadata(&file).await {
            Ok(now) if identity(&now) == identity(&first) => {}
            // A disk that cannot be asked right now may be there all the same.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {}
            Ok(_) | Err(_) => return gone(&file, &vanished),
        }
    }
}

fn gone(file: &Path, vanished: &AtomicBool) {
    vanished.store(true, Ordering::Relaxed);
    tracing::error!(
        "{} vanished while this node runs: what it promises from now on is lost when it stops, and \
         it cannot start again under its number; it is not ready",
        file.display()
    );
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
