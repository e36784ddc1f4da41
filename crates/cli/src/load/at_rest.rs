//! Trials of what a system carries at rest: sessions that are only kept alive, and names that are
//! taken and given back.

use super::servers::{cpu_seconds, memory_mib};
use super::trial::{DRAIN, Outcome, Plan, System, bounded};
use super::workload::Timed;
use conclave_load::Fleet;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long a session lives without a sign of life, and how often there is one: as `lock` does.
const TTL: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_millis(2_500);
/// A session that does not end during a trial.
const LONG_TTL: Duration = Duration::from_secs(120);
/// How many names.
const NAMES: usize = 100_000;
/// What is not used any more is given back to the system within this.
const SETTLED: Duration = Duration::from_secs(5);

/// Sessions that are kept alive: what that takes of the servers' processors.
pub async fn sessions(system: &dyn System, plan: &Plan) -> anyhow::Result<Outcome> {
    let target = system.target();
    let opening = Fleet::open(&target, Timed::Sessions.clients(), TTL);
    let mut fleet = bounded(TTL, opening).await??;
    let processes = system.processes();
    // The first round is not measured: it comes right after all were opened.
    fleet.keep(EVERY, Instant::now() + EVERY).await?;
    let before = cpu_seconds(&processes);
    let begun = Instant::now();
    let kept = fleet.keep(EVERY, begun + plan.lasts.max(EVERY)).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let outcome = Outcome {
        seconds,
        pairs: kept.waits.len() as u64,
        p50_ms: super::percentile(&kept.waits, 50),
        p99_ms: super::percentile(&kept.waits, 99),
        server_cpu_seconds: cpu_seconds(&processes).zip(before).map(|(now, then)| now - then),
        ..Outcome::default()
    };
    bounded(DRAIN, fleet.close()).await??;
    Ok(outcome)
}

/// Names that are taken, all at once in use, and given back: the memory of the servers.
pub async fn names(system: &dyn System) -> anyhow::Result<Outcome> {
    let target = system.target();
    let processes = system.processes();
    let before = memory_mib(&processes);
    let begun = Instant::now();
    let mut fleet = Fleet::open(&target, Timed::Names.clients(), LONG_TTL).await?;
    bounded(LONG_TTL, fleet.take(NAMES)).await??;
    let seconds = begun.elapsed().as_secs_f64();
    let in_use = memory_mib(&processes);
    bounded(DRAIN, fleet.close()).await??;
    sleep(SETTLED).await;
    let after = memory_mib(&processes);
    let memory = before.zip(in_use).zip(after);
    Ok(Outcome {
        seconds,
        pairs: NAMES as u64,
        memory_mib: memory.map(|((before, in_use), after)| [before, in_use, after]),
        ..Outcome::default()
    })
}
