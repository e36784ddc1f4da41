//! Trials: one system under one workload of a set time, once.

use super::at_rest;
use super::servers::cpu_seconds;
use super::workload::Timed;
use crate::cpu;
use anyhow::Context;
use conclave_load::{Client, Course, Crew, Load, Seen, Target, Want};
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// The last waiters are served within this, or something is stuck.
pub(super) const DRAIN: Duration = Duration::from_secs(30);
/// A system that has not recovered within this is said not to.
const RECOVERY_MAX: Duration = Duration::from_secs(45);
/// Load before the node is killed.
const BEFORE_KILL: Duration = Duration::from_millis(500);
/// What a server that is dead had sent before arrives within this.
const IN_FLIGHT: Duration = Duration::from_millis(10);
/// Load after the first grant, to see that it was not the last.
const AFTER_GRANT: Duration = Duration::from_millis(200);
/// The session of the client that is killed.
const SHORT_TTL: Duration = Duration::from_secs(1);
/// A session that does not end during a trial.
const LONG_TTL: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(1);

/// A system as a trial needs it.
pub trait System {
    /// How it is spoken to.
    fn target(&self) -> Target;
    /// Its processes.
    fn processes(&self) -> Vec<u32>;
    /// The server that leads; nothing if there is no other.
    fn leader(&self) -> Option<usize>;
    /// Kills a server, and waits for its end.
    fn kill(&mut self, index: usize);
    /// Starts all servers again that were killed, and waits until they take requests; whether they
    /// do.
    fn restart(&mut self) -> bool;
}

/// What came of one trial.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub seconds: f64,
    pub pairs: u64,
    pub handoffs: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub counts: Vec<u64>,
    pub server_cpu_seconds: Option<f64>,
    pub generator_cpu_seconds: Option<f64>,
    pub overlaps: u64,
    pub falls: u64,
    pub retries: u64,
    /// From the death of the node that leads to the next grant, each time.
    pub node_killed_ms: Vec<f64>,
    /// From the death of a client with a session of a second to the next grant.
    pub client_killed_ms: Option<f64>,
    /// Of all servers: before names were taken, while they were in use, and when they were given
    /// back.
    pub memory_mib: Option<[f64; 3]>,
    pub failures: Vec<String>,
}

/// Which trial of several it is, and for how long it runs.
#[derive(Clone, Debug)]
pub struct Plan {
    pub run: usize,
    pub lasts: Duration,
    /// How often the node that leads is killed.
    pub kills: usize,
}

/// Runs one workload.
pub async fn trial(
    system: &mut dyn System,
    workload: Timed,
    plan: &Plan,
) -> anyhow::Result<Outcome> {
    match workload {
        Timed::Uncontended | Timed::Wide | Timed::Contended => steady(system, workload, plan).await,
        Timed::FailOver => fail_over(system, plan).await,
        Timed::Sessions => at_rest::sessions(system, plan).await,
        Timed::Names => at_rest::names(system).await,
    }
}

/// Load that nobody measures: caches fill, and a Java machine compiles what is hot.
pub async fn warm_up(system: &dyn System, lasts: Duration) -> anyhow::Result<()> {
    let load = load("warm-up", Timed::Wide, 0);
    let crew = Crew::open(&system.target(), &load).await?;
    let course = Course::default();
    let end = async {
        sleep(lasts).await;
        course.stop();
    };
    bounded(lasts + DRAIN, async { tokio::join!(crew.work(&course), end) }).await.map(|_| ())
}

/// Clients that are served for a set time.
async fn steady(system: &dyn System, workload: Timed, plan: &Plan) -> anyhow::Result<Outcome> {
    let load = load(workload.name(), workload, plan.run);
    let crew = Crew::open(&system.target(), &load).await?;
    let course = Course::default();
    let processes = system.processes();
    let server_before = cpu_seconds(&processes);
    let own_before = cpu::used();
    let end = async {
        sleep(plan.lasts).await;
        course.stop();
        let server = cpu_seconds(&processes).zip(server_before).map(|(now, then)| now - then);
        (server, Some(cpu::used() - own_before))
    };
    let both = async { tokio::join!(crew.work(&course), end) };
    let (seen, (server, own)) = bounded(plan.lasts + DRAIN, both).await?;
    let outcome = Outcome { server_cpu_seconds: server, generator_cpu_seconds: own, ..seen.into() };
    Ok(outcome)
}

