//! What the leader sees of its table, as it tells another node: who holds and who waits, without
//! the secrets of their sessions.

use super::explain::{self, BlockerSeen, ExplanationSeen};
use super::observer::Pace;
use conclave_core::NodeId;
use conclave_table::{
    Fence, Hold, LeaseTime, Mode, Place, Refusal, Resource, Session, SessionId, Table, Text,
    Ticket, WaitView,
};
use serde::{Deserialize, Serialize};

/// A session, as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// Its label.
    pub label: Text,
    /// A short hash of its id.
    pub hash: u32,
}

/// Who holds a lock, or leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderSeen {
    /// Who.
    pub who: Who,
    /// Where its session was last heard of.
    pub at: NodeId,
    /// With which fence.
    pub fence: Fence,
    /// For how long already.
    pub held_ms: u64,
    /// How.
    pub mode: Mode,
    /// With which permit.
    pub slot: u32,
    /// How long its session lives without another keepalive.
    pub lease_ms: u64,
    /// When it ends at the latest, if it was taken away.
    pub ends_in_ms: Option<u64>,
}

/// Who waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaiterSeen {
    /// Who.
    pub who: Who,
    /// Its place in the queue, from 1.
    pub position: u32,
    /// For how long already.
    pub waited_ms: u64,
    /// How long it may still take.
    pub eta_ms: Option<u64>,
    /// To hold it how.
    pub mode: Mode,
}

/// A lock or an election.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockSeen {
    /// Its name.
    pub name: Text,
    /// Who holds it.
    pub holders: Vec<HolderSeen>,
    /// Who waits, in order.
    pub waiters: Vec<WaiterSeen>,
    /// How many may hold it at once.
    pub permits: Option<u32>,
    /// What a leader is known by.
    pub value: Option<Text>,
    /// The index up to which this is known.
    pub index: u64,
    /// The largest fence that can have been granted by then.
    pub up_to: Fence,
    /// Who is in whose way, if that was asked for.
    pub explanation: Option<ExplanationSeen>,
}

/// More about a refusal, or about a use of force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// Who holds what was asked for.
    pub holders: Vec<HolderSeen>,
    /// The place in the queue that the request had, or would have.
    pub position: Option<u32>,
    /// How long it waited.
    pub waited_ms: Option<u64>,
    /// How long it might still have taken.
    pub eta_ms: Option<u64>,
    /// Who waits for whom, all in a circle.
    pub cycle: Vec<BlockerSeen>,
    /// For how long nobody is let in, whatever is free: the cluster was restored from a backup.
    pub quiet_ms: Option<u64>,
}

/// A request that was refused: what it asked for, and where it stood.
#[derive(Clone, Debug, Default)]
pub struct Stood {
    /// What it asked for.
    pub wants: Vec<Resource>,
    /// Where it stood, if it did.
    pub place: Option<Place>,
    /// How long it waited.
    pub waited_ms: Option<u64>,
}

/// So many who hold or wait are shown of one lock, and so many where there are others beside it.
const SHOWN_MAX: usize = 1_000;
const LISTED_MAX: usize = 100;

/// A lock or an election as it is now; free, if nobody holds it or waits.
pub fn seen(table: &Table, resource: &Resource, pace: &Pace, explain: bool) -> LockSeen {
    let explanation = explain.then(|| explain::explain(table, resource, pace.now(table)));
    LockSeen { explanation, ..up_to(SHOWN_MAX, table, resource, pace) }
}

/// The same in brief: one who holds it, and one who waits.
pub fn glanced(table: &Table, resource: &Resource, pace: &Pace) -> LockSeen {
    up_to(1, table, resource, pace)
}

/// One of many.
pub fn listed(table: &Table, resource: &Resource, pace: &Pace) -> LockSeen {
    up_to(LISTED_MAX, table, resource, pace)
}

