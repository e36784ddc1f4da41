//! Watches the data directory of a running node: a file that was removed, or replaced by another,
//! takes what is written to it along when the node stops. And how much room is left beside it.

use rustix::fs::statvfs;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::{JoinHandle, spawn_blocking};

/// How often it is looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// Watches until it is dropped.
pub struct DataWatch {
    state: Arc<DataState>,
    task: JoinHandle<()>,
}

/// What is known of a data directory.
#[derive(Debug, Default)]
pub struct DataState {
    vanished: AtomicBool,
    free_bytes: AtomicU64,
    size_bytes: AtomicU64,
}

impl DataState {
    /// Whether the file is not where it was. That is for good: what was once gone is not trusted
    /// again.
    pub fn has_vanished(&self) -> bool {
        self.vanished.load(Ordering::Relaxed)
    }

    /// How much can still be written on its file system, and how large that is, in bytes.
    pub fn room(&self) -> (u64, u64) {
        (self.free_bytes.load(Ordering::Relaxed), self.size_bytes.load(Ordering::Relaxed))
    }

    /// It is gone.
    pub fn vanish(&self) {
        self.vanished.store(true, Ordering::Relaxed);
    }

    /// Asks the system how much room there is. Waits for the disk.
    fn measure(&self, file: &Path) {
        // One that cannot be asked right now is as it was.
        if let Ok(room) = statvfs(file) {
            self.free_bytes.store(room.f_bavail * room.f_frsize, Ordering::Relaxed);
            self.size_bytes.store(room.f_blocks * room.f_frsize, Ordering::Relaxed);
        }
    }
}

impl DataWatch {
    /// Begins to watch this file, which is there. Must be called within a tokio runtime.
    pub fn start(file: PathBuf) -> Self {
        let state = Arc::new(DataState::default());
        let task = tokio::spawn(watch(file, Arc::clone(&state)));
        Self { state, task }
    }

    /// What is known of it, now and later.
    pub fn state(&self) -> Arc<DataState> {
        Arc::clone(&self.state)
    }
}

impl Drop for DataWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Looks until the file is gone, and says so.
async fn watch(file: PathBuf, state: Arc<DataState>) {
    let Ok(first) = tokio::fs::metadata(&file).await else {
        return gone(&file, &state);
    };
    loop {
        let (measured, path) = (Arc::clone(&state), file.clone());
        let _ = spawn_blocking(move || measured.measure(&path)).await; // It is tried again.
        tokio::time::sleep(PERIOD).await;
        match tokio::fs::metadata(&file).await {
            Ok(now) if identity(&now) == identity(&first) => {}
            // A disk that cannot be asked right now may be there all the same.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {}
            Ok(_) | Err(_) => return gone(&file, &state),
        }
    }
}

fn gone(file: &Path, state: &DataState) {
    state.vanish();
    tracing::error!(
        "{} vanished while this node runs: what it promises from now on is lost when it stops, and \
         it cannot start again under its number; it is not ready. If the directory was moved away, \
         put it back just as it was, and restart the node",
        file.display()
    );
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
