//! What the rows of the algorithms that stand on an election have in common.

use super::{Cluster, Kind, Parameter, Params, Setting};
use crate::Error;
use crate::mutex::epoch::{Ballot, Mode, Setup};
use conclave_core::election::Rule;
use conclave_core::{NodeId, Property, Ticks};

/// What may be set.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "mode",
        kind: Kind::Choice(&["lease", "strict", "fence"]),
        default: "lease",
        about: "a new leader waits until what silent nodes may hold has lapsed; or for every node \
                that is not known to have crashed; or for nobody, trusting the fence",
    },
    Parameter {
        name: "lease",
        kind: Kind::Time { or: &[] },
        default: "50",
        about: "how long a hold lasts without a sign of life",
    },
    Parameter {
        name: "election",
        kind: Kind::Choice(&["majority", "bully", "ring"]),
        default: "majority",
        about: "who leads: whom a majority chose, or the highest node that each can see",
    },
    Parameter {
        name: "detector",
        kind: Kind::Choice(&["perfect"]),
        default: "perfect",
        about: "who says that a node has crashed",
    },
    Parameter {
        name: "retransmit",
        kind: Kind::Time { or: &[] },
        default: "25",
        about: "how long to wait for an answer before asking again",
    },
];

/// The choices as the algorithms take them.
pub fn setup(setting: &Setting) -> Result<Setup, Error> {
    let params = &setting.params;
    let mode = match params.text("mode") {
        "strict" => Mode::Strict,
        "fence" => Mode::Fence,
        _ => Mode::Lease,
    };
    let ballot = if by_majority(params) { Ballot::Majority } else { Ballot::Own };
    let lease = above_zero(params, "lease")?;
    let retransmit = above_zero(params, "retransmit")?;
    Ok(Setup { n: setting.n, mode, ballot, lease, retransmit })
}

fn above_zero(params: &Params, name: &'static str) -> Result<Ticks, Error> {
    let time = params.ticks(name).filter(|time| *time > Ticks::ZERO);
    time.ok_or_else(|| Error::Unusable { name, reason: "it takes a time above 0".into() })
}

/// A cluster of equals that an oracle leads.
pub fn cluster<P>(
    setup: Setup,
    fresh: impl Fn(NodeId, Setup) -> P + Send + Sync + 'static,
) -> Cluster<P> {
    let rule = match setup.ballot {
        Ballot::Majority => Rule::Majority,
        Ballot::Own => Rule::Highest,
    };
    let equals = Cluster::of_equals(setup.n, move |me| fresh(me, setup));
    Cluster { election: Some(rule), ..equals }
}

/// The promises: those about safety depend on who elects, and on who is waited for.
pub fn has(params: &Params) -> Vec<Property> {
    let mut has = vec![Property::V1, Property::V2];
    if by_majority(params) {
        has.push(Property::S1Eff);
        if !params.is("mode", "fence") {
            has.extend([Property::S1, Property::F1]);
        }
    }
    has
}

fn by_majority(params: &Params) -> bool {
    params.is("election", "majority")
}
