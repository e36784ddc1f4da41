//! Runs a node until it is told to stop.

use super::log::{self, Format};
use super::panicking;
use super::plan::Plan;
use crate::{failure, output};
use anyhow::Context;
use conclave_service::Config;
use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit,
};
use std::io::{self, BufRead, Read};
use std::num::NonZero;
use std::thread;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{self, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::{info, warn};

/// Enough for all clients, links and files.
const FILES: u64 = 4_096;
/// How often memory is given back that nobody uses.
const HOUSEKEEPING: Duration = Duration::from_secs(2);
/// Most of the work is done in one order, that of the log.
const WORKERS_MAX: usize = 4;

/// What a parent says to cut this node off from the others, and to undo that.
pub const ISOLATE: &str = "isolate";
/// See [`ISOLATE`].
pub const HEAL: &str = "heal";
/// No line of a parent is longer, in bytes.
const LINE_MAX: u64 = 64;

/// Runs the node; returns when it has stopped, cleanly or because of an error.
pub fn start(plan: Plan, die_with_parent: bool) -> anyhow::Result<()> {
    log::to_stderr(plan.level, plan.format, plan.config.id);
    panicking::end_on_panic(plan.config.id, plan.format);
    for warning in &plan.warnings {
        match plan.format {
            Format::Text => output::warn(warning),
            Format::Json => warn!("{warning}"),
        }
    }
    raise_file_limit();
    let parent = die_with_parent.then(parent_gone).transpose()?;
    give_memory_back()?;
    let runtime = Builder::new_multi_thread().worker_threads(workers()).enable_all().build()?;
    let ended = runtime.block_on(async { serve(plan.config, Signals::new()?, parent).await });
    runtime.shutdown_background(); // Nothing is left that somebody waits for.
    match plan.format {
        Format::Text => ended,
        Format::Json => ended.map_err(|error| {
            tracing::error!("{}", failure::in_words(&error));
            failure::Said.into()
        }),
    }
}

/// A request passes through many tasks, one after the other: with a thread for each core they wake
/// each other up all the time, which takes longer than the tasks themselves. The disk has a thread
/// of its own.
fn workers() -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    (cores / 2).clamp(1, WORKERS_MAX)
}

/// What a node took when it had much to do it gives back when it has not.
fn give_memory_back() -> io::Result<()> {
    let give_back = || loop {
        thread::sleep(HOUSEKEEPING);
        conclave_memory::give_back();
    };
    thread::Builder::new().name("memory".into()).spawn(give_back).map(|_| ())
}

/// Each connection of a client takes a file handle. Many systems allow a process 1,024 unless it
/// asks for more, and then idle clients could keep out other nodes.
fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(FILES, |most| most.min(FILES));
    if current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            warn!("the limit of open files cannot be raised to {wanted}: {error}");
        }
    }
}

/// The one place where the service begins. Whoever asks a second time does not want to wait for
/// another node to take over; the disk is as good then as after a crash.
async fn serve(config: Config, mut signals: Signals, parent: Parent) -> anyhow::Result<()> {
    let (stop, stopped) = oneshot::channel();
    let told_twice = async {
        let reason = tokio::select! {
            reason = signals.next() => reason,
            () = gone(parent) => "the parent is gone",
        };
        info!("stopping: {reason}");
        let _ = stop.send(()); // The node may have ended by itself.
        signals.next().await
    };
    tokio::select! {
        ended = conclave_service::run(config, async { drop(stopped.await) }) => Ok(ended?),
        reason = told_twice => {
            warn!("stopped at once: {reason} again");
            Ok(())
        }
    }
}

/// Those that ask a node to stop.
struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "interrupted",
            _ = self.terminate.recv() => "terminated",
        }
    }
}

/// Hears when the parent ends, if there is one to mind.
type Parent = Option<oneshot::Receiver<()>>;

async fn gone(parent: Parent) {
    match parent {
        Some(parent) => drop(parent.await),
        None => std::future::pending().await,
    }
}

/// Says when the standard input ends, which a parent keeps open, and hears what it says. Should the
/// process be too busy or stopped to notice, the system ends it when the parent does.
fn parent_gone() -> anyhow::Result<oneshot::Receiver<()>> {
    set_parent_process_death_signal(Some(Signal::KILL)).context("--die-with-parent")?;
    let (gone, parent) = oneshot::channel();
    thread::Builder::new().name("parent".into()).spawn(move || {
        hear(io::stdin().lock());
        let _ = gone.send(());
    })?;
    Ok(parent)
}

/// Does what the parent says, until it says no more. Only who has started this process can write
/// there: neither a client nor another node reaches it.
fn hear(mut parent: impl BufRead) {
    let mut line = String::new();
    while parent.by_ref().take(LINE_MAX).read_line(&mut line).is_ok_and(|count| count > 0) {
        match line.trim_end() {
            ISOLATE => {
                warn!("isolated: nothing passes between this node and the others");
                conclave_net::isolate();
            }
            HEAL => {
                conclave_net::heal();
                info!("healed: this node can reach the others again");
            }
            other => warn!("the parent says {other:?}, which means nothing here"),
        }
        line.clear();
    }
}
