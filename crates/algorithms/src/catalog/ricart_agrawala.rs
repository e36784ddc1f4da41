//! The row of Ricart and Agrawala's mutual exclusion.

use super::claims::{
    ALL, ORDERED, UNFENCED, UNSAFE, as_usual, claim, comeback, copied, copied_in_any_order,
    for_ever, forgetful_twice, thrice, twice, twice_in_any_order, withdrawn,
    withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost,
    OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::ricart_agrawala::{RicartAgrawala, Text, WHY, normal};
use conclave_core::Property::{BW, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::Verdict::Violated;
use conclave_core::{Facet, FacetKind};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "ricart-agrawala",
    family: Family::Mutex,
    title: "Ricart and Agrawala's mutual exclusion",
    summary: "A requester enters when everybody has agreed; whoever goes before it agrees only \
              when it has left.",
    paper: "G. Ricart, A. K. Agrawala, \"An optimal algorithm for mutual exclusion in computer \
            networks\", CACM 24(1), 1981",
    seeds: &["000", "001", "002", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in whatever order",
            dropped: breaks(limits::astray, &[V1, V2]),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes, or it restarts with its disk",
            dropped: breaks(limits::amnesia, &[S1, V1, V2, F1]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also releases",
            dropped: breaks(limits::stay, &[V2]),
        },
    ],
    bounds: limits::untimed,
    has: |params| match params.is("text", "seed") {
        true => vec![S1Eff, V1, V2],
        false => vec![S1, S1Eff, V1, V2, BW, HB, F1],
    },
    lacks: &[
        (S1, "text=seed: who said OK may then ask with a smaller time, and both enter"),
        (BW, "text=seed: a node whose clock lags goes first again and again until it catches up"),
        (HB, "text=seed: the clock does not follow cause and effect"),
        (F1, "text=seed: requests are not granted in the order of their times"),
    ],
    bypass: Some(|setting| u64::from(setting.n) - 1),
    parameters: &[Parameter {
        name: "text",
        kind: Kind::Choice(&["corrected", "seed"]),
        default: "corrected",
        about: "seed: as a lecture note prints it, never moving the clock when a message arrives",
    }],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula { text: "2(N-1)", range: round_trips },
        heavy: Formula { text: "2(N-1)", range: round_trips },
        client_delay: Formula {
            text: "2",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 2.0 }),
        },
        client_delay_serial: Formula { text: "2(N-1)", range: round_trips },
        sync_delay: Formula {
            text: "1",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 1.0 }),
        },
        textbooks: "Tanenbaum and van Steen print a delay of 2(N-1), counting one message after \
                    the other; Coulouris counts one round trip, 2. Some call it fault tolerant: it \
                    has N points of failure.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock::OF_EQUALS),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 493, ALL).place(14),
            claim(3, as_usual, 2_091, ALL).place(15),
            claim(3, twice, 48_640, ALL).place(33),
            claim(3, twice_in_any_order, 164_459, ALL).place(42),
            claim(3, for_ever, 2_803, UNFENCED).place(43),
            claim(2, forgetful_twice, 389, UNSAFE).place(3),
            claim(3, as_usual, 1_205, UNSAFE).with(&[("text", "seed")]).place(5),
            claim(2, withdrawn_with_a_comeback, 2_182, ORDERED),
            claim(3, withdrawn, 11_651, ORDERED),
            claim(3, comeback, 13_958, ORDERED),
            claim(3, copied, 24_441, ORDERED),
            claim(2, copied_in_any_order, 2_011, ALL),
            claim(3, as_usual, 1_499, &[(HB, Violated)]).with(&[("text", "seed")]),
        ]),
        normal: Stated::Yes(&[&[], &[("text", "seed")]]),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[WHY],
    facets: &[
        Facet {
            field: "granted",
            kind: FacetKind::Set,
            english: "said OK",
            portuguese: "disseram OK",
        },
        Facet {
            field: "deferred",
            kind: FacetKind::Set,
            english: "waits for its OK",
            portuguese: "esperam seu OK",
        },
    ],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<RicartAgrawala>, Error> {
    let n = setting.n;
    let text = if setting.params.is("text", "seed") { Text::Seed } else { Text::Corrected };
    let nodes = Cluster::of_equals(n, move |me| RicartAgrawala::new(me, n, text));
    Ok(Cluster { normal: Some(normal), ..nodes })
}

fn round_trips(setting: &Setting) -> (f64, f64) {
    exactly(2.0 * (setting.n() - 1.0))
}
