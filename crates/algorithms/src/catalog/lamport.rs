//! The row of Lamport's mutual exclusion.

use super::claims::{
    ALL, ORDERED, UNFENCED, UNSAFE, as_usual, claim, copied, for_ever, in_any_order, thrice,
    withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost,
    OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::lamport::{Lamport, WHY, normal};
use conclave_core::Property::{BW, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::{Facet, FacetKind};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "lamport",
    family: Family::Mutex,
    title: "Lamport's mutual exclusion",
    summary: "Everybody keeps the whole queue of requests in the order of logical time, and enters \
              when it is first and has heard something later from all others.",
    paper: "L. Lamport, \"Time, clocks, and the ordering of events in a distributed system\", \
            CACM 21(7), 1978",
    seeds: &["002", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once",
            dropped: breaks(limits::astray, &[S1, V1, V2, F1]),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes, or it restarts with its disk",
            dropped: breaks(limits::amnesia, &[S1, F1]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also releases",
            dropped: breaks(limits::stay, &[V2]).nodes(2),
        },
        Assumption {
            tag: "A4",
            text: "messages from one node to another arrive in the order sent",
            dropped: breaks(limits::reorder, &[S1, F1]),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![S1, S1Eff, V1, V2, BW, HB, F1],
    lacks: &[],
    bypass: Some(|setting| u64::from(setting.n) - 1),
    parameters: &[Parameter {
        name: "reply_saving",
        kind: Kind::Flag,
        default: "false",
        about: "send no REPLY to whom something later than its REQUEST has been sent already",
    }],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula { text: "3(N-1)", range: |setting| exactly(3.0 * (setting.n() - 1.0)) },
        heavy: Formula {
            text: "3(N-1), with reply saving 2.5(N-1)",
            range: |setting| exactly(per_peer_under_load(setting) * (setting.n() - 1.0)),
        },
        client_delay: Formula {
            text: "2",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 2.0 }),
        },
        client_delay_serial: Formula {
            text: "2(N-1)",
            range: |setting| exactly(2.0 * (setting.n() - 1.0)),
        },
        sync_delay: Formula {
            text: "1",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 1.0 }),
        },
        textbooks: "Most print 3(N-1); with replies saved an entry costs from 2(N-1) to 3(N-1). \
                    When all ask at once the first enters after 1 message time, not 2, for a later \
                    REQUEST is as good as a REPLY.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock::OF_EQUALS),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 12_308, ALL).place(12),
            claim(3, as_usual, 769_783, ALL).place(13),
            claim(2, for_ever, 1_130, UNFENCED).place(44),
            claim(2, in_any_order, 22, UNSAFE).place(4),
            claim(2, withdrawn_with_a_comeback, 54_557, ORDERED),
            claim(2, copied, 702, ORDERED),
        ]),
        normal: Stated::Yes(&[&[], &[("reply_saving", "true")]]),
        plain: Stated::Yes(Arrival::AsSent),
    },
    why: &[WHY],
    facets: &[Facet {
        field: "queue",
        kind: FacetKind::QueueByNode,
        english: "queue",
        portuguese: "fila",
    }],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Lamport>, Error> {
    let n = setting.n;
    let reply_saving = setting.params.on("reply_saving");
    let nodes = Cluster::of_equals(n, move |me| Lamport::new(me, n, reply_saving));
    Ok(Cluster { normal: Some(normal), ..nodes })
}

/// Of two that ask at once, one can save its REPLY.
fn per_peer_under_load(setting: &Setting) -> f64 {
    if setting.params.on("reply_saving") { 2.5 } else { 3.0 }
}
