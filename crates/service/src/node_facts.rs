//! Facts of a node that its API tells and no engine knows.

use crate::data_watch::DataState;
use conclave_net::Histogram;
use std::sync::Arc;
use std::time::SystemTime;

/// Facts of a node, for `/readyz` and `/metrics`.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// Its data directory.
    pub data: Arc<DataState>,
    /// When the certificate of its links ends, if it has one.
    pub certificate_end: Option<SystemTime>,
    /// Classic engine: how long the syncs of its disk took.
    pub syncs: Option<Arc<Histogram>>,
}
