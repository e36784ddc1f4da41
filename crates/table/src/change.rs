//! Changes: the commands of the replicated state machine, which are the entries of the log.

use crate::{Fence, LeaseTime, Limits, RequestId, Resource, SessionId, Text};
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};

/// The most locks that one request may ask for.
pub const WANTS_MAX: usize = 16;

/// One entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Change {
    /// Time passes, and nothing else: whoever's deadline has come leaves.
    Tick,
    /// Opens a session.
    Open(Open),
    /// Keepalives, many in one entry.
    Renew(Vec<Renewal>),
    /// Ends a session: its client says so.
    End {
        /// Which one.
        session: SessionId,
    },
    /// Ends a session that was silent for its time to live. Void if it was renewed since: the
    /// leader that proposes it may not have seen that.
    Expire {
        /// Which one.
        session: SessionId,
        /// The latest renewal that the proposer knew of.
        if_last_renew: LeaseTime,
    },
    /// The client's stream is there.
    Attach {
        /// Whose.
        session: SessionId,
        /// Its number: chosen by the client, rising.
        stream: u64,
    },
    /// The client's stream has ended. Void if there has been a later one.
    Detach {
        /// Whose.
        session: SessionId,
        /// Which one.
        stream: u64,
    },
    /// Ends a session whose stream was gone for its grace. Void if a stream came since.
    Lapse {
        /// Which one.
        session: SessionId,
        /// The stream that ended last.
        stream: u64,
    },
    /// A request of a session.
    Ask(Ask),
    /// Writes a value, for somebody who does not number its requests. It must not be repeated: it
    /// may come late, after a later write with the same fence.
    Put(Put),
    /// Takes a lock from whoever holds it.
    Force(Force),
    /// Changes the limits, for all nodes at the same index.
    SetLimits(Limits),
    /// The rules of the table become those of a later version.
    RaiseVersion(u32),
}

/// Writes a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Put {
    /// Which one.
    pub name: Text,
    /// The fence of the writer.
    pub fence: Fence,
    /// What it is to be; nothing: name and fence stay.
    pub value: Option<Text>,
}

/// Opens a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Open {
    /// Drawn by whoever proposes it.
    pub session: SessionId,
    /// The node that it came to.
    pub at: NodeId,
    /// Who asks, as the service knows it.
    pub principal: Text,
    /// A repeat of the same principal with the same id gets the session that there is.
    pub opening: Option<Text>,
    /// What people see of it.
    pub label: Text,
    /// It ends when nothing was heard of it for so long, in milliseconds.
    pub ttl_ms: u64,
    /// Whether it also ends soon after its stream does.
    pub on_disconnect: Option<Grace>,
}

impl Open {
    /// A session without a name.
    pub fn new(session: SessionId, ttl_ms: u64) -> Self {
        let nobody = Text::default();
        Self {
            session,
            at: NodeId(0),
            principal: nobody.clone(),
            opening: None,
            label: nobody,
            ttl_ms,
            on_disconnect: None,
        }
    }
}

/// How long a session outlives its stream, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Grace(pub u64);

/// A keepalive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Renewal {
    /// Of which session.
    pub session: SessionId,
    /// The node that it came to.
    pub at: NodeId,
    /// Which requests its client still knows, if it says so.
    pub open: Option<OpenRequests>,
}

/// The requests that a client still knows: those unanswered, and those by which it holds something.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OpenRequests {
    /// The number of the keepalive itself: nothing is said of later requests.
    pub as_of: RequestId,
    /// All of them.
    pub requests: Vec<RequestId>,
}

/// A request of a session, under a number by which it may be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ask {
    /// Whose.
    pub session: SessionId,
    /// Its number.
    pub request: RequestId,
    /// The client waits for no answer to requests below this one.
    pub lowest_open: RequestId,
    /// What it asks for.
    pub body: Body,
}

impl Ask {
    /// A request of a client that still waits for the answers to all earlier ones.
    pub fn new(session: SessionId, request: RequestId, body: Body) -> Self {
        Self { session, request, lowest_open: RequestId(0), body }
    }
}

