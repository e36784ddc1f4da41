//! Runs a node until it is told to stop.

use super::panicking;
use super::plan::Plan;
use crate::output;
use anyhow::Context;
use conclave_service::Config;
use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit,
};
use std::future::Future;
use std::io::{self, IsTerminal, Read};
use std::thread;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tracing::{Level, info, warn};

/// Enough for all clients, links and files.
const FILES: u64 = 4_096;

/// Runs the node; returns when it has stopped, cleanly or because of an error.
pub fn start(plan: Plan, die_with_parent: bool) -> anyhow::Result<()> {
    log_to_stderr(plan.level);
    panicking::end_on_panic(plan.config.id);
    for warning in &plan.warnings {
        output::warn(warning);
    }
    raise_file_limit();
    let parent = die_with_parent.then(parent_gone).transpose()?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async { serve(plan.config, stopped(parent)?).await })
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

/// The one place where the service begins.
async fn serve(config: Config, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
    Ok(conclave_service::run(config, shutdown).await?)
}

/// Ends with the first signal that asks for it, or with the parent.
fn stopped(parent: Option<oneshot::Receiver<()>>) -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        let orphaned = async {
            match parent {
                Some(parent) => drop(parent.await),
                None => std::future::pending().await,
            }
        };
        let reason = tokio::select! {
            _ = interrupt.recv() => "interrupted",
            _ = terminate.recv() => "terminated",
            () = orphaned => "the parent is gone",
        };
        info!("stopping: {reason}");
    })
}

/// Says when the standard input ends, which a parent keeps open; and should this process be too
/// busy or stopped to notice, the system ends it when the parent does.
fn parent_gone() -> anyhow::Result<oneshot::Receiver<()>> {
    set_parent_process_death_signal(Some(Signal::KILL)).context("--die-with-parent")?;
    let (gone, parent) = oneshot::channel();
    thread::Builder::new().name("parent".into()).spawn(move || {
        let mut bytes = [0; 64];
        while io::stdin().read(&mut bytes).is_ok_and(|count| count > 0) {}
        let _ = gone.send(());
    })?;
    Ok(parent)
}

/// One line per event.
fn log_to_stderr(level: Level) {
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(level)
        .with_ansi(colour)
        .with_target(false)
        .init();
}
