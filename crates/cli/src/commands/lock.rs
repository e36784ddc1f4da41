//! `conclave lock`: runs a command while holding a lock.

use crate::connection::Connection;
use crate::failure::{Exit, Usage};
use crate::holding::{self, Answer, Holding, Outcome};
use crate::output;
use crate::signals;
use conclave_client::api::{AcquireAll, Blocked, Code, Failure, Grant, Holder, WantedLock, limits};
use conclave_client::{Client, Error, Guard, Wanted};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

/// Runs a command while holding a lock, or several
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The command finds the number of this entry in CONCLAVE_FENCE, the name in CONCLAVE_LOCK.\n\
Of several locks these are the first's; CONCLAVE_FENCES and CONCLAVE_LOCKS have all, with blanks\n\
between them, and CONCLAVE_FENCE_2 is that of the second. Who has one of several permits finds\n\
which one in CONCLAVE_SLOT.\n\
Ends with the command's own code; 75 if the lock could not be had in time, 76 if it was lost.\n\n\
Examples:\n  \
    conclave lock build -- make\n  \
    conclave lock demo --wait 5s -- sh -c 'echo $CONCLAVE_FENCE'\n  \
    conclave lock accounts/7 accounts/9 -- ./transfer\n  \
    conclave lock licence --permits 3 -- ./simulate")]
pub struct Lock {
    /// The lock: letters, digits and . _ : / -; several are held all or none (not with a classic
    /// engine)
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// How long to wait for it
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = holding::span)]
    #[arg(allow_hyphen_values = true)] // It is told what it takes.
    wait: Duration,
    /// It is freed when nothing is heard of this machine for so long; a node may give less
    /// [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = holding::ttl)]
    ttl: Option<Duration>,
    /// It is freed so soon after this process dies: 100ms to 60s (not with a classic engine)
    #[arg(long, value_name = "TIME", value_parser = holding::grace)]
    grace: Option<Duration>,
    #[command(flatten)]
    connection: Connection,
    /// What others see of who holds it; without, host, process and command
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Let others in who want it shared (not with a classic engine)
    #[arg(long, conflicts_with = "permits")]
    shared: bool,
    /// Let so many in at once (not with a classic engine)
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(limits::PERMITS_MAX)))]
    permits: Option<u32>,
    /// What to run
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Acquires, runs, releases.
pub fn run(arguments: &Lock) -> anyhow::Result<Exit> {
    let wanted = wanted(arguments);
    let locks = locks(arguments, &wanted)?;
    let holding = Holding::new(arguments.connection.client()?)?;
    let name = arguments.names.join(", ");
    if let Some(typed) = beyond_classic(arguments) {
        holding::needs_replicated(holding.client(), &typed)?;
    }
    let ask = move |client: &Client| match &*locks {
        [lock] => client.lock(&lock.name, &wanted),
        locks => client.lock_all(locks, &wanted),
    };
    let mut said = BTreeMap::new();
    let meanwhile = |client: &Client| {
        arguments.names.iter().for_each(|name| tell_once(client, name, &mut said));
    };
    let guard = match holding.obtain(ask, meanwhile)? {
        Answer::Held(guard) => guard,
        Answer::Stopped(signal) => return Ok(Exit::Code(signals::code(signal))),
        Answer::Refused(error) => return refused(arguments, holding.client(), error),
    };
    holding::tell_ttl(&name, arguments.ttl, &guard);
    let environment = environment(guard.grants());
    match holding.run(&arguments.command, &guard, &environment)? {
        Outcome::Exit(code) => {
            release(guard);
            Ok(Exit::Code(code))
        }
        Outcome::Lost(loss) => {
            output::warn(&format!("{name}: the lock was lost: {loss}"));
            Ok(Exit::Code(holding::LOST))
        }
    }
}

