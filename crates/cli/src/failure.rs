//! How a command ends: exit codes, and errors in one line.

mod unknown;

pub use conclave_lab::Usage;

use crate::{Conclave, invocation, texts};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use conclave_client::api::limits::shown;
use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::process::ExitCode;

/// How a command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Done,
    /// Something is not as it should be.
    Failed,
    /// A property was violated: a result, not a failure.
    Violated,
    /// Bounds were reached before anything was found.
    Incomplete,
    /// The code of a command that was run, or one that a command defines.
    Code(u8),
}

impl Exit {
    /// The code for the shell.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => FAILED,
            Self::Violated => 3,
            Self::Incomplete => 4,
            Self::Code(code) => code,
        }
    }
}

const FAILED: u8 = 1;
const USAGE: u8 = 2;

/// So many mistakes are said at once: who reads them mends these first.
const MISTAKES_SHOWN: usize = 30;

/// An address to listen at, for clap: the standard library has words of its own for what is none.
pub fn ip_port(text: &str) -> Result<SocketAddr, Usage> {
    text.parse().map_err(|_| Usage("takes IP:PORT".to_string()))
}

/// All that is wrong with what was typed, to be mended at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes(pub Vec<String>);

impl Mistakes {
    /// One more.
    pub fn add(&mut self, mistake: impl fmt::Display) {
        self.0.push(mistake.to_string());
    }

    /// What was made, or what was wrong with it. Nothing else.
    pub fn or<T>(self, made: Option<T>) -> Result<T, Self> {
        match made {
            Some(made) if self.0.is_empty() => Ok(made),
            Some(_) | None => Err(self),
        }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl Error for Mistakes {}

/// An error that was told before, in another way.
#[derive(Clone, Copy, Debug)]
pub struct Said;

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was said before")
    }
}

impl Error for Said {}

/// Prints an error as one line, or mistakes as one each; what was typed wrongly gives another code
/// than what went wrong.
pub fn report(error: &anyhow::Error) -> ExitCode {
    let usage = error.is::<Usage>()
        || error.downcast_ref().is_some_and(conclave_lab::Error::is_usage)
        || error.is::<conclave_algorithms::Error>()
        || error.is::<conclave_sim::Error>();
    if error.is::<Said>() {
        return ExitCode::from(FAILED);
    }
    if let Some(Mistakes(mistakes)) = error.downcast_ref() {
        say_each(mistakes);
        return ExitCode::from(USAGE);
    }
    match error.downcast_ref().map(conclave_lab::Error::each) {
        Some(several) if several.len() > 1 => say_each(&several),
        Some(_) | None => say(&chain(error)),
    }
    ExitCode::from(if usage { USAGE } else { FAILED })
}

/// One line each; of very many, the first.
fn say_each(mistakes: &[String]) {
    mistakes.iter().take(MISTAKES_SHOWN).for_each(|mistake| say(mistake));
    if let Some(others) = mistakes.len().checked_sub(MISTAKES_SHOWN).filter(|&others| others > 0) {
        say(&format!("and {others} more mistakes"));
    }
}

/// An error in one line, for a log.
pub fn in_words(error: &anyhow::Error) -> String {
    without_numbers(&chain(error))
}

/// The error and what led to it, without saying anything twice: some errors quote their cause.
fn chain(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.is_empty() {
            words = cause;
        } else if !words.ends_with(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

/// Prints what clap has to say: help as it is, an error as one line.
pub fn of_clap(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return match texts::print_help(error) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(FAILED),
        };
    }
    say(&one_line(error));
    ExitCode::from(USAGE)
}

/// An error in one line, whatever is in it.
pub fn say(message: &str) {
    let error = crate::output::bad(texts::remark("error:"));
    let message = without_numbers(message).replace('\n', " ");
    let message = invocation::in_same_language(&texts::remark(&message));
    anstream::eprintln!("{error} {}", shown(&message));
}

/// What the system says of a file or an address, without the number that it has for it.
fn without_numbers(message: &str) -> String {
    let mut pieces = message.split(" (os error ");
    let first = pieces.next().unwrap_or_default().to_string();
    pieces.fold(first, |words, piece| words + piece.split_once(')').map_or("", |(_, rest)| rest))
}

