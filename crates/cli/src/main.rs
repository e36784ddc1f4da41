//! `conclave`: locks, leaders and logical time from the command line.

mod commands;
mod compare;
mod cpu;
mod drawing;
mod failure;
mod files;
mod lang;
mod memory;
mod output;
mod peer;
mod quorum;
mod situation;
mod subject;
mod typing;

use clap::{Parser, Subcommand};
use failure::Exit;
use std::process::ExitCode;

/// Locks, leaders and logical time: run, compare and check the classic algorithms.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  conclave sim ricart-agrawala --nodes 7")]
struct Conclave {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Algorithms(commands::algorithms::Algorithms),
    Bench(commands::bench::Bench),
    Check(Box<commands::check::Check>),
    Compare(commands::compare::Compare),
    Quorum(commands::quorum::Quorum),
    Replay(commands::replay::Replay),
    Scenario(commands::scenario::ScenarioArguments),
    Sim(Box<commands::sim::Sim>),
    Timeout(commands::timeout::Timeout),
}

fn main() -> ExitCode {
    let parsed = match Conclave::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => return failure::of_clap(&error),
    };
    match run(&parsed) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => failure::report(&error),
    }
}

fn run(parsed: &Conclave) -> anyhow::Result<Exit> {
    match &parsed.command {
        None => commands::tour::run(),
        Some(Command::Algorithms(arguments)) => commands::algorithms::run(arguments),
        Some(Command::Bench(arguments)) => commands::bench::run(arguments),
        Some(Command::Check(arguments)) => commands::check::run(arguments),
        Some(Command::Compare(arguments)) => commands::compare::run(arguments),
        Some(Command::Quorum(arguments)) => commands::quorum::run(arguments),
        Some(Command::Replay(arguments)) => commands::replay::run(arguments),
        Some(Command::Scenario(arguments)) => commands::scenario::run(arguments),
        Some(Command::Sim(arguments)) => commands::sim::run(arguments),
        Some(Command::Timeout(arguments)) => commands::timeout::run(arguments),
    }
}