/// What is asked for. A mistake is told before anybody is asked.
fn locks(arguments: &Lock, wanted: &Wanted) -> Result<Vec<WantedLock>, Usage> {
    let lock = |name: &String| WantedLock {
        name: name.clone(),
        mode: wanted.mode.clone(),
        permits: wanted.permits,
    };
    let locks: Vec<WantedLock> = arguments.names.iter().map(lock).collect();
    let twice = |(place, name): &(usize, &String)| arguments.names[..*place].contains(name);
    if let Some((_, name)) = arguments.names.iter().enumerate().find(twice) {
        return Err(Usage(format!("{name}: is named twice")));
    }
    if locks.len() > 1 {
        let all = AcquireAll { locks: locks.clone(), ..AcquireAll::default() };
        limits::wanted(&all).map_err(|error| Usage(error.to_string()))?;
    }
    Ok(locks)
}

/// What was typed that a classic engine does not have.
fn beyond_classic(arguments: &Lock) -> Option<String> {
    match arguments {
        Lock { shared: true, .. } => Some("--shared".to_string()),
        Lock { permits: Some(permits), .. } => Some(format!("--permits {permits}")),
        Lock { names, .. } if names.len() > 1 => Some(names.join(" ")),
        Lock { grace: Some(grace), .. } => Some(format!("--grace {grace:?}")),
        Lock { .. } => None,
    }
}

/// What the command finds of what is held.
fn environment(grants: &[Grant]) -> Vec<(String, String)> {
    let joined = |part: fn(&Grant) -> String| grants.iter().map(part).collect::<Vec<_>>().join(" ");
    let names = joined(|grant| grant.name.clone());
    let fences = joined(|grant| grant.fence.to_string());
    let mut all = vec![("LOCKS".to_string(), names), ("FENCES".to_string(), fences)];
    for (place, grant) in (1..).zip(grants) {
        all.push((format!("FENCE_{place}"), grant.fence.to_string()));
    }
    if let Some(first) = grants.first() {
        all.push(("LOCK".to_string(), first.name.clone()));
        all.push(("FENCE".to_string(), first.fence.to_string()));
        all.extend(first.slot.map(|slot| ("SLOT".to_string(), slot.to_string())));
    }
    all.into_iter().map(|(name, value)| (format!("CONCLAVE_{name}"), value)).collect()
}

/// Says what is being waited for, as the nodes know it; and again when it changes.
fn tell_once(client: &Client, name: &str, said: &mut BTreeMap<String, String>) {
    let client = client.glance(holding::GLANCE); // Its connections end with it.
    let here = client.at(client.server()).and_then(|here| here.lock_glance(name)).ok();
    let (blocked, holder) = here.map(|it| (it.blocked_on, it.holder)).unwrap_or_default();
    let holder = match blocked {
        Some(_) => None,
        None => holder.or_else(|| holder_anywhere(&client, name)),
    };
    let unheard = || holder.is_none().then(|| holding::unheard(&client)).flatten();
    let (what, told) = match (blocked.or_else(unheard), holder) {
        (Some(blocked), _) => (format!("{:?}", blocked.nodes), words(&blocked)),
        (None, Some(holder)) => {
            (holder.session, format!("held by {}", limits::shown(&holder.label)))
        }
        (None, None) if holding::is_silent(&client) => {
            (String::new(), "no node answers".to_string())
        }
        (None, None) => return, // Nobody holds it by now.
    };
    if said.get(name) != Some(&what) {
        output::warn(&format!("{name}: waiting: {told}"));
        said.insert(name.to_string(), what);
    }
}

/// What it is blocked on, without the word that is said anyway.
fn words(blocked: &Blocked) -> String {
    let message = limits::shown(&blocked.message);
    message.strip_prefix("waiting; ").unwrap_or(&message).to_string()
}

/// Who holds it. A node knows the sessions of its own clients only, so all are asked.
fn holder_anywhere(client: &Client, name: &str) -> Option<Holder> {
    client.servers().iter().find_map(|server| {
        let there = client.at(server).ok()?;
        there.lock_glance(name).ok()?.holder
    })
}

