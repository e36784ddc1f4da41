//! A model checker: looks at every run of a distributed algorithm within stated bounds.
//!
//! Safety is judged in every state (`safety`), deadlock in terminal states (`deadlock`), starvation
//! in fair cycles (`starvation`, `fairness`). `search` is the breadth-first search of the state
//! space, `partial_order` and `symmetry` are its reductions, and `counterexample` tells how a
//! property was violated.
//!
//! ```
//! use conclave_check::{Checkable, Limits};
//! use conclave_core::mutex::{Indication, Mutex, Request};
//! use conclave_core::{Bounds, Cluster, Context, Event, Never, Process, Property, Verdict};
//! use serde::{Deserialize, Serialize};
//!
//! /// A lock that lets everybody in.
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
//! struct Open;
//!
//! impl Process for Open {
//!     type Provides = Mutex;
//!     type Uses = Never;
//!     type Message = Never;
//!     type Timer = Never;
//!
//!     fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
//!         if let Event::Request(Request::Acquire) = event {
//!             ctx.indicate(Indication::Entered { fence: 1 });
//!         }
//!     }
//! }
//!
//! let cluster = Cluster::of_equals(2, |_| Open);
//! let report = cluster.check(&Bounds::default(), &Limits::default(), &|_| {});
//! assert_eq!(report.verdict(Property::S1), Verdict::Violated);
//! let story = report.story(Property::S1).expect("how it was broken");
//! assert_eq!(story.moments.len(), 2); // One asks and enters, and so does the other.
//! ```

mod acyclic;
mod checker;
mod counterexample;
mod deadlock;
mod explorer;
mod fairness;
mod global;
mod intern;
mod local;
mod machine;
mod moves;
mod outcome;
mod partial_order;
mod poison;
mod report;
mod safety;
mod search;
mod space;
mod starvation;
mod state;
mod state_graph;
mod strongly_connected;
mod symmetry;
#[cfg(test)]
mod testkit;
mod violations;
mod visited;
mod vocabulary;
mod workings;

pub use checker::Checkable;
pub use report::{Interrupt, Limits, Progress, Reduction, Report, Stop};
pub use vocabulary::{Ask, Explored, Family, Word};

/// Sets of nodes are kept in 64 bits.
pub const NODES_MAX: u32 = 64;

/// There is a state to begin with for every set of initiators: 2^n of them.
pub const INITIATORS_MAX: u32 = 16;
