//! `conclave up` and what a person does with the cluster: real processes on this machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cluster;
mod data;
mod elections;
mod ends;
mod faults;
mod locks;
#[path = "../support/mod.rs"]
mod support;