fn up_to(most: usize, table: &Table, resource: &Resource, pace: &Pace) -> LockSeen {
    let lock = table.lock(resource);
    let now = pace.now(table);
    let holders = lock.iter().flat_map(|lock| &lock.holders).take(most);
    let waiters = lock.iter().flat_map(|lock| &lock.waiters).take(most);
    let leader = lock.iter().flat_map(|lock| &lock.holders).next();
    LockSeen {
        name: resource.name.clone(),
        holders: holders.map(|(ticket, hold)| holder(table, ticket, hold, now)).collect(),
        waiters: (1..)
            .zip(waiters)
            .filter_map(|(position, (place, _))| {
                waiter(table, resource, position, table.waiting(*place)?, pace)
            })
            .collect(),
        permits: table.permits(resource),
        value: leader.and_then(|(_, hold)| hold.value.clone()),
        index: table.index(),
        up_to: Fence(table.floor().0 + table.index()),
        explanation: None,
    }
}

/// More about a refusal of this request.
pub fn details(table: &Table, why: &Refusal, stood: &Stood, pace: &Pace) -> Details {
    let now = pace.now(table);
    let quiet_ms = table.quiet_ms();
    let mut details = Details { waited_ms: stood.waited_ms, quiet_ms, ..Details::default() };
    if let Refusal::Deadlock(links) = why {
        details.cycle = explain::cycle(table, links);
    }
    if !matches!(why, Refusal::Busy | Refusal::TimedOut | Refusal::ModeConflict) {
        return details;
    }
    for resource in &stood.wants {
        let Some(lock) = table.lock(resource) else { continue };
        let holders = lock.holders.iter().map(|(ticket, hold)| holder(table, ticket, hold, now));
        details.holders.extend(holders);
        let earlier = |(place, _): &&(Place, Ticket)| stood.place.is_none_or(|own| *place < own);
        let position = lock.waiters.iter().filter(earlier).count() as u32 + 1;
        details.position = details.position.max(Some(position));
        details.eta_ms = details.eta_ms.max(pace.estimate(resource, position));
    }
    details
}

/// Whose holds were taken away. Those that have ended already are no longer in the table.
pub fn forced(table: &Table, resource: &Resource, pace: &Pace) -> Option<Details> {
    let now = pace.now(table);
    let lock = table.lock(resource)?;
    let holders = lock.holders.iter();
    let holders = holders.map(|(ticket, hold)| holder(table, ticket, hold, now)).collect();
    Some(Details { holders, ..Details::default() })
}

/// A session as others see it.
pub fn who(table: &Table, session: SessionId) -> Who {
    let label = table.session(session).map(|session| session.label.clone()).unwrap_or_default();
    Who { label, hash: short_hash(session) }
}

/// A session in a list, in the words of the API.
pub fn session(id: SessionId, session: &Session, now: LeaseTime) -> conclave_api::SessionSeen {
    conclave_api::SessionSeen {
        label: session.label.to_string(),
        session: format!("{:08x}", short_hash(id)),
        node: session.at.0 + 1,
        ttl_ms: session.ttl_ms,
        lease_ms: session.expires().since(now),
        holds: session.holds() as u64,
        waits: session.waits() as u64,
    }
}

/// What others see of a session id: it says nothing about the id, but tells sessions apart.
pub fn short_hash(session: SessionId) -> u32 {
    (conclave_core::hash(&*super::words::session_text(session)) >> 32) as u32
}

fn holder(table: &Table, ticket: &Ticket, hold: &Hold, now: LeaseTime) -> HolderSeen {
    let session = table.session(ticket.session);
    HolderSeen {
        who: who(table, ticket.session),
        at: session.map_or(NodeId(0), |session| session.at),
        fence: hold.fence,
        held_ms: now.since(hold.since),
        mode: hold.mode,
        slot: hold.slot,
        lease_ms: session.map_or(0, |session| session.expires().since(now)),
        ends_in_ms: hold.revoked.map(|ends| ends.since(now)),
    }
}

fn waiter(
    table: &Table,
    resource: &Resource,
    position: u32,
    wait: WaitView<'_>,
    pace: &Pace,
) -> Option<WaiterSeen> {
    let want = wait.acquire.wants.iter().find(|want| want.resource == *resource)?;
    Some(WaiterSeen {
        who: who(table, wait.ticket.session),
        position,
        waited_ms: pace.now(table).since(wait.since),
        eta_ms: pace.estimate(resource, position),
        mode: want.mode,
    })
}
