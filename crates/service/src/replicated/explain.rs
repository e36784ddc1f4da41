//! The wait-for graph around one lock, for people: who is in whose way, and what would help.

use super::answers::quiet;
use super::sights::{Who, who};
use conclave_table::{LeaseTime, Link, LockView, Mode, Place, Resource, Table, Text, WaitView};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// So many who wait are explained; of a longer queue, its head.
const WAITS_MAX: usize = 100;
/// So many who are in the way of each.
const BLOCKERS_MAX: usize = 20;

/// Why a lock is as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplanationSeen {
    /// In one sentence.
    pub message: String,
    /// For each who waits, in order: who is in its way.
    pub waits: Vec<WaitSeen>,
    /// What would let the next one in.
    pub unblocked_by: Vec<String>,
}

/// Somebody who waits, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitSeen {
    /// Who waits.
    pub who: Who,
    /// All that its request asks for.
    pub locks: Vec<Text>,
    /// Who is in its way.
    pub blocked_by: Vec<BlockerSeen>,
}

/// Somebody who is in another's way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockerSeen {
    /// Who.
    pub who: Who,
    /// At which lock.
    pub lock: Text,
    /// By holding it; otherwise, by being earlier in line.
    pub holds: bool,
}

/// Explains a lock.
pub fn explain(table: &Table, resource: &Resource, now: LeaseTime) -> ExplanationSeen {
    let name = &resource.name;
    let unblocked_by: Vec<String> = table.quiet_ms().map(quiet).into_iter().collect();
    let Some(lock) = table.lock(resource) else {
        let message = format!("'{name}' is free: nobody holds it and nobody waits");
        return ExplanationSeen { message, waits: Vec::new(), unblocked_by };
    };
    let head = lock.waiters.iter().take(WAITS_MAX);
    let waits = head.filter_map(|(place, _)| wait(table, *place, table.waiting(*place)?)).collect();
    ExplanationSeen {
        message: sentence(table, resource, &lock, now),
        waits,
        unblocked_by: [unblocked_by, remedies(table, resource, &lock, now)].concat(),
    }
}

/// Those who wait for each other: each with how it is in the way of the one before it.
pub fn cycle(table: &Table, links: &[Link]) -> Vec<BlockerSeen> {
    let seen = |link: &Link| BlockerSeen {
        who: who(table, link.ticket.session),
        lock: link.resource.name.clone(),
        holds: link.holds,
    };
    links.iter().map(seen).collect()
}

fn wait(table: &Table, place: Place, wait: WaitView<'_>) -> Option<WaitSeen> {
    let mut blocked_by = Vec::new();
    for want in &wait.acquire.wants {
        let Some(lock) = table.lock(&want.resource) else { continue };
        if table.admits_at(&want.resource, place) {
            continue;
        }
        blocked_by.extend(blockers(table, &want.resource.name, &lock, place, want.mode));
    }
    blocked_by.truncate(BLOCKERS_MAX);
    let locks = wait.acquire.wants.iter().map(|want| want.resource.name.clone()).collect();
    Some(WaitSeen { who: who(table, wait.ticket.session), locks, blocked_by })
}

/// Who holds it, and who is earlier in line, and cannot be inside together with this one.
fn blockers(
    table: &Table,
    name: &Text,
    lock: &LockView<'_>,
    place: Place,
    mode: Mode,
) -> Vec<BlockerSeen> {
    let excludes = |other: Mode| (mode, other) != (Mode::Shared, Mode::Shared);
    let seen = |session, holds| BlockerSeen { who: who(table, session), lock: name.clone(), holds };
    let holders = lock.holders.iter().filter(|(_, hold)| excludes(hold.mode));
    let holders = holders.map(|(ticket, _)| seen(ticket.session, true));
    let earlier = lock.waiters.iter().take_while(|(other, _)| *other < place);
    let earlier = earlier.map(|(_, ticket)| seen(ticket.session, false));
    holders.chain(earlier).take(BLOCKERS_MAX).collect()
}

fn sentence(table: &Table, resource: &Resource, lock: &LockView<'_>, now: LeaseTime) -> String {
    let name = &resource.name;
    let waiters = lock.waiters.len();
    let mut text = match lock.holders.as_slice() {
        [] => format!("nobody holds '{name}'"),
        [(ticket, hold)] => {
            let label = who(table, ticket.session).label;
            format!("'{label}' has held '{name}' for {}", time(now.since(hold.since)))
        }
        many => format!("{} hold '{name}'", many.len()),
    };
    // Writing to a string cannot fail.
    let _ = match waiters {
        0 => write!(text, ", and nobody waits"),
        1 => write!(text, ", and 1 waits"),
        many => write!(text, ", and {many} wait"),
    };
    text
}

/// What would let the next one in, each a sentence.
fn remedies(
    table: &Table,
    resource: &Resource,
    lock: &LockView<'_>,
    now: LeaseTime,
) -> Vec<String> {
    let Some(&(place, _)) = lock.waiters.first() else { return Vec::new() };
    let mut remedies = Vec::new();
    if table.admits_at(resource, place) {
        remedies.extend(elsewhere(table, place));
    }
    for (ticket, hold) in lock.holders.iter().take(BLOCKERS_MAX) {
        let label = who(table, ticket.session).label;
        let lease = table.session(ticket.session).map(|session| session.expires().since(now));
        remedies.push(match (hold.revoked, lease) {
            (Some(ends), _) => format!(
                "it was taken from '{label}' by force, and ends in {} at the latest",
                time(ends.since(now))
            ),
            (None, Some(lease)) => format!(
                "'{label}' gives it back, ends its session, or is silent for {} more",
                time(lease)
            ),
            (None, None) => format!("'{label}' gives it back"),
        });
    }
    remedies
}

/// The first in line asks for other locks too, and waits for those.
fn elsewhere(table: &Table, place: Place) -> Vec<String> {
    let Some(wait) = table.waiting(place) else { return Vec::new() };
    let others = wait.acquire.wants.iter().filter(|want| !table.admits_at(&want.resource, place));
    let label = who(table, wait.ticket.session).label;
    let sentence = |name: &Text| {
        format!(
            "the first in line, '{label}', also waits for '{name}', and holds nothing until then"
        )
    };
    others.map(|want| sentence(&want.resource.name)).collect()
}

fn time(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min", ms / 60_000),
    }
}
