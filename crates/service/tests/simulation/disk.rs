//! The simulated disk: files of the system, written by a task in simulated time.
//!
//! A crash takes back what was written and not synced. It may strike in the middle of a sync: then
//! any part of what was written is left. A disk may stand still for a while, and may be full.

use crate::chance::Chance;
use conclave_replica::disk::{Hands, Job, LogWriter};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::future::{Future, pending};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// The disk of one node, from one start to the next crash.
#[derive(Clone)]
pub struct SimDisk(Arc<Mutex<State>>);

struct State {
    chance: Chance,
    /// How long a sync takes, in milliseconds.
    sync: (u64, u64),
    unsynced: Vec<Write>,
    stalled_until: Option<Instant>,
    full: bool,
    dying: bool,
    dead: bool,
}

struct Write {
    path: PathBuf,
    at: u64,
    before: Vec<u8>,
    length: usize,
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a simulated disk")
    }
}

impl SimDisk {
    pub fn new(chance: Chance, sync: (u64, u64)) -> Self {
        Self(Arc::new(Mutex::new(State {
            chance,
            sync,
            unsynced: Vec::new(),
            stalled_until: None,
            full: false,
            dying: false,
            dead: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is written for so long. To be called within the node's runtime.
    pub fn stall(&self, until: Instant) {
        self.lock().stalled_until = Some(until);
    }

    /// Nothing more fits on it.
    pub fn fill(&self) {
        self.lock().full = true;
    }

    /// The node crashes in the middle of the next sync.
    pub fn die_at_next_sync(&self) {
        self.lock().dying = true;
    }

    /// Whether it has crashed.
    pub fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// The node has crashed: what was not synced is gone.
    pub fn crash(&self) {
        let mut state = self.lock();
        state.dead = true;
        state.take_back(false);
    }

    async fn wait(&self) {
        let (long, stalled) = {
            let mut state = self.lock();
            let (min, max) = state.sync;
            (state.chance.between(min, max), state.stalled_until)
        };
        sleep(Duration::from_millis(long)).await;
        if let Some(until) = stalled {
            sleep_until(until).await;
        }
        if self.is_dead() {
            pending::<()>().await;
        }
    }
}

impl State {
    /// What was not synced is as it was before, or, of the last write, from some byte on.
    fn take_back(&mut self, torn: bool) {
        let unsynced = std::mem::take(&mut self.unsynced);
        let last = unsynced.len().saturating_sub(1);
        for (number, write) in unsynced.into_iter().enumerate().rev() {
            let kept = match torn && number == last {
                true => self.chance.between(0, write.length as u64) as usize,
                false => 0,
            };
            let file = OpenOptions::new().write(true).open(&write.path).expect("it was written to");
            let rest = write.before.get(kept..).unwrap_or_default();
            file.write_all_at(rest, write.at + kept as u64).expect("it was written to");
        }
    }
}

impl Hands for SimDisk {
    fn work(&self, job: Job) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let disk = self.clone();
        Box::pin(async move {
            disk.wait().await;
            job();
        })
    }

    fn keep_writing(&self, mut log: LogWriter) -> io::Result<()> {
        let disk = self.clone();
        tokio::spawn(async move {
            while log.ready().await {
                log.gather();
                disk.wait().await;
                log.commit();
            }
        });
        Ok(())
    }

    fn write(&self, file: &File, path: &Path, bytes: &[u8], at: u64) -> io::Result<()> {
        let mut state = self.lock();
        if state.dead {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if state.full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let mut before = vec![0; bytes.len()];
        file.read_exact_at(&mut before, at)?;
        file.write_all_at(bytes, at)?;
        let length = bytes.len();
        state.unsynced.push(Write { path: path.to_path_buf(), at, before, length });
        Ok(())
    }

    fn sync(&self, _: &File, path: &Path) -> io::Result<()> {
        let mut state = self.lock();
        if state.dying {
            state.dead = true;
            state.take_back(true);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.unsynced.retain(|write| write.path != path);
        Ok(())
    }
}
