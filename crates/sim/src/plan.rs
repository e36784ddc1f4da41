//! The plan of a run: network, faults, workload and seed. It is everything that decides a run, but
//! for the algorithm itself.

use crate::trace::Focus;
use conclave_core::{NodeId, Ticks};
use std::collections::BTreeMap;
use std::time::Instant;

/// A run to be: its network, its faults, what the application wants, and the seed.
///
/// The default is the standard setting: one unit per message, first in first out, nothing lost,
/// everybody asks at time 0, ten units inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where all randomness comes from.
    pub seed: u64,
    /// How long messages take.
    pub latency: Latency,
    /// Whether messages of one link arrive in the order they were sent.
    pub fifo: bool,
    /// The probability that a message is lost.
    pub loss: f64,
    /// The probability that a message arrives twice.
    pub duplicate: f64,
    /// Whether a sender emits one message per unit of time, instead of any number at once.
    pub serial: bool,
    /// Whether a message that a step sends to several counts as one.
    pub multicast: bool,
    /// What happens to particular messages.
    pub rules: Vec<MessageRule>,
    /// What goes wrong, and when.
    pub faults: Vec<(Ticks, Fault)>,
    /// Who is dead from the beginning.
    pub dead: Vec<NodeId>,
    /// Clocks that run at another rate than 1.
    pub drift: Vec<(NodeId, f64)>,
    /// What a node's timers of random length take, instead of a random time.
    pub backoffs: Vec<(NodeId, Ticks)>,
    /// What the application wants.
    pub workload: Workload,
    /// What somebody has it do beside that, in order of time.
    pub acts: Vec<ScriptLine>,
    /// Who calls for an election at time 0; the first node if empty, unless a script says when.
    pub start: Vec<NodeId>,
    /// How often each node enters.
    pub rounds: u32,
    /// How long it stays inside.
    pub critical_section: Ticks,
    /// The probability that a waiter withdraws, and asks again.
    pub cancel: f64,
    /// A number that everybody inside reads on entering and writes, one larger, on leaving: what
    /// it is in the beginning. Nobody does if `None`.
    pub value: Option<u64>,
    /// Whether the applications just go in, without asking the algorithm.
    pub unprotected: bool,
    /// When a run that does not end by itself is cut short.
    pub until: Ticks,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            latency: Latency::Standard,
            fifo: true,
            loss: 0.0,
            duplicate: 0.0,
            serial: false,
            multicast: false,
            rules: Vec::new(),
            faults: Vec::new(),
            dead: Vec::new(),
            drift: Vec::new(),
            backoffs: Vec::new(),
            workload: Workload::AllAtOnce,
            acts: Vec::new(),
            start: Vec::new(),
            rounds: 1,
            critical_section: Ticks::units(10),
            cancel: 0.0,
            value: None,
            unprotected: false,
            until: Ticks::units(100_000),
        }
    }
}

/// How long messages take.
#[derive(Clone, Debug, PartialEq)]
pub enum Latency {
    /// Always one unit, or what an example that is played sets for itself: nobody said anything.
    Standard,
    /// Always the same.
    Constant(Ticks),
    /// Anything between the two, both included.
    Uniform(Ticks, Ticks),
    /// Exponential with this mean.
    Exponential(Ticks),
    /// Normal; what would take no time takes the least there is.
    Normal {
        /// The mean.
        mean: Ticks,
        /// The standard deviation, above 0.
        deviation: Ticks,
    },
    /// A normal distribution of the logarithms: most are quick, a few take long.
    LogNormal {
        /// Half of all take longer.
        median: Ticks,
        /// The deviation of the natural logarithm, above 0.
        sigma: f64,
    },
    /// Pareto's: the smaller the shape, the longer the few that take long.
    Pareto {
        /// The least, above 0.
        min: Ticks,
        /// Above 0.
        shape: f64,
    },
    /// As they were measured, all equally likely: at least one, the quickest first.
    Measured(Vec<Ticks>),
    /// Each link its own, and one for all others.
    Links {
        /// For links that are not listed.
        others: Box<Latency>,
        /// From, to.
        links: BTreeMap<(NodeId, NodeId), Latency>,
    },
}

