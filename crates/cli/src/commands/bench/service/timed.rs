//! Workloads of a set time, on engines of ours and on peers: interleaved runs (each system in turn,
//! several times over), so that whatever else the machine does meanwhile meets all of them.

use super::own::Own;
use crate::load::{
    self, Median, Outcome, Peer, Plan, Running, Runs, Servers, System, Timed, memory_mib,
};
use crate::output::note;
use crate::up::Wanted;
use anyhow::Context;
use conclave_client::Client;
use conclave_load::{Protocol, Target};
use rustix::process::Signal;
use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

/// Load before the first measurement, in runs of one workload. A Java machine compiles what is hot
/// only after thousands of calls, and on the same processors.
const WARM_UP: u32 = 3;
/// What starting took out of a system is over by then.
const REST: Duration = Duration::from_millis(500);
/// How often to look for a signal.
const STEP: Duration = Duration::from_millis(50);

/// What was asked for.
pub struct Asked<'a> {
    pub engines: Vec<String>,
    pub peers: &'a [Peer],
    pub workloads: Vec<Timed>,
    pub nodes: u32,
    pub set: &'a [String],
    pub lasts: Duration,
    pub runs: usize,
    pub kills: usize,
}

/// What can be started.
#[derive(Clone, Debug)]
enum Kind {
    Engine(String),
    Peer(Peer),
}

impl Kind {
    fn name(&self) -> &str {
        match self {
            Self::Engine(engine) => engine,
            Self::Peer(peer) => peer.name(),
        }
    }
}

/// What one run of one system gave.
struct Gave {
    nodes: usize,
    memory: Memory,
    outcomes: Vec<Outcome>,
}

/// How much memory all servers had, in MiB: before the first load, and after the last that killed
/// nobody.
#[derive(Default)]
struct Memory {
    at_rest: Option<f64>,
    after_load: Option<f64>,
}

/// Listens for signals, and keeps the first.
struct Ear<'a> {
    signals: &'a Receiver<Signal>,
    heard: Cell<Option<Signal>>,
}

impl Ear<'_> {
    fn heard(&self) -> Option<Signal> {
        self.heard.set(self.heard.get().or_else(|| self.signals.try_recv().ok()));
        self.heard.get()
    }

    async fn signal(&self) -> Signal {
        loop {
            match self.heard() {
                Some(signal) => return signal,
                None => sleep(STEP).await,
            }
        }
    }
}

/// Runs all of it; the signal if one came first.
pub fn run(
    asked: &Asked<'_>,
    signals: &Receiver<Signal>,
) -> anyhow::Result<Result<Vec<Median>, Signal>> {
    let engines = asked.engines.iter().cloned().map(Kind::Engine);
    let kinds: Vec<Kind> = engines.chain(asked.peers.iter().copied().map(Kind::Peer)).collect();
    let ear = Ear { signals, heard: Cell::new(None) };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut all = empty(asked, &kinds);
    for run in 0..asked.runs {
        for kind in &kinds {
            note(&format!("run {} of {}: {}", run + 1, asked.runs, kind.name()));
            match once(asked, kind, run, &ear, &runtime)? {
                Ok(gave) => keep(&mut all, kind.name(), gave),
                Err(signal) => return Ok(Err(signal)),
            }
        }
    }
    Ok(Ok(load::beside(&all)))
}

/// A place for each workload of each system.
fn empty(asked: &Asked<'_>, kinds: &[Kind]) -> Vec<Runs> {
    let of = |workload: Timed| {
        kinds.iter().map(move |kind| Runs {
            workload,
            system: kind.name().to_string(),
            nodes: 0,
            memory_at_rest: Vec::new(),
            memory_after_load: Vec::new(),
            outcomes: Vec::new(),
        })
    };
    asked.workloads.iter().copied().flat_map(of).collect()
}

fn keep(all: &mut [Runs], system: &str, gave: Gave) {
    let of_system = all.iter_mut().filter(|runs| runs.system == system);
    for (runs, outcome) in of_system.zip(gave.outcomes) {
        runs.nodes = gave.nodes;
        runs.memory_at_rest.extend(gave.memory.at_rest);
        runs.memory_after_load.extend(gave.memory.after_load);
        runs.outcomes.push(outcome);
    }
}