/// What a session may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    /// To be let in, or to lead.
    Acquire(Acquire),
    /// No longer to wait.
    Cancel {
        /// The request that is withdrawn.
        request: RequestId,
        /// What it must have asked for; if nothing is said, whatever it is.
        of: Option<Resource>,
        /// Whether what came of it is given back, too. Otherwise a grant that came first stays.
        granted_too: bool,
    },
    /// To leave, or to resign.
    Release {
        /// What is given back.
        resource: Resource,
        /// The fence it was granted with.
        fence: Fence,
        /// The request that was granted; if nothing is said, the latest of those with this fence.
        hold: Option<RequestId>,
    },
    /// To be known by something else from now on.
    Proclaim {
        /// Which election.
        election: Resource,
        /// The fence of the leader.
        fence: Fence,
        /// What it is known by.
        value: Text,
    },
    /// To let a named candidate lead next, ahead of the queue.
    HandOver {
        /// Which election.
        election: Resource,
        /// The fence of the leader.
        fence: Fence,
        /// The label of the candidate's session.
        to: Text,
    },
    /// To write a value. The fence decides whether it may; under a number it does so once.
    Put(Put),
}

impl Body {
    /// To withdraw a request, whatever it asked for and whatever came of it.
    pub fn cancel(request: RequestId) -> Self {
        Self::Cancel { request, of: None, granted_too: true }
    }
}

/// How something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// By one.
    Exclusive,
    /// By all who share it, while nobody holds it exclusively.
    Shared,
    /// By so many at once.
    Permits(u32),
}

/// One of the things that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Want {
    /// Which.
    pub resource: Resource,
    /// How.
    pub mode: Mode,
}

/// A request to be let in: to all that it names, or to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Acquire {
    /// What it asks for; no name twice.
    pub wants: Vec<Want>,
    /// How long it waits, in milliseconds of the lease clock; 0: not at all.
    pub wait_ms: u64,
    /// The thread of control that asks. It may enter again what it holds.
    pub owner: Option<Text>,
    /// What a leader wants to be known by.
    pub value: Option<Text>,
}

impl Acquire {
    /// One lock, for oneself.
    pub fn exclusive(name: &str) -> Self {
        Self::of(Resource::lock(name), Mode::Exclusive)
    }

    /// To lead.
    pub fn campaign(name: &str, value: &str) -> Self {
        let value = Some(value.into());
        Self { value, ..Self::of(Resource::election(name), Mode::Exclusive) }
    }

    /// One thing.
    pub fn of(resource: Resource, mode: Mode) -> Self {
        Self { wants: vec![Want { resource, mode }], wait_ms: 0, owner: None, value: None }
    }

    /// And another, in the same request.
    pub fn and(mut self, resource: Resource, mode: Mode) -> Self {
        self.wants.push(Want { resource, mode });
        self
    }

    /// Waits for so many milliseconds.
    pub fn waiting(self, wait_ms: u64) -> Self {
        Self { wait_ms, ..self }
    }

    /// On behalf of one thread of control.
    pub fn owned_by(self, owner: &str) -> Self {
        Self { owner: Some(owner.into()), ..self }
    }
}

/// Takes a lock from whoever holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Force {
    /// Which one.
    pub resource: Resource,
    /// Whoever asks has seen the holders up to this fence. Who was let in since is not meant: force
    /// may come late.
    pub up_to: Fence,
    /// At once, though the holder may still believe that it is inside: then only its fence
    /// protects.
    pub now: bool,
    /// Who uses it, for the audit logs of all nodes.
    pub by: Text,
    /// And why.
    pub reason: Text,
}

impl Force {
    /// From holders up to this fence, who keep it for as long as they may not have noticed; in
    /// nobody's name.
    pub fn of(resource: Resource, up_to: Fence) -> Self {
        Self { resource, up_to, now: false, by: Text::default(), reason: Text::default() }
    }
}
