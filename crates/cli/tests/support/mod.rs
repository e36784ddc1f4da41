//! Runs the binary.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::process::Command;

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

/// Runs `conclave` with these arguments.
pub fn conclave(arguments: &[&str]) -> Done {
    let output = Command::new(env!("CARGO_BIN_EXE_conclave"))
        .args(arguments)
        .output()
        .expect("the binary runs");
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
