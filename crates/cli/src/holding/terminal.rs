//! The terminal belongs to one process group at a time: to the command while it runs.

use rustix::process::{Pid, getpgrp};
use rustix::stdio::stdin;
use rustix::termios::{isatty, tcgetpgrp, tcsetpgrp};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The terminal of our standard input, while it is ours to give away.
pub struct Terminal {
    /// Our own group.
    ours: Pid,
}

impl Terminal {
    /// None if there is no terminal, or if we are in its background.
    pub fn of_ours() -> Option<Self> {
        let ours = getpgrp();
        let here = isatty(stdin()) && tcgetpgrp(stdin()) == Ok(ours);
        here.then_some(Self { ours })
    }

    /// What is typed goes to this group from now on.
    pub fn hand_to(&self, group: Pid) {
        let _ = tcsetpgrp(stdin(), group); // Without it, the command is in the background.
    }

    /// What is typed goes to us again. Only a process of the group that has the terminal may say
    /// so without being stopped, so one is put into the group of the command, which still exists
    /// while nobody has read how the command ended.
    pub fn take_back(&self, group: Pid) {
        let Ok(own) = std::env::current_exe() else { return };
        let ours = self.ours.as_raw_nonzero().to_string();
        let _ = Command::new(own)
            .args(["exec-child", "--give-back", &ours])
            .process_group(group.as_raw_nonzero().get())
            .stdout(Stdio::null())
            .status();
    }
}

/// Hands the terminal to this group: the work of the process that [`Terminal::take_back`] starts.
pub fn give_back(group: i32) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = tcsetpgrp(stdin(), group);
    }
}
