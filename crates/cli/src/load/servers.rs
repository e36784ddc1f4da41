//! The nodes under load: what they say of the lock, and what they cost.

use conclave_client::Client;
use conclave_client::api::Cluster;
use rustix::param::clock_ticks_per_second;
use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

/// How often to look whether messages are still sent, and how many times at most.
const STEP: Duration = Duration::from_millis(100);
const LOOKS: u32 = 20;

/// The nodes under load.
#[derive(Debug)]
pub struct Servers {
    /// Where they serve their APIs.
    pub addresses: Vec<String>,
    /// What they are.
    pub cluster: Cluster,
    /// Their processes, if they are ours.
    pub processes: Vec<u32>,
}

impl Servers {
    /// Nodes that somebody else started.
    pub fn named(addresses: &[String]) -> anyhow::Result<Self> {
        let client = Client::new(addresses)?;
        let addresses = addresses.to_vec();
        let cluster = client.cluster()?;
        Ok(Self { addresses, cluster, processes: Vec::new() })
    }

    /// All messages sent for a lock, by kind, when no more follow; of an algorithm that is never
    /// silent, as soon as it is known to be one. Nothing if not all nodes can be asked.
    pub fn messages(&self, name: &str) -> Option<BTreeMap<String, u64>> {
        if self.addresses.len() < self.cluster.nodes.len() {
            return None;
        }
        let first = self.sent(name)?;
        let mut last = first.clone();
        for _ in 0..LOOKS {
            thread::sleep(STEP);
            let now = self.sent(name)?;
            if now == last {
                return Some(now);
            }
            last = now;
        }
        Some(first)
    }

    fn sent(&self, name: &str) -> Option<BTreeMap<String, u64>> {
        let mut sum = BTreeMap::new();
        for address in &self.addresses {
            let lock = match Client::new([address]).ok()?.lock_state(name) {
                Ok(lock) => lock,
                Err(error) if error.code() == Some("not_found") => continue,
                Err(_) => return None,
            };
            for (kind, count) in lock.messages? {
                *sum.entry(kind).or_default() += count;
            }
        }
        Some(sum)
    }

    /// For how many seconds the nodes have had a processor, all together, if they are ours.
    pub fn cpu_seconds(&self) -> Option<f64> {
        cpu_seconds(&self.processes)
    }
}

/// For how many seconds these processes have had a processor, all together.
pub(super) fn cpu_seconds(processes: &[u32]) -> Option<f64> {
    if processes.is_empty() {
        return None;
    }
    let ticks: Option<Vec<u64>> = processes.iter().map(|&pid| ticks_of(pid)).collect();
    Some(ticks?.iter().sum::<u64>() as f64 / clock_ticks_per_second() as f64)
}

/// How much memory these processes have, all together, in MiB: what several share, such as the
/// program itself, counts once (proportional set size).
pub fn memory_mib(processes: &[u32]) -> Option<f64> {
    let kilobytes: Option<Vec<u64>> = processes.iter().map(|&pid| share_of(pid)).collect();
    kilobytes.map(|all| all.iter().sum::<u64>() as f64 / 1024.0)
}

fn share_of(process: u32) -> Option<u64> {
    let maps = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = maps.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// What the system counted for a process: for itself and for what it asked of the system.
fn ticks_of(process: u32) -> Option<u64> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in brackets and may have spaces, and brackets too.
    let rest = line.rsplit_once(')')?.1;
    let mut fields = rest.split_whitespace().skip(11);
    let own = fields.next()?;
    let system = fields.next()?;
    Some(own.parse::<u64>().ok()? + system.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_memory_of_a_process_is_known() {
        let own = memory_mib(&[std::process::id()]).expect("this process is there");
        assert!(own > 0.1, "{own} MiB");
        assert_eq!(memory_mib(&[0]), None);
    }

    #[test]
    fn the_work_of_a_process_is_counted() {
        let own = std::process::id();
        let before = ticks_of(own).expect("this process is there");
        let begun = Instant::now();
        while ticks_of(own).expect("still there") < before + 3 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it spins, and nothing is counted");
        }
    }
}
