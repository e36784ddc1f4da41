//! The commands that run, check and compare algorithms on this machine alone, as a user meets them.

mod bench;
mod catalogue;
mod changes;
mod check;
mod compare;
mod conditions;
mod deploy;
mod diagrams;
mod lab;
mod manual;
mod portuguese;
mod quorum;
mod replay;
mod scenario;
mod seeds;
mod sim;
#[path = "../support/mod.rs"]
mod support;
mod timeout;
mod usage;
