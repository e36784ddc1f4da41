//! `conclave up` and what a person does with the cluster: real processes on this machine.

pub mod cluster;
mod data;
mod elections;
mod ends;
mod faults;
mod locks;
mod page;
mod replicated;
