//! The row of decentralised voting.

use super::claims::{
    SAFE, STARVED, as_usual, claim, comeback, copied, for_ever, thrice, withdrawn_twice,
};
use super::council::{
    self, COORDINATOR, COORDINATORS, VOTES, colocated, coordinators, council, exact_if, least,
    patient, round_trip, rounds, votes,
};
use super::dropped::{breaks, harmless};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost, OnNetwork,
    Parameter, Rejoin, Setting, Stated, facets, limits,
};
use crate::Error;
use crate::mutex::voting::{Setup, Voting, WHY, normal, rename};
use conclave_core::{Facet, FacetKind, Property, Symmetry, Ticks};

/// Decentralised voting.
pub const ENTRY: Entry = Entry {
    id: "voting",
    family: Family::Mutex,
    title: "Decentralised voting",
    summary: "More than half of the coordinators must vote for a client; who is refused returns \
              its votes and tries again after a random pause.",
    paper: "S.-D. Lin, Q. Lian, M. Chen, Z. Zhang, A practical distributed mutual exclusion \
            protocol in dynamic peer-to-peer systems, IPTPS 2004",
    seeds: &["000", "001"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: harmless(
                limits::astray,
                "a vote names the try it is for, so one that comes twice counts once and one that \
                 comes late is handed back; what is lost only keeps somebody waiting, and nobody \
                 is promised entry (1,784,297 states)",
            )
            .nodes(2)
            .with(&[("coordinators", "3")])
            .large(),
        },
        Assumption {
            tag: "A2",
            text: "no coordinator forgets its vote, and at most m-q of them crash",
            dropped: breaks(limits::amnesia, &[Property::S1, Property::S1Eff, Property::F1])
                .nodes(2)
                .with(&[("coordinators", "3")]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also releases",
            dropped: harmless(
                limits::stay,
                "who stays keeps its votes, so nobody else gets in; nobody is promised to",
            )
            .nodes(2)
            .with(&[("coordinators", "3")]),
        },
    ],
    bounds: limits::timed,
    has: |_| vec![Property::S1, Property::S1Eff, Property::F1],
    lacks: &[
        (Property::V1, "votes may be split try after try; only the random pauses end it"),
        (Property::V2, "a client may lose for ever against luckier ones"),
        (Property::BW, "no bound on how many others win first"),
        (Property::HB, "the vote goes to whoever asks at the right moment"),
    ],
    bypass: None,
    parameters: &[
        COORDINATORS,
        VOTES,
        COORDINATOR,
        Parameter {
            name: "backoff",
            kind: Kind::Time { or: &[] },
            default: "10",
            about: "the longest first pause after a failed try; it doubles up to 64 times that",
        },
        Parameter {
            name: "attempt",
            kind: Kind::Time { or: &["none"] },
            default: "none",
            about: "how long a try may wait for answers; needed when coordinators crash",
        },
    ],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula {
            text: "3m",
            range: |setting| exact_if(unhurried(setting), rounds(setting, 3.0)),
        },
        heavy: Formula { text: "2mk + the votes won in all k tries", range: heavy },
        client_delay: Formula {
            text: "2 per try",
            range: |setting| exact_if(unhurried(setting), round_trip(setting)),
        },
        client_delay_serial: Formula {
            text: "2m per try",
            range: |setting| exact_if(unhurried(setting), rounds(setting, 2.0)),
        },
        sync_delay: Formula {
            text: "unbounded (pauses)",
            range: |setting| match (setting.n, colocated(setting)) {
                (1, _) => (0.0, 0.0),
                (_, true) => (1.0, f64::INFINITY),
                (_, false) => (2.0, f64::INFINITY),
            },
        },
        textbooks: "Books print 2mk + m messages (older ones 3mk), which forgets the votes \
                    returned after failed tries; and a delay of 2mk, counting messages one by \
                    one.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock {
        needs: |setting| council::needs(setting, None),
        // A coordinator may be down.
        defaults: |_| &[("attempt", "2000")],
        ..Lock::OF_EQUALS
    }),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, as_usual, 26_782, SAFE).with(&[("coordinators", "3")]).place(5),
            claim(2, thrice, 4_087, SAFE).with(&[("coordinators", "1")]).place(6),
            claim(3, as_usual, 380, SAFE).with(&[("coordinators", "1")]).place(7),
            claim(2, for_ever, 44, STARVED).with(&[("coordinators", "1")]).place(18),
            claim(2, withdrawn_twice, 3_836, SAFE).with(&[("coordinators", "1")]),
            claim(2, comeback, 331, SAFE).with(&[("coordinators", "1")]),
            claim(2, copied, 349, SAFE).with(&[("coordinators", "1")]),
        ]),
        normal: Stated::Yes(&[
            &[("coordinators", "3")],
            &[("coordinators", "2"), ("attempt", "5")],
            &[("coordinators", "2"), ("coordinator", "colocated")],
        ]),
        plain: Stated::No("it sets timers"),
    },
    why: &[WHY],
    facets: &[
        facets::votes("ok"),
        Facet {
            field: "nok",
            kind: FacetKind::Set,
            english: "refused it",
            portuguese: "recusaram",
        },
        facets::vote("coordinator.vote"),
    ],
};

/// The nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Cluster<Voting>, Error> {
    let (places, votes) = council(setting)?;
    let backoff = setting.params.ticks("backoff").unwrap_or(Ticks::units(10));
    let setup = Setup { places, votes, backoff, attempt: setting.params.ticks("attempt") };
    Ok(Cluster {
        coordinators: places.extra(),
        normal: Some(normal),
        symmetry: (!colocated(setting)).then_some(Symmetry { renamed: rename }),
        ..Cluster::of_equals(setting.n, move |me| Voting::new(me, setup))
    })
}

/// Whether no try is cut off before its answers can be there.
fn unhurried(setting: &Setting) -> bool {
    patient(setting, "attempt", 2.0)
}

/// With coordinators apart, the first client wins every vote and all others lose their first try.
fn heavy(setting: &Setting) -> (f64, f64) {
    let m = f64::from(coordinators(setting));
    let q = f64::from(votes(setting));
    let n = setting.n();
    if setting.n == 1 || colocated(setting) || !unhurried(setting) {
        return exact_if(false, least(setting));
    }
    ((3.0 * m + (n - 1.0) * (4.0 * m + q)) / n, f64::INFINITY)
}
