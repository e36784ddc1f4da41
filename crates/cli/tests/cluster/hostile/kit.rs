//! Clusters of real processes on loopback, each with a log of its own.

use super::http::try_call;
use crate::ports::free_addresses;
use crate::support::conclave;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Nothing that a test waits for takes longer, however busy the machine.
pub const DEADLINE: Duration = Duration::from_secs(90);

/// Looks again and again until it is there.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain: {what}");
        sleep(Duration::from_millis(10));
    }
}

/// A directory of a test's own, removed in the end.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("hostile-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One `conclave node`.
pub struct Member {
    pub id: u32,
    pub peer: SocketAddr,
    pub api: SocketAddr,
    pub data: PathBuf,
    log: PathBuf,
    flags: Vec<(String, String)>,
    child: Option<Child>,
}

impl Member {
    pub fn start(&mut self) {
        self.start_by(Command::new(env!("CARGO_BIN_EXE_conclave")));
    }

    /// Starts it by a command that goes before its flags.
    pub fn start_by(&mut self, mut command: Command) {
        let log = File::options().create(true).append(true).open(&self.log).unwrap();
        command.arg("node").args(self.flags.iter().flat_map(|(name, value)| [name, value]));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().expect("the binary runs"));
    }

    /// Sets a flag, or sets it to something else.
    pub fn set(&mut self, name: &str, value: &str) {
        self.unset(name);
        self.flags.push((name.to_string(), value.to_string()));
    }

    pub fn unset(&mut self, name: &str) {
        self.flags.retain(|(known, _)| known != name);
    }

    /// Gives it the certificate of that number, from that directory.
    pub fn certify(&mut self, directory: &str, number: u32) {
        self.set("--tls-authority", &format!("{directory}/ca.pem"));
        self.set("--tls-certificate", &format!("{directory}/node-{number}.pem"));
        self.set("--tls-key", &format!("{directory}/node-{number}.key"));
    }

    /// Another node under the same number and with the same settings, but with a disk and addresses
    /// of its own.
    pub fn twin(&self, place: &Place, name: &str) -> Self {
        let addresses = free_addresses(2);
        let (peer, api) = (addresses[0], addresses[1]);
        let (data, log) = (place.0.join(name), place.0.join(format!("{name}.log")));
        let flags = self.flags.clone();
        let mut twin = Self { id: self.id, peer, api, data, log, flags, child: None };
        twin.set("--listen", &peer.to_string());
        twin.set("--http", &api.to_string());
        twin.set("--data", &place.path(name));
        twin
    }

    /// All that it has logged.
    pub fn log(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// How many lines have these words.
    pub fn count(&self, words: &str) -> usize {
        self.log().lines().filter(|line| line.contains(words)).count()
    }

    /// Waits for a line with these words.
    pub fn line(&self, words: &str) -> String {
        let id = self.id;
        let end = Instant::now() + DEADLINE;
        loop {
            let log = self.log();
            if let Some(line) = log.lines().find(|line| line.contains(words)) {
                return line.to_string();
            }
            assert!(Instant::now() < end, "no line '{words}' in the log of node {id}:\n{log}");
            sleep(Duration::from_millis(10));
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(self.child.as_ref().expect("it runs")), signal).unwrap();
    }

    pub fn runs(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| child.try_wait().unwrap().is_none())
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("it was started");
        until("the end of a node", || child.try_wait().unwrap())
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Three nodes or so. They are not started yet.
pub struct Cluster {
    pub members: Vec<Member>,
    pub place: Place,
}

impl Cluster {
    pub fn new(n: u32, engine: &str) -> Self {
        let place = Place::new();
        let addresses = free_addresses(2 * n as usize);
        let (peers, apis) = addresses.split_at(n as usize);
        let all = (1..).zip(peers.iter().zip(apis)).map(|(id, (peer, api))| {
            let node: u32 = id;
            ("--peer".to_string(), format!("{node}={peer},api={api}"))
        });
        let all: Vec<(String, String)> = all.collect();
        let member = |id: u32| {
            let (peer, api) = (peers[id as usize - 1], apis[id as usize - 1]);
            let (data, log) = (format!("node-{id}"), format!("node-{id}.log"));
            let (data, log) = (place.0.join(data), place.0.join(log));
            let mut member = Member { id, peer, api, data, log, flags: all.clone(), child: None };
            member.set("--id", &id.to_string());
            member.set("--engine", engine);
            member.set("--data", &place.path(&format!("node-{id}")));
            member
        };
        let members = (1..=n).map(member).collect();
        Self { members, place }
    }

    /// Gives every node a certificate of one authority.
    pub fn certified(mut self) -> Self {
        let directory = self.place.path("certificates");
        let count = self.members.len().to_string();
        let made = conclave(&["cert", "--out", &directory, "--nodes", &count]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        self.members.iter_mut().for_each(|member| member.certify(&directory, member.id));
        self
    }

    /// One more node, which knows the others and belongs to nothing yet; these came before it.
    pub fn newcomer(&self, before: &[&Member]) -> Member {
        let id = (self.members.len() + before.len() + 1) as u32;
        let mut member = self.members[0].twin(&self.place, &format!("node-{id}"));
        member.id = id;
        member.set("--id", &id.to_string());
        let own = (id, member.peer, member.api);
        let known = before.iter().map(|member| (member.id, member.peer, member.api));
        for (id, peer, api) in known.chain([own]) {
            member.flags.push(("--peer".to_string(), format!("{id}={peer},api={api}")));
        }
        member
    }

    pub fn start(mut self) -> Self {
        self.members.iter_mut().for_each(Member::start);
        self.members.iter().for_each(ready);
        self
    }

    pub fn apis(&self) -> Vec<SocketAddr> {
        self.members.iter().map(|member| member.api).collect()
    }
}

/// Waits until a node serves, with links to a majority.
pub fn ready(member: &Member) {
    let what = format!("node {} is ready", member.id);
    until(&what, || {
        let answer = try_call(member.api, "GET /readyz", &[], "");
        answer.filter(|answer| answer.status == 200)
    });
}

/// Whether these may be done by nobody but root; says so if this is not root.
pub fn is_root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: only root may {what}");
    }
    root
}
