//! The help of commands and flags in the reader's language.

use super::remark;
use crate::lang::Lang;
use clap::builder::StyledStr;
use clap::{Arg, Command};
use conclave_texts::portuguese;
use std::io::Write;

/// A command and all below it, with what it says of itself in the reader's language.
pub fn localized(mut command: Command) -> Command {
    if Lang::spoken() == Lang::En {
        return command;
    }
    command.build(); // Adds what clap itself has to offer, with its help.
    of_command(command)
}

fn of_command(mut command: Command) -> Command {
    if let Some(about) = command.get_about().map(told) {
        command = command.about(about);
    }
    if let Some(about) = command.get_long_about().map(told) {
        command = command.long_about(about);
    }
    if let Some(after) = command.get_after_help().map(told) {
        command = command.after_help(after);
    }
    command.mut_args(of_argument).mut_subcommands(of_command)
}

fn of_argument(mut argument: Arg) -> Arg {
    if let Some(help) = argument.get_help().map(told) {
        argument = argument.help(help);
    }
    if let Some(help) = argument.get_long_help().map(told) {
        argument = argument.long_help(help);
    }
    match argument.get_help_heading().map(|heading| remark(heading).into_owned()) {
        Some(heading) => argument.help_heading(&*heading.leak()), // Once, and few.
        None => argument,
    }
}

fn told(text: &StyledStr) -> String {
    let text = text.to_string();
    portuguese().paragraphs(&text).unwrap_or(text)
}

/// What clap itself writes around our texts. What stands for a value keeps its name in every
/// language, and so do `[OPTIONS]` and `<COMMAND>`: errors and documents know it by that name.
const AROUND: [&str; 8] = [
    "Usage:",
    "Commands:",
    "Arguments:",
    "Options:",
    "Possible values:",
    "[default:",
    "[possible values:",
    "[env:",
];

/// Prints a help that was asked for.
pub fn print_help(error: &clap::Error) -> std::io::Result<()> {
    if Lang::spoken() == Lang::En {
        return error.print();
    }
    let rendered = error.render().ansi().to_string();
    let told = AROUND.iter().fold(rendered, |text, words| text.replace(words, &remark(words)));
    let mut stdout = anstream::stdout();
    stdout.write_all(told.as_bytes()).and_then(|()| stdout.flush())
}
