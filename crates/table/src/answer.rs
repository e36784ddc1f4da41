//! Answers to whoever applies a change, and notices of what became of others by it.

use crate::{Fence, Inside, Place, RequestId, Resource, SessionId, Text, Ticket};
use serde::{Deserialize, Serialize};

/// What came of one change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// To whoever asked for it.
    pub answer: Answer,
    /// To all others, in the order in which it happened.
    pub notices: Vec<Notice>,
}

/// The answer to a change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Answer {
    /// It is done, or there was nothing to do.
    Done,
    /// The session, which may have been there before.
    Opened {
        /// Its id.
        session: SessionId,
        /// Its time to live.
        ttl_ms: u64,
    },
    /// For each keepalive, in the same order.
    Renewed(Vec<Renewed>),
    /// All that was asked for, in the same order.
    Granted(Vec<Grant>),
    /// Not yet; a notice will tell.
    Waiting {
        /// The place in the longest of its queues, from 1.
        position: u32,
    },
    /// Given back.
    Released {
        /// How often the holder is still inside.
        holds: u32,
    },
    /// Whose holds were taken away, or will be.
    Forced(Vec<Ticket>),
    /// No, and nothing was changed.
    Refused(Refusal),
}

impl Answer {
    /// How much room the names in it take, with what is known of each.
    pub(crate) fn named_bytes(&self) -> u64 {
        let bytes = |resource: &Resource| 64 + resource.name.len() as u64;
        match self {
            Self::Granted(grants) => grants.iter().map(|grant| bytes(&grant.resource)).sum(),
            Self::Refused(Refusal::Deadlock(cycle)) => {
                cycle.iter().map(|link| bytes(&link.resource)).sum()
            }
            Self::Done
            | Self::Opened { .. }
            | Self::Renewed(_)
            | Self::Waiting { .. }
            | Self::Released { .. }
            | Self::Forced(_)
            | Self::Refused(_) => 0,
        }
    }

    /// The fence of a request for one thing that was granted.
    pub fn fence(&self) -> Option<Fence> {
        if let Self::Granted(grants) = self {
            grants.first().map(|grant| grant.inside.fence)
        } else {
            None
        }
    }
}

/// One of the things that a request was granted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// Which.
    pub resource: Resource,
    /// With which fence.
    pub inside: Inside,
}

/// The answer to one keepalive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Renewed {
    /// It lives on, and these are its holds.
    Alive(Vec<Held>),
    /// There is no such session.
    NoSession,
}

/// A hold as its own session is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Held {
    /// What is held.
    pub resource: Resource,
    /// With which fence.
    pub fence: Fence,
    /// By which request.
    pub request: RequestId,
    /// Whether it was taken away and ends soon: this keepalive gave it no more time.
    pub revoked: bool,
}

/// Why not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The session is not known, or has ended.
    NoSession,
    /// The session's id is another principal's.
    TakenId,
    /// The client said before that it waits for no such answer.
    Forgotten,
    /// The same number was used for another request.
    AnotherRequest,
    /// What is asked for makes no sense in itself.
    Senseless(Senseless),
    /// Somebody is inside, and the request does not wait.
    Busy,
    /// The deadline came first.
    TimedOut,
    /// It was withdrawn before.
    Withdrawn,
    /// The lock is in use with another capacity.
    ModeConflict,
    /// Whoever waits here would wait for itself: each of these waits for the next, and the last for
    /// the first.
    Deadlock(Vec<Link>),
    /// No such request waits there, so it cannot be withdrawn.
    NotWaiting,
    /// It was let in first, so it no longer waits.
    AlreadyGranted,
    /// The session does not hold it with this fence.
    NotHolder,
    /// Nobody with this label stands.
    NoCandidate,
    /// There was a later writer.
    StaleFence {
        /// A fence must be at least this one.
        at_least: Fence,
    },
    /// There was a later stream of the session, or this one has ended already.
    StaleStream,
    /// There is no more room.
    Full(Quota),
}

