//! The row of the election by majority.

use super::claims::{
    ASKED_FIRST, TERMS, TWO_IN_A_TERM, by_itself_with_a_crash, claim, forgetful_by_itself,
    forgetful_with_two, two_with_a_comeback, untimed, with_timers,
};
use super::dropped::{breaks, out_of_reach};
use super::{
    Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula, Kind,
    OnNetwork, Parameter, Params, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::election::majority::{Majority, Setup};
use conclave_core::Property::{E1, E1Term, E2};
use conclave_core::Ticks;

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "majority",
    family: Family::Election,
    title: "Election by majority, with terms",
    summary: "Whoever hears of no leader asks for votes in a new term; a majority makes a leader.",
    paper: "D. Ongaro, J. Ousterhout, \"In search of an understandable consensus algorithm\", \
            USENIX ATC 2014",
    seeds: &["003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "a crashed node returns with its disk or not at all",
            dropped: breaks(limits::amnesia, &[E1Term]).beyond(limits::two_begin),
        },
        Assumption {
            tag: "A2",
            text: "in the end a majority is up and in touch, and messages are faster than timeout",
            dropped: out_of_reach(
                limits::two_crashes,
                "nobody leads, but whoever stands does so in a greater term each time, so no \
                 state comes twice and nothing repeats: it would take a normal form for terms. \
                 With 2 nodes and 2 timeouts each no term has two leaders (72,495 states)",
            )
            .nodes(2),
        },
    ],
    bounds: limits::timed,
    has: |_| vec![E1, E1Term, E2],
    lacks: &[],
    bypass: None,
    parameters: &[
        Parameter {
            name: "timeout",
            kind: Kind::Time { or: &[] },
            default: "10",
            about: "how long a node waits for a leader, at least (at most twice that), and how \
                    long a leader leads without answers of a majority",
        },
        Parameter {
            name: "heartbeat",
            kind: Kind::Time { or: &[] },
            default: "3",
            about: "how often a leader shows itself",
        },
        PREVOTE,
    ],
    cost: Cost::Election(ElectionCost {
        one: Formula {
            text: "3(N-1), and N-1 answers to the first HEARTBEAT; prevote=on: 2(N-1) more",
            range: |setting| exactly((4.0 + asked_first(setting)) * (setting.n() - 1.0)),
        },
        all: Formula {
            text: "at least 2N(N-1) in vain, then as with one; prevote=on: 4N(N-1) in vain",
            range: all_at_once,
        },
        all_mean: None,
        time: Formula {
            text: "3; prevote=on: 5",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 3.0 + asked_first(setting) }),
        },
        without_last: false,
        textbooks: "Books count 3(N-1): the answers to a heartbeat serve to let a leader know that \
                    it is cut off. Nobody notices a dead leader before its timeout.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Election(Carries::Locks(&["period", "timeout", "prevote"])),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(3, by_itself_with_a_crash, 2_096_324, TERMS).place(61),
            claim(3, untimed, 466_088, TERMS).with(ASKED_FIRST).place(62),
            claim(2, with_timers, 79_769, TERMS).with(ASKED_FIRST).place(63),
            claim(3, two_with_a_comeback, 370_302, TERMS).with(ASKED_FIRST).place(64),
            claim(3, forgetful_by_itself, 6_242, TWO_IN_A_TERM).place(16),
            claim(3, forgetful_with_two, 5_176, TWO_IN_A_TERM).with(ASKED_FIRST).place(17),
        ]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::No("it sets timers"),
    },
    why: &[],
    facets: &[],
};

/// Whether nodes ask before they stand.
pub const PREVOTE: Parameter = Parameter {
    name: "prevote",
    kind: Kind::Choice(&["off", "on"]),
    default: "off",
    about: "on: before a node stands in a new term it asks whether a majority would vote for it; \
            who hears of a leader would not, so a node that is cut off from the leader alone \
            deposes nobody (election by majority)",
};

/// Rounds of messages, each of which takes N-1 and one unit, before the one that stands alone does.
fn asked_first(setting: &Setting) -> f64 {
    if setting.params.is("prevote", "on") { 2.0 } else { 0.0 }
}

/// All ask all, and with pre-votes get a yes from all; then all stand, and each votes for itself.
fn all_at_once(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    let first = asked_first(setting);
    match setting.n {
        1 => exactly(0.0),
        _ => (((2.0 + first) * n + 4.0 + first) * (n - 1.0), f64::INFINITY),
    }
}

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Majority>, Error> {
    let setup = setup(setting)?;
    let may_lead = setting.clone();
    let equals = Cluster::of_equals(setting.n, move |me| {
        Majority::new(me, setup, None).standing(may_lead.is_candidate(me))
    });
    Ok(Cluster { silent: setting.n == 1, ..equals })
}

fn setup(setting: &Setting) -> Result<Setup, Error> {
    let timeout = above_zero(&setting.params, "timeout")?;
    let heartbeat = above_zero(&setting.params, "heartbeat")?;
    if heartbeat >= timeout {
        let reason = "it must be less than timeout".to_string();
        return Err(Error::Unusable { name: "heartbeat", reason });
    }
    Ok(Setup { n: setting.n, timeout, heartbeat, prevote: setting.params.is("prevote", "on") })
}

fn above_zero(params: &Params, name: &'static str) -> Result<Ticks, Error> {
    let time = params.ticks(name).filter(|time| *time > Ticks::ZERO);
    time.ok_or_else(|| Error::Unusable { name, reason: "it takes a time above 0".into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_slower_than_the_timeout_is_refused_by_name() {
        let setting = ENTRY.setting(3, &[("heartbeat", "10")]).expect("taken");
        let error = cluster(&setting).err().expect("too slow");
        assert_eq!(error.to_string(), "--set heartbeat: it must be less than timeout");
    }
}
