//! The words of the HTTP API: requests, answers, error codes and limits, as server, client and
//! `conclave status --json` use them.
//!
//! Times are in milliseconds, nodes count from 1. A session id is a secret: others see a label and
//! a short hash of it.
//!
//! ```
//! use conclave_api::{Acquire, Code, Failure, limits};
//!
//! let request: Acquire = serde_json::from_str(r#"{"session": "5e55", "wait_ms": 500}"#)?;
//! assert_eq!((request.wait_ms, request.permits), (Some(500), None));
//! assert!(limits::name("team/build").is_ok());
//! let failure = Failure::new(Code::Timeout, "'build' could not be had in time");
//! assert_eq!((failure.error.code.status(), failure.error.retry), (409, true));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod acquire;
mod cluster;
#[cfg(test)]
mod described;
mod elections;
mod error;
mod events;
mod explanation;
pub mod limits;
mod locks;
mod members;
mod request;
#[cfg(feature = "schema")]
pub mod schema;
mod sessions;
mod values;
mod whole;

pub use acquire::{Acquire, AcquireAll, Grant, Grants, WantedLock};
pub use cluster::{Cluster, Node};
pub use elections::{Election, Elections, HandOver, HandedOver, Proclaim};
pub use error::{Code, ErrorBody, Failure};
pub use events::LiveEvent;
pub use explanation::{Blocker, Explanation, Wait};
pub use locks::{
    Blocked, Force, Forced, Holder, Lock, Locks, Look, Order, Page, Release, Released, Verified,
    Verify, Waiter, Withdraw, Withdrawn,
};
pub use members::{Member, Members, NewMember, Promote, Transfer};
pub use request::Request;
pub use sessions::{
    Hold, KeepAlive, NewSession, OnDisconnect, Ping, SESSION_HEADER, STREAM_HEADER, Session,
    SessionEnded, SessionPage, SessionSeen, Sessions, StreamBegun,
};
pub use values::{NewValue, Value};
