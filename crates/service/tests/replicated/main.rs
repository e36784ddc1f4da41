//! The replicated engine over HTTP: real replicas on loopback, within one process.

mod bodies;
mod common;
mod deployed;
mod elections;
mod failures;
mod locks;
mod metrics;
mod principals;
mod ready;
mod requests;
mod several;
mod streams;
mod views;
