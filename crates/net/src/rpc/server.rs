//! The server of remote procedure calls: what a node gives whoever asks it.

use super::Purpose;
use conclave_core::NodeId;
use std::future::Future;
use std::pin::Pin;
use tokio::time::Instant;

/// An answer that is being worked on.
pub type Serving = Pin<Box<dyn Future<Output = Vec<u8>> + Send>>;

/// Who wants to connect, by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Introduction {
    /// Its number.
    pub from: NodeId,
    /// Its disk.
    pub disk: u128,
    /// What for.
    pub purpose: Purpose,
    /// It named the disk of this node, which it is never told, or proved by TLS to be a node.
    pub knows_this_disk: bool,
}

/// Answers the requests of other nodes.
pub trait RpcServer: Send + Sync + 'static {
    /// Whether another node may connect; if not, why. The reason goes to this node's log, and to
    /// the other node if it has proved by TLS who it is. Who is admitted is told which disk this
    /// node has.
    fn admit(&self, other: &Introduction) -> Result<(), String>;

    /// What this node says of itself in every greeting: at most [`ABOUT_MAX`](super::ABOUT_MAX)
    /// bytes, of which nobody here knows the meaning.
    fn about(&self) -> Vec<u8>;

    /// Answers one request. It is called in the order in which the requests of a connection came,
    /// and must not take long; what it returns runs in a task of its own, so that a slow answer
    /// delays no other. That is dropped at its deadline, and when whoever asked has given up or is
    /// gone.
    fn serve(&self, from: NodeId, purpose: Purpose, request: Vec<u8>, deadline: Instant)
    -> Serving;
}
