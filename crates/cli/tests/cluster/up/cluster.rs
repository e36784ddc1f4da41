//! A local cluster as a person has it: `conclave up` in one terminal, commands in another.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, DirBuilder, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Whatever a test waits for happens sooner than this, however busy the machine is.
pub const DEADLINE: Duration = Duration::from_secs(180);

/// A machine of a test's own: nobody else's clusters and temporary files are seen from there.
pub struct Place {
    folder: PathBuf,
}

impl Place {
    pub fn new(name: &str) -> Self {
        // The system's own place: an address of a socket must be short.
        let unique = format!("conclave-test-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(unique);
        let _ = fs::remove_dir_all(&folder);
        for part in ["run", "tmp"] {
            DirBuilder::new().recursive(true).mode(0o700).create(folder.join(part)).unwrap();
        }
        Self { folder }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_string()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::support::binary();
        command.args(arguments).stdin(Stdio::null());
        self.furnish(&mut command);
        command
    }

    /// What a person types.
    pub fn shell(&self, typed: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", typed]).stdin(Stdio::null());
        self.furnish(&mut command);
        command
    }

    fn furnish(&self, command: &mut Command) {
        command.env("XDG_RUNTIME_DIR", self.folder.join("run"));
        command.env("TMPDIR", self.folder.join("tmp"));
        command.env_remove("CONCLAVE_SERVER");
        for variable in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            command.env_remove(variable); // English, whoever runs the tests.
        }
    }

    pub fn conclave(&self, arguments: &[&str]) -> Done {
        self.command(arguments).output().unwrap().into()
    }

    /// The fence of an entry to this lock.
    pub fn fence(&self, arguments: &[&str]) -> u64 {
        let command = ["--", "sh", "-c", "echo $CONCLAVE_FENCE"];
        let lock = [&["lock"], arguments, &["--wait", "120s"], &command].concat();
        let done = self.conclave(&lock);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.stdout.trim().parse().unwrap()
    }

    pub fn status(&self) -> Value {
        let done = self.conclave(&["status", "--json"]);
        serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{}", done.stderr))
    }

    /// Asks for the state again and again until it is as it should be.
    pub fn status_until(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + DEADLINE;
        loop {
            let status = self.status();
            if is_so(&status) {
                return status;
            }
            assert!(Instant::now() < end, "never {what}: {status:#}");
        }
    }

    /// What is in the place for temporary files.
    pub fn temporary(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.folder.join("tmp")).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    }

    /// The clusters that say that they are there.
    pub fn announced(&self) -> usize {
        fs::read_dir(self.folder.join("run/conclave")).map_or(0, Iterator::count)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder); // A test that failed may still have nodes there.
    }
}

/// What a command left behind.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A command that is still running, and what it prints.
pub struct Running {
    pub child: Child,
    lines: Receiver<String>,
    /// What it printed so far.
    pub seen: Vec<String>,
    errors: PathBuf,
}

impl Running {
    pub fn start(place: &Place, mut command: Command) -> Self {
        let unique = format!("errors-{:?}", thread::current().id());
        let count = fs::read_dir(&place.folder).unwrap().count();
        let errors = place.folder.join(format!("{unique}-{count}"));
        command.stdout(Stdio::piped()).stderr(File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        let lines = read(child.stdout.take().unwrap());
        Self { child, lines, seen: Vec::new(), errors }
    }

    /// The next line.
    pub fn line(&mut self) -> String {
        let line = self.lines.recv_timeout(DEADLINE);
        let line = line.unwrap_or_else(|_| panic!("no more: {:?}, {}", self.seen, self.errors()));
        self.seen.push(line.clone());
        line
    }

    /// Reads on until a line has this in it.
    pub fn wait_for(&mut self, what: &str) -> String {
        loop {
            let line = self.line();
            if line.contains(what) {
                return line;
            }
        }
    }

    pub fn errors(&self) -> String {
        fs::read_to_string(&self.errors).unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit code, once it has ended.
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

fn read(stdout: ChildStdout) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}

/// A node as the screen has it.
#[derive(Clone, Debug)]
pub struct Node {
    pub id: u64,
    pub api: String,
    pub pid: i32,
    pub leads: bool,
}

impl Node {
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid).unwrap(), signal).unwrap();
    }
}

/// What names a classic engine.
pub const CLASSIC: [&str; 2] = ["--engine", "central-failover"];

/// A cluster that is up.
pub struct Up {
    pub running: Running,
    pub nodes: Vec<Node>,
    /// Where the page is, and the token of this run.
    pub page: String,
    pub token: String,
}

impl Up {
    /// Starts one of a classic engine, `central-failover` if none is named.
    pub fn start(place: &Place, arguments: &[&str]) -> Self {
        match arguments.contains(&"--engine") {
            true => Self::bare(place, arguments),
            false => Self::bare(place, &[&CLASSIC, arguments].concat()),
        }
    }

    /// Starts it on free ports, of the usual engine if none is named, and waits until the screen is
    /// there.
    pub fn bare(place: &Place, arguments: &[&str]) -> Self {
        let up = [&["up", "--http", "127.0.0.1:0"], arguments].concat();
        Self::from(Running::start(place, place.command(&up)))
    }

    /// Waits until the screen is there.
    pub fn from(mut running: Running) -> Self {
        running.wait_for("Ctrl-C"); // The last line, whatever its language.
        let at = |line: &&String| line.contains("http://127.0.0.1:");
        let is_node = |line: &&String| line.trim_start().starts_with(char::is_numeric);
        let rows = running.seen.iter().filter(at);
        let nodes = rows.filter(is_node).map(|row| node(row)).collect();
        let page = running.seen.iter().find(|line| line.contains("/#token=")).unwrap();
        let page = page.split_whitespace().last().unwrap();
        let (page, token) = page.split_once("/#token=").unwrap();
        let (page, token) = (page.to_string(), token.to_string());
        Self { running, nodes, page, token }
    }

    pub fn leader(&self) -> &Node {
        self.nodes.iter().find(|node| node.leads).unwrap()
    }

    /// All addresses, from this node on.
    pub fn servers_from(&self, first: usize) -> String {
        let mut apis: Vec<&str> = self.nodes.iter().map(|node| node.api.as_str()).collect();
        let first = first % apis.len();
        apis.rotate_left(first);
        apis.join(",")
    }

    /// The command that the screen shows when this node has died.
    pub fn again(&mut self, node: &Node) -> String {
        self.running.wait_for(&format!("node {} was killed by signal 9", node.id));
        let line = self.running.line();
        line.split_once("to start it again: ").expect("a command").1.to_string()
    }

    /// Ends it, and looks that nothing of it is left.
    pub fn end(mut self, signal: Signal) -> Option<i32> {
        self.running.signal(signal);
        let code = self.running.code();
        self.nodes.iter().for_each(|node| gone(node.pid));
        code
    }
}

fn node(row: &str) -> Node {
    let words: Vec<&str> = row.split_whitespace().collect();
    let [id, api, _, pid, rest @ ..] = words.as_slice() else { panic!("{row}") };
    let (id, pid) = (id.parse().unwrap(), pid.parse().unwrap());
    Node { id, api: api.to_string(), pid, leads: matches!(rest, ["leads," | "lidera,", ..]) }
}

/// Waits until no such process lives.
pub fn gone(pid: i32) {
    let end = Instant::now() + DEADLINE;
    while is_alive(pid) {
        assert!(Instant::now() < end, "{pid} is an orphan");
        thread::yield_now();
    }
}

/// A process that ended but whose end nobody has read yet does not live.
fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    let stat = stat.unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}
