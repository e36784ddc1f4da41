//! Processes of both kinds: ours, and those of the script, which speaks the same protocol.

use crate::ports::free_addresses;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Longer than anything here takes, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// A process that runs until the test is over.
pub struct Peer {
    name: String,
    child: Child,
    lines: Receiver<String>,
    /// All that it has said so far.
    pub said: Vec<String>,
}

/// Starts our binary with these arguments behind `mc714`.
pub fn ours(arguments: &[&str]) -> Peer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conclave"));
    command.arg("mc714").args(arguments);
    Peer::start(&format!("ours: {}", arguments.join(" ")), command)
}

/// Starts the script in a role.
pub fn script(arguments: &[&str]) -> Peer {
    let mut command = Command::new("python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mc714/peer.py")).args(arguments);
    Peer::start(&format!("script: {}", arguments.join(" ")), command)
}

/// Whether the script can run; says so if not, since the test then shows nothing.
pub fn python_is_missing() -> bool {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    let missing = !found.is_ok_and(|status| status.success());
    if missing {
        eprintln!("skipped: python3 is not installed, and the other side is written in Python");
    }
    missing
}

/// So many addresses on which nobody listens, as ports and as URLs separated by commas.
pub fn addresses(count: usize) -> (Vec<String>, String) {
    let ports = free_addresses(count).into_iter().map(|address| address.port().to_string());
    let ports: Vec<String> = ports.collect();
    let urls: Vec<String> = ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
    (ports, urls.join(","))
}

impl Peer {
    fn start(name: &str, mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let stdout = BufReader::new(child.stdout.take().expect("it has one"));
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Self { name: name.to_string(), child, lines, said: Vec::new() }
    }

    /// Waits until it says something with these words in it, from now on or since the last line
    /// that was waited for, and returns that line.
    pub fn says(&mut self, words: &str) -> String {
        let until = Instant::now() + DEADLINE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("{} did not say '{words}', but:\n{}", self.name, self.said.join("\n"));
            };
            self.said.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Waits until it listens, and returns its URL.
    pub fn url(&mut self) -> String {
        let line = self.says("listens");
        let at = line.find("http://").expect("it says where");
        line[at..].split([';', ',', ' ']).next().expect("an address").to_string()
    }

    /// Types a line to it.
    pub fn told(&mut self, line: &str) -> &mut Self {
        let stdin = self.child.stdin.as_mut().expect("it has one");
        writeln!(stdin, "{line}").expect("it reads");
        self
    }

    /// Waits until it ends, and returns its exit code; all it said is in `said`.
    pub fn ends(&mut self) -> Option<i32> {
        let until = Instant::now() + DEADLINE;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.said.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("{} does not end", self.name),
            }
        }
        self.child.wait().expect("it ended").code()
    }

    /// All that it has said, also what nobody waited for.
    pub fn all_said(&mut self) -> &[String] {
        self.said.extend(self.lines.try_iter());
        &self.said
    }

    /// Ends it; all that it said until then.
    pub fn last_words(&mut self) -> &[String] {
        let _ = self.child.kill();
        self.said.extend(self.lines.iter());
        &self.said
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
