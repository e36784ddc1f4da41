//! Several hosts on one machine: network namespaces of this test's own, joined by a bridge.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the names of all such namespaces begin with.
const PREFIX: &str = "conclave-";

/// A local network of hosts 1 to n, and one more in its middle from which all can be reached.
pub struct Lan {
    name: String,
    n: u32,
}

impl Lan {
    /// Builds it; says why and gives nothing where that cannot be done.
    pub fn new(n: u32) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root may make network namespaces");
            return None;
        }
        for tool in ["ip", "iptables"] {
            if Command::new(tool).arg("--version").output().is_err() {
                eprintln!("skipped: '{tool}' is missing; scripts/test installs it");
                return None;
            }
        }
        sweep();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let lan = Self { name: format!("{PREFIX}{}-{count}", std::process::id()), n };
        lan.build();
        Some(lan)
    }

    /// The address of a host.
    pub fn address(&self, host: u32) -> IpAddr {
        assert!((1..=self.n).contains(&host), "no host {host}");
        IpAddr::V4(Ipv4Addr::new(10, 77, 0, host as u8))
    }

    /// A command that runs on a host.
    pub fn command(&self, host: u32, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.host(host), program]);
        command
    }

    /// Does something on the host in the middle, which reaches all others.
    pub fn inside<T: Send>(&self, what: impl FnOnce() -> T + Send) -> T {
        let path = Path::new("/run/netns").join(self.hub());
        let space = File::open(path).expect("the namespace is there");
        std::thread::scope(|scope| {
            let there = scope.spawn(|| {
                move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network))
                    .expect("root may move");
                what()
            });
            there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// From now on these two hear nothing of each other.
    pub fn cut(&self, a: u32, b: u32) {
        self.filter("-A", a, b);
    }

    /// They do again.
    pub fn heal(&self, a: u32, b: u32) {
        self.filter("-D", a, b);
    }

    /// From now on nothing that one host sends to another arrives; what comes back does.
    pub fn deafen(&self, to: u32, from: u32) {
        self.drop_incoming("-A", to, from);
    }

    /// It arrives again.
    pub fn undeafen(&self, to: u32, from: u32) {
        self.drop_incoming("-D", to, from);
    }

    /// From now on, nothing that one host says by connections of its own to a port of another
    /// arrives there; what is said the other way, by other connections, does.
    pub fn mute(&self, from: u32, to: u32, port: u16) {
        let (from, port) = (self.address(from).to_string(), port.to_string());
        let mut command = self.command(to, "iptables");
        let what = ["-w", "-A", "INPUT", "-s", &from, "-p", "tcp", "--dport", &port, "-j", "DROP"];
        run(command.args(what));
    }

    /// Drops what comes in, on both sides: connections hang rather than break, as when a cable is
    /// pulled.
    fn filter(&self, rule: &str, a: u32, b: u32) {
        self.drop_incoming(rule, a, b);
        self.drop_incoming(rule, b, a);
    }

    fn drop_incoming(&self, rule: &str, to: u32, from: u32) {
        let from = self.address(from).to_string();
        let mut command = self.command(to, "iptables");
        run(command.args(["-w", rule, "INPUT", "-s", &from, "-j", "DROP"]));
    }

    fn build(&self) {
        let hub = self.hub();
        run(&mut ip(&["netns", "add", &hub]));
        run(&mut ip(&["-n", &hub, "link", "add", "lan", "type", "bridge"]));
        run(&mut ip(&["-n", &hub, "address", "add", "10.77.0.254/24", "dev", "lan"]));
        run(&mut ip(&["-n", &hub, "link", "set", "lan", "up"]));
        for host in 1..=self.n {
            let (name, port) = (self.host(host), format!("port{host}"));
            let address = format!("{}/24", self.address(host));
            run(&mut ip(&["netns", "add", &name]));
            let pair = ["link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns"];
            run(ip(&["-n", &hub]).args(pair).arg(&name));
            run(&mut ip(&["-n", &hub, "link", "set", &port, "master", "lan", "up"]));
            run(&mut ip(&["-n", &name, "address", "add", &address, "dev", "eth0"]));
            run(&mut ip(&["-n", &name, "link", "set", "lo", "up"]));
            run(&mut ip(&["-n", &name, "link", "set", "eth0", "up"]));
        }
    }

    fn hub(&self) -> String {
        format!("{}-hub", self.name)
    }

    fn host(&self, host: u32) -> String {
        format!("{}-{host}", self.name)
    }
}

impl Drop for Lan {
    fn drop(&mut self) {
        for name in (1..=self.n).map(|host| self.host(host)).chain([self.hub()]) {
            let _ = ip(&["netns", "delete", &name]).output();
        }
    }
}

/// Removes what a test that was killed left behind.
fn sweep() {
    let listed = ip(&["netns", "list"]).output().expect("ip runs");
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = ip(&["netns", "delete", name]).output();
        }
    }
}

fn ip(arguments: &[&str]) -> Command {
    let mut command = Command::new("ip");
    command.args(arguments);
    command
}

fn run(command: &mut Command) {
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}
