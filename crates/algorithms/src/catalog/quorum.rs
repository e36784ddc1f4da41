//! The row of the quorum of queueing coordinators.

use super::claims::{
    ALL, SAFE, STUCK, UNSAFE, as_usual, claim, comeback, copied, forgetful, thrice, withdrawn,
    withdrawn_with_a_comeback,
};
use super::council::{
    self, COORDINATOR, COORDINATORS, VOTES, colocated, coordinators, council, exact_if, least,
    patient, round_trip, rounds,
};
use super::dropped::{breaks, harmless};
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost, OnNetwork,
    Parameter, Params, Rejoin, Setting, Stated, limits,
};
use crate::Error;
use crate::mutex::quorum::{Quorum, Setup, WHY, normal, rename};
use conclave_core::{Bounds, Facet, FacetKind, Property, Symmetry, Ticks};

/// A quorum of queueing coordinators.
pub const ENTRY: Entry = Entry {
    id: "quorum",
    family: Family::Mutex,
    title: "Quorum of queueing coordinators",
    summary: "Each coordinator queues and grants by itself; a client enters with the grants of \
              more than half of them.",
    paper: "After S.-D. Lin, Q. Lian, M. Chen, Z. Zhang, A practical distributed mutual exclusion \
            protocol in dynamic peer-to-peer systems, IPTPS 2004",
    seeds: &["003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: harmless(
                limits::astray,
                "a grant names the request it is for and a coordinator knows which are over, so a \
                 second copy changes nothing; what is lost only keeps somebody waiting, and \
                 nobody is promised entry",
            )
            .nodes(2)
            .with(&[("coordinators", "3")]),
        },
        Assumption {
            tag: "A2",
            text: "no coordinator forgets its grant, and at most m-q of them crash",
            dropped: breaks(limits::amnesia, &[Property::S1, Property::S1Eff, Property::F1])
                .nodes(2)
                .with(&[("coordinators", "3")]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also releases",
            dropped: harmless(
                limits::stay,
                "who stays keeps its grants, so nobody else gets in; nobody is promised to",
            )
            .nodes(2)
            .with(&[("coordinators", "3")]),
        },
    ],
    bounds,
    has: |_| vec![Property::S1, Property::S1Eff, Property::F1],
    lacks: &[
        (Property::V1, "clients that each hold some coordinators wait for each other for ever"),
        (Property::V2, "with abort_after, clients may keep aborting each other"),
        (Property::BW, "an aborted request goes to the end of every line"),
        (Property::HB, "each coordinator serves in its own order of arrival"),
    ],
    bypass: None,
    parameters: &[
        COORDINATORS,
        VOTES,
        COORDINATOR,
        Parameter {
            name: "abort_after",
            kind: Kind::Time { or: &["none"] },
            default: "none",
            about: "how long a client waits before it gives everything back and asks anew",
        },
        Parameter {
            name: "backoff",
            kind: Kind::Time { or: &[] },
            default: "10",
            about: "how long it pauses at most before it does",
        },
        Parameter {
            name: "retransmit",
            kind: Kind::Time { or: &["none"] },
            default: "none",
            about: "after how long it asks again those that did not grant",
        },
    ],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula {
            text: "3m",
            range: |setting| exact_if(untimed(setting, 2.0), rounds(setting, 3.0)),
        },
        heavy: Formula { text: "3m (more with aborts; none enters on a split vote)", range: heavy },
        client_delay: Formula {
            text: "2",
            range: |setting| exact_if(untimed(setting, 2.0), round_trip(setting)),
        },
        client_delay_serial: Formula {
            text: "2m",
            range: |setting| exact_if(untimed(setting, 2.0), rounds(setting, 2.0)),
        },
        sync_delay: Formula { text: "2 (unbounded on a split vote)", range: sync_delay },
        textbooks: "Where only grants in memory are kept, safety holds with a probability only: \
                    2q-m forgetful coordinators of a holder's q let in a second.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock {
        needs: |setting| council::needs(setting, None),
        // Links lose nothing that coordinators are asked, so to ask again would only fill the
        // outbox of one that is down; but colocated coordinators each grant to their own client
        // first, and a split vote ends only when somebody gives up.
        defaults: |_| &[("retransmit", "none"), ("abort_after", "500"), ("backoff", "100")],
        ..Lock::OF_EQUALS
    }),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 17_835_679, SAFE).with(&[("coordinators", "3")]).large().place(8),
            claim(3, as_usual, 25_385, SAFE).with(&[("coordinators", "3")]).place(9),
            claim(2, forgetful, 1_619, UNSAFE).with(&[("coordinators", "3")]).place(1),
            claim(2, forgetful, 121_748, UNSAFE)
                .with(&[("coordinators", "7"), ("votes", "4")])
                .place(2),
            claim(3, as_usual, 25_385, STUCK).with(&[("coordinators", "3")]).place(7),
            claim(2, withdrawn, 12_797, SAFE).with(&[("coordinators", "3")]),
            claim(2, comeback, 13_695, SAFE).with(&[("coordinators", "3")]),
            claim(2, copied, 10_142, SAFE).with(&[("coordinators", "3")]),
            claim(2, withdrawn_with_a_comeback, 2_459, ALL).with(&[("coordinators", "1")]),
        ]),
        normal: Stated::Yes(&[
            &[("coordinators", "3")],
            &[("coordinators", "3"), ("abort_after", "5"), ("retransmit", "2")],
            &[("coordinators", "2"), ("coordinator", "colocated")],
        ]),
        plain: Stated::No("five coordinators have too many states"),
    },
    why: &[WHY],
    facets: &[
        Facet {
            field: "grants",
            kind: FacetKind::Set,
            english: "have granted",
            portuguese: "concederam",
        },
        Facet {
            field: "coordinator.desk.holder",
            kind: FacetKind::Node,
            english: "granted to",
            portuguese: "concedeu a",
        },
        Facet {
            field: "coordinator.desk.line",
            kind: FacetKind::Queue,
            english: "in line",
            portuguese: "na fila",
        },
    ],
};

