//! Locks and leaderships between real nodes, with an HTTP API.

pub mod audit;
mod config;
mod data_watch;
pub mod desk;
pub mod http;
mod listing;
pub mod metrics;
mod node;
mod node_facts;
mod prepared_api;
pub mod readiness;
mod replicated;
mod replicated_node;
pub mod rights;
pub mod tokens;

pub use conclave_lab::machines::Chosen;
use conclave_lab::machines::{DETECTOR, ELECTION, Hears, LOCK};
pub use config::{Address, ApiAccess, ApiCertificates, Config, Engine, REPLICATED, Tls};
pub use data_watch::DataState;
pub use desk::{Command, Desk, DeskConfig};
pub use http::HttpConfig;
pub use node::{NodeError, Running, run};
pub use node_facts::NodeFacts;
pub use replicated::{EngineConfig, ReplicatedEngine};