fn one_line(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let flag = argument.split([' ', '=']).next().unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let hint = match text(ContextKind::SuggestedSubcommand) {
        Some(alike) => format!("did you mean {alike}?"),
        None => "see --help".to_string(),
    };
    let command = text(ContextKind::InvalidSubcommand).unwrap_or_default();
    match (error.kind(), error.source()) {
        (ErrorKind::ValueValidation, Some(accepted)) => {
            format!("{flag} {value}: {}", range_in_words(&accepted.to_string()))
        }
        (ErrorKind::InvalidValue, _) => invalid(error, flag, value),
        (ErrorKind::UnknownArgument, _) => unknown(error, flag),
        (ErrorKind::InvalidSubcommand, _) => format!("{command}: no such command; {hint}"),
        (ErrorKind::ArgumentConflict, _) if !flag.is_empty() => {
            match text(ContextKind::PriorArg).and_then(|other| other.split(' ').next()) {
                Some(other) if other != flag => format!("{flag}: does not go with {other}"),
                Some(_) | None => format!("{flag}: cannot be given twice; see --help"),
            }
        }
        (ErrorKind::TooManyValues, _) => format!("{flag} {value}: takes no value"),
        (ErrorKind::MissingRequiredArgument, _) => missing(error, argument),
        (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, _) => {
            format!("a command is missing: {}; see --help", subcommands().join(", "))
        }
        _ => {
            let rendered = error.to_string();
            let first = rendered.lines().next().unwrap_or_default();
            format!("{}; see --help", first.trim_start_matches("error: "))
        }
    }
}

/// What clap says of a range, `30 is not in 1..=20`, in words.
fn range_in_words(accepted: &str) -> String {
    let range = accepted.split_once(" is not in ").and_then(|(_, range)| range.split_once(".."));
    match range {
        Some((first, last)) if !last.is_empty() => {
            format!("takes a whole number from {first} to {}", last.trim_start_matches('='))
        }
        Some((first, _)) => format!("takes a whole number from {first}"),
        // What the library says of a text that is none.
        None if accepted.contains("integer") || accepted.contains("digit") => {
            "takes a whole number".to_string()
        }
        None if accepted.contains("to fit in target type") => "takes a smaller number".to_string(),
        None => accepted.to_string(),
    }
}

/// The commands that can follow what was typed.
fn subcommands() -> Vec<String> {
    let mut command = Conclave::command();
    for word in std::env::args_os().skip(1) {
        if let Some(inner) = command.find_subcommand(word).cloned() {
            command = inner;
        }
    }
    command.get_subcommands().map(|inner| inner.get_name().to_string()).collect()
}

fn missing(error: &clap::Error, argument: &str) -> String {
    match wrapper(&usage_of(error)).filter(|_| argument.starts_with("<CMD>")) {
        Some(typed) => format!("CMD: a command comes after --, as in '{typed} NAME -- CMD'"),
        None => format!("{argument}: is missing; see --help"),
    }
}

fn invalid(error: &clap::Error, flag: &str, value: &str) -> String {
    match error.get(ContextKind::ValidValue) {
        _ if value.is_empty() => format!("{flag}: takes a value; see --help"),
        Some(ContextValue::Strings(valid)) => format!("{flag} {value}: takes {}", valid.join(", ")),
        _ => format!("{flag} {value}: is not understood; see --help"),
    }
}

fn usage_of(error: &clap::Error) -> String {
    match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    }
}

fn unknown(error: &clap::Error, argument: &str) -> String {
    let usage = usage_of(error);
    match wrapper(&usage) {
        _ if argument.starts_with('-') => {
            let hint = unknown::hint(Conclave::command(), &usage, argument);
            format!("{argument}: no such flag; {hint}")
        }
        Some(typed) => {
            format!("{argument}: a command comes after --, as in '{typed} NAME -- CMD'")
        }
        None => format!("{argument}: one argument too many; see --help"),
    }
}

/// The command that was typed, if it runs another one.
fn wrapper(usage: &str) -> Option<String> {
    let is_word = |word: &&str| !word.starts_with(['[', '<', '-']);
    let typed: Vec<&str> = usage.strip_prefix("Usage: ")?.split(' ').take_while(is_word).collect();
    usage.contains("-- <CMD>").then(|| typed.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use std::io;

    #[test]
    fn the_systems_numbers_are_left_out() {
        let error = io::Error::from_raw_os_error(2).to_string();
        assert!(error.contains("(os error 2)"));
        let told = without_numbers(&format!("--dir x: {error}; and: {error}, too"));
        assert!(!told.contains("os error") && told.ends_with(", too"), "{told}");
        assert_eq!(without_numbers("nothing to leave out"), "nothing to leave out");
    }

    #[test]
    fn a_cause_is_said_once() {
        let full = || io::Error::other("no space left");
        let quoting = anyhow::Error::new(full()).context("the disk: no space left");
        assert_eq!(chain(&quoting), "the disk: no space left");
        let plain = Err::<(), _>(full()).context("the disk").unwrap_err();
        assert_eq!(chain(&plain), "the disk: no space left");
    }
}