fn wanted(arguments: &Lock) -> Wanted {
    Wanted {
        wait: Some(arguments.wait),
        ttl: arguments.ttl.unwrap_or(holding::TTL),
        grace: arguments.grace,
        label: Some(arguments.label.clone().unwrap_or_else(|| label(&arguments.command))),
        mode: arguments.shared.then(|| "shared".to_string()),
        permits: arguments.permits,
        owner: None,
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
    let name = &arguments.names.join(", ");
    if !holding::is_not_in_time(&error) {
        return Err(holding::explained_for(name, error));
    }
    let failure = error.failure().cloned().map(|mut failure| {
        if failure.holders.is_empty() && failure.blocked_on.is_none() {
            let client = client.glance(holding::GLANCE);
            let mut names = arguments.names.iter();
            failure.holders.extend(names.find_map(|name| holder_anywhere(&client, name)));
            let nobody = failure.holders.is_empty();
            failure.blocked_on = nobody.then(|| holding::unheard(&client)).flatten();
        }
        failure
    });
    let why = failure.as_ref().map(reason).unwrap_or_default();
    let own_words = why.is_empty() || error.says(Code::ModeConflict);
    let why = match own_words {
        true if says_no_more(&error) => String::new(),
        true => format!(": {error}"),
        false => format!(": {why}"),
    };
    output::warn(&format!("{name}: the lock could not be had in time{why}"));
    Ok(Exit::Code(holding::NOT_IN_TIME))
}

/// Whether a refusal only says that the time was over: why, nobody knows.
fn says_no_more(error: &Error) -> bool {
    let plain = |failure: &Failure| failure.error.message.ends_with("could not be had in time");
    error.says(Code::Timeout) && error.failure().is_some_and(plain)
}

/// What it was waited for: who holds it, who was before, which node is missing.
fn reason(failure: &Failure) -> String {
    let held = failure.holders.first().map(|holder| {
        let seconds = holder.held_ms / 1_000;
        let label = limits::shown(&holder.label);
        match holder.node {
            Some(node) => format!("held by {label} at node {node} for {seconds} s"),
            None => format!("held by {label} for {seconds} s"),
        }
    });
    let blocked = failure.blocked_on.as_ref();
    let blocked = blocked.map(words);
    // Who did not want to wait was never in line.
    let waited = failure.error.code != Code::Held;
    let place = failure.position.filter(|place| *place > 1 && waited);
    let place = place.map(|place| match failure.eta_ms {
        Some(eta) => format!("place {place} in line, about {} s more", eta.div_ceil(1_000)),
        None => format!("place {place} in line"),
    });
    let parts: Vec<String> = [held, blocked, place].into_iter().flatten().collect();
    parts.join("; ")
}

/// The command is done, so its code stands; but a lock that stays held deserves a word.
fn release(guard: Guard) {
    let names: Vec<&str> = guard.grants().iter().map(|grant| &*grant.name).collect();
    let name = names.join(", ");
    if let Err(error) = guard.release() {
        output::warn(&format!("{name}: not released, held until its time runs out: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(name: &str, fence: u64, slot: Option<u32>) -> Grant {
        Grant {
            name: name.to_string(),
            fence,
            cluster_id: String::new(),
            generation: None,
            node: 1,
            slot,
            holds: 1,
            waited_ms: 0,
            term: None,
            released: false,
        }
    }

    #[test]
    fn the_command_finds_every_fence() {
        let found = environment(&[grant("a", 5, None), grant("b", 7, None)]);
        let found: BTreeMap<String, String> = found.into_iter().collect();
        let all = [
            ("CONCLAVE_LOCK", "a"),
            ("CONCLAVE_FENCE", "5"),
            ("CONCLAVE_LOCKS", "a b"),
            ("CONCLAVE_FENCES", "5 7"),
            ("CONCLAVE_FENCE_1", "5"),
            ("CONCLAVE_FENCE_2", "7"),
        ];
        assert_eq!(found.len(), all.len());
        for (name, value) in all {
            assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}");
        }
        let found = environment(&[grant("a", 5, Some(2))]);
        assert!(found.contains(&("CONCLAVE_SLOT".to_string(), "2".to_string())));
    }
}
