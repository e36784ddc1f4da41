//! The row of Maekawa's mutual exclusion.

use super::claims::{
    ALL, STUCK, UNFENCED, as_usual, claim, comeback, copied, for_ever, thrice, twice, withdrawn,
    withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost,
    OnNetwork, Parameter, Rejoin, Setting, Stated, facets, limits,
};
use crate::Error;
use crate::mutex::maekawa::{Maekawa, WHY, normal};
use crate::mutex::quorums::Quorums;
use conclave_core::Property::{BW, F1, HB, S1, S1Eff, V1, V2};
use conclave_core::{Facet, FacetKind};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "maekawa",
    family: Family::Mutex,
    title: "Maekawa's mutual exclusion",
    summary: "To enter takes the votes of a quorum of about √N nodes; any two quorums share a \
              node, and each node has one vote.",
    paper: "M. Maekawa, \"A √N algorithm for mutual exclusion in decentralized systems\", ACM TOCS \
            3(2), 1985; B. A. Sanders, \"The information structure of distributed mutual exclusion \
            algorithms\", ACM TOCS 5(3), 1987",
    seeds: &["000", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once",
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
        Assumption {
            tag: "A4",
            text: "messages from one node to another arrive in the order sent",
            dropped: breaks(limits::reorder, &[V1, V2]).nodes(4),
        },
    ],
    bounds: limits::untimed,
    has: |params| match params.on("sanders") {
        true => vec![S1, S1Eff, V1, V2, BW, F1],
        false => vec![S1, S1Eff, F1],
    },
    lacks: &[
        (HB, "a request may reach the shared arbiter after one that it caused"),
        (
            V1,
            "sanders=false: who is displaced in a queue does not learn it, keeps its votes, and \
              all wait in a circle",
        ),
        (V2, "sanders=false: all can wait in a circle"),
        (BW, "sanders=false: all can wait in a circle"),
    ],
    bypass: Some(|setting| 2 * (u64::from(setting.n) - 1)),
    parameters: &[
        Parameter {
            name: "quorums",
            kind: Kind::ChoiceOrFile(&["plane", "grid"]),
            default: "plane",
            about: "plane: a projective plane where one is known (N = 3, 7, 13, 21, 31), else a \
                    grid; a file lists on line i the quorum of node i",
        },
        Parameter {
            name: "sanders",
            kind: Kind::Flag,
            default: "true",
            about: "tell a request that is displaced in a queue that it failed; false: as first \
                    published, which can deadlock",
        },
    ],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula { text: "3(K-1)", range: |setting| mean(setting, |others| 3.0 * others) },
        heavy: Formula {
            text: "3(K-1) to 6(K-1), about 4(K-1)",
            range: |setting| {
                let (low, high) = mean(setting, |others| others);
                (3.0 * low, 6.0 * high)
            },
        },
        client_delay: Formula {
            text: "2",
            range: |setting| mean(setting, |others| if others > 0.0 { 2.0 } else { 0.0 }),
        },
        client_delay_serial: Formula {
            text: "2(K-1)",
            range: |setting| mean(setting, |others| 2.0 * others),
        },
        sync_delay: Formula {
            text: "1 or 2",
            range: |setting| if setting.n == 1 { (0.0, 0.0) } else { (1.0, 2.0) },
        },
        textbooks: "3√N, 3K or 3(K-1), as messages to oneself are counted or not; the usual worst \
                    case 5√N leaves out votes granted again after a YIELD, with which it is \
                    6(K-1). Coulouris credits the version with Sanders' rule with request order, \
                    which it lacks.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock::OF_EQUALS),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 706, ALL).place(18),
            claim(3, as_usual, 486, ALL).place(19),
            claim(3, twice, 15_293, ALL).place(34),
            claim(2, for_ever, 49, UNFENCED).place(45),
            claim(4, as_usual, 217_931, STUCK).with(&[("sanders", "false")]).place(6),
            claim(2, withdrawn_with_a_comeback, 6_860, ALL),
            claim(3, withdrawn, 3_248, ALL),
            claim(3, comeback, 3_753, ALL),
            claim(3, copied, 3_122, ALL),
        ]),
        normal: Stated::Yes(&[&[], &[("sanders", "false")]]),
        plain: Stated::Yes(Arrival::AsSent),
    },
    why: &[WHY],
    facets: &[
        Facet { field: "quorum", kind: FacetKind::Set, english: "quorum", portuguese: "quórum" },
        facets::votes("votes"),
        facets::vote("voted"),
        Facet {
            field: "queue",
            kind: FacetKind::QueueFromEnd,
            english: "wait for its vote",
            portuguese: "esperam seu voto",
        },
    ],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Maekawa>, Error> {
    let n = setting.n;
    let sanders = setting.params.on("sanders");
    let quorums = quorums(setting)?;
    let fresh = move |me| Maekawa::new(me, n, quorums.of(me).to_vec(), sanders);
    Ok(Cluster { normal: Some(normal), ..Cluster::of_equals(n, fresh) })
}

fn quorums(setting: &Setting) -> Result<Quorums, Error> {
    let n = setting.n;
    match setting.params.text("quorums") {
        "plane" => Ok(Quorums::plane(n).unwrap_or_else(|| Quorums::grid(n))),
        "grid" => Ok(Quorums::grid(n)),
        file => {
            Quorums::parse(file, n).map_err(|reason| Error::Unusable { name: "quorums", reason })
        }
    }
}

/// The mean over all nodes of a quantity that depends on how many others are in the quorum. Of
/// quorums that cannot be used, nothing can be said.
fn mean(setting: &Setting, quantity: impl Fn(f64) -> f64) -> (f64, f64) {
    let Ok(quorums) = quorums(setting) else { return (0.0, f64::INFINITY) };
    let mean = quorums.mean(|size| quantity(size as f64 - 1.0));
    (mean, mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_follow_the_size_of_the_quorums() {
        let light = |n, set: &[(&str, &str)]| {
            (ENTRY.cost.mutex().expect("a mutex").light.range)(
                &ENTRY.setting(n, set).expect("it takes these"),
            )
        };
        for (n, messages) in [(1, 0.0), (3, 3.0), (7, 6.0), (13, 9.0), (21, 12.0), (31, 15.0)] {
            assert_eq!(light(n, &[]), (messages, messages), "{n}");
        }
        assert_eq!(light(16, &[("quorums", "grid")]), (18.0, 18.0));
        assert_eq!(light(2, &[("quorums", "1\n1 2")]), (1.5, 1.5));
    }

    #[test]
    fn quorums_that_do_not_meet_are_named() {
        let setting = ENTRY.setting(2, &[("quorums", "1\n2")]).expect("it is text");
        let wrong = cluster(&setting).err().expect("they do not meet").to_string();
        assert_eq!(wrong, "--set quorums: the quorums of nodes 1 and 2 do not meet");
    }
}
