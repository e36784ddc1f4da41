//! What the rows of the algorithms that stand on an election have in common: the choice of election
//! and detector, and how the layers are stacked.

use super::detection::{Rhythm, detector};
pub use super::majority::PREVOTE;
use super::{Cluster, Kind, Lock, Needs, OnNetwork, Parameter, Params, Setting, Visitor};
use crate::Error;
use crate::detector::any::AnyDetector;
use crate::election::any::AnyElection;
use crate::election::bully::{self, Bully};
use crate::election::majority::{self, Majority};
use crate::election::rank::Ranking;
use crate::election::ring::Ring;
use crate::mutex::epoch::{Ballot, Mode, Setup};
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::{Bounds, FenceLayout, NodeId, Normal, Process, Property, Stack, Ticks, Timing};

/// On a network more than half of the nodes will do, and the election is the cluster's. Nodes ask
/// before they stand: a network may well lose a single link and keep all others.
pub const ON_NETWORK: OnNetwork = OnNetwork::Lock(Lock {
    needs: |_| Needs::Majority,
    led: true,
    defaults: |_| &[("prevote", "on")],
});

/// What is sent whether or not anybody wants to enter.
pub const UPKEEP: &[&str] = &["HEARTBEAT", "HEARTBEAT_ACK"];

/// What a leader does about the silent.
pub const MODE: Parameter = Parameter {
    name: "mode",
    kind: Kind::Choice(&["lease", "strict", "fence"]),
    default: "lease",
    about: "a new leader waits until what silent nodes may hold has lapsed; or for every node \
            that is not known for certain to have crashed; or for nobody, trusting the fence",
};

/// How long a hold lasts.
pub const LEASE: Parameter = Parameter {
    name: "lease",
    kind: Kind::Time { or: &[] },
    default: "50",
    about: "how long a hold lasts without a sign of life",
};

/// Who leads.
pub const ELECTION: Parameter = Parameter {
    name: "election",
    kind: Kind::Choice(&["majority", "bully", "ring"]),
    default: "majority",
    about: "who leads: whom a majority chose, or the highest node that each can see",
};

/// Who suspects.
pub const DETECTOR: Parameter = Parameter {
    name: "detector",
    kind: Kind::Choice(&["phi-accrual", "heartbeat", "adaptive", "perfect"]),
    default: "phi-accrual",
    about: "who says that a node has crashed; a perfect one is played by the simulator, sends \
            nothing and is believed by mode=strict",
};

/// How often a sign of life is sent.
pub const PERIOD: Parameter = Parameter {
    name: "period",
    kind: Kind::Time { or: &[] },
    default: "2",
    about: "the time from one heartbeat to the next, of the detector and of the leader",
};

/// How long silence is borne.
pub const TIMEOUT: Parameter = Parameter {
    name: "timeout",
    kind: Kind::Time { or: &[] },
    default: "10",
    about: "how long silence is borne: of the leader (majority, which steps down after as \
            long without a majority), of the better ones (bully), of any node (heartbeat, \
            adaptive)",
};

/// When to ask again.
pub const RETRANSMIT: Parameter = Parameter {
    name: "retransmit",
    kind: Kind::Time { or: &[] },
    default: "25",
    about: "how long to wait for an answer before asking again",
};

/// Leases, bully and ring rest on messages that are faster than timers; what a majority decides, or
/// a fence guards, does not. Every layer has timers that it sets again and again: one each will do,
/// or two where a node first doubts its leader and then asks.
pub fn bounds(params: &Params) -> Bounds {
    let hurried = params.is("mode", "lease") || !by_majority(params);
    let timing = if hurried { Timing::Synchronous } else { Timing::AnyMoment };
    let doubts = by_majority(params) && params.is("prevote", "on");
    Bounds { timeouts: Some(1 + u32::from(doubts)), timing, ..Bounds::default() }
}

/// The choices as the algorithms take them.
pub fn setup(setting: &Setting) -> Result<Setup, Error> {
    let params = &setting.params;
    let mode = match params.text("mode") {
        "strict" => Mode::Strict,
        "fence" => Mode::Fence,
        _ => Mode::Lease,
    };
    Ok(Setup {
        n: setting.n,
        mode,
        ballot: if by_majority(params) { Ballot::Majority } else { Ballot::Own },
        lease: above_zero(params, "lease")?,
        retransmit: above_zero(params, "retransmit")?,
        notice: rhythm(params)?.timeout,
        certain: is_perfect(params),
        fences: FenceLayout::default(),
    })
}

fn rhythm(params: &Params) -> Result<Rhythm, Error> {
    let period = above_zero(params, "period")?;
    let timeout = above_zero(params, "timeout")?;
    if period >= timeout {
        let reason = "it must be less than timeout".to_string();
        return Err(Error::Unusable { name: "period", reason });
    }
    Ok(Rhythm { period, timeout })
}

fn above_zero(params: &Params, name: &'static str) -> Result<Ticks, Error> {
    let time = params.ticks(name).filter(|time| *time > Ticks::ZERO);
    time.ok_or_else(|| Error::Unusable { name, reason: "it takes a time above 0".into() })
}

/// An algorithm that stands on an election.
pub trait Led: Process<Provides = Mutex, Uses = Election> {
    /// Its normal form where terms come from there, if it has one.
    fn normal<L: Process<Provides = Election>>(by: Ballot) -> Option<Normal<Stack<Self, L>>>;
}

