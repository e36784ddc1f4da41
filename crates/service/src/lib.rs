//! Locks and leaderships between real nodes, with an HTTP API.

mod config;

pub use config::{Address, Chosen, Config, Tls};
