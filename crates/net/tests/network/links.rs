//! The links of a node on real sockets: what they promise, whom they refuse, and what they endure.

pub mod certified;
mod disks;
mod hostile;
pub mod kit;
mod malleable;
mod proxy;
mod raw;
mod refusals;
mod sessions;
mod tls;
mod transient;
