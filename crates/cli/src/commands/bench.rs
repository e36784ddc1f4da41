//! `conclave bench`: how fast, against something measured in the same run.

mod check;
mod service;
mod sim;

use crate::failure::Exit;
use indicatif::{ProgressBar, ProgressStyle};

/// Benchmarks, each against something measured in the same run
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave bench sim")]
pub struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Check(check::Check),
    Service(Box<service::Service>),
    Sim(sim::Sim),
}

/// Runs the benchmark that was asked for.
pub fn run(arguments: &Bench) -> anyhow::Result<Exit> {
    match &arguments.what {
        What::Check(arguments) => check::run(arguments),
        What::Service(arguments) => service::run(arguments),
        What::Sim(arguments) => sim::run(arguments),
    }
}

/// Measures one after the other, and shows how far it has come.
fn measure_all<T, R>(
    runs: &[T],
    mut measure: impl FnMut(&T) -> anyhow::Result<R>,
) -> anyhow::Result<Vec<R>> {
    let progress = ProgressBar::new(runs.len() as u64);
    progress.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} measured")?);
    progress.tick();
    let measured = |run| {
        let row = measure(run);
        progress.inc(1);
        row
    };
    let rows = runs.iter().map(measured).collect();
    progress.finish_and_clear();
    rows
}