/// What happens to particular messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRule {
    /// From this node; from any if `None`.
    pub from: Option<NodeId>,
    /// To this node; to any if `None`.
    pub to: Option<NodeId>,
    /// Of this kind; of any if `None`.
    pub kind: Option<String>,
    /// Only the nth of those, from 1; all if `None`.
    pub nth: Option<u32>,
    /// What happens to it.
    pub action: Action,
}

/// What a rule does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It takes this long.
    Delay(Ticks),
    /// It is lost.
    Drop,
    /// It arrives twice.
    Duplicate,
    /// It arrives twice, the second time after this long.
    Again(Ticks),
}

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A node stops. Messages that reach it are lost.
    Crash(NodeId),
    /// A node comes back, with or without its disk; one that is up crashes and comes back at once.
    Restart {
        /// Which.
        node: NodeId,
        /// Whether its disk is lost.
        amnesia: bool,
    },
    /// A node does nothing for a while; nothing is lost.
    Pause {
        /// Which.
        node: NodeId,
        /// For how long.
        span: Ticks,
    },
    /// Messages between these groups are lost for a while. Who is in no group reaches everybody.
    Partition {
        /// The groups.
        groups: Vec<Vec<NodeId>>,
        /// When it heals; [`Fault::NEVER`], if it does not.
        until: Ticks,
    },
    /// A node is told, wrongly, that another has crashed.
    Suspect {
        /// Who is told.
        by: NodeId,
        /// Of whom.
        of: NodeId,
        /// For how long; for ever if `None`.
        span: Option<Ticks>,
    },
}

impl Fault {
    /// When something ends that does not end.
    pub const NEVER: Ticks = Ticks(u64::MAX);
}

/// What the application wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// Every client asks at time 0, and again as soon as it has left.
    AllAtOnce,
    /// One client alone.
    Single(NodeId),
    /// Every client thinks, asks, enters, leaves, thinks: an exponential time with this mean.
    Closed(Ticks),
    /// Requests of each client arrive at this rate per unit, whether or not it is done with the
    /// last.
    Poisson(f64),
    /// Exactly these, in order of time.
    Script(Vec<ScriptLine>),
}

impl Workload {
    /// The lines of a script; none of what is no script.
    pub fn script(&self) -> &[ScriptLine] {
        match self {
            Self::Script(lines) => lines,
            Self::AllAtOnce | Self::Single(_) | Self::Closed(_) | Self::Poisson(_) => &[],
        }
    }
}

/// One line of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// When.
    pub at: Ticks,
    /// Who.
    pub node: NodeId,
    /// Does what.
    pub act: Act,
}

/// What a line of a script does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Asks to enter; nothing if it already waits or is inside.
    Acquire,
    /// Leaves. A node with such a line does not leave by itself.
    Release,
    /// Withdraws.
    Cancel,
    /// Calls for an election.
    Campaign,
    /// Sends a message of the application's own to another node.
    Tell(NodeId),
    /// Does something that a clock gives a time.
    Event,
}

/// What to look at, and what to keep of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether to judge `HB`, which costs O(n) per message.
    pub order: bool,
    /// The bound of `BW`, if one is claimed.
    pub bypass_bound: Option<u64>,
    /// Whether to hash the run.
    pub hash: bool,
    /// Whether to keep it in words.
    pub story: bool,
    /// Whether to write it down, so that it can be drawn and run again.
    pub trace: bool,
    /// Whether to keep every decision that chance made.
    pub decisions: bool,
    /// Whether to keep the shape of its schedule.
    pub shape: bool,
    /// If it is written down for somebody who looks at this of it, and no more: it is written in
    /// brief then, and the nodes are asked while they run. Nobody can run such a recording again.
    pub focus: Option<Focus>,
    /// After how many events a run that is watched is cut short.
    pub events_max: Option<u64>,
    /// After about how many bytes of records a run that is written down is cut short.
    pub bytes_max: Option<usize>,
    /// When a run that is watched is broken off, by the clock on the wall.
    pub deadline: Option<Instant>,
}

impl Options {
    /// Whether anything is kept of a step but its consequences.
    pub(crate) fn watch(&self) -> bool {
        self.story || self.trace || self.decisions || self.hash || self.order
    }
}
