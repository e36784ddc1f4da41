//! The command that is run: a process group of its own that does not outlive the wrapper.

use super::reaper::Reaper;
use super::terminal::Terminal;
use crate::failure::{self, Exit};
use crate::lang::Lang;
use anyhow::Context;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, kill_process_group,
    set_parent_process_death_signal, test_kill_process_group, waitid,
};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{self, Command};

/// As a shell has it: found, but it cannot be run; and not found.
const CANNOT: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The command, running or about to.
pub struct Child {
    process: process::Child,
    group: Pid,
    reaper: Reaper,
    terminal: Option<Terminal>,
}

/// Makes everything ready for the command, which waits for [`Child::go`]. The thread that calls
/// this must live as long as the program: the child's life hangs on it.
pub fn start(command: &[OsString], environment: &[(String, String)]) -> anyhow::Result<Child> {
    let own = std::env::current_exe().context("cannot find this program itself")?;
    let terminal = Terminal::of_ours();
    let mut wrapped = Command::new(own);
    wrapped.arg("exec-child").arg("--parent").arg(getpid().as_raw_nonzero().to_string());
    // What cannot be run is said by the child.
    wrapped.args(Lang::spoken().flag().split_whitespace());
    wrapped.arg("--").args(command).process_group(0);
    wrapped.envs(environment.iter().map(|(name, value)| (name, value)));
    conclave_memory::take_pages_as_before();
    let process = wrapped.spawn();
    conclave_memory::take_small_pages();
    let process = process.context("cannot start a process")?;
    let group = Pid::from_child(&process);
    // Should this fail, the child dies with this process, and has started nothing yet.
    let reaper = Reaper::of(group)?;
    wait_for_stop(group);
    if let Some(terminal) = &terminal {
        terminal.hand_to(group);
    }
    Ok(Child { process, group, reaper, terminal })
}

impl Child {
    /// Its number, for a thread that waits for it.
    pub fn pid(&self) -> Pid {
        self.group
    }

    /// Lets the command begin.
    pub fn go(&self) {
        self.signal(Signal::CONT);
    }

    /// Sends a signal to all that it started.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal); // It may be gone already.
    }

    /// Whether it became another user's, as with `sudo`: no signal of ours reaches it any more.
    pub fn is_out_of_reach(&self) -> bool {
        is_out_of_reach(self.group)
    }

    /// Ends all that it started, and waits for its end. Whether something of it goes on, because it
    /// became another user's.
    pub fn kill(self) -> anyhow::Result<bool> {
        self.signal(Signal::KILL);
        let group = self.group;
        self.end()?;
        Ok(is_out_of_reach(group))
    }

    /// Its exit code, once it has ended; the terminal is ours again.
    pub fn end(mut self) -> anyhow::Result<u8> {
        if let Some(terminal) = &self.terminal {
            terminal.take_back(self.group);
        }
        self.reaper.dismiss();
        let status = self.process.wait().context("cannot learn how the command ended")?;
        let signal = status.signal().map(|signal| 128 + signal);
        let code = status.code().or(signal).unwrap_or(i32::from(u8::MAX));
        Ok(u8::try_from(code).unwrap_or(u8::MAX))
    }
}

/// Whether there are processes in a group, and no signal of ours reaches any of them.
fn is_out_of_reach(group: Pid) -> bool {
    test_kill_process_group(group) == Err(rustix::io::Errno::PERM)
}

/// Waits until the child has stopped itself, or ended because it could not do so.
pub fn wait_for_stop(pid: Pid) {
    let either = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(pid), either) {
            Ok(Some(status)) if status.stopped() => {
                // Seen once, it is not seen again by whoever waits for the command.
                let _ = waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED);
                return;
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Waits until the process has ended, and leaves its status to be read. Who holds a lock cannot be
/// suspended from the keyboard: it would lose it. So it goes on at once.
pub fn wait(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(pid), options) {
            Ok(Some(status)) if status.stopping_signal() == Some(Signal::TSTP.as_raw()) => {
                let _ = kill_process_group(pid, Signal::CONT);
            }
            // Somebody stopped it on purpose; the deadline of the lock goes on.
            Ok(Some(status)) if status.stopped() => {
                if waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).is_err() {
                    return;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// The other side: this very process becomes the command, and dies with its parent. It stops first,
/// until the parent has made everything ready: nothing of the command may run unguarded, or while
/// the terminal is not its own.
pub fn exec(parent: i32, command: &[OsString]) -> Exit {
    let [program, arguments @ ..] = command else { return Exit::Code(NOT_FOUND) };
    let bound = set_parent_process_death_signal(Some(Signal::KILL));
    if bound.is_err() || getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(parent) {
        return Exit::Failed; // The parent died before this could be said.
    }
    if kill_process(getpid(), Signal::STOP).is_err() {
        return Exit::Failed;
    }
    conclave_memory::take_pages_as_before();
    let error = Command::new(program).args(arguments).exec();
    let name = program.to_string_lossy();
    let (code, reason) = reason(&error);
    failure::say(&format!("{name}: {reason}"));
    Exit::Code(code)
}

fn reason(error: &io::Error) -> (u8, String) {
    if error.kind() == ErrorKind::NotFound {
        return (NOT_FOUND, "no such command".to_string());
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    (CANNOT, format!("cannot be run: {text}"))
}
