//! Runs the binary.
#![allow(dead_code, reason = "each test file uses its own part")]

use rustix::process::Signal;
use std::io::Write;
use std::process::{Command, Stdio};

/// What a command left behind.
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Done {
    /// What it printed, as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}

/// The binary, which hears all signals. A shell has what runs in its background ignore some, and
/// that would be passed on from these tests.
pub fn binary() -> Command {
    let own = env!("CARGO_BIN_EXE_conclave");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a number");
    let asking = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];
    if asking.iter().all(|signal| mask >> (signal.as_raw() - 1) & 1 == 0) {
        return Command::new(own);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,QUIT,TERM", own]);
    command
}

/// Runs `conclave` with these arguments.
pub fn conclave(arguments: &[&str]) -> Done {
    conclave_reading(arguments, "")
}

/// Runs it in an environment with these variables.
pub fn conclave_in(arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    run(arguments, "", variables)
}

/// Runs it, with this to read from.
pub fn conclave_reading(arguments: &[&str], input: &str) -> Done {
    run(arguments, input, &[])
}

fn run(arguments: &[&str], input: &str, variables: &[(&str, &str)]) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_conclave"))
        .args(arguments)
        .env_remove("LC_ALL") // English, whoever runs the tests.
        .env_remove("LC_MESSAGES")
        .env_remove("LANG")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has one");
    let _ = stdin.write_all(input.as_bytes()); // It may end without reading.
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    Done {
        code: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs it and reads the JSON it prints.
pub fn json(arguments: &[&str]) -> serde_json::Value {
    conclave(arguments).json()
}
