//! Peers: other lock services (etcd, ZooKeeper, Redis), started on loopback for one measurement.

mod etcd;
mod process;
mod redis;
mod zookeeper;

use crate::failure::Usage;
use crate::texts::help_of;
use anyhow::Context;
use conclave_load::{Protocol, Target};
use process::Process;
use rustix::process::getuid;
use std::fs::{self, DirBuilder};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// A Java machine takes its time on a busy machine.
const READY: Duration = Duration::from_secs(40);
const STEP: Duration = Duration::from_millis(100);
/// Somebody may take a port between its choice and its use.
const ATTEMPTS: u32 = 3;
/// As many as a cluster needs to survive the loss of one.
const SERVERS: usize = 3;

/// Another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Peer {
    #[value(help = help_of("Three servers"))]
    Etcd,
    #[value(help = help_of("Three servers"))]
    Zookeeper,
    #[value(help = help_of("One server that syncs every command"))]
    Redis,
}

impl Peer {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::Zookeeper => "zookeeper",
            Self::Redis => "redis",
        }
    }

    /// Refuses one that is not installed.
    pub fn check(self) -> Result<(), Usage> {
        let is_there = match self {
            Self::Etcd => etcd::is_there(),
            Self::Zookeeper => zookeeper::is_there(),
            Self::Redis => redis::is_there(),
        };
        let takes = "it is not installed; 'scripts/peers' of the sources installs it";
        if is_there { Ok(()) } else { Err(Usage::flag("--against", self.name(), takes)) }
    }

    fn servers(self) -> usize {
        match self {
            Self::Etcd | Self::Zookeeper => SERVERS,
            Self::Redis => 1,
        }
    }

    fn protocol(self) -> Protocol {
        match self {
            Self::Etcd => Protocol::Etcd,
            Self::Zookeeper => Protocol::ZooKeeper,
            Self::Redis => Protocol::Redis,
        }
    }
}

/// What a server says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Leads,
    Follows,
    /// There is no other.
    Alone,
}

/// A system that runs. To drop it is to end it, and to remove all that it wrote.
#[derive(Debug)]
pub struct Running {
    peer: Peer,
    directory: PathBuf,
    addresses: Vec<SocketAddr>,
    processes: Vec<Process>,
}

impl Running {
    /// Starts it, and waits until it takes requests; nothing if `gives_up` said so first. Call this
    /// from the main thread: the servers' lives hang on the thread.
    pub fn start(peer: Peer, gives_up: &dyn Fn() -> bool) -> anyhow::Result<Option<Self>> {
        let mut attempt = 1;
        loop {
            let mut running = Self::spawn(peer)?;
            match running.wait(gives_up) {
                Ok(is_ready) => return Ok(is_ready.then_some(running)),
                Err(error) if attempt == ATTEMPTS => return Err(error),
                Err(_) => attempt += 1,
            }
        }
    }

    fn spawn(peer: Peer) -> anyhow::Result<Self> {
        let count = peer.servers();
        let directory = directory(peer)?;
        let mut running = Self { peer, directory, addresses: Vec::new(), processes: Vec::new() };
        // All at once, so that no two are the same.
        let mut addresses = free(3 * count)?;
        let links = addresses.split_off(count);
        running.addresses = addresses;
        let directory = &running.directory;
        let wanted = Wanted { directory, addresses: &running.addresses, links: &links };
        for index in 0..count {
            let command = match peer {
                Peer::Etcd => etcd::command(&wanted, index),
                Peer::Zookeeper => zookeeper::command(&wanted, index)?,
                Peer::Redis => redis::command(&wanted, index)?,
            };
            let log = directory.join(format!("log-{index}"));
            running.processes.push(Process::start(&command, &log)?);
        }
        Ok(running)
    }

    /// How it is spoken to.
    pub fn target(&self) -> Target {
        Target { protocol: self.peer.protocol(), servers: self.addresses.clone() }
    }

    /// Its processes.
    pub fn processes(&self) -> Vec<u32> {
        self.processes.iter().map(Process::pid).collect()
    }

    /// The server that leads; nothing if it is alone.
    pub fn leader(&self) -> Option<usize> {
        let mut roles = self.addresses.iter().map(|&address| self.role(address));
        roles.position(|role| role == Some(Role::Leads))
    }

    /// Kills a server.
    pub fn kill(&mut self, index: usize) {
        if let Some(process) = self.processes.get_mut(index) {
            process.kill();
        }
    }

    /// Waits until all servers know who leads; whether they do.
    fn wait(&mut self, gives_up: &dyn Fn() -> bool) -> anyhow::Result<bool> {
        let end = Instant::now() + READY;
        loop {
            let ready = self.addresses.iter().all(|&address| self.role(address).is_some());
            if ready || gives_up() {
                return Ok(ready);
            }
            let name = self.peer.name();
            if let Some(said) = self.processes.iter_mut().find_map(Process::ended) {
                anyhow::bail!("{name} cannot start: {said}");
            }
            anyhow::ensure!(Instant::now() < end, "{name} takes no requests");
            thread::sleep(STEP);
        }
    }

    fn role(&self, address: SocketAddr) -> Option<Role> {
        match self.peer {
            Peer::Etcd => etcd::role(address),
            Peer::Zookeeper => zookeeper::role(address),
            Peer::Redis => redis::role(address),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.processes.iter_mut().for_each(Process::kill);
        let _ = fs::remove_dir_all(&self.directory); // It is in the system's own place for it.
    }
}

/// Where servers are to be.
struct Wanted<'a> {
    directory: &'a Path,
    /// For clients, one each.
    addresses: &'a [SocketAddr],
    /// For each other, two each.
    links: &'a [SocketAddr],
}

impl Wanted<'_> {
    /// A directory of this server alone.
    fn place(&self, index: usize) -> PathBuf {
        self.directory.join(format!("server-{index}"))
    }
}

fn directory(peer: Peer) -> anyhow::Result<PathBuf> {
    let number = conclave_net::random::bits().context("the system has no random numbers")?;
    let name = format!("conclave-bench-{}-{}-{number:016x}", peer.name(), getuid().as_raw());
    let path = std::env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&path).with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Ports that are free right now. All are taken until the last is found.
fn free(count: usize) -> anyhow::Result<Vec<SocketAddr>> {
    let bound = (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let bound: Vec<TcpListener> = bound.collect::<Result<_, _>>()?;
    Ok(bound.iter().map(TcpListener::local_addr).collect::<Result<_, _>>()?)
}

/// Whether a program is where programs are looked for.
fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_where_the_shell_finds_them() {
        assert!(is_on_path("sh"));
        assert!(!is_on_path("no-such-program-anywhere"));
    }
}
