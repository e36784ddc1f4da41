//! `conclave mc714`: our processes beside those of a script that speaks the same protocol.

mod clock;
mod coordinator;
mod peers;
#[path = "../support/ports.rs"]
mod ports;
mod ring;
