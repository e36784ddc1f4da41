//! A cluster that is started for one measurement.

use crate::commands::up::{Started, ready};
use crate::load::Servers;
use crate::up::{self, Member, Setup, Wanted};
use conclave_client::api::Cluster;
use rustix::process::Signal;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

/// A node that was started again takes requests sooner than this.
const READY: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(20);
/// It stops sooner than this.
const STOP: Duration = Duration::from_secs(5);
/// Somebody may take a port between its choice and its use.
const ATTEMPTS: u32 = 3;

/// A cluster of our own. To drop it is to stop it; its files stay, to see what went wrong.
pub struct Own {
    pub setup: Setup,
    members: Vec<Member>,
}

impl Own {
    /// Starts all nodes, and waits until they take requests; nothing if a signal came first. Call
    /// this from the main thread: the nodes' lives hang on the thread.
    pub fn start(
        wanted: &Wanted<'_>,
        signals: &Receiver<Signal>,
    ) -> anyhow::Result<Option<(Self, Servers)>> {
        for attempt in 1..=ATTEMPTS {
            let mut own = Self { setup: Setup::new(wanted.clone())?, members: Vec::new() };
            for node in &own.setup.nodes {
                own.members.push(Member::start(&own.setup, node.id, &node.api)?);
            }
            match ready(&mut own.members, signals, attempt == ATTEMPTS)? {
                Started::All(cluster) => {
                    let servers = own.servers(*cluster);
                    return Ok(Some((own, servers)));
                }
                Started::Clash => own.remove(),
                Started::Interrupted => {
                    own.remove();
                    return Ok(None);
                }
            }
        }
        anyhow::bail!("ports that were free were taken, {ATTEMPTS} times")
    }

    /// The nodes as clients see them.
    fn servers(&self, cluster: Cluster) -> Servers {
        let addresses = self.setup.nodes.iter().map(|node| format!("http://{}", node.api));
        Servers { addresses: addresses.collect(), cluster, processes: self.processes() }
    }

    /// Kills a node, counted from 0, and waits for its end.
    pub fn kill(&mut self, index: usize) {
        if let Some(member) = self.members.get_mut(index) {
            member.signal(Signal::KILL);
            member.wait();
        }
    }

    /// Starts all nodes again that have ended, and waits until they take requests; whether they do.
    pub fn restart(&mut self) -> bool {
        for (member, node) in self.members.iter_mut().zip(&self.setup.nodes) {
            if member.ended().is_none() {
                continue;
            }
            match Member::start(&self.setup, node.id, &node.api) {
                Ok(started) => *member = started,
                Err(_) => return false,
            }
        }
        let end = Instant::now() + READY;
        while !self.members.iter().all(|member| member.client.is_ready()) {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(STEP);
        }
        true
    }

    /// The processes of all nodes.
    pub fn processes(&self) -> Vec<u32> {
        self.members.iter().map(Member::pid).collect()
    }

    /// Stops all nodes, and removes what is of no use any more.
    pub fn remove(mut self) {
        up::stop(&mut self.members, STOP);
        self.setup.clean_up();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        up::stop(&mut self.members, STOP);
    }
}
