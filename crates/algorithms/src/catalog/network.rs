//! What an algorithm is on a network: the part it plays between real nodes, the nodes it cannot do
//! without, and what is set there unless somebody sets it.

use super::{Entry, Setting};
use conclave_core::NodeId;

/// Parameters by name, and their values.
pub type Set = &'static [(&'static str, &'static str)];

/// The part that an algorithm plays on a network.
#[derive(Debug)]
pub enum OnNetwork {
    /// It is the lock behind every name.
    Lock(Lock),
    /// It elects the leaders of the cluster.
    Election(Carries),
    /// It says which nodes have crashed.
    Detector,
    /// None, and why.
    Nothing(&'static str),
}

/// Whether somebody set a parameter of that name.
pub type IsSet<'a> = &'a dyn Fn(&str) -> bool;

/// A lock between real nodes.
#[derive(Debug)]
pub struct Lock {
    /// Which nodes it cannot do without.
    pub needs: fn(&Setting) -> Needs,
    /// Whether it stands on an election; on a network that is the cluster's.
    pub led: bool,
    /// What is set unless somebody sets it, given whether somebody set a parameter of that name.
    /// It goes before what a network sets for all algorithms: periods, timeouts and leases.
    pub defaults: fn(IsSet<'_>) -> Set,
}

impl Lock {
    /// A lock of equals that stands on nothing: each is asked for its permission, or may have the
    /// token.
    pub const OF_EQUALS: Self = Self { needs: |_| Needs::All, led: false, defaults: |_| &[] };
}

/// Whether locks can stand on an election.
#[derive(Debug)]
pub enum Carries {
    /// They can. These are its parameters when no lock that stands on it says them.
    Locks(&'static [&'static str]),
    /// They cannot, and why.
    Nothing(&'static str),
}

impl Carries {
    /// For elections that are held once, and not again when the leader dies.
    pub const NOTHING_SINCE_HELD_ONCE: Self =
        Self::Nothing("it is held once: nobody notices that the leader has died");
}

impl Entry {
    /// What it is as a lock, if it is one.
    pub fn lock(&self) -> Option<&Lock> {
        match &self.on_network {
            OnNetwork::Lock(lock) => Some(lock),
            OnNetwork::Election(_) | OnNetwork::Detector | OnNetwork::Nothing(_) => None,
        }
    }

    /// Whether it is a lock that stands on an election.
    pub fn is_led(&self) -> bool {
        self.lock().is_some_and(|lock| lock.led)
    }

    /// The parameters of an election that locks can stand on; `None` if none can.
    pub fn carries_locks(&self) -> Option<&'static [&'static str]> {
        match self.on_network {
            OnNetwork::Election(Carries::Locks(shown)) => Some(shown),
            OnNetwork::Election(Carries::Nothing(_)) => None,
            OnNetwork::Lock(_) | OnNetwork::Detector | OnNetwork::Nothing(_) => None,
        }
    }
}

/// Which nodes a lock cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// All of them: each is asked for its permission, or may have the token.
    All,
    /// This one, which lets the others in; and whoever is inside.
    Coordinator(NodeId),
    /// So many of the first so many nodes, which vote; and whoever is inside.
    Votes {
        /// How many vote.
        of: u32,
        /// How many votes let in.
        votes: u32,
        /// The node that puts all requests in order, where there is one.
        sequencer: Option<NodeId>,
    },
    /// More than half of them: what a node holds that is down runs out.
    Majority,
}

/// What a node that is down has to do with a lock that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Nothing goes on without it.
    Needed,
    /// It lets the others in.
    Coordinates,
    /// It puts all requests in order.
    Numbers,
    /// If it was inside when it went down, it still is.
    MayHold,
}

impl Needs {
    /// What the lock of this setting needs, as its row says.
    pub fn of(locks: &Setting) -> Self {
        let lock = locks.entry.lock().expect("only a lock is asked which nodes it needs");
        (lock.needs)(locks)
    }

    /// Which of these nodes, all of them down, a lock waits for, out of so many in all; and what
    /// they have to do with it.
    pub fn missing(self, down: &[NodeId], n: u32) -> Option<(Vec<NodeId>, Part)> {
        let all = |part| (!down.is_empty()).then(|| (down.to_vec(), part));
        match self {
            Self::All => all(Part::Needed),
            Self::Coordinator(one) if down.contains(&one) => Some((vec![one], Part::Coordinates)),
            Self::Coordinator(_) => all(Part::MayHold),
            Self::Votes { sequencer: Some(one), .. } if down.contains(&one) => {
                Some((vec![one], Part::Numbers))
            }
            Self::Votes { of, votes, .. } => {
                let voters: Vec<NodeId> = down.iter().copied().filter(|node| node.0 < of).collect();
                if (voters.len() as u32) + votes > of {
                    return Some((voters, Part::Needed));
                }
                all(Part::MayHold)
            }
            Self::Majority if 2 * (n - down.len() as u32) > n => None,
            Self::Majority => all(Part::Needed),
        }
    }
}
