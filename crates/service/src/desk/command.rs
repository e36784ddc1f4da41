//! Commands and questions: what the desk can be asked, and how it answers.

use super::refusal::Refusal;
use super::sessions::Kind;
use super::{Metrics, Numbered};
use conclave_api as api;
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
    /// Show something; nothing changes.
    Show(Question),
}

/// What the desk can be asked to show.
pub enum Question {
    /// Is this fence that of the holder?
    Verify {
        /// Of which lock.
        name: String,
        /// The fence.
        fence: u64,
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
        /// Where the answer goes to.
        reply: Reply<api::Lock>,
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
    /// The same, as long as this node takes new work.
    Ready {
        /// Where the answer goes to.
        reply: Reply<api::Cluster>,
    },
    /// What happens.
    Events {
        /// Where the answer goes to.
        reply: Reply<Feed>,
    },
    /// Numbers for a monitoring system.
    Metrics {
        /// Where the answer goes to.
        reply: Reply<Metrics>,
    },
}
