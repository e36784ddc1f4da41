//! Real clusters among strangers, on bad disks and on slow machines. Each trouble gets a clear line
//! or a clear status, and the clients of everybody else notice nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api_port;
mod cluster_port;
mod disk;
mod http;
mod kit;
mod names;
mod pauses;
mod steady;
#[path = "../support/mod.rs"]
mod support;
mod tls;
