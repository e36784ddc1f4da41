//! Runs distributed algorithms between real processes.
//!
//! A [`Machine`] is a process without its types. The *host* of a node runs all its machines on one
//! thread, keeps them on disk, and lets nothing leave before it is there. The *links* carry their
//! messages to the hosts of other nodes. An [`Application`] uses the machines.
//!
//! Beside them, [`rpc`] carries requests and answers between nodes that come and go.

mod api_tls;
mod application;
mod automaton;
mod cable;
mod certificates;
mod common_name;
mod fingerprint;
mod histogram;
mod host;
mod link;
mod packet;
mod pem_files;
pub mod random;
mod rate_limited_log;
pub mod recording;
pub mod rpc;
pub mod store;
mod tls;

pub use api_tls::{ApiClient, ApiTls, ClientStream, ServerStream, close_gently};
pub use application::{Application, HostContext, Peer};
pub use automaton::{
    AnyIndication, AnyRequest, Automaton, Deed, Foreign, Heard, Input, Machine, Stepped, Survival,
};
pub use cable::{heal, isolate};
pub use certificates::{
    Authority, CertificateError, Certified, make_authority, make_client, make_node, make_server,
};
pub use fingerprint::{Fingerprint, NoFingerprint};
pub use histogram::{Durations, Histogram};
pub use host::{Host, HostConfig, HostError};
pub use link::{Limits, LinkConfig, LinkError, Links, Past, TEXT_MAX};
pub use packet::{KEY_MAX, Key, Lane, News, Order, Packet};
pub use rate_limited_log::RateLimitedLog;
pub use tls::{Tls, TlsError, TlsFiles, node_name};