/// A lock that stands on an election, and what is needed to put one below it.
pub struct LedLock<'a, U> {
    setting: &'a Setting,
    setup: Setup,
    /// Whether the lock itself falls silent when nobody wants to enter.
    silent: bool,
    fresh: Box<dyn Fn(NodeId, Setup) -> U + Send + Sync>,
}

impl<'a, U: Led> LedLock<'a, U> {
    /// The lock of a setting whose nodes are made by `fresh`.
    pub(super) fn new(
        setting: &'a Setting,
        silent: bool,
        fresh: impl Fn(NodeId, Setup) -> U + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Ok(Self { setting, setup: setup(setting)?, silent, fresh: Box::new(fresh) })
    }

    /// The lock without the election below it, for nodes on which one election serves many locks.
    pub fn alone(self) -> Cluster<U> {
        let Self { setting, setup, silent, fresh } = self;
        let equals = Cluster::of_equals(setting.n, move |me| fresh(me, setup));
        Cluster { silent, upkeep: UPKEEP, ..equals }
    }

    /// Puts the chosen election, and the chosen detector if it is a real one, below the lock.
    /// Everybody knows the first leader, which is the last node.
    pub fn stacked<V: Visitor>(self, visitor: V) -> Result<V::Output, Error> {
        let Self { setting, setup, silent, fresh } = self;
        let election = election(setting)?;
        let alone = setting.n == 1;
        let silent_untimed = silent; // Election and detector speak when a timer has fired.
        if setup.certain {
            let quiet = silent && setup.ballot == Ballot::Own;
            let fresh = move |me| Stack { upper: fresh(me, setup), lower: election(me) };
            let equals = Cluster::of_equals(setting.n, fresh);
            let silent = alone || quiet;
            let normal = U::normal(setup.ballot);
            let equals = Cluster { silent_untimed, normal, ..equals };
            return Ok(visitor.mutex(Cluster { silent, upkeep: UPKEEP, ..equals }));
        }
        let rhythm = rhythm(&setting.params)?;
        let detector = detector(setting.params.text("detector"), setting.n, rhythm)?;
        let fresh = move |me| -> Stack<U, Stack<AnyElection, AnyDetector>> {
            let lower = Stack { upper: election(me), lower: detector(me) };
            Stack { upper: fresh(me, setup), lower }
        };
        let equals = Cluster::of_equals(setting.n, fresh);
        let normal = U::normal(setup.ballot);
        let equals = Cluster { silent_untimed, normal, ..equals };
        Ok(visitor.mutex(Cluster { silent: alone, upkeep: UPKEEP, ..equals }))
    }
}

/// The election alone, as the parameters choose it. Everybody knows the first leader, which is the
/// last node.
pub fn election(
    setting: &Setting,
) -> Result<impl Fn(NodeId) -> AnyElection + Send + Sync + use<>, Error> {
    let n = setting.n;
    let Rhythm { period, timeout } = rhythm(&setting.params)?;
    let ranking = Ranking::by_key(n, |node| node);
    let first = Some(NodeId(n - 1));
    let chosen = setting.params.text("election").to_string();
    let prevote = setting.params.is("prevote", "on");
    Ok(move |me| match chosen.as_str() {
        "bully" => {
            let transmission = Ticks(timeout.0.div_ceil(2)); // Asked and answered in a timeout.
            let setup = bully::Setup { transmission, ..bully::Setup::new(ranking.clone()) };
            AnyElection::Bully(Bully::new(me, setup, first))
        }
        "ring" => AnyElection::Ring(Ring::new(me, ranking.clone(), first)),
        _ => {
            let setup = majority::Setup { n, timeout, heartbeat: period, prevote };
            AnyElection::Majority(Majority::new(me, setup, first))
        }
    })
}

/// The promises. No two leaders share an epoch, and so no two entries a fence, whoever elects.
/// What else is safe depends on who elects and who is waited for; progress, on whether the dead
/// are.
pub fn has(params: &Params) -> Vec<Property> {
    let mut has = vec![Property::S1Eff];
    if !params.is("mode", "strict") || is_perfect(params) {
        has.extend([Property::V1, Property::V2]);
    }
    if by_majority(params) && !params.is("mode", "fence") {
        has.extend([Property::S1, Property::F1]);
    }
    has
}

fn by_majority(params: &Params) -> bool {
    params.is("election", "majority")
}

fn is_perfect(params: &Params) -> bool {
    params.is("detector", "perfect")
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    #[test]
    fn what_is_promised_depends_on_election_mode_and_detector() {
        let promises = |set: &[(&str, &str)]| {
            let setting = find("central-failover").and_then(|entry| entry.setting(5, set));
            has(&setting.expect("it can be set").params)
        };
        use Property::{F1, S1, S1Eff, V1, V2};
        assert_eq!(promises(&[]), [S1Eff, V1, V2, S1, F1]);
        assert_eq!(promises(&[("mode", "strict")]), [S1Eff, S1, F1]);
        let taught = [("mode", "strict"), ("detector", "perfect")];
        assert_eq!(promises(&taught), [S1Eff, V1, V2, S1, F1]);
        assert_eq!(promises(&[("mode", "fence")]), [S1Eff, V1, V2]);
        assert_eq!(promises(&[("election", "bully")]), [S1Eff, V1, V2]);
    }

    #[test]
    fn heartbeats_slower_than_the_timeout_are_refused_by_name() {
        let entry = find("token-ring-regenerating").expect("a row");
        let setting = entry.setting(3, &[("period", "10")]).expect("taken");
        let error = setup(&setting).expect_err("too slow");
        assert_eq!(error.to_string(), "--set period: it must be less than timeout");
    }
}
