//! A server of a peer, as a child process that does not outlive this one.

use crate::holding;
use anyhow::Context;
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server that was started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts it. Call this from the main thread: its life hangs on the thread.
    pub fn start(command: &[OsString], log: &Path) -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("cannot find this program itself")?;
        let written = File::create(log).with_context(|| log.display().to_string())?;
        let child = Command::new(own)
            .arg("exec-child")
            .arg("--parent")
            .arg(getpid().as_raw_nonzero().to_string())
            .arg("--")
            .args(command)
            .stdin(Stdio::null())
            .stdout(written.try_clone()?)
            .stderr(written)
            .process_group(0) // What is typed here is for us alone.
            .spawn()
            .context("cannot start a process")?;
        let pid = Pid::from_child(&child);
        holding::wait_for_stop(pid);
        let _ = kill_process(pid, Signal::CONT); // It may have ended already.
        Ok(Self { child, log: log.to_path_buf() })
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The last that it said, if it has ended.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        Some(format!("{status}: {last}"))
    }

    /// Ends it, and waits until the system has taken back all that it had.
    pub fn kill(&mut self) {
        let _ = self.child.kill(); // It may have ended already.
        let _ = self.child.wait();
    }
}
