//! The replicated engine over HTTP: real replicas on loopback, within one process.

mod common;
mod elections;
mod failures;
mod locks;
mod principals;
mod requests;
mod several;
mod streams;
mod views;
