//! `conclave exec-child`: how `lock` and `elect` start a command. Nobody types this.

use crate::failure::Exit;
use crate::holding;
use std::ffi::OsString;

/// Becomes a command that dies with its parent
#[derive(Debug, clap::Args)]
pub struct ExecChild {
    /// The process to die with
    #[arg(long, value_name = "PID", default_value_t = 0)]
    parent: i32,
    /// Only end this process group when the standard input ends
    #[arg(long, value_name = "GROUP")]
    guard: Option<i32>,
    /// Only hand the terminal to this process group
    #[arg(long, value_name = "GROUP")]
    give_back: Option<i32>,
    /// The command
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Becomes the command, or helps another process that did.
pub fn run(arguments: &ExecChild) -> Exit {
    if let Some(group) = arguments.guard {
        holding::guard(group);
        return Exit::Done;
    }
    if let Some(group) = arguments.give_back {
        holding::give_back(group);
        return Exit::Done;
    }
    holding::exec(arguments.parent, &arguments.command)
}
