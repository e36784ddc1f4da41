//! One node of a local cluster, as a child of this process.

use super::roster::{Ended, NodeSeen, Process};
use super::setup::Setup;
use crate::node::{HEAL, ISOLATE};
use anyhow::Context;
use conclave_client::Client;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Why a node ended is within the last so many bytes of its log.
const TAIL_BYTES: u64 = 16 << 10;

/// A node that was started.
#[derive(Debug)]
pub struct Member {
    /// Its number.
    pub id: u32,
    /// For its API.
    pub client: Client,
    child: Child,
    /// The file that it logs to.
    pub log: PathBuf,
    /// How long the log was before: earlier runs wrote to it too.
    log_before: u64,
    /// How it ended, if it did.
    status: Option<ExitStatus>,
    /// Where its API is.
    api: String,
    /// Whether it was stopped (SIGSTOP).
    paused: bool,
    /// Whether it was cut off from the others.
    isolated: bool,
}

impl Member {
    /// Starts a node. Call this from the main thread: the node's life hangs on the thread.
    pub fn start(setup: &Setup, id: u32, api: &str) -> anyhow::Result<Self> {
        let log = setup.log(id);
        let written = OpenOptions::new().create(true).append(true).open(&log);
        let written = written.with_context(|| log.display().to_string())?;
        let log_before = written.metadata()?.len();
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
        let client = Client::new([api])?;
        let api = api.to_string();
        let status = None;
        let (paused, isolated) = (false, false);
        Ok(Self { id, client, child, log, log_before, status, api, paused, isolated })
    }

    /// As the roster has it.
    pub fn seen(&self) -> NodeSeen {
        NodeSeen { process: self.process(), ..NodeSeen::new(self.id, &self.api, self.pid()) }
    }

    /// What is known of its process.
    pub fn process(&self) -> Process {
        let ended = self.status.map(|status| match status.signal() {
            Some(_) => Ended::Killed,
            None => Ended::Stopped,
        });
        Process { pid: self.pid(), ended, paused: self.paused, isolated: self.isolated }
    }

    /// Stops it, or lets it go on.
    pub fn pause(&mut self, paused: bool) {
        self.signal(if paused { Signal::STOP } else { Signal::CONT });
        self.paused = paused;
    }

    /// Cuts it off from the other nodes, or undoes that. It is told over its standard input, which
    /// nobody else can write to; one that is paused hears it later.
    pub fn isolate(&mut self, isolated: bool) -> io::Result<()> {
        let words = if isolated { ISOLATE } else { HEAL };
        let input = self.child.stdin.as_mut();
        input.ok_or(io::ErrorKind::BrokenPipe)?.write_all(format!("{words}\n").as_bytes())?;
        self.isolated = isolated;
        Ok(())
    }

    /// Starts it again, on the same disk. Call this from the main thread.
    pub fn restart(&mut self, setup: &Setup) -> anyhow::Result<()> {
        *self = Self::start(setup, self.id, &self.api)?;
        Ok(())
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

    /// Waits until it has ended, which it has been made to.
    pub fn wait(&mut self) {
        self.status = self.status.or_else(|| self.child.wait().ok());
    }

    /// Asks it to stop, or makes it.
    pub fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Why it ended, in its own words, if it said so.
    pub fn reason(&self) -> Option<String> {
        let mut bytes = Vec::new();
        let mut file = File::open(&self.log).ok()?;
        let tail = file.metadata().ok()?.len().saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(tail.max(self.log_before))).ok()?;
        file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        text.lines().rev().find_map(error_of)
    }
}

/// The error that a line of a log tells, as text or as JSON.
fn error_of(line: &str) -> Option<String> {
    if let Some(words) = line.strip_prefix("error: ") {
        return Some(words.to_string());
    }
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    let words = line["message"].as_str().filter(|_| line["level"] == "error");
    words.map(ToString::to_string)
}

/// How a process ended, in words.
pub fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_string(),
    }
}
