//! What the catalogue says of one algorithm.

use super::{Assumption, Evidence, OnNetwork, Parameter, Params};
use crate::Error;
use crate::election::rank;
use conclave_core::{Bounds, Facet, NodeId, NodeSet, Property, Why};
use std::collections::BTreeSet;

/// One algorithm.
#[derive(Debug)]
pub struct Entry {
    /// The name people type.
    pub id: &'static str,
    /// What question it answers.
    pub family: Family,
    /// Its name in full.
    pub title: &'static str,
    /// How it works, in one sentence.
    pub summary: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// The lecture notes that name it, by number.
    pub seeds: &'static [&'static str],
    /// What it takes for granted.
    pub assumptions: &'static [Assumption],
    /// The limits within which these hold, and all runs can be looked at first.
    pub bounds: fn(&Params) -> Bounds,
    /// The promises it keeps while its assumptions hold, under these parameters.
    pub has: fn(&Params) -> Vec<Property>,
    /// The promises it does not make, and why; some only under certain parameters.
    pub lacks: &'static [(Property, &'static str)],
    /// How many may enter between the registration of a request and its own entry.
    pub bypass: Option<fn(&Setting) -> u64>,
    /// What may be set.
    pub parameters: &'static [Parameter],
    /// What it costs.
    pub cost: Cost,
    /// How a node that lost its disk may come back.
    pub rejoin_without_disk: Rejoin,
    /// What it is on a network.
    pub on_network: OnNetwork,
    /// What is known of it from looking at all its runs.
    pub evidence: Evidence,
    /// The reasons that its steps may have, in one table for each of its processes.
    pub why: &'static [&'static [&'static Why]],
    /// What of a node's state helps to understand it.
    pub facets: &'static [Facet],
}

impl Entry {
    /// This algorithm on `n` nodes with some parameters set, the others at their defaults.
    /// A file is given by its text.
    pub fn setting(&'static self, n: u32, set: &[(&str, &str)]) -> Result<Setting, Error> {
        if n == 0 {
            return Err(Error::BadSize { n, reason: "at least one node is needed".into() });
        }
        let params = Params::new(self, set)?;
        Ok(Setting { entry: self, n, params, ids: Vec::new(), candidates: NodeSet::default() })
    }

    /// The kinds of messages that no formula counts, being sent whether or not anybody asks.
    pub fn upkeep(&self) -> &'static [&'static str] {
        self.cost.mutex().map_or(&[], |cost| cost.upkeep)
    }

    /// How many nodes show it well, if nobody says how many there should be.
    pub fn nodes_usual(&self) -> u32 {
        match self.family {
            Family::Clock => 3,
            Family::Mutex | Family::Election | Family::Detector => 7,
        }
    }

    /// Whether it keeps this promise under these parameters.
    pub fn promises(&self, property: Property, params: &Params) -> bool {
        (self.has)(params).contains(&property)
    }
}

/// Which question an algorithm answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Who may enter.
    Mutex,
    /// Who leads.
    Election,
    /// What came first.
    Clock,
    /// Who has crashed.
    Detector,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Mutex, Self::Election, Self::Clock, Self::Detector];

    /// The question in words.
    pub fn question(self) -> &'static str {
        match self {
            Self::Mutex => "who may enter",
            Self::Election => "who leads",
            Self::Clock => "what came first",
            Self::Detector => "who has crashed",
        }
    }

    /// The word people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::Election => "election",
            Self::Clock => "clock",
            Self::Detector => "detector",
        }
    }
}

/// What an algorithm costs, as textbooks write it and as a function.
#[derive(Debug)]
pub enum Cost {
    /// Of one entry and exit.
    Mutex(MutexCost),
    /// Of one election.
    Election(ElectionCost),
    /// Not said: what it costs is up to whoever uses it.
    Unstated,
}

impl Cost {
    /// The cost of an entry and exit, of a mutual exclusion algorithm.
    pub const fn mutex(&self) -> Option<&MutexCost> {
        match self {
            Self::Mutex(cost) => Some(cost),
            Self::Election(_) | Self::Unstated => None,
        }
    }

    /// Every formula with its name, in the order in which they are best read.
    pub fn formulas(&self) -> impl Iterator<Item = (&'static str, &Formula)> {
        let named = match self {
            Self::Mutex(cost) => vec![
                ("light", &cost.light),
                ("heavy", &cost.heavy),
                ("client_delay", &cost.client_delay),
                ("client_delay_serial", &cost.client_delay_serial),
                ("sync_delay", &cost.sync_delay),
            ],
            Self::Election(cost) => {
                let mean = cost.all_mean.iter().map(|mean| ("all_mean", mean));
                let ends = [("one", &cost.one), ("all", &cost.all)];
                ends.into_iter().chain(mean).chain([("time", &cost.time)]).collect()
            }
            Self::Unstated => Vec::new(),
        };
        named.into_iter()
    }

