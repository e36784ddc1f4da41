//! `conclave lock` with a command that becomes another user's, as with `sudo`.

use crate::fake::{Fake, usual};
use rustix::process::{Pid, Signal, getuid, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Runs what follows as a user who may become another one, but may not end another's processes.
const UNPRIVILEGED: [&str; 9] = [
    "--reuid",
    "65534",
    "--regid",
    "65534",
    "--clear-groups",
    "--inh-caps",
    "+setuid",
    "--ambient-caps",
    "+setuid",
];

fn first_line(source: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(source).read_line(&mut line).unwrap();
    line
}

#[test]
fn a_command_that_cannot_be_stopped_is_told_at_once() {
    let can = Command::new("setpriv").args(UNPRIVILEGED).arg("true").output();
    if !getuid().is_root() || !can.is_ok_and(|done| done.status.success()) {
        println!("skipped: only root can run commands as two other users");
        return;
    }
    let fake = Fake::start(usual);
    let mut wrapper = Command::new("setpriv")
        .args(UNPRIVILEGED)
        .args([env!("CARGO_BIN_EXE_conclave"), "lock", "build", "--server", &fake.address, "--"])
        .args(["setpriv", "--reuid", "65533", "sh", "-c", "echo $$; exec sleep 30"])
        .env_remove("LANG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let command = first_line(wrapper.stdout.take().unwrap()).trim().parse().unwrap();
    let warning = first_line(wrapper.stderr.take().unwrap());
    assert!(warning.contains("runs as another user and cannot be stopped"), "{warning}");
    assert!(warning.contains("sudo conclave"), "{warning}");
    kill_process(Pid::from_raw(command).unwrap(), Signal::TERM).unwrap();
    assert_eq!(wrapper.wait().unwrap().code(), Some(128 + 15));
}
