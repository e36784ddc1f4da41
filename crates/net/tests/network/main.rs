//! Hosts and links on real disks and real sockets.
#![allow(clippy::unwrap_used, reason = "the helpers of tests may fail like tests")]

mod api_tls;
mod host;
mod links;
mod rpc;
