//! `conclave`: locks, leaders and logical time from the command line.

mod cluster_view;
mod commands;
mod compare;
mod connection;
mod cpu;
mod drawing;
mod explanation_view;
mod failure;
mod holding;
mod invocation;
mod lang;
mod load;
mod local;
mod mc714;
mod node;
mod nodes_view;
mod output;
mod quorum;
mod secrets;
mod signals;
mod texts;
mod up;
mod written;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Exit;
use lang::Lang;
use std::ffi::OsString;
use std::process::ExitCode;

/// Locks, leaders and logical time between real processes; and the classic algorithms that make
/// them, run, compared and checked. Without a command: `up`.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "Examples:\n  conclave up\n  conclave sim ricart-agrawala --nodes 7")]
struct Conclave {
    /// The language of what people read [default: as LC_ALL, LC_MESSAGES or LANG says]
    #[arg(long, global = true, display_order = 998)]
    #[arg(value_name = "en|pt", value_parser = Lang::parse)]
    lang: Option<Lang>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Algorithms(commands::algorithms::Algorithms),
    Bench(commands::bench::Bench),
    Cert(commands::cert::Cert),
    Check(Box<commands::check::Check>),
    Cluster(commands::cluster::ClusterArguments),
    Compare(commands::compare::Compare),
    Completions(commands::completions::Completions),
    Elect(commands::elect::Elect),
    #[command(hide = true)]
    ExecChild(commands::exec_child::ExecChild),
    Lab(commands::lab::Lab),
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
    Token(commands::token::Token),
    /// What this is, what it knows, and where to start
    Tour,
    Up(Box<commands::up::Up>),
}

fn main() -> ExitCode {
    conclave_memory::take_small_pages();
    let typed: Vec<OsString> = std::env::args_os().collect();
    texts::decide(&typed);
    let parsed = match parse(typed) {
        Ok(parsed) => parsed,
        Err(error) => return failure::of_clap(&error),
    };
    if parsed.command.computes() {
        conclave_memory::take_pages_as_before();
    }
    match run(&parsed) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => failure::report(&error),
    }
}

impl Command {
    /// Whether it is one of those that take much memory, and all of it at once.
    fn computes(&self) -> bool {
        matches!(
            self,
            Self::Bench(_) | Self::Check(_) | Self::Compare(_) | Self::Scenario(_) | Self::Sim(_)
        )
    }
}

/// What was typed. Nothing at all is `up`, and `help` in front is `--help` at the end.
fn parse(mut typed: Vec<OsString>) -> Result<Conclave, clap::Error> {
    if says_only_a_language(&typed) {
        typed.push("up".into());
    } else if typed.len() <= 1 {
        typed = ["conclave", "up"].map(OsString::from).into();
    } else if typed[1] == "help" {
        typed.remove(1);
        typed.push("--help".into());
    }
    let command = texts::localized(with_negative_numbers(Conclave::command()));
    Conclave::from_arg_matches(&command.try_get_matches_from(typed)?)
}

/// `conclave --lang pt`: what is said is how, and not what.
fn says_only_a_language(typed: &[OsString]) -> bool {
    match typed {
        [_, flag, _] => flag == "--lang",
        [_, flag] => flag.to_string_lossy().starts_with("--lang="),
        _ => false,
    }
}

/// Lets each flag say itself what it takes, where a negative number was typed.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command.allow_negative_numbers(true).mut_subcommands(with_negative_numbers)
}

fn run(parsed: &Conclave) -> anyhow::Result<Exit> {
    match &parsed.command {
        Command::Algorithms(arguments) => commands::algorithms::run(arguments),
        Command::Bench(arguments) => commands::bench::run(arguments),
        Command::Cert(arguments) => commands::cert::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments),
        Command::Cluster(arguments) => commands::cluster::run(arguments),
        Command::Compare(arguments) => commands::compare::run(arguments),
        Command::Completions(arguments) => {
            commands::completions::run(arguments, &Conclave::command())
        }
        Command::Elect(arguments) => commands::elect::run(arguments),
        Command::ExecChild(arguments) => Ok(commands::exec_child::run(arguments)),
        Command::Lab(arguments) => commands::lab::run(arguments),
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
        Command::Token(arguments) => commands::token::run(arguments),
        Command::Tour => commands::tour::run(),
        Command::Up(arguments) => commands::up::run(arguments),
    }
}