    /// Where textbooks differ about the numbers; empty if they do not.
    pub const fn textbooks(&self) -> &'static str {
        match self {
            Self::Mutex(cost) => cost.textbooks,
            Self::Election(cost) => cost.textbooks,
            Self::Unstated => "",
        }
    }

    /// The cost of an election.
    pub const fn election(&self) -> Option<&ElectionCost> {
        match self {
            Self::Election(cost) => Some(cost),
            Self::Mutex(_) | Self::Unstated => None,
        }
    }
}

/// What an election costs, the last leader having just died where [`ElectionCost::without_last`]
/// says so.
#[derive(Debug)]
pub struct ElectionCost {
    /// Messages when one node begins: the least and the most over all who may begin and, on a ring,
    /// over all orders of the ring.
    pub one: Formula,
    /// Messages when everybody begins at the same time, over all orders of the ring.
    pub all: Formula,
    /// The mean of `all` over all orders of the ring, where it is known.
    pub all_mean: Option<Formula>,
    /// Units of time until everybody knows the leader, one node having begun.
    pub time: Formula,
    /// Whether the costs are those of replacing the highest node, which has just died.
    pub without_last: bool,
    /// Where textbooks differ about these numbers.
    pub textbooks: &'static str,
}

/// What one entry and exit costs.
#[derive(Debug)]
pub struct MutexCost {
    /// The kinds of messages that are sent whether or not anybody wants in: no formula counts
    /// them.
    pub upkeep: &'static [&'static str],
    /// Messages when one client of a fresh cluster enters alone; the mean over all clients.
    pub light: Formula,
    /// Messages when everybody asks at the same time, once; the mean over all entries.
    pub heavy: Formula,
    /// Message times from request to entry when nobody else wants in; the mean over all clients.
    pub client_delay: Formula,
    /// The same with messages counted one after the other, as some textbooks do.
    pub client_delay_serial: Formula,
    /// Message times from one exit to the next entry when somebody waits, everybody having asked
    /// at the same time; the mean over all exits.
    pub sync_delay: Formula,
    /// Where textbooks differ about these numbers.
    pub textbooks: &'static str,
}

/// A cost as people write it, and as the least and the most it can be.
#[derive(Debug)]
pub struct Formula {
    /// As textbooks write it.
    pub text: &'static str,
    /// The least and the most in the standard setting; equal where the formula is exact.
    pub range: fn(&Setting) -> (f64, f64),
}

/// The range of a formula that leaves nothing open.
pub(super) fn exactly(value: f64) -> (f64, f64) {
    (value, value)
}

/// How a node that lost its disk may come back under its old name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejoin {
    /// The algorithm's own rules cover it.
    ByProtocol,
    /// It must first ask all its peers what they remember.
    AfterAskingAll,
    /// It must first wait until every promise it may have made has lapsed.
    AfterLease,
    /// It may not.
    Never,
}

impl Rejoin {
    /// The answer in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByProtocol => "by protocol",
            Self::AfterAskingAll => "after asking all peers",
            Self::AfterLease => "after a lease",
            Self::Never => "never",
        }
    }
}

/// An algorithm with a size and parameters: all that is needed to build it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The algorithm.
    pub entry: &'static Entry,
    /// How many clients.
    pub n: u32,
    /// Its parameters.
    pub params: Params,
    /// The ids of the nodes, where they are not 1 to n: in an election the greater one wins.
    pub ids: Vec<u64>,
    /// Who may be elected; everybody if empty.
    pub candidates: NodeSet,
}

impl Setting {
    /// The same with ids of the user's own, one per node and all different.
    pub fn with_ids(self, ids: Vec<u64>) -> Result<Self, Error> {
        let distinct: BTreeSet<u64> = ids.iter().copied().collect();
        if ids.len() != self.n as usize || distinct.len() != ids.len() {
            let reason = format!("it takes {} different numbers, one per node", self.n);
            return Err(Error::BadIds { reason });
        }
        Ok(Self { ids, ..self })
    }

    /// The same where only these may be elected.
    pub fn with_candidates(self, candidates: NodeSet) -> Self {
        Self { candidates, ..self }
    }

    /// The id of a node.
    pub fn id(&self, node: NodeId) -> u64 {
        self.ids.get(node.index()).copied().unwrap_or(u64::from(node.0) + 1)
    }

    /// Whether a node may be elected.
    pub fn is_candidate(&self, node: NodeId) -> bool {
        self.candidates.is_empty() || self.candidates.contains(node)
    }

    /// The attribute of each node by the parameter `rank`.
    pub(super) fn attributes(&self) -> Result<Vec<u32>, Error> {
        let attributes = rank::attributes(self.params.text("rank"), self.n);
        attributes.map_err(|reason| Error::Unusable { name: "rank", reason })
    }

    /// The number of clients, for formulas.
    pub fn n(&self) -> f64 {
        f64::from(self.n)
    }
}
