//! Real clusters among strangers, on bad disks and on slow machines. Each trouble gets a clear line
//! or a clear status, and the clients of everybody else notice nothing.

mod access;
mod api_port;
mod cluster_port;
mod disk;
mod greeting;
mod http;
pub mod kit;
mod logs;
mod names;
mod pauses;
pub mod steady;
mod tls;