/// One run of one system: started, measured, stopped.
fn once(
    asked: &Asked<'_>,
    kind: &Kind,
    run: usize,
    ear: &Ear<'_>,
    runtime: &Runtime,
) -> anyhow::Result<Result<Gave, Signal>> {
    let Some(mut started) = start(asked, kind, ear)? else {
        return Ok(Err(ear.heard().unwrap_or(Signal::INT)));
    };
    let plan = Plan { run, lasts: asked.lasts, kills: asked.kills };
    let gave = runtime.block_on(async {
        tokio::select! {
            gave = measured(started.system(), &asked.workloads, &plan) => gave.map(Ok),
            signal = ear.signal() => Ok(Err(signal)),
        }
    });
    let gave = gave.with_context(|| kind.name().to_string())?;
    started.stop();
    Ok(gave)
}

async fn measured(
    system: &mut dyn System,
    workloads: &[Timed],
    plan: &Plan,
) -> anyhow::Result<Gave> {
    sleep(REST).await;
    let processes = system.processes();
    let mut memory = Memory { at_rest: memory_mib(&processes), after_load: None };
    load::warm_up(system, plan.lasts * WARM_UP).await.context("warming up")?;
    let mut outcomes = Vec::new();
    for workload in workloads {
        let outcome = load::trial(system, *workload, plan).await;
        let failed = |error: anyhow::Error| Outcome {
            failures: vec![format!("{error:#}")],
            ..Outcome::default()
        };
        outcomes.push(outcome.unwrap_or_else(failed));
        memory.after_load = memory_mib(&processes).or(memory.after_load);
    }
    Ok(Gave { nodes: processes.len(), memory, outcomes })
}

/// A system that was started.
enum Started {
    Own(Box<OwnSystem>),
    Peer(Running),
}

struct OwnSystem {
    own: Own,
    servers: Servers,
    target: Target,
}

/// Nothing if a signal came first.
fn start(asked: &Asked<'_>, kind: &Kind, ear: &Ear<'_>) -> anyhow::Result<Option<Started>> {
    let engine = match kind {
        Kind::Engine(engine) => engine,
        Kind::Peer(peer) => {
            let gives_up = || ear.heard().is_some();
            return Ok(Running::start(*peer, &gives_up)?.map(Started::Peer));
        }
    };
    let wanted = Wanted {
        nodes: Some(asked.nodes),
        engine: Some(engine.clone()),
        election: None,
        detector: None,
        set: asked.set.to_vec(),
        http: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        data: None,
        record: None,
        insecure: false,
        log_format: None,
    };
    let Some((own, servers)) = Own::start(&wanted, ear.signals)? else { return Ok(None) };
    let apis = own.setup.nodes.iter().map(|node| node.api.parse());
    let target = Target { protocol: Protocol::Conclave, servers: apis.collect::<Result<_, _>>()? };
    Ok(Some(Started::Own(Box::new(OwnSystem { own, servers, target }))))
}

impl Started {
    fn system(&mut self) -> &mut dyn System {
        match self {
            Self::Own(own) => &mut **own,
            Self::Peer(peer) => peer,
        }
    }

    /// Stops it, and removes what it wrote.
    fn stop(self) {
        match self {
            Self::Own(own) => own.own.remove(),
            Self::Peer(running) => drop(running),
        }
    }
}

impl System for OwnSystem {
    fn target(&self) -> Target {
        self.target.clone()
    }

    fn processes(&self) -> Vec<u32> {
        self.servers.processes.clone()
    }

    fn leader(&self) -> Option<usize> {
        let cluster = Client::new(&self.servers.addresses).ok()?.cluster().ok()?;
        let number = usize::try_from(cluster.leader?).ok()?;
        number.checked_sub(1).filter(|_| cluster.nodes.len() > 1)
    }

    fn kill(&mut self, index: usize) {
        self.own.kill(index);
    }

    fn restart(&mut self) -> bool {
        let started = self.own.restart();
        self.servers.processes = self.own.processes();
        started
    }
}

impl System for Running {
    fn target(&self) -> Target {
        Running::target(self)
    }

    fn processes(&self) -> Vec<u32> {
        Running::processes(self)
    }

    fn leader(&self) -> Option<usize> {
        Running::leader(self)
    }

    fn kill(&mut self, index: usize) {
        Running::kill(self, index);
    }

    fn restart(&mut self) -> bool {
        false // One death is enough to compare them.
    }
}