/// Who gives up, or is not answered, asks again, without end.
fn bounds(params: &Params) -> Bounds {
    let timed = params.ticks("abort_after").or(params.ticks("retransmit")).is_some();
    if timed { limits::timed(params) } else { limits::untimed(params) }
}

/// The nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Cluster<Quorum>, Error> {
    let (places, votes) = council(setting)?;
    let params = &setting.params;
    let abort_after = params.ticks("abort_after");
    let retransmit = params.ticks("retransmit");
    let backoff = params.ticks("backoff").unwrap_or(Ticks::units(10));
    if retransmit == Some(Ticks::ZERO) {
        let reason = "0 would ask without end; it takes a time above 0, or none".to_string();
        return Err(Error::Unusable { name: "retransmit", reason });
    }
    let setup = Setup { places, votes, abort_after, backoff, retransmit };
    Ok(Cluster {
        coordinators: places.extra(),
        normal: Some(normal),
        symmetry: (!colocated(setting)).then_some(Symmetry { renamed: rename }),
        ..Cluster::of_equals(setting.n, move |me| Quorum::new(me, setup))
    })
}

/// Whether neither timer is heard of within so many units.
fn untimed(setting: &Setting, units: f64) -> bool {
    patient(setting, "abort_after", units) && patient(setting, "retransmit", units)
}

/// Whether everybody, asking at once, gets in without a split vote and before any timer. Each
/// colocated coordinator grants to its own client first, which splits the vote of any two.
fn undisturbed(setting: &Setting) -> bool {
    let split = colocated(setting) && coordinators(setting) > 1;
    !split && untimed(setting, 2.0 + 12.0 * (setting.n() - 1.0))
}

fn heavy(setting: &Setting) -> (f64, f64) {
    if undisturbed(setting) {
        return exact_if(true, rounds(setting, 3.0));
    }
    exact_if(false, least(setting))
}

fn sync_delay(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    match (setting.n, colocated(setting)) {
        (1, _) => (0.0, 0.0),
        (_, _) if !undisturbed(setting) => (1.0, f64::INFINITY),
        (_, true) => exact_if(true, (2.0 * n - 3.0) / (n - 1.0)),
        (_, false) => (2.0, 2.0),
    }
}
