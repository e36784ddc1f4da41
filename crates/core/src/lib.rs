//! The contract between distributed algorithms and whatever runs them: events in, effects out.
//!
//! An algorithm is a [`Process`]: a plain value that takes one [`Event`] at a time and writes what
//! it wants done into a [`Context`]. It knows no clock, no randomness and no I/O, so the simulator,
//! the checker and the network can all run the same code.
//!
//! ```
//! use conclave_core::mutex::{Indication, Mutex, Request};
//! use conclave_core::{Context, Effect, Event, Never, Process, testkit::run};
//! use serde::{Deserialize, Serialize};
//!
//! /// A lock for a cluster of one.
//! #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
//! struct Alone { entries: u64 }
//!
//! impl Process for Alone {
//!     type Provides = Mutex;
//!     type Uses = Never;
//!     type Message = Never;
//!     type Timer = Never;
//!
//!     fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
//!         if let Event::Request(Request::Acquire) = event {
//!             self.entries += 1;
//!             ctx.indicate(Indication::Entered { fence: self.entries });
//!         }
//!     }
//! }
//!
//! let effects = run(&mut Alone { entries: 0 }, Event::Request(Request::Acquire));
//! assert_eq!(effects, [Effect::Indicate(Indication::Entered { fence: 1 })]);
//! ```

mod bounds;
mod cluster;
mod context;
mod encode;
mod facet;
mod fence;
mod node;
mod process;
mod property;
mod shown;
mod stack;
mod story;
mod time;
mod why;

pub mod clock;
mod service;
pub mod testkit;

pub use bounds::{Bounds, Network, Start, Timing};
pub use cluster::{Cluster, Invariant, Links, Normal, Play, Renaming, Snapshot, Symmetry, Winner};
pub use context::{Choices, Context, Script};
pub use encode::{Hasher, encode, hash};
pub use facet::{Facet, FacetKind};
pub use fence::{FENCE_END, FenceLayout};
pub use node::{NodeId, NodeSet};
pub use process::{
    Data, Effect, Event, IndicationFrom, Named, Never, Oracle, Process, Recovery, RequestTo,
    Service,
};
pub use property::{Property, Verdict, Violation};
pub use service::{AnyIndication, AnyRequest, AnyService, detector, election, mutex, timekeeping};
pub use shown::{is_shown, shown};
pub use stack::{Layer, Stack};
pub use story::{Moment, Move, Story};
pub use time::{Delay, Ticks};
pub use why::{Argument, Arguments, Each, Reason, Tellable, Why, Written};
