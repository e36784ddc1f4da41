//! `conclave`: locks, leaders and logical time from the command line.

mod cluster_view;
mod commands;
mod compare;
mod cpu;
mod drawing;
mod failure;
mod flags;
mod holding;
mod invocation;
mod lang;
mod load;
mod local;
mod mc714;
mod memory;
mod node;
mod output;
mod quorum;
mod signals;
mod up;

use clap::{CommandFactory, Parser, Subcommand};
use failure::Exit;
use std::process::ExitCode;

/// Locks, leaders and logical time between real processes; and the classic algorithms that make
/// them, run, compared and checked. Without a command: `up`.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Examples:\n  conclave up\n  conclave sim ricart-agrawala --nodes 7")]
struct Conclave {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Algorithms(commands::algorithms::Algorithms),
    Bench(commands::bench::Bench),
    Cert(commands::cert::Cert),
    Check(Box<commands::check::Check>),
    Compare(commands::compare::Compare),
    Completions(commands::completions::Completions),
    Elect(commands::elect::Elect),
    #[command(hide = true)]
    ExecChild(commands::exec_child::ExecChild),
    Lock(commands::lock::Lock),
    Man(commands::man::ManArguments),
    Node(Box<commands::node::Node>),
    Mc714(Box<commands::mc714::Mc714>),
    Quorum(commands::quorum::Quorum),
    Replay(commands::replay::Replay),
    Scenario(commands::scenario::ScenarioArguments),
    Sim(Box<commands::sim::Sim>),
    Status(commands::status::Status),
    Timeout(commands::timeout::Timeout),
    /// What this is, what it knows, and where to start
    Tour,
    Up(Box<commands::up::Up>),
}

fn main() -> ExitCode {
    let alone = std::env::args_os().len() <= 1;
    let parsed = match alone {
        true => Conclave::try_parse_from(["conclave", "up"]),
        false => Conclave::try_parse(),
    };
    let parsed = match parsed {
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
        Command::Algorithms(arguments) => commands::algorithms::run(arguments),
        Command::Bench(arguments) => commands::bench::run(arguments),
        Command::Cert(arguments) => commands::cert::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments),
        Command::Compare(arguments) => commands::compare::run(arguments),
        Command::Completions(arguments) => {
            commands::completions::run(arguments, &Conclave::command())
        }
        Command::Elect(arguments) => commands::elect::run(arguments),
        Command::ExecChild(arguments) => Ok(commands::exec_child::run(arguments)),
        Command::Lock(arguments) => commands::lock::run(arguments),
        Command::Man(arguments) => commands::man::run(arguments, Conclave::command()),
        Command::Mc714(arguments) => commands::mc714::run(arguments),
        Command::Node(arguments) => commands::node::run(arguments),
        Command::Quorum(arguments) => commands::quorum::run(arguments),
        Command::Replay(arguments) => commands::replay::run(arguments),
        Command::Scenario(arguments) => commands::scenario::run(arguments),
        Command::Sim(arguments) => commands::sim::run(arguments),
        Command::Status(arguments) => commands::status::run(arguments),
        Command::Timeout(arguments) => commands::timeout::run(arguments),
        Command::Tour => commands::tour::run(),
        Command::Up(arguments) => commands::up::run(arguments),
    }
}
