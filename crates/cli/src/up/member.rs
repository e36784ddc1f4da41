//! One node of a local cluster, as a child of this process.

use super::setup::Setup;
use anyhow::Context;
use conclave_client::Client;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The last words of a node that died are within so many bytes.
const TAIL_BYTES: u64 = 4_096;
const TAIL_LINES: usize = 12;

/// A node that was started.
#[derive(Debug)]
pub struct Member {
    /// Its number.
    pub id: u32,
    /// For its API.
    pub client: Client,
    child: Child,
    log: PathBuf,
    /// How it ended, if it did.
    status: Option<ExitStatus>,
}

impl Member {
    /// Starts a node. Call this from the main thread: the node's life hangs on the thread.
    pub fn start(setup: &Setup, id: u32, api: &str) -> anyhow::Result<Self> {
        let log = setup.log(id);
        let written = OpenOptions::new().create(true).append(true).open(&log);
        let written = written.with_context(|| log.display().to_string())?;
        let own = std::env::current_exe().context("cannot find this program itself")?;
        let child = Command::new(own)
            .args(["node", "--die-with-parent", "--config"])
            .arg(setup.file(id))
            .stdin(Stdio::piped()) // Kept open: that it ends tells the node that we are gone.
            .stdout(written.try_clone()?)
            .stderr(written)
            .process_group(0) // What is typed here is for us alone.
            .spawn()
            .context("cannot start a node")?;
        Ok(Self { id, client: Client::new([api])?, child, log, status: None })
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status
    }

    /// Asks it to stop, or makes it.
    pub fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// The last lines that it logged.
    pub fn last_words(&self) -> Vec<String> {
        let mut bytes = Vec::new();
        let read = File::open(&self.log).and_then(|mut file| {
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
            file.take(TAIL_BYTES).read_to_end(&mut bytes)
        });
        if read.is_err() {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<String> = text.lines().map(ToString::to_string).collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].to_vec()
    }
}

/// How a process ended, in words.
pub fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_string(),
    }
}
