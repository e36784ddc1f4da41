//! The client against a server that does what a test tells it to.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cleanup;
mod client;
mod cluster;
mod failover;
mod giving_up;
mod keepalive;
mod streams;

mod support;
mod table;
mod values;

use support as fake;
