//! Clients that use a lock of a real cluster as hard as they can, and what they saw.

mod clients;
mod floor;
mod judge;
mod row;
mod servers;
mod table;

pub use clients::{Happened, Load, Ran, Workload, run};
pub use floor::commits_per_second;
pub use row::Row;
pub use servers::Servers;
pub use table::table;