/// One of those who wait for each other: in the way of the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Link {
    /// Its request, which waits for the next.
    pub ticket: Ticket,
    /// The lock at which it is in the way of the one before it.
    pub resource: Resource,
    /// By holding it; otherwise, by being earlier in line.
    pub holds: bool,
}

/// A request that could not be granted even if all were free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Senseless {
    /// It names nothing, or too much.
    HowMany,
    /// It names something twice.
    NameTwice,
    /// A capacity of 0.
    NoPermits,
    /// To lead is exclusive, and is asked for by itself.
    ElectionAlone,
    /// The rules of the table only ever become later ones.
    Version,
    /// No such fence was granted yet.
    FutureFence,
}

/// Which limit was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Quota {
    /// Sessions.
    Sessions,
    /// Names of locks and elections.
    Names,
    /// Names with the same first segment.
    NamesOfPrefix,
    /// Requests that wait.
    Waiters,
    /// Requests that wait for this lock.
    WaitersOfLock,
    /// Requests of this session that wait or hold.
    RequestsOfSession,
    /// Answers that this session may still ask for.
    OpenOfSession,
    /// Bytes of the answers that all sessions may still ask for.
    AnswersBytes,
    /// Values.
    Values,
    /// Bytes of values.
    ValuesBytes,
}

/// What became of somebody who did not ask just now. The table never waits for anybody to hear it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Notice {
    /// A request was granted.
    Granted(Granted),
    /// A request that waited waits no longer, in vain.
    Left {
        /// Which.
        ticket: Ticket,
        /// What it asked for.
        wants: Vec<Resource>,
        /// Why.
        why: Refusal,
    },
    /// A hold has ended.
    Ended(Ended),
    /// A hold is to end soon.
    Revoked(Ticket, Resource),
    /// A leader is known by something else.
    Proclaimed(Resource, Text),
    /// A session has ended.
    SessionEnded {
        /// Which.
        session: SessionId,
        /// Who opened it.
        principal: Text,
        /// What people saw of it.
        label: Text,
        /// Why.
        why: SessionEnd,
    },
}

impl Notice {
    /// A grant.
    pub fn granted(&self) -> Option<&Granted> {
        if let Self::Granted(granted) = self { Some(granted) } else { None }
    }

    /// A request that would have waited for ever.
    pub fn deadlocked(&self) -> Option<Ticket> {
        if let Self::Left { ticket, why: Refusal::Deadlock(_), .. } = self {
            return Some(*ticket);
        }
        None
    }

    /// A hold that has ended.
    pub fn ended(&self) -> Option<&Ended> {
        if let Self::Ended(ended) = self { Some(ended) } else { None }
    }
}

/// A request that was granted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Granted {
    /// Which.
    pub ticket: Ticket,
    /// The place that it had.
    pub place: Place,
    /// How long it waited, in milliseconds of the lease clock.
    pub waited_ms: u64,
    /// All that it asked for.
    pub grants: Vec<Grant>,
}

/// A hold that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ended {
    /// Whose.
    pub ticket: Ticket,
    /// Of what.
    pub resource: Resource,
    /// The fence that it had.
    pub fence: Fence,
    /// How long it was held.
    pub held_ms: u64,
    /// Why.
    pub why: HoldEnd,
}

/// Why a hold has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HoldEnd {
    /// It was given back.
    Released,
    /// The request that was granted it was withdrawn.
    Withdrawn,
    /// Its client did not know of it any more.
    Unknown,
    /// The leader handed over to a candidate.
    HandedOver,
    /// By force, at once.
    Forced,
    /// It was taken away by force, and its time was up.
    Revoked,
    /// Its session has ended like this.
    Session(SessionEnd),
}

/// Why a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SessionEnd {
    /// Its client said so.
    Closed,
    /// Nothing was heard of it for its time to live.
    Expired,
    /// Its stream was gone for its grace.
    Lapsed,
}
