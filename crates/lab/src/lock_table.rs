//! The lock table of the replicated service as a distributed algorithm, so that model checking can
//! look at it: one coordinator that applies the log, and clients with sessions and leases.
//!
//! The coordinator is the replicated log as one atomic machine: each message that arrives is one
//! entry, applied by [`conclave_table::Table::apply`]. An entry that changes nothing gets no index,
//! so that who repeats a request for ever comes back to the same state.
//!
//! Assumes: A1 a message sent often enough arrives, in any order, perhaps twice; A2 the log loses
//! nothing; A3 who is inside notices in time that its lease runs out, and leaves; A4 who enters
//! also releases.
//!
//! | message     | from, to            | sent when                             | carries              |
//! |-------------|---------------------|---------------------------------------|----------------------|
//! | `Open`      | client, coordinator | it wants to enter and has no session  | session              |
//! | `Ask`       | client, coordinator | it enters, withdraws, leaves; again   | request, body, mark  |
//! | `Keepalive` | client, coordinator | every so often while it has a session | requests it knows    |
//! | `Silent`    | client, coordinator | its lease has run out                 | session              |
//! | `Opened`    | coordinator, client | the session is there                  | session              |
//! | `Granted`   | coordinator, client | it is its turn; asked again           | request, fence       |
//! | `Done`      | coordinator, client | it left, withdrew, or was refused     | request              |
//! | `Alive`     | coordinator, client | a keepalive came                      | session              |
//! | `Gone`      | coordinator, client | there is no such session              | session              |
//!
//! Who has to wait is told nothing: it would do nothing about it but ask again, as it does anyway.
//! Time is not there in model checking, so the lease is a rule about order. `Silent` stands for the
//! lease clock: all keepalives before it are too old now, and the coordinator proposes the expiry.
//! A client that is *running* sends it only when it is outside: it has seen its own deadline first.
//! One that is *paused* (`clients=paused`) sends it at any moment and does not know: then two may
//! be inside, and only fences protect. Besides, after every entry the expiries of a leader are
//! applied that knows an older renewal, or is early: none of them may do anything.
//!
//! Has: mutual exclusion; progress; no starvation; fences, which are indexes of the log. In every
//! state of the table ([`Broken`]): first come, first served; no hold and no place in line of a
//! session that is gone; nobody waits for a lock that is free.

mod client;
mod coordinator;
mod row;
mod witness;

pub use row::{ENTRY, cluster};
pub use witness::Broken;

use client::Client;
use conclave_core::mutex::Mutex;
use conclave_core::{
    Context, Delay, Event, Named, Never, NodeId, Process, Property, Recovery, Ticks,
};
use coordinator::Coordinator;
use serde::{Deserialize, Serialize};

/// A node: a client or the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LockTable {
    /// Somebody who wants to enter.
    Client(Client),
    /// The log, and the table that comes of it.
    Coordinator(Box<Coordinator>),
}

/// What a client asks for in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Wish {
    /// To be let in.
    Acquire,
    /// No longer to wait.
    Cancel { request: u32 },
    /// To leave.
    Release { request: u32, fence: u64 },
}

/// What is said between a client and the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above names what is carried")]
pub enum Message {
    Open { session: u32 },
    Ask { session: u32, request: u32, lowest_open: u32, wish: Wish },
    Keepalive { session: u32, as_of: u32, open: Box<[u32]> },
    Silent { session: u32 },
    Opened { session: u32 },
    Granted { session: u32, request: u32, fence: u64 },
    Done { session: u32, request: u32 },
    Alive { session: u32 },
    Gone { session: u32 },
}

impl Named for Message {
    fn name(&self) -> &'static str {
        match self {
            Self::Open { .. } => "OPEN",
            Self::Ask { wish: Wish::Acquire, .. } => "ACQUIRE",
            Self::Ask { wish: Wish::Cancel { .. }, .. } => "CANCEL",
            Self::Ask { wish: Wish::Release { .. }, .. } => "RELEASE",
            Self::Keepalive { .. } => "KEEPALIVE",
            Self::Silent { .. } => "SILENT",
            Self::Opened { .. } => "OPENED",
            Self::Granted { .. } => "GRANTED",
            Self::Done { .. } => "DONE",
            Self::Alive { .. } => "ALIVE",
            Self::Gone { .. } => "GONE",
        }
    }
}

/// What runs by a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// A client asks again for what was not answered.
    Repeat,
    /// A client says that it is alive.
    Keepalive,
    /// A client's lease runs out.
    Deadline,
    /// The coordinator looks for sessions that nobody keeps alive.
    Sweep,
}

impl Timer {
    /// How long it runs: a lease lasts for several keepalives.
    fn delay(self) -> Delay {
        Delay::exactly(Ticks::units(match self {
            Self::Repeat | Self::Keepalive => 15,
            Self::Deadline | Self::Sweep => 60,
        }))
    }
}

impl Process for LockTable {
    type Provides = Mutex;
    type Uses = Never; // Who is silent is expired, whether it has crashed or not.
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match self {
            Self::Client(client) => client.step(event, ctx),
            Self::Coordinator(coordinator) => coordinator.step(event, ctx),
        }
    }

    /// The log is replicated, so nothing of it is lost. A client comes back as another: it knows
    /// nothing, and what it had in its last session is over when that session is.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(match self {
            Self::Client(client) => Self::Client(client.after_crash()),
            Self::Coordinator(_) => self.clone(),
        })
    }
}

impl LockTable {
    /// The node `me` of so many clients and, behind them, the coordinator.
    pub fn new(me: NodeId, clients: u32, paused: bool) -> Self {
        match me.0 < clients {
            true => Self::Client(Client::new(me, NodeId(clients), paused)),
            false => Self::Coordinator(Box::new(Coordinator::new(clients))),
        }
    }

    /// The property that the table itself has been seen to violate.
    pub fn broken(&self) -> Option<Property> {
        match self {
            Self::Client(_) => None,
            Self::Coordinator(coordinator) => coordinator.broken().map(Broken::property),
        }
    }
}
