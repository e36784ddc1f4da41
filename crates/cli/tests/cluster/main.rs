//! The commands that start nodes or talk to them: real processes here, which mostly wait.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api_document;
mod durable;
#[path = "../../../client/tests/client/support.rs"]
mod fake;
#[path = "../../../client/tests/client/table.rs"]
mod fake_cluster;
mod hostile;
mod load;
mod lock;
mod membership;
mod node;
mod node_page;
mod other_user;
#[path = "../support/ports.rs"]
mod ports;
mod readme;
mod recordings;
mod replicated;
mod running;
mod running_command;
#[path = "../support/mod.rs"]
mod support;
mod up;
mod words;
