//! Locks and leaderships of a Conclave cluster, from Rust.
//!
//! A [`Client`] knows where the nodes are. A [`Lease`] is a session kept alive by a thread of its
//! own. A [`Guard`] is a lock held, or a leadership, on such a lease: it gives back what it holds
//! when dropped, and it knows when it is lost before anybody else can be granted the same.
//!
//! ```no_run
//! use conclave_client::{Client, Wanted};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), conclave_client::Error> {
//! let client = Client::new(["127.0.0.1:7070", "127.0.0.1:7071"])?;
//! let wanted = Wanted { wait: Some(Duration::from_secs(30)), ..Wanted::default() };
//! let guard = client.lock("build", &wanted)?;
//! println!("inside with fence {}", guard.fence());
//! // Hand the fence to whatever is protected: it refuses a smaller one than it has seen.
//! assert!(guard.lost().is_none());
//! # Ok(())
//! # }
//! ```

mod asking;
mod calls;
mod cleanup;
mod client;
mod clock;
mod credentials;
mod deadline;
mod error;
mod guard;
mod keepalive;
mod lease;
mod lists;
mod members;
mod obtain;
mod pinned;
mod question;
mod requests;
mod session;
mod stream;
mod watch;

pub use conclave_api as api;

pub use client::Client;
pub use clock::{nap, since_boot};
pub use credentials::Builder;
pub use deadline::LeaseDeadline;
pub use error::Error;
pub use guard::{Guard, Wanted};
pub use lease::Lease;
pub use lists::Known;
pub use watch::{Loss, Watch};
