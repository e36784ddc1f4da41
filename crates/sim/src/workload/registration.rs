//! Registration of requests, for bounded waiting (`BW`): follows the messages of each request.

use crate::metrics::same;
use conclave_core::NodeId;
use conclave_core::mutex::Monitor;

/// Follows the messages that each request sends until all have arrived: then it is registered, and
/// `BW` begins to count. What is passed on afterwards is the algorithm's own business.
pub(crate) struct Registration {
    /// What a request sends; there is one such kind in every algorithm.
    kind: Option<&'static str>,
    /// By node: how many of those are under way.
    under_way: Vec<u32>,
}

impl Registration {
    pub fn new(n: u32) -> Self {
        Self { kind: None, under_way: vec![0; n as usize] }
    }

    /// A request sends a message.
    #[inline]
    pub fn sent(&mut self, from: NodeId, kind: &'static str) {
        if self.kind.is_none() {
            self.kind = Some(kind);
        }
        self.under_way[from.index()] += u32::from(self.follows(kind));
    }

    /// A request was made; what it sends is under way by now.
    #[inline]
    pub fn made(&self, monitor: &mut Monitor, node: NodeId) {
        if self.under_way[node.index()] == 0 {
            monitor.registered(node);
        }
    }

    /// A message arrives, perhaps the last of a request.
    #[inline]
    pub fn arrived(&mut self, monitor: &mut Monitor, from: NodeId, kind: &'static str) {
        // Token algorithms may ask without a word.
        if self.kind.is_some() && self.under_way[from.index()] > 0 && self.follows(kind) {
            self.under_way[from.index()] -= 1;
            self.made(monitor, from);
        }
    }

    fn follows(&self, kind: &'static str) -> bool {
        self.kind.is_some_and(|followed| same(followed, kind))
    }
}
