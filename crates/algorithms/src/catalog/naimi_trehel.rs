//! The row of Naimi and Trehel's algorithm.

use super::claims::{
    ALL, STUCK, UNFENCED, UNORDERED, as_usual, claim, copied, for_ever, thrice, twice,
    withdrawn_twice, withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Lock, MutexCost,
    OnNetwork, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::naimi_trehel::{NaimiTrehel, WHY, normal};
use conclave_core::Property::{BW, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::{Facet, FacetKind};

/// Path reversal.
pub const ENTRY: Entry = Entry {
    id: "naimi-trehel",
    family: Family::Mutex,
    title: "Naimi and Trehel's path reversal",
    summary: "Requests climb to whoever asked last; the token goes down the line of who waits.",
    paper: "M. Naimi, M. Trehel and A. Arnold, \"A log(N) distributed mutual exclusion algorithm \
            based on path reversal\", JPDC 34(1), 1996",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: breaks(limits::astray, &[S1, S1Eff, V1, V2, F1]).beyond(limits::twice),
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
    has: |_| vec![S1, S1Eff, V1, V2, F1],
    lacks: &[
        (
            BW,
            "the bound n-1 counts from joining the line that ends at the token; a request may \
              first stand behind one that is itself still under way",
        ),
        (HB, "a request that takes a longer way joins the line later"),
    ],
    bypass: None,
    parameters: &[],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula { text: "0..N; from the start 2(N-1)/N", range: from_the_start },
        heavy: Formula {
            text: "3 - 4/N",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 3.0 - 4.0 / setting.n() }),
        },
        client_delay: Formula {
            text: "1 + the way to the last requester; from the start 2, 0 at the root",
            range: from_the_start,
        },
        client_delay_serial: Formula {
            text: "1 + the way to the last requester; from the start 2, 0 at the root",
            range: from_the_start,
        },
        sync_delay: Formula {
            text: "1",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 1.0 }),
        },
        textbooks: "The mean over many requests, one after the other and from anywhere, is the \
                    harmonic number of N-1: O(log N). A fresh star costs less, the worst case N.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock::OF_EQUALS),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 224, ALL).place(26),
            claim(3, as_usual, 154, ALL).place(27),
            claim(3, twice, 2_314, ALL).place(39),
            claim(3, for_ever, 282, UNFENCED).place(50),
            claim(3, withdrawn_with_a_comeback, 36_622, ALL),
            claim(3, withdrawn_twice, 9_532, UNORDERED),
            claim(3, copied, 1_332, STUCK),
        ]),
        normal: Stated::Yes(&[&[]]),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[WHY],
    facets: &[
        Facet { field: "father", kind: FacetKind::Edge, english: "father", portuguese: "pai" },
        Facet {
            field: "next",
            kind: FacetKind::Node,
            english: "next in line",
            portuguese: "próximo da fila",
        },
    ],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<NaimiTrehel>, Error> {
    let nodes = Cluster::of_equals(setting.n, NaimiTrehel::new);
    Ok(Cluster { normal: Some(normal), ..nodes })
}

/// One REQUEST to the root and the TOKEN back, but for the root itself.
fn from_the_start(setting: &Setting) -> (f64, f64) {
    exactly(2.0 * (setting.n() - 1.0) / setting.n())
}
