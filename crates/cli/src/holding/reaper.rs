//! Reaps the command's process group: kills it when the wrapper is gone, however it went.
//!
//! The system ends the command itself with its parent, but not what the command started. So another
//! process watches: it stands outside the group, and reads from a pipe that only the wrapper can
//! write to. Nothing is ever written, and the end of the pipe is the end of the wrapper.

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The process that kills a group when the wrapper is gone, seen from the wrapper.
pub struct Reaper(Child);

impl Reaper {
    /// Starts it. From now on, that this process ends is the end of the group.
    pub fn of(group: Pid) -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("cannot find this program itself")?;
        let reaper = Command::new(own)
            .args(["exec-child", "--guard", &group.as_raw_nonzero().to_string()])
            .stdin(Stdio::piped()) // Closed in whatever else is started from here.
            .stdout(Stdio::null()) // Whoever reads what the command prints need not wait for it.
            .stderr(Stdio::null())
            .process_group(0) // What is typed, and what ends the others, does not reach it.
            .spawn()
            .context("cannot start a process")?;
        Ok(Self(reaper))
    }

    /// Ends it, and leaves the group alone. Call this while the group still has its number: nobody
    /// has read how its first process ended.
    pub fn dismiss(mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The other side: waits for the end of the pipe, then ends the group.
pub fn guard(group: i32) {
    let mut byte = [0];
    loop {
        match io::stdin().read(&mut byte) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    if let Some(group) = Pid::from_raw(group) {
        let _ = kill_process_group(group, Signal::KILL); // It may be gone already.
    }
}
