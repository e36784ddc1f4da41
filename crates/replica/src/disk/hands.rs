//! Who does the work of a disk: threads that may wait for it.
//!
//! All that waits for the disk goes through [`Hands`], so that a simulation can do it in a time of
//! its own, without threads, and lose what was not synced when a node crashes.

use super::writer::LogWriter;
use std::fmt::Debug;
use std::fs::File;
use std::future::Future;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::pin::Pin;
use std::thread;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

/// Something that waits for the disk.
pub type Job = Box<dyn FnOnce() + Send>;

/// Does the work of a disk.
pub trait Hands: Debug + Send + Sync + 'static {
    /// Has a job done; ready when it is.
    fn work(&self, job: Job) -> Pin<Box<dyn Future<Output = ()> + Send>>;

    /// Keeps writing a log until it is closed, see [`LogWriter`]. Does not wait for that.
    fn keep_writing(&self, log: LogWriter) -> io::Result<()>;

    /// Writes into a file of the log. It need not be there after a crash before it is synced.
    fn write(&self, file: &File, path: &Path, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Makes what was written last.
    fn sync(&self, file: &File, path: &Path) -> io::Result<()>;
}

/// Threads, and the files of the system.
#[derive(Debug)]
pub struct Threads;

impl Hands for Threads {
    fn work(&self, job: Job) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async {
            let _ = spawn_blocking(job).await; // Whoever waits hears nothing if it panicked.
        })
    }

    fn keep_writing(&self, mut log: LogWriter) -> io::Result<()> {
        let keep_writing = move || {
            while log.wait() {
                log.gather();
                log.commit();
            }
        };
        thread::Builder::new().name("log".into()).spawn(keep_writing).map(drop)
    }

    fn write(&self, file: &File, _: &Path, bytes: &[u8], at: u64) -> io::Result<()> {
        file.write_all_at(bytes, at)
    }

    fn sync(&self, file: &File, _: &Path) -> io::Result<()> {
        file.sync_data()
    }
}

/// Has something done that waits for the disk, and says what came of it.
pub(crate) async fn work<T: Send + 'static>(
    hands: &dyn Hands,
    job: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (done, outcome) = oneshot::channel();
    let job = move || drop(done.send(job()));
    hands.work(Box::new(job)).await;
    outcome.await.map_err(|_| io::Error::other("what was to be done on disk has panicked"))
}
