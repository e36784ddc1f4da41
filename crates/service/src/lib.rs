//! Locks and leaderships between real nodes, with an HTTP API.

mod config;
pub mod desk;
mod engine;
pub mod http;
mod node;
mod settings;

pub use config::{Address, Chosen, Config, Tls};
pub use desk::{Command, Desk, DeskConfig};
pub use engine::{
    DETECTOR, ELECTION, Engine, EngineError, Hears, LOCK, MachineVisitor, Made, visit_machine,
};
pub use http::HttpConfig;
pub use node::{NodeError, run};
pub use settings::Settings;
