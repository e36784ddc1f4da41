//! `conclave lock`: runs a command while holding a lock.

use crate::failure::Exit;
use crate::holding::{self, Answer, Holding, Outcome};
use crate::output;
use crate::signals;
use conclave_client::api::{Failure, Holder, limits};
use conclave_client::{Client, Error, Guard, Wanted};
use std::ffi::OsString;
use std::time::Duration;

/// A node that is well says sooner than this how a lock is.
const GLANCE: Duration = Duration::from_millis(500);

/// Runs a command while holding a lock
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The command finds the number of this entry in CONCLAVE_FENCE, the name in CONCLAVE_LOCK.\n\
Ends with the command's own code; 75 if the lock could not be had in time, 76 if it was lost.\n\n\
Examples:\n  \
    conclave lock build -- make\n  \
    conclave lock demo --wait 5s -- sh -c 'echo $CONCLAVE_FENCE'")]
pub struct Lock {
    /// The lock: letters, digits and . _ : / -
    #[arg(value_name = "NAME")]
    name: String,
    /// How long to wait for it
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = holding::span)]
    wait: Duration,
    /// It is freed when nothing is heard of this machine for so long; a node may give less
    /// [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = holding::ttl)]
    ttl: Option<Duration>,
    /// Where the nodes are; without, CONCLAVE_SERVER or the cluster on this machine
    #[arg(long, value_name = "URL,…")]
    server: Option<String>,
    /// What others see of who holds it; without, host, process and command
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Let others in who want it shared (not with a classic engine)
    #[arg(long)]
    shared: bool,
    /// Let so many in at once (not with a classic engine)
    #[arg(long, value_name = "N")]
    permits: Option<u32>,
    /// What to run
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Acquires, runs, releases.
pub fn run(arguments: &Lock) -> anyhow::Result<Exit> {
    let holding = Holding::new(holding::client(arguments.server.as_deref())?)?;
    let name = arguments.name.clone();
    let wanted = wanted(arguments);
    let ask = move |client: &Client| client.lock(&name, &wanted);
    let mut said = None;
    let meanwhile = |client: &Client| tell_once(client, &arguments.name, &mut said);
    let guard = match holding.obtain(ask, meanwhile)? {
        Answer::Held(guard) => guard,
        Answer::Stopped(signal) => return Ok(Exit::Code(signals::code(signal))),
        Answer::Refused(error) => return refused(arguments, holding.client(), error),
    };
    holding::tell_ttl(&arguments.name, arguments.ttl, &guard);
    let environment = [
        ("CONCLAVE_LOCK", guard.name().to_string()),
        ("CONCLAVE_FENCE", guard.fence().to_string()),
    ];
    match holding.run(&arguments.command, &guard, &environment)? {
        Outcome::Exit(code) => {
            release(guard);
            Ok(Exit::Code(code))
        }
        Outcome::Lost(loss) => {
            output::warn(&format!("{}: the lock was lost: {loss}", arguments.name));
            Ok(Exit::Code(holding::LOST))
        }
    }
}

/// Says what is being waited for, as the nodes know it; and again when it changes.
fn tell_once(client: &Client, name: &str, said: &mut Option<String>) {
    let client = client.glance(GLANCE); // Its connections end with it.
    let here = client.at(client.server());
    let blocked = here.and_then(|here| here.lock_state(name)).ok().and_then(|it| it.blocked_on);
    let (what, words) = match blocked {
        Some(blocked) => {
            (format!("{:?}", blocked.nodes), limits::shown(&blocked.message).into_owned())
        }
        None => match holder_anywhere(&client, name) {
            Some(holder) => (holder.session, format!("held by {}", limits::shown(&holder.label))),
            None => return, // Nobody holds it by now, or at a node that does not answer.
        },
    };
    if said.as_ref() != Some(&what) {
        output::warn(&format!("{name}: waiting: {words}"));
        *said = Some(what);
    }
}

/// Who holds it. A node knows the sessions of its own clients only, so all are asked.
fn holder_anywhere(client: &Client, name: &str) -> Option<Holder> {
    client.servers().iter().find_map(|server| {
        let there = client.at(server).ok()?;
        there.lock_state(name).ok()?.holder
    })
}

fn wanted(arguments: &Lock) -> Wanted {
    Wanted {
        wait: Some(arguments.wait),
        ttl: arguments.ttl.unwrap_or(holding::TTL),
        label: Some(arguments.label.clone().unwrap_or_else(|| label(&arguments.command))),
        mode: arguments.shared.then(|| "shared".to_string()),
        permits: arguments.permits,
        value: None,
    }
}

/// Who this is, for people who wait for it.
pub fn label(command: &[OsString]) -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let program = command.first().map(|program| program.to_string_lossy()).unwrap_or_default();
    limits::as_label(&format!("{host}:{} {program}", std::process::id()))
}

fn refused(arguments: &Lock, client: &Client, error: Error) -> anyhow::Result<Exit> {
    let name = &arguments.name;
    if !holding::is_not_in_time(&error) {
        return Err(holding::explained_for(name, error));
    }
    let failure = error.failure().cloned().map(|mut failure| {
        if failure.holders.is_empty() && failure.blocked_on.is_none() {
            failure.holders.extend(holder_anywhere(&client.glance(GLANCE), name));
        }
        failure
    });
    let why = failure.as_ref().map(reason).unwrap_or_default();
    let why = if why.is_empty() { error.to_string() } else { why };
    output::warn(&format!("{name}: the lock could not be had in time: {why}"));
    Ok(Exit::Code(holding::NOT_IN_TIME))
}

/// What it was waited for: who holds it, who was before, which node is missing.
fn reason(failure: &Failure) -> String {
    let held = failure.holders.first().map(|holder| {
        let seconds = holder.held_ms / 1_000;
        let node = holder.node;
        format!("held by {} at node {node} for {seconds} s", limits::shown(&holder.label))
    });
    let blocked = failure.blocked_on.as_ref();
    let blocked = blocked.map(|blocked| limits::shown(&blocked.message).into_owned());
    let place = failure.position.filter(|place| *place > 1);
    let place = place.map(|place| match failure.eta_ms {
        Some(eta) => format!("place {place} in line, about {} s more", eta.div_ceil(1_000)),
        None => format!("place {place} in line"),
    });
    let parts: Vec<String> = [held, blocked, place].into_iter().flatten().collect();
    parts.join("; ")
}

/// The command is done, so its code stands; but a lock that stays held deserves a word.
fn release(guard: Guard) {
    let name = guard.name().to_string();
    if let Err(error) = guard.release() {
        output::warn(&format!("{name}: not released, held until its time runs out: {error}"));
    }
}
