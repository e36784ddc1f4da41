//! Type erasure for the search: states of nodes and messages are numbers, and so is what becomes
//! of a node when something happens to it.
//!
//! There are few states of one node and few messages, and very many combinations of them. So each
//! is kept once and known by its number, and what a step does is worked out once and looked up from
//! then on. The search itself only handles numbers, and is compiled once for all algorithms.

use crate::local::Phase;
use crate::vocabulary::{Ask, Family, Word};
use conclave_core::{NodeId, NodeSet, Property, Renaming};

/// The number of a state of one node.
pub type LocalId = u32;
/// The number of a message with what it carries.
pub type PacketId = u32;

/// What can happen to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// It starts.
    Start,
    /// A message arrives.
    Deliver {
        /// From whom.
        from: u16,
        /// Which.
        packet: PacketId,
    },
    /// A timer fires: this one of those that run.
    Fire(u8),
    /// Its user does something.
    Ask(Ask),
    /// It stops.
    Crash,
    /// It comes back; if it is up, it stops first.
    Restart {
        /// Without its disk.
        amnesia: bool,
    },
    /// Its detector says that a node has crashed.
    Suspect(u8),
    /// Its detector says that a node has not.
    Trust(u8),
    /// Its user will call for an election.
    Appoint,
}

impl Input {
    /// One number for each.
    #[inline]
    pub fn code(self) -> u64 {
        let (kind, detail) = match self {
            Self::Start => (0, 0),
            Self::Deliver { from, packet } => (1, u64::from(from) << 32 | u64::from(packet)),
            Self::Fire(timer) => (2, u64::from(timer)),
            Self::Ask(ask) => (3, ask as u64),
            Self::Crash => (4, 0),
            Self::Restart { amnesia } => (5, u64::from(amnesia)),
            Self::Suspect(of) => (6, u64::from(of)),
            Self::Trust(of) => (7, u64::from(of)),
            Self::Appoint => (8, 0),
        };
        kind << 60 | detail
    }
}

/// What a step does to others, for one way to answer the choices that it made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effects {
    /// The messages that it sent, to whom.
    pub sends: Vec<(u16, PacketId)>,
    /// What its user was told.
    pub words: Vec<Word>,
    /// The answers.
    pub choices: Vec<u32>,
    /// The timers that ran before and were set anew, one bit each, by their places before.
    pub renewed: u64,
}

impl Effects {
    /// Whether nobody enters. The other words are the same in whatever order they come.
    pub fn is_silent(&self) -> bool {
        self.words.iter().all(|word| match word {
            Word::Entered { .. } => false,
            Word::Elected { .. } | Word::Deposed => true,
        })
    }
}

/// What can be seen of the state of a node from outside.
#[derive(Clone, Debug)]
pub struct Face {
    /// The same for the same state in every run of this program.
    pub hash: u64,
    /// Whose state it is.
    pub node: u16,
    /// Whether it is up.
    pub up: bool,
    /// Whether it can come back with its disk.
    pub returns: bool,
    /// Where its user stands.
    pub phase: Phase,
    /// The fencing token its user is inside with, where fences are watched.
    pub fence: Option<u64>,
    /// Whom its user follows.
    pub leader: Option<NodeId>,
    /// Whether its user has called for an election.
    pub begun: bool,
    /// Whether its user will.
    pub to_begin: bool,
    /// Whether its user may ask once more.
    pub may_ask: bool,
    /// Whether its timers may fire once more.
    pub may_fire: bool,
    /// The shortest and the longest time that each of its timers still runs.
    pub timers: Vec<(u64, u64)>,
    /// Whom its detector suspects, one bit each.
    pub suspects: u64,
    /// By node: the last request that had happened before its own last one.
    pub asked: Vec<u32>,
    /// The property that this state violates by itself, by the invariant of the cluster.
    pub broken: Option<Property>,
}

/// An algorithm as the search sees it.
pub trait Workings: Sync {
    /// What it is for.
    fn family(&self) -> Family;
    /// All nodes.
    fn nodes(&self) -> u32;
    /// How many of them have users: the first ones.
    fn clients(&self) -> u32;
    /// Whether it falls silent when nobody wants anything.
    fn is_silent(&self) -> bool;
    /// Whether it does at least where no timer fires any more.
    fn is_silent_untimed(&self) -> bool;
    /// Whether something is said of every state of every node.
    fn has_invariant(&self) -> bool;
    /// Whether it listens to a failure detector.
    fn listens(&self) -> bool;
    /// Whom an election should come to, where that is said: by those up in the end, and those who
    /// began.
    fn winner(&self, up: &NodeSet, begun: &NodeSet) -> Option<Option<NodeId>>;
    /// The nodes before they are started.
    fn fresh(&self) -> Vec<LocalId>;
    /// What becomes of a node: one outcome for each way to answer its choices.
    fn take(&self, local: LocalId, input: Input) -> Vec<(LocalId, Effects)>;
    /// A node after some time has passed, at least and at most so much.
    fn later(&self, local: LocalId, least: u64, most: u64) -> LocalId;
    /// What can be seen of all states of nodes from this number on.
    fn faces(&self, from: usize) -> Vec<Face>;
    /// The hashes of all messages from this number on.
    fn packets(&self, from: usize) -> Vec<u64>;
    /// The name of a running timer.
    fn timer(&self, local: LocalId, timer: u8) -> String;
    /// Whether states that differ only in counters can be told.
    fn has_normal(&self) -> bool;
    /// Puts a state in the place of this one from which the same can happen.
    fn normalise(&self, locals: &mut [LocalId], links: &mut [(NodeId, NodeId, Vec<PacketId>)]);
    /// Whether nodes can be exchanged.
    fn has_symmetry(&self) -> bool;
    /// The hash of a state of a node in which others go by new names, and it by none.
    fn renamed(&self, local: LocalId, renaming: &Renaming) -> u64;
}
