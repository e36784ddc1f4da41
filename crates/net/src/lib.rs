//! Runs distributed algorithms between real processes.
//!
//! A [`Machine`] is a process without its types. The *host* of a node runs all its machines on one
//! thread, keeps them on disk, and lets nothing leave before it is there. The *links* carry their
//! messages to the hosts of other nodes. An [`Upper`] is the application that uses the machines.

mod automaton;
mod packet;
mod upper;

pub use automaton::{
    Asked, Automaton, Deed, Foreign, Heard, Input, Machine, Spoken, Stepped, Survival, Told,
    heard_by_oracle, heard_from_election,
};
pub use packet::{Key, Lane, News, Order, Packet};
pub use upper::{Hands, Peer, Upper};
