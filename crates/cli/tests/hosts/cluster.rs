//! A cluster on hosts of its own: one real process per host, with a disk and a log.

use crate::lan::Lan;
use conclave_client::{Client, api};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Whatever is waited for comes before this; the machine may be busy.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// How many nodes a cluster has.
pub const N: u32 = 5;
/// What an operator shows.
const TOKEN: &str = "admin-of-these-hosts";
/// How much of a log is shown when a test fails.
const LINES: usize = 40;

/// Five nodes, each on the host of its number. All of it is gone when it is dropped.
pub struct Cluster<'a> {
    lan: &'a Lan,
    flags: Vec<String>,
    place: PathBuf,
    processes: Vec<Option<Child>>,
}

impl<'a> Cluster<'a> {
    /// Starts all nodes with these flags, and waits until each is in touch with all others.
    pub fn start(lan: &'a Lan, flags: &[&str]) -> Self {
        let mut cluster = Self::new(lan, flags);
        cluster.launch_all();
        cluster
    }

    /// None of its nodes runs yet.
    pub fn new(lan: &'a Lan, flags: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("hosts-{}-{count}", std::process::id()));
        let classic = match flags.contains(&"--engine") {
            true => &[][..],
            false => &["--engine", "central-failover"],
        };
        let flags = classic.iter().chain(flags).map(ToString::to_string).collect();
        let mut cluster = Self { lan, flags, place, processes: Vec::new() };
        cluster.processes.resize_with(N as usize, || None);
        fs::create_dir_all(&cluster.place).expect("a place for disks and logs");
        fs::write(cluster.token_file(), TOKEN).expect("a file");
        cluster
    }

    /// Starts all nodes, and waits until each is in touch with all others.
    pub fn launch_all(&mut self) {
        for node in 1..=N {
            self.launch(node);
        }
        self.wait_for_links();
    }

    /// Starts a node that does not run, with the disk it has, if it has one.
    pub fn launch(&mut self, node: u32) {
        let log = File::options().create(true).append(true).open(self.log_of(node));
        let mut command = self.lan.command(node, env!("CARGO_BIN_EXE_conclave"));
        command.args(["node", "--die-with-parent", "--insecure", "--cluster", "hosts", "--id"]);
        command.arg(node.to_string()).arg("--data").arg(self.data_of(node)).args(&self.flags);
        command.arg("--admin-token-file").arg(self.token_file());
        for peer in 1..=N {
            let host = self.lan.address(peer);
            command.args(["--peer", &format!("{peer}={host}:7100,api={host}:7070")]);
        }
        let child = command.stdin(Stdio::piped()).stderr(log.expect("a log")).spawn();
        let before = self.processes[node as usize - 1].replace(child.expect("the node starts"));
        assert!(before.is_none(), "node {node} runs already");
    }

    /// Ends a node without a word: `kill -9`.
    pub fn kill(&mut self, node: u32) {
        let mut child = self.processes[node as usize - 1].take().expect("it runs");
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }

    /// Tells a node to stop, and waits until it has.
    pub fn stop(&mut self, node: u32) {
        self.signal(node, Signal::TERM);
        let code = self.ends(node); // None of one that had not even begun to listen to signals.
        assert!(code.is_none_or(|code| code == 0), "node {node} was told to stop: {code:?}");
    }

    /// Tells a node to stop, and starts it again.
    pub fn restart(&mut self, node: u32) {
        self.stop(node);
        self.launch(node);
    }

    /// Kills a node and takes its disk away.
    pub fn kill_and_wipe(&mut self, node: u32) {
        self.kill(node);
        fs::remove_dir_all(self.data_of(node)).expect("it had a disk");
    }

    /// Stops a node in the middle of whatever it does, for as long as nobody has it go on.
    pub fn freeze(&self, node: u32) {
        self.signal(node, Signal::STOP);
    }

    /// Has a stopped node go on.
    pub fn thaw(&self, node: u32) {
        self.signal(node, Signal::CONT);
    }

    /// Whether a node has ended by itself.
    pub fn has_ended(&mut self, node: u32) -> bool {
        let child = self.processes[node as usize - 1].as_mut().expect("it was started");
        child.try_wait().expect("it is a child").is_some()
    }

