//! Commands and questions: what the desk can be asked, and how it answers.

use super::Numbered;
use super::refusal::Refusal;
use super::sessions::Kind;
use crate::readiness::Readiness;
use crate::rights::Principal;
use conclave_api as api;
use std::future::Future;
use std::pin::Pin;
use tokio::sync::{broadcast, oneshot};

/// What somebody gets who asked.
pub type Answer<T> = Result<T, Refusal>;

/// Where an answer goes to. That nobody waits there any more is no reason to forget the question.
pub type Reply<T> = oneshot::Sender<Answer<T>>;

/// The events so far, and those to come.
pub struct Feed {
    /// The latest ones, oldest first.
    pub past: Vec<Numbered>,
    /// What happens from now on; some of it may be in `past` too, under the same number.
    pub coming: broadcast::Receiver<Numbered>,
}

/// A client's stream at this node: waits until its session has ended. The stream has ended when
/// this is dropped.
pub struct Attached(pub Pin<Box<dyn Future<Output = api::SessionEnded> + Send>>);

/// How a cluster is to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberChange {
    /// A node joins, without a vote.
    Add(api::NewMember),
    /// A node gets its vote.
    Promote(u32),
    /// A node leaves.
    Remove(u32),
    /// Another node leads; which, if that is said.
    Transfer(Option<u32>),
}

/// What the desk can be asked to do.
pub enum Command {
    /// Open a session.
    OpenSession {
        /// As it was asked for.
        request: api::NewSession,
        /// The id that it will have: 32 hexadecimal digits, drawn at random.
        id: String,
        /// Where the answer goes to.
        reply: Reply<api::Session>,
    },
    /// A session lives.
    KeepAlive {
        /// Which.
        session: String,
        /// What its client says besides.
        request: api::KeepAlive,
        /// Where the answer goes to.
        reply: Reply<api::Session>,
    },
    /// End a session and all that it holds or waits for.
    CloseSession {
        /// Which.
        session: String,
        /// Where the answer goes to.
        reply: Reply<()>,
    },
    /// Take a lock; the answer comes when it is granted or the wait is over.
    Acquire {
        /// Which lock.
        name: String,
        /// As it was asked for.
        request: api::Acquire,
        /// Where the answer goes to.
        reply: Reply<api::Grant>,
    },
    /// Give a lock back.
    Release {
        /// Which lock.
        name: String,
        /// As it was asked for.
        request: api::Release,
        /// Where the answer goes to.
        reply: Reply<api::Released>,
    },
    /// Leave the queue of a lock or an election.
    Withdraw {
        /// Which of the two.
        kind: Kind,
        /// Its name.
        name: String,
        /// The request that waits.
        request_id: String,
        /// Whose it is.
        request: api::Withdraw,
        /// Where the answer goes to.
        reply: Reply<api::Withdrawn>,
    },
    /// Take a lock away from its holder.
    Force {
        /// Which lock.
        name: String,
        /// Why.
        request: api::Force,
        /// Where the answer goes to.
        reply: Reply<api::Forced>,
    },
    /// Stand in an election; the answer comes when it is won or the wait is over.
    Campaign {
        /// Which election.
        name: String,
        /// As it was asked for.
        request: api::Acquire,
        /// Where the answer goes to.
        reply: Reply<api::Grant>,
    },
    /// A leader changes what it is known by.
    Proclaim {
        /// Which election.
        name: String,
        /// As it was asked for.
        request: api::Proclaim,
        /// Where the answer goes to.
        reply: Reply<api::Election>,
    },
    /// A leader steps down.
    Resign {
        /// Which election.
        name: String,
        /// As it was asked for.
        request: api::Release,
        /// Where the answer goes to.
        reply: Reply<api::Released>,
    },
    /// Change it.
    SetValue {
        /// Which.
        name: String,
        /// To what.
        request: api::NewValue,
        /// Where the answer goes to.
        reply: Reply<api::Value>,
    },
    /// The node is about to stop; the answer comes when it may.
    HandOver {
        /// Where the answer goes to.
        reply: Reply<()>,
    },
    /// A command in somebody's name. Without one, nobody has to say who asks.
    By {
        /// Who asks.
        principal: Principal,
        /// What for.
        command: Box<Command>,
    },
    /// What only the replicated engine can do.
    Replicated(Replicated),
    /// Show something; nothing changes.
    Show(Question),
}

