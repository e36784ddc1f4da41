//! The configuration of the desk.

use super::needs::Needs;
use crate::{Address, Hears};
use conclave_core::{NodeId, Ticks};
use conclave_net::{Automaton, Input, Key};
use std::collections::BTreeMap;

/// Makes the machine of a name in its first state, and says what happens to it first; `None` if
/// there is none such. The flag says that it is late: the first leader has been replaced, or this
/// node has come back.
pub type Factory = Box<dyn Fn(&Key, bool) -> Option<(Box<dyn Automaton>, Input)> + Send>;

/// What the desk must know.
#[derive(Clone, Debug)]
pub struct DeskConfig {
    /// This node.
    pub me: NodeId,
    /// All nodes, this one included, in order.
    pub nodes: Vec<Address>,
    /// The name of the cluster.
    pub cluster: String,
    /// The id of the lock algorithm.
    pub engine: String,
    /// Its parameters, those at their defaults included.
    pub parameters: BTreeMap<String, String>,
    /// The id of the election.
    pub election: String,
    /// The id of the failure detector.
    pub detector: String,
    /// Whom the election hears.
    pub election_hears: Hears,
    /// Whom locks hear.
    pub lock_hears: Hears,
    /// Whether a lock works only if all nodes have its machine from the start, asked or not.
    pub everywhere: bool,
    /// The node that leads from the start and its term, where the election has such a one: it is
    /// not told.
    pub first_leader: Option<(NodeId, u64)>,
    /// Which nodes a lock cannot do without.
    pub needs: Needs,
    /// Where a lock is taken from who is cut off: how long a session may live unheard.
    pub ttl_max: Option<Ticks>,
    /// How soon this node notices that it is cut off.
    pub notice: Ticks,
    /// After how long without a sign of life others may go on without whoever holds a lock, where
    /// they may.
    pub lease: Option<Ticks>,
    /// The wall clock when the node started, in milliseconds since 1970.
    pub started_ms: u64,
}
