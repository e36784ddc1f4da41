//! Locks and leaderships between real nodes, with an HTTP API.

pub mod audit;
mod config;
mod data_watch;
pub mod desk;
pub mod http;
mod node;
mod prepared_api;
mod replicated;
mod replicated_node;
pub mod rights;
pub mod tokens;

pub use conclave_lab::machines::Chosen;
use conclave_lab::machines::{DETECTOR, ELECTION, Hears, LOCK};
pub use config::{Address, ApiAccess, ApiCertificates, Config, Engine, REPLICATED, Tls};
pub use desk::{Command, Desk, DeskConfig};
pub use http::HttpConfig;
pub use node::{NodeError, Running, run};
pub use replicated::{EngineConfig, ReplicatedEngine};