impl Command {
    /// This command in the name of whoever asks.
    pub fn by(principal: &Principal, command: Self) -> Self {
        match principal.is_anyone() {
            true => command,
            false => Self::By { principal: principal.clone(), command: Box::new(command) },
        }
    }

    /// The session that it is for.
    pub fn session_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::KeepAlive { session, .. } | Self::CloseSession { session, .. } => Some(session),
            Self::Acquire { request, .. } | Self::Campaign { request, .. } => {
                Some(&mut request.session)
            }
            Self::Release { request, .. } | Self::Resign { request, .. } => {
                Some(&mut request.session)
            }
            Self::Withdraw { request, .. } => Some(&mut request.session),
            Self::Proclaim { request, .. } => Some(&mut request.session),
            Self::By { command, .. } => command.session_mut(),
            Self::OpenSession { .. }
            | Self::Force { .. }
            | Self::SetValue { .. }
            | Self::HandOver { .. }
            | Self::Replicated(_)
            | Self::Show(_) => None,
        }
    }

    /// The command itself, and who asks.
    pub fn opened(self) -> (Principal, Self) {
        let Self::By { principal, command } = self else { return (Principal::default(), self) };
        (principal, *command)
    }
}

/// What only the replicated engine can be asked to do.
pub enum Replicated {
    /// Take several locks, all or none.
    AcquireAll {
        /// As it was asked for.
        request: api::AcquireAll,
        /// Where the answer goes to.
        reply: Reply<api::Grants>,
    },
    /// A leader lets a candidate lead next.
    PassOn {
        /// Which election.
        name: String,
        /// As it was asked for.
        request: api::HandOver,
        /// Where the answer goes to.
        reply: Reply<api::HandedOver>,
    },
    /// A client's stream has begun.
    Attach {
        /// Whose.
        session: String,
        /// Its number.
        stream: u64,
        /// Where the answer goes to.
        reply: Reply<Attached>,
    },
    /// Is this stream still there?
    Ping {
        /// Which.
        request: api::Ping,
        /// Where the answer goes to.
        reply: Reply<()>,
    },
    /// Change who belongs to the cluster, or leads it.
    Members {
        /// How.
        change: MemberChange,
        /// Where the answer goes to.
        reply: Reply<api::Members>,
    },
    /// Make a backup.
    Snapshot {
        /// Where the answer goes to.
        reply: Reply<Vec<u8>>,
    },
    /// Delete a value; its name and fence stay.
    DeleteValue {
        /// Which.
        name: String,
        /// Where the answer goes to.
        reply: Reply<api::Value>,
    },
}

/// What the desk can be asked to show.
pub enum Question {
    /// Is this fence that of the holder?
    Verify {
        /// Of which lock.
        name: String,
        /// As it was asked.
        request: api::Verify,
        /// Where the answer goes to.
        reply: Reply<api::Verified>,
    },
    /// The locks, in pages.
    Locks {
        /// Which page.
        page: api::Page,
        /// Where the answer goes to.
        reply: Reply<api::Locks>,
    },
    /// One lock.
    Lock {
        /// Which.
        name: String,
        /// How.
        look: api::Look,
        /// Where the answer goes to.
        reply: Reply<api::Lock>,
    },
    /// The sessions, or some of them.
    Sessions {
        /// Which.
        page: api::SessionPage,
        /// Where the answer goes to.
        reply: Reply<api::Sessions>,
    },
    /// The elections, in pages.
    Elections {
        /// Which page.
        page: api::Page,
        /// Where the answer goes to.
        reply: Reply<api::Elections>,
    },
    /// One election.
    Election {
        /// Which.
        name: String,
        /// Where the answer goes to.
        reply: Reply<api::Election>,
    },
    /// A value that this node keeps.
    Value {
        /// Which.
        name: String,
        /// Where the answer goes to.
        reply: Reply<api::Value>,
    },
    /// The cluster as this node sees it.
    Cluster {
        /// Where the answer goes to.
        reply: Reply<api::Cluster>,
    },
    /// Who belongs to it.
    Members {
        /// Where the answer goes to.
        reply: Reply<api::Members>,
    },
    /// Whether this node can serve now.
    Ready {
        /// Where the answer goes to.
        reply: Reply<Readiness>,
    },
    /// What happens.
    Events {
        /// Where the answer goes to.
        reply: Reply<Feed>,
    },
    /// Numbers for a monitoring system.
    Metrics {
        /// Where the answer goes to.
        reply: Reply<String>,
    },
}
