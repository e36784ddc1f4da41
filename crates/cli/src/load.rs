//! Clients that use a lock of a real cluster as hard as they can, and what they saw.

mod at_rest;
mod beside;
mod beside_table;
mod clients;
mod floor;
mod judge;
mod peers;
mod row;
mod servers;
mod table;
mod trial;
mod workload;

pub use beside::{Median, Runs, beside};
pub use beside_table::beside_table;
pub use clients::{Happened, Load, Ran, run};
pub use floor::commits_per_second;
pub use peers::{Peer, Running};
pub use row::Row;
pub use servers::{Servers, memory_mib};
pub use table::table;
pub use trial::{Outcome, Plan, System, trial, warm_up};
pub use workload::{Inside, Kind, TIMED, Timed, Workload};

use row::percentile;