/// First a client dies, then the node that leads.
async fn fail_over(system: &mut dyn System, plan: &Plan) -> anyhow::Result<Outcome> {
    let client = bounded(RECOVERY_MAX, client_dies(&system.target(), plan)).await;
    let client = client.and_then(|outcome| outcome);
    let mut outcome = Outcome::default(); // If there is nothing to fail over to.
    for kill in 0..plan.kills {
        let Some(leader) = system.leader() else { break };
        outcome = outcome.and(leader_dies(system, leader, plan).await?);
        if kill + 1 < plan.kills && !system.restart() {
            break;
        }
    }
    match client {
        Ok(took) => outcome.client_killed_ms = Some(took.as_secs_f64() * 1e3),
        Err(error) => outcome.failures.push(format!("a client was killed: {error:#}")),
    }
    Ok(outcome)
}

/// One client holds the lock and keeps its session alive, another waits; the first one dies, which
/// closes its connection.
async fn client_dies(target: &Target, plan: &Plan) -> anyhow::Result<Duration> {
    let want = |label: &str, ttl, first| Want {
        name: "client-dies".to_string(),
        label: label.to_string(),
        ttl,
        shared: true,
        first,
    };
    let mut holder = Client::open(target, want("holder", SHORT_TTL, plan.run)).await?;
    let mut waiter = Client::open(target, want("waiter", LONG_TTL, plan.run + 1)).await?;
    holder.acquire().await?;
    let dies = async {
        let keepalive = SHORT_TTL / 4;
        for _ in 0..4 {
            sleep(keepalive).await;
            holder.keep_alive().await?;
        }
        // Each run at another time after the last sign of life.
        sleep(keepalive * (plan.run as u32 % 5) / 5).await;
        drop(holder);
        anyhow::Ok(Instant::now())
    };
    let granted = async {
        waiter.acquire().await?;
        anyhow::Ok(Instant::now())
    };
    let (died, granted) = tokio::try_join!(dies, granted)?;
    granted.checked_duration_since(died).context("the lock was granted while its holder lived")
}

/// The node that leads is killed while clients hand on one lock.
async fn leader_dies(
    system: &mut dyn System,
    leader: usize,
    plan: &Plan,
) -> anyhow::Result<Outcome> {
    let load = load("node-dies", Timed::FailOver, plan.run);
    let crew = Crew::open(&system.target(), &load).await?;
    let course = Course::default();
    let kills = async {
        sleep(BEFORE_KILL).await;
        // Under load another one may lead by now.
        let leader = system.leader().unwrap_or(leader);
        let killed = Instant::now();
        system.kill(leader);
        sleep(IN_FLIGHT).await;
        course.await_grant();
        while course.granted_at().is_none() && killed.elapsed() < RECOVERY_MAX {
            sleep(STEP).await;
        }
        sleep(AFTER_GRANT).await;
        match course.granted_at() {
            Some(_) => course.stop(),
            None => course.abort(),
        }
        course.granted_at().map(|granted| granted - killed)
    };
    let both = async { tokio::join!(crew.work(&course), kills) };
    let limit = BEFORE_KILL + RECOVERY_MAX + AFTER_GRANT + DRAIN;
    let (seen, took) = bounded(limit, both).await?;
    let mut outcome = Outcome::from(seen);
    match took {
        Some(took) => outcome.node_killed_ms.push(took.as_secs_f64() * 1e3),
        None => outcome.failures.push("no grant after a node was killed".to_string()),
    }
    Ok(outcome)
}

fn load(name: &str, workload: Timed, run: usize) -> Load {
    Load {
        clients: workload.clients(),
        one_lock: workload.is_one_lock(),
        name: format!("bench-{name}-{run}"),
        ttl: LONG_TTL,
        first: run,
    }
}

pub(super) async fn bounded<T>(
    limit: Duration,
    work: impl Future<Output = T>,
) -> anyhow::Result<T> {
    let told = || format!("not over after {} s", limit.as_secs());
    timeout(limit, work).await.with_context(told)
}

impl Outcome {
    /// This and what came after it, of the same kind.
    fn and(self, mut next: Self) -> Self {
        next.node_killed_ms.splice(0..0, self.node_killed_ms);
        next.failures.splice(0..0, self.failures);
        next.overlaps += self.overlaps;
        next.falls += self.falls;
        next.retries += self.retries;
        next
    }
}

impl From<Seen> for Outcome {
    fn from(seen: Seen) -> Self {
        Self {
            seconds: seen.took.as_secs_f64(),
            pairs: seen.pairs(),
            handoffs: seen.handoffs,
            p50_ms: super::percentile(&seen.waits, 50),
            p99_ms: super::percentile(&seen.waits, 99),
            counts: seen.counts,
            overlaps: seen.overlaps,
            falls: seen.falls,
            retries: seen.retries,
            failures: seen.failures,
            ..Self::default()
        }
    }
}
