//! The lock table: sessions, locks, queues, elections and fenced values as one pure state machine.
//!
//! It is what a consensus engine replicates. Every node applies the same [`Change`]s in the same
//! order and has the same [`Table`], hash for hash. It has no clock: time is the *lease clock*,
//! which comes with each entry of the log ([`LeaseTime`]). It has no reply channels: it answers
//! whoever applies the change, and tells in [`Notice`]s what became of requests that waited.
//!
//! ```
//! use conclave_table::*;
//!
//! let mut table = Table::new(Floor(0));
//! let (alice, bob) = (SessionId([1; 16]), SessionId([2; 16]));
//! for (index, id) in [(1, alice), (2, bob)] {
//!     table.apply(index, LeaseTime(0), &Change::Open(Open::new(id, 10_000)));
//! }
//! let ask = |session, body| Change::Ask(Ask::new(session, RequestId(1), body));
//! let build = || Body::Acquire(Acquire::exclusive("build").waiting(60_000));
//!
//! let first = table.apply(3, LeaseTime(5), &ask(alice, build()));
//! assert_eq!(first.answer.fence(), Some(Fence(3))); // The index of the grant in the log.
//! let second = table.apply(4, LeaseTime(6), &ask(bob, build()));
//! assert_eq!(second.answer, Answer::Waiting { position: 1 });
//!
//! // The release that frees the lock grants it to the next, in one entry of the log.
//! let freed = table.apply(5, LeaseTime(9), &Change::End { session: alice });
//! let granted = freed.notices.iter().find_map(Notice::granted).expect("bob is next");
//! assert_eq!((granted.ticket.session, granted.grants[0].inside.fence), (bob, Fence(5)));
//! ```

mod answer;
mod asking;
mod change;
mod deadlock;
mod election;
mod expiry;
mod force;
mod front;
mod granting;
mod limits;
mod line;
mod lock;
mod names;
mod reduction;
mod requests;
mod session;
mod table;
mod value;
mod view;

pub use answer::{
    Answer, Applied, Ended, Grant, Granted, Held, HoldEnd, Link, Notice, Quota, Refusal, Renewed,
    Senseless, SessionEnd,
};
pub use change::{
    Acquire, Ask, Body, Change, Force, Grace, Mode, Open, OpenRequests, Put, Renewal, WANTS_MAX,
    Want,
};
pub use limits::Limits;
pub use lock::{Entered, Hold, Inside};
pub use names::{
    Fence, Floor, Kind, LeaseTime, Party, Place, RequestId, Resource, SessionId, Text, Ticket,
};
pub use session::Session;
pub use table::{GENESIS, Table, VERSION};
pub use value::Value;
pub use view::{Due, LockView, WaitView};
