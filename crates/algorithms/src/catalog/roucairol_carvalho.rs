//! The row of Carvalho and Roucairol's mutual exclusion.

use super::claims::{
    ALL, as_usual, claim, comeback, copied, copied_in_any_order, thrice, twice, withdrawn,
    withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost,
    OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::roucairol_carvalho::{Init, RoucairolCarvalho, WHY, normal};
use conclave_core::Property::{BW, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::{Facet, FacetKind};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "roucairol-carvalho",
    family: Family::Mutex,
    title: "Carvalho and Roucairol's mutual exclusion",
    summary: "As Ricart and Agrawala's, but a permission stays good until its giver asks, so that \
              who enters again need not ask again.",
    paper: "O. S. F. Carvalho, G. Roucairol, \"On mutual exclusion in computer networks\", \
            CACM 26(2), 1983",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in whatever order",
            dropped: breaks(limits::astray, &[V1, V2]),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes, or it restarts with its disk",
            dropped: breaks(limits::amnesia, &[S1, S1Eff, V1, V2, F1]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also releases",
            dropped: breaks(limits::stay, &[V2]),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![S1, S1Eff, V1, V2, F1],
    lacks: &[
        (
            BW,
            "a waiting node that has to give a permission back asks for it again, and until that \
              REQUEST arrives the other may enter any number of times",
        ),
        (HB, "who holds all permissions enters again while an older REQUEST is on its way"),
    ],
    bypass: None,
    parameters: &[Parameter {
        name: "init",
        kind: Kind::Choice(&["low", "none"]),
        default: "low",
        about: "who holds the permission of each pair at first: the smaller node, or neither",
    }],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula { text: "N-1 on average (0 to 2(N-1)), init=none 2(N-1)", range: messages },
        heavy: Formula { text: "N-1, init=none 2(N-1)", range: messages },
        client_delay: Formula {
            text: "0 or 2",
            range: |setting| exactly(2.0 * askers(setting) / setting.n()),
        },
        client_delay_serial: Formula { text: "0 to 2(N-1)", range: messages },
        sync_delay: Formula {
            text: "1",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 1.0 }),
        },
        textbooks: "Printed as 0 to 2(N-1) messages: 0 for the last user, 2(N-1) when every \
                    permission is elsewhere.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock::OF_EQUALS),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 291, ALL).place(16),
            claim(3, as_usual, 749, ALL).place(17),
            claim(3, twice, 49_085, ALL).place(37),
            claim(2, withdrawn_with_a_comeback, 1_114, ALL),
            claim(3, withdrawn, 3_565, ALL),
            claim(3, comeback, 4_330, ALL),
            claim(3, copied, 9_988, ALL),
            claim(2, copied_in_any_order, 989, ALL),
        ]),
        normal: Stated::Yes(&[&[], &[("init", "none")]]),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[WHY],
    facets: &[
        Facet {
            field: "held",
            kind: FacetKind::Set,
            english: "permissions held",
            portuguese: "permissões que tem",
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
pub fn cluster(setting: &Setting) -> Result<Cluster<RoucairolCarvalho>, Error> {
    let n = setting.n;
    let init = if setting.params.is("init", "low") { Init::Low } else { Init::None };
    let nodes = Cluster::of_equals(n, move |me| RoucairolCarvalho::new(me, n, init));
    Ok(Cluster { normal: Some(normal), ..nodes })
}

/// REQUEST and OK for each permission that is missing: half of all of them when one node of each
/// pair holds it.
fn messages(setting: &Setting) -> (f64, f64) {
    let per_peer = if setting.params.is("init", "low") { 1.0 } else { 2.0 };
    exactly(per_peer * (setting.n() - 1.0))
}

/// How many nodes lack a permission at first.
fn askers(setting: &Setting) -> f64 {
    match (setting.n, setting.params.is("init", "low")) {
        (1, _) => 0.0,
        (_, true) => setting.n() - 1.0,
        (_, false) => setting.n(),
    }
}
