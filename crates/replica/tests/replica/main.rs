//! Several replicas in one process, on loopback: what the cluster keeps, and through what.

mod backup;
mod cluster;
mod founding;
mod kit;
mod leases;
mod measure;
mod members;
mod quick_election;
mod version;
