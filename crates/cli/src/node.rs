//! One node: what it is told by flags and file, checked as a whole, and started.

mod access;
mod algorithms;
mod file;
mod log;
mod made_with;
mod panicking;
mod peers;
mod plan;
mod start;
mod warnings;

pub use access::AccessFlags;
pub use file::{File, Node, TlsFiles};
pub use plan::{Flags, plan};
pub use start::{HEAL, ISOLATE, start};
