//! A load generator for lock services: many clients in one thread, each with one connection kept
//! open, that take a lock and give it back as often as they are let in.
//!
//! Generator and servers share the processors of one machine, so the generator has to be cheap, and
//! equally cheap for every system. It has no library of any system in it: each protocol is spoken
//! by hand, as far as the recipe for a lock needs it.
//!
//! ```no_run
//! use conclave_load::{Course, Crew, Load, Protocol, Target};
//! use std::time::Duration;
//!
//! # async fn measured() -> Result<(), conclave_load::Error> {
//! let target = Target { protocol: Protocol::Redis, servers: vec![([127, 0, 0, 1], 6379).into()] };
//! let load = Load { clients: 16, one_lock: true, ..Load::default() };
//! let crew = Crew::open(&target, &load).await?;
//! let course = Course::default();
//! let end = async {
//!     tokio::time::sleep(Duration::from_secs(3)).await;
//!     course.stop();
//! };
//! let (seen, ()) = tokio::join!(crew.work(&course), end);
//! println!("{} pairs, {} hand-offs", seen.pairs(), seen.handoffs);
//! # Ok(())
//! # }
//! ```

mod client;
mod conclave;
mod course;
mod crew;
mod error;
mod etcd;
mod fleet;
mod http;
mod jute;
mod redis;
mod servers;
mod zookeeper;

pub use client::{Client, Protocol, Target, Want};
pub use course::Course;
pub use crew::{Crew, Load, Seen, Work};
pub use error::Error;
pub use fleet::{Fleet, Kept};
