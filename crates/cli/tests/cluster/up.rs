//! `conclave up` and what a person does with the cluster: real processes on this machine.

mod cluster;
mod data;
mod elections;
mod ends;
mod faults;
mod locks;
