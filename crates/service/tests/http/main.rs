//! The HTTP API of a cluster within one process.

mod common;
mod http_access;
mod http_connections;
mod http_edges;
mod http_locks;
mod http_page;
