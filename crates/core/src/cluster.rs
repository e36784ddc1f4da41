//! The nodes of one algorithm, ready to be run by any driver.

use crate::NodeId;
use crate::election::Rule;

/// The nodes of one algorithm, ready to be run by any driver.
pub struct Cluster<P> {
    /// How many nodes the application runs on: the first ones.
    pub clients: u32,
    /// How many nodes behind them only coordinate.
    pub coordinators: u32,
    /// Whether it falls silent when nobody wants to enter.
    pub silent: bool,
    /// How an oracle should elect for it, if it stands on an election.
    pub election: Option<Rule>,
    /// Makes the node in its very first state.
    pub fresh: Box<dyn Fn(NodeId) -> P + Send + Sync>,
}

impl<P> Cluster<P> {
    /// A cluster of equals that falls silent when nobody wants to enter.
    pub fn of_equals(n: u32, fresh: impl Fn(NodeId) -> P + Send + Sync + 'static) -> Self {
        Self { clients: n, coordinators: 0, silent: true, election: None, fresh: Box::new(fresh) }
    }

    /// All nodes, coordinators included.
    pub fn nodes(&self) -> u32 {
        self.clients + self.coordinators
    }
}
