//! A command of the binary while it runs, and the lines that it prints.

use crate::support::binary;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A command that is still running, and what it prints.
pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = binary();
        command.args(arguments);
        Self::spawn(command)
    }

    /// The same where these signals are ignored from the beginning, as `nohup` has it.
    pub fn start_ignoring(signals: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new("sh");
        let script = format!("trap '' {signals}; exec \"$0\" \"$@\"");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_conclave")]).args(arguments);
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_string()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill(); // A test that failed leaves nothing behind.
        let _ = self.child.wait();
    }
}
