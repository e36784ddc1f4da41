//! `conclave elect`: runs a command while leading.

use crate::commands::lock;
use crate::connection::Connection;
use crate::failure::Exit;
use crate::holding::{self, Answer, Holding, Outcome};
use crate::{output, signals};
use conclave_client::api::{Holder, limits};
use conclave_client::{Client, Error, Guard, Wanted};
use std::ffi::OsString;
use std::time::Duration;

/// Stands for an election, and runs a command while leading
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The command finds the number of this leadership in CONCLAVE_FENCE, the name in CONCLAVE_ELECTION.\n\
Ends with the command's own code; 75 if not elected in time, 76 if the leadership was lost.\n\n\
With --hand-over, the candidate with that label leads when the command has ended, ahead of all\n\
others; if nobody with it stands, this one just resigns. To hand over at once, stop the command:\n\
what 'conclave elect' is sent (TERM, INT, HUP, QUIT) it passes on.\n\n\
Examples:\n  \
    conclave elect scheduler -- ./run-scheduler\n  \
    conclave elect scheduler --again -- ./run-scheduler\n  \
    conclave elect scheduler --label blue --hand-over green -- ./run-scheduler")]
pub struct Elect {
    /// The election: letters, digits and . _ : / -
    #[arg(value_name = "NAME")]
    name: String,
    /// How long to stand; without, until elected
    #[arg(long, value_name = "TIME", value_parser = holding::span, allow_hyphen_values = true)]
    wait: Option<Duration>,
    /// Another leads when nothing is heard of this machine for so long; a node may give less
    /// [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = holding::ttl)]
    ttl: Option<Duration>,
    /// Another leads so soon after this process dies: 100ms to 60s (not with a classic engine)
    #[arg(long, value_name = "TIME", value_parser = holding::grace)]
    grace: Option<Duration>,
    #[command(flatten)]
    connection: Connection,
    /// What others see of who stands; without, host, process and command
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// What the leader wants to be known by
    #[arg(long, value_name = "TEXT")]
    value: Option<String>,
    /// When the leadership is lost, stand again
    #[arg(long)]
    again: bool,
    /// When the command ends, let the candidate with this label lead (not with a classic engine)
    #[arg(long, value_name = "LABEL")]
    hand_over: Option<String>,
    /// What to run
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Stands, runs, resigns.
pub fn run(arguments: &Elect) -> anyhow::Result<Exit> {
    let holding = Holding::new(arguments.connection.client()?)?;
    if let Some(typed) = beyond_classic(arguments) {
        holding::needs_replicated(holding.client(), &typed)?;
    }
    let mut silent = false;
    let mut meanwhile = |client: &Client| tell_silence(client, &arguments.name, &mut silent);
    loop {
        let name = arguments.name.clone();
        let wanted = wanted(arguments);
        let ask = move |client: &Client| client.lead(&name, &wanted);
        let guard = match holding.obtain(ask, &mut meanwhile)? {
            Answer::Held(guard) => guard,
            Answer::Stopped(signal) => return Ok(Exit::Code(signals::code(signal))),
            Answer::Refused(error) if holding::is_not_in_time(&error) => {
                let why = reason(&error);
                output::warn(&format!("{}: not elected in time{why}", arguments.name));
                return Ok(Exit::Code(holding::NOT_IN_TIME));
            }
            Answer::Refused(error) => return Err(holding::explained_for(&arguments.name, error)),
        };
        holding::tell_ttl(&arguments.name, arguments.ttl, &guard);
        let environment = environment(&guard);
        match holding.run(&arguments.command, &guard, &environment)? {
            Outcome::Exit(code) => {
                if let Some(to) = &arguments.hand_over {
                    hand_over(guard, to);
                }
                return Ok(Exit::Code(code));
            }
            Outcome::Lost(loss) => {
                output::warn(&format!("{}: the leadership was lost: {loss}", arguments.name));
            }
        }
        if !arguments.again {
            return Ok(Exit::Code(holding::LOST));
        }
    }
}

/// Says so when no node answers any more: without `--wait` this goes on for ever.
fn tell_silence(client: &Client, name: &str, silent: &mut bool) {
    let before = std::mem::replace(silent, holding::is_silent(client));
    if *silent && !before {
        output::warn(&format!("{name}: waiting: no node answers"));
    }
}

/// What was typed that a classic engine does not have.
fn beyond_classic(arguments: &Elect) -> Option<String> {
    let hand_over = arguments.hand_over.as_deref();
    let hand_over = hand_over.map(|to| format!("--hand-over {}", limits::shown(to)));
    hand_over.or_else(|| arguments.grace.map(|grace| format!("--grace {grace:?}")))
}

/// Who leads instead, if that is known.
fn reason(error: &Error) -> String {
    let Error::Refused { failure, .. } = error else { return format!(": {error}") };
    match failure.holders.first() {
        Some(Holder { label, held_ms, .. }) => {
            format!(": {} leads, for {} s", limits::shown(label), held_ms / 1_000)
        }
        None => format!(": {error}"),
    }
}

fn environment(guard: &Guard) -> Vec<(String, String)> {
    let all = [("ELECTION", guard.name().to_string()), ("FENCE", guard.fence().to_string())];
    all.into_iter().map(|(name, value)| (format!("CONCLAVE_{name}"), value)).collect()
}

/// The command is done, so its code stands, whoever leads next.
fn hand_over(mut guard: Guard, to: &str) {
    if let Err(error) = guard.hand_over(to) {
        let name = guard.name(); // It resigns.
        output::warn(&format!("{name}: not handed over to {}: {error}", limits::shown(to)));
    }
}

fn wanted(arguments: &Elect) -> Wanted {
    Wanted {
        wait: arguments.wait,
        ttl: arguments.ttl.unwrap_or(holding::TTL),
        grace: arguments.grace,
        label: Some(arguments.label.clone().unwrap_or_else(|| lock::label(&arguments.command))),
        mode: None,
        permits: None,
        owner: None,
        value: arguments.value.clone(),
    }
}