    /// Waits for a node to end by itself, and gives its exit code.
    pub fn ends(&mut self, node: u32) -> Option<i32> {
        let child = self.processes[node as usize - 1].as_mut().expect("it runs");
        let mut status = None;
        wait_for(&format!("node {node} ends"), || {
            status = child.try_wait().expect("it is a child");
            status.is_some()
        });
        self.processes[node as usize - 1] = None;
        status.and_then(|status| status.code())
    }

    /// A client of this node alone.
    pub fn client(&self, node: u32) -> Client {
        Client::new([format!("{}:7070", self.lan.address(node))]).expect("an address")
    }

    /// A client that knows all nodes, and asks this one first.
    pub fn clients_from(&self, node: u32) -> Client {
        let nodes = (0..N).map(|step| (node - 1 + step) % N + 1);
        Client::new(nodes.map(|node| format!("{}:7070", self.lan.address(node))))
            .expect("addresses")
    }

    /// Has a node write a snapshot of its table: the first line of its answer, if it answers. By
    /// hand, for no client of ours sends a token without TLS beyond this machine.
    pub fn snapshot(&self, node: u32) -> String {
        let host = format!("{}:7070", self.lan.address(node));
        let Ok(mut stream) = TcpStream::connect(&host) else { return String::new() };
        let head = "POST /v1/cluster/snapshot HTTP/1.1\r\ncontent-type: application/json\r\n";
        let auth = format!("authorization: Bearer {TOKEN}\r\nconnection: close\r\n");
        let asked = write!(stream, "{head}{auth}host: {host}\r\ncontent-length: 2\r\n\r\n{{}}");
        let mut line = String::new();
        let answer = asked.and_then(|()| BufReader::new(stream).read_line(&mut line));
        answer.map(|_| line.trim_end().to_string()).unwrap_or_default()
    }

    /// What a node says of the cluster.
    pub fn seen_by(&self, node: u32) -> api::Cluster {
        self.client(node).cluster().expect("it answers")
    }

    /// All that a node has logged.
    pub fn log(&self, node: u32) -> String {
        fs::read_to_string(self.log_of(node)).expect("it has a log")
    }

    /// Waits until all these nodes name the same leader, other than one; gives it.
    pub fn agreed(&self, nodes: &[u32], other_than: Option<u32>) -> u32 {
        let mut agreed = None;
        wait_for(&format!("nodes {nodes:?} agree on a leader"), || {
            let leaders = nodes.iter().map(|node| {
                let seen = self.client(*node).cluster().ok()?;
                Some((seen.leader?, seen.term))
            });
            let leaders: Option<Vec<(u32, u64)>> = leaders.collect();
            agreed = leaders.filter(|all| all.iter().all(|one| *one == all[0])).map(|all| all[0].0);
            agreed.is_some() && agreed != other_than
        });
        agreed.expect("waited for")
    }

    /// Waits until each node is ready and in touch with all others.
    pub fn wait_for_links(&self) {
        for node in 1..=N {
            let client = self.client(node);
            wait_for(&format!("node {node} is in touch with all others"), || {
                let linked = |seen: api::Cluster| {
                    seen.nodes.iter().all(|peer| ["self", "up"].contains(&&*peer.state))
                };
                client.is_ready() && client.cluster().is_ok_and(linked)
            });
        }
    }

    fn signal(&self, node: u32, signal: Signal) {
        let child = self.processes[node as usize - 1].as_ref().expect("it runs");
        kill_process(Pid::from_child(child), signal).expect("it is there");
    }

    /// The data directory of a node, on the disk of the same name.
    pub fn data_of(&self, node: u32) -> PathBuf {
        self.disk_of(node).join("data")
    }

    /// Where a disk for a node may be mounted.
    pub fn disk_of(&self, node: u32) -> PathBuf {
        self.place.join(format!("node-{node}"))
    }

    fn token_file(&self) -> PathBuf {
        self.place.join("admin-token")
    }

    fn log_of(&self, node: u32) -> PathBuf {
        self.place.join(format!("node-{node}.log"))
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        for child in self.processes.iter_mut().flatten() {
            let _ = child.kill().and_then(|()| child.wait());
        }
        for node in 1..=N {
            if thread::panicking()
                && let Ok(log) = fs::read_to_string(self.log_of(node))
            {
                let lines: Vec<&str> = log.lines().collect();
                let last = &lines[lines.len().saturating_sub(LINES)..];
                eprintln!("-- node {node} ({}):\n{}", self.flags.join(" "), last.join("\n"));
            }
        }
        let _ = fs::remove_dir_all(&self.place);
    }
}

/// Looks again and again until it is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
