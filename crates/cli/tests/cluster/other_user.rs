//! `conclave lock` with a command that becomes another user's, as with `sudo`.

use crate::fake::{Answer, Fake, usual};
use crate::lock::{KEEPALIVE, but};
use rustix::process::{Pid, Signal, getuid, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

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

fn is_possible() -> bool {
    let can = Command::new("setpriv").args(UNPRIVILEGED).arg("true").output();
    let possible = getuid().is_root() && can.is_ok_and(|done| done.status.success());
    if !possible {
        println!("skipped: only root can run commands as two other users");
    }
    possible
}

/// `conclave lock` as an ordinary user.
fn start(fake: &Fake, command: &[&str]) -> Child {
    Command::new("setpriv")
        .args(UNPRIVILEGED)
        .args([
            env!("CARGO_BIN_EXE_conclave"),
            "lock",
            "build",
            "--ttl",
            "1s",
            "--server",
            &fake.address,
            "--",
        ])
        .args(command)
        .env_remove("LANG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn what_goes_on_after_a_lost_lock_deeper_in_a_script_is_told() {
    if !is_possible() {
        return;
    }
    let fake = but(KEEPALIVE, || Answer::Silent);
    let script = "setpriv --reuid 65533 sh -c 'echo $$; exec sleep 30'; true";
    let mut wrapper = start(&fake, &["sh", "-c", script]);
    let deeper: i32 = first_line(wrapper.stdout.take().unwrap()).trim().parse().unwrap();
    let done = wrapper.wait_with_output().unwrap();
    kill_process(Pid::from_raw(deeper).unwrap(), Signal::KILL).unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("what the command started goes on: it is another user's"), "{said}");
    assert_eq!(done.status.code(), Some(76));
}

#[test]
fn a_command_that_cannot_be_stopped_is_told_at_once() {
    if !is_possible() {
        return;
    }
    let fake = Fake::start(usual);
    let command = ["setpriv", "--reuid", "65533", "sh", "-c", "echo $$; exec sleep 30"];
    let mut wrapper = start(&fake, &command);
    let command = first_line(wrapper.stdout.take().unwrap()).trim().parse().unwrap();
    let warning = first_line(wrapper.stderr.take().unwrap());
    assert!(warning.contains("runs as another user and cannot be stopped"), "{warning}");
    assert!(warning.contains("sudo conclave"), "{warning}");
    kill_process(Pid::from_raw(command).unwrap(), Signal::TERM).unwrap();
    assert_eq!(wrapper.wait().unwrap().code(), Some(128 + 15));
}
