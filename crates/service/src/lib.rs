//! Locks and leaderships between real nodes, with an HTTP API.

mod config;
mod engine;

pub use config::{Address, Chosen, Config, Tls};
pub use engine::{DETECTOR, ELECTION, Engine, EngineError, Hears, LOCK};
