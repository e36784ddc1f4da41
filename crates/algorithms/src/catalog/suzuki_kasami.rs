//! The row of Suzuki and Kasami's algorithm.

use super::claims::{
    ALL, UNFENCED, UNORDERED, as_usual, claim, comeback, copied, for_ever, thrice, twice,
    withdrawn_twice, withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Lock, MutexCost,
    OnNetwork, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::suzuki_kasami::{SuzukiKasami, WHY, normal};
use conclave_core::Property::{BW, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::{Facet, FacetKind};

/// Every node keeps a number for every node: more nodes than this fill the memory.
const NODES_MAX: u32 = 20_000;

/// The broadcast token.
pub const ENTRY: Entry = Entry {
    id: "suzuki-kasami",
    family: Family::Mutex,
    title: "Suzuki and Kasami's broadcast token",
    summary: "Requests go to everybody; the token knows who was served and who comes next.",
    paper: "I. Suzuki and T. Kasami, \"A distributed mutual exclusion algorithm\", \
            ACM TOCS 3(4), 1985",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: breaks(limits::astray, &[S1, V1, V2, F1]).beyond(limits::twice),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes, or it restarts with its disk",
            dropped: breaks(limits::amnesia, &[V1, V2]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also leaves",
            dropped: breaks(limits::stay, &[V2]),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![S1, S1Eff, V1, V2, BW, F1],
    lacks: &[(HB, "the queue is filled in ring order, not in the order of the requests")],
    bypass: Some(|setting| u64::from(setting.n) - 1),
    parameters: &[],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula {
            text: "N, or 0 where the token is",
            range: |setting| exactly(setting.n() - 1.0),
        },
        heavy: Formula { text: "N-1", range: |setting| exactly(setting.n() - 1.0) },
        client_delay: Formula {
            text: "2, or 0 where the token is",
            range: |setting| exactly(2.0 * (setting.n() - 1.0) / setting.n()),
        },
        client_delay_serial: Formula {
            text: "N, or 0 where the token is",
            range: |setting| exactly(setting.n() - 1.0),
        },
        sync_delay: Formula {
            text: "1",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 1.0 }),
        },
        textbooks: "",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock::OF_EQUALS),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 218, ALL).place(22),
            claim(3, as_usual, 530, ALL).place(23),
            claim(3, twice, 11_322, ALL).place(35),
            claim(3, for_ever, 696, UNFENCED).place(46),
            claim(3, withdrawn_twice, 53_443, ALL),
            claim(2, withdrawn_with_a_comeback, 636, ALL),
            claim(3, comeback, 2_250, ALL),
            claim(3, copied, 3_428, UNORDERED),
        ]),
        normal: Stated::Yes(&[&[]]),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[WHY],
    facets: &[Facet {
        field: "token.queue",
        kind: FacetKind::Queue,
        english: "the token's queue",
        portuguese: "fila do token",
    }],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<SuzukiKasami>, Error> {
    let n = setting.n;
    if n > NODES_MAX {
        let reason = format!("every node keeps a number for every node; at most {NODES_MAX} fit");
        return Err(Error::BadSize { n, reason });
    }
    let nodes = Cluster::of_equals(n, move |me| SuzukiKasami::new(me, n));
    Ok(Cluster { normal: Some(normal), ..nodes })
}
