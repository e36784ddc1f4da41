//! The row of the centralised algorithm.

use super::claims::{
    ALL, STARVED, STUCK, UNFENCED, UNSAFE, as_usual, claim, copied, copied_in_any_order, crash,
    for_ever, thrice, twice, withdrawn, withdrawn_twice, withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost,
    Needs, OnNetwork, Parameter, Params, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::central::{Busy, Central, Order, Release, Setup, WHY, normal};
use crate::mutex::places::Places;
use conclave_core::{Bounds, Facet, FacetKind, NodeId, Property, Ticks};

/// The centralised coordinator.
pub const ENTRY: Entry = Entry {
    id: "central",
    family: Family::Mutex,
    title: "Centralised coordinator",
    summary: "One coordinator is asked, and lets in one client at a time.",
    paper: "Folklore; M. van Steen and A. S. Tanenbaum, Distributed Systems",
    seeds: &["000", "001", "002", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: breaks(limits::astray, &[Property::V1, Property::V2]),
        },
        Assumption {
            tag: "A2",
            text: "no crashes, except of a node that returns with its disk",
            dropped: breaks(
                limits::amnesia,
                &[Property::S1, Property::S1Eff, Property::V1, Property::V2, Property::F1],
            ),
        },
        Assumption {
            tag: "A3",
            text: "who enters also releases",
            dropped: breaks(limits::stay, &[Property::V2]),
        },
    ],
    bounds,
    has,
    lacks: &[
        (Property::S1, "only with release=anybodys: who withdraws ends the hold of another"),
        (Property::HB, "service follows arrival; an earlier request may arrive later"),
        (Property::V2, "only with busy=try, order=random or order=lifo: anyone may be passed over"),
        (Property::BW, "only with busy=try, order=random or order=lifo: no bound on being passed"),
    ],
    bypass: Some(bypass),
    parameters: &[
        Parameter {
            name: "coordinator",
            kind: Kind::Choice(&["colocated", "separate"]),
            default: "colocated",
            about: "the coordinator on the first client's node, or on a node of its own",
        },
        Parameter {
            name: "busy",
            kind: Kind::Choice(&["silent", "queued", "try"]),
            default: "silent",
            about: "what a busy coordinator answers: nothing, QUEUED, or NOK without queueing",
        },
        Parameter {
            name: "order",
            kind: Kind::Choice(&["fifo", "random", "lifo", "timestamp"]),
            default: "fifo",
            about: "who is served next among those in line",
        },
        Parameter {
            name: "release_ack",
            kind: Kind::Flag,
            default: "false",
            about: "whether a release is acknowledged",
        },
        Parameter {
            name: "release",
            kind: Kind::Choice(&["own", "anybodys"]),
            default: "own",
            about: "whose hold a RELEASE ends: that of whoever sends it, or of whoever is inside, \
                    as where it names nobody and frees a semaphore; then two may be inside",
        },
        Parameter {
            name: "backoff",
            kind: Kind::Time { or: &[] },
            default: "10",
            about: "with busy=try, how long a refused client pauses at most",
        },
    ],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula {
            text: "3; 3(N-1)/N colocated (+1 with release_ack)",
            range: |setting| exactly(cycle(setting)),
        },
        heavy: Formula {
            text: "3 (+1 per busy request with queued; 2 tries + 1 with try)",
            range: heavy,
        },
        client_delay: Formula {
            text: "2; 0 on the coordinator's node",
            range: |setting| exactly(2.0 * remote(setting)),
        },
        client_delay_serial: Formula {
            text: "2; 0 on the coordinator's node",
            range: |setting| exactly(2.0 * remote(setting)),
        },
        sync_delay: Formula {
            text: "2; 1 if either end is the coordinator's node",
            range: sync_delay,
        },
        textbooks: "Most books count 3 messages; with an acknowledged release it is 4. NOK means \
                    \"wait in line\" in some (busy=queued) and \"refused\" in others (busy=try).",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock {
        needs: |_| Needs::Coordinator(NodeId(0)),
        ..Lock::OF_EQUALS
    }),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 127, ALL).place(1),
            claim(3, as_usual, 113, ALL).place(2),
            claim(3, twice, 677, ALL).place(36),
            claim(3, for_ever, 70, UNFENCED).place(48),
            claim(2, crash, 46, STUCK).place(9),
            claim(2, for_ever, 18, STARVED).with(&[("busy", "try")]).place(19),
            claim(3, withdrawn_twice, 5_950, ALL),
            claim(2, withdrawn_with_a_comeback, 1_042, ALL),
            claim(2, copied_in_any_order, 502, ALL),
            claim(3, copied, 516, ALL),
            claim(3, withdrawn, 328, UNSAFE).with(&[("release", "anybodys")]),
            claim(3, copied, 495, UNSAFE).with(&[("release", "anybodys")]),
        ]),
        normal: Stated::Yes(&[
            &[],
            &[("busy", "try")],
            &[("busy", "queued"), ("order", "random"), ("release_ack", "true")],
            &[("order", "lifo"), ("coordinator", "colocated")],
            &[("order", "timestamp")],
        ]),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[WHY],
    facets: &[
        Facet {
            field: "coordinator.desk.holder",
            kind: FacetKind::Node,
            english: "is inside",
            portuguese: "está dentro",
        },
        Facet {
            field: "coordinator.desk.line",
            kind: FacetKind::Queue,
            english: "in line",
            portuguese: "na fila",
        },
    ],
};

/// Refusals are followed by another try, without end.
fn bounds(params: &Params) -> Bounds {
    if params.is("busy", "try") { limits::timed(params) } else { limits::untimed(params) }
}

/// The nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Cluster<Central>, Error> {
    let params = &setting.params;
    let busy = match params.text("busy") {
        "queued" => Busy::Queued,
        "try" => Busy::Try(params.ticks("backoff").unwrap_or(Ticks::units(10))),
        _ => Busy::Silent,
    };
    let order = match params.text("order") {
        "random" => Order::Random,
        "lifo" => Order::Lifo,
        "timestamp" => Order::Timestamp,
        _ => Order::Fifo,
    };
    let places = if colocated(setting) {
        Places::colocated(setting.n, 1)
    } else {
        Places::separate(setting.n, 1)
    };
    let named = params.is("release", "own");
    let release = if named { Release::Own } else { Release::Anybodys };
    let setup = Setup { places, busy, order, release_ack: params.on("release_ack"), release };
    Ok(Cluster {
        coordinators: places.extra(),
        normal: named.then_some(normal), // Otherwise a release that is late still does something.
        ..Cluster::of_equals(setting.n, move |me| Central::new(me, setup))
    })
}

fn has(params: &Params) -> Vec<Property> {
    let mut has = vec![Property::V1, Property::F1];
    if params.is("release", "own") {
        has.extend([Property::S1, Property::S1Eff]);
    }
    if is_fair(params) {
        has.extend([Property::V2, Property::BW]);
    }
    has
}

fn is_fair(params: &Params) -> bool {
    !params.is("busy", "try") && !params.is("order", "random") && !params.is("order", "lifo")
}

/// By timestamps, whoever was granted before the request arrived may enter with that grant and
/// once more, if its clock lags; everybody else only once.
fn bypass(setting: &Setting) -> u64 {
    match setting.params.text("order") {
        _ if !is_fair(&setting.params) => u64::MAX,
        "timestamp" => u64::from(setting.n),
        _ => u64::from(setting.n - 1),
    }
}

fn colocated(setting: &Setting) -> bool {
    setting.params.is("coordinator", "colocated")
}

/// The share of clients that live elsewhere than the coordinator, and need it.
fn remote(setting: &Setting) -> f64 {
    match setting.n {
        1 => 0.0,
        _ if colocated(setting) => (setting.n() - 1.0) / setting.n(),
        _ => 1.0,
    }
}

/// The messages of one entry and exit that meets nobody.
fn cycle(setting: &Setting) -> f64 {
    let messages = if setting.params.on("release_ack") { 4.0 } else { 3.0 };
    messages * remote(setting)
}

/// All but the first find the resource busy. With `try`, a client asks at most once every two
/// units, and each turn takes at most the 10 inside, 4 of messages and one pause.
fn heavy(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    let cycle = cycle(setting);
    let busy = (n - 1.0) / n;
    match setting.params.text("busy") {
        "queued" => exactly(cycle + busy),
        "try" => (cycle + 2.0 * busy, cycle + (n - 1.0) * (14.0 + pause(setting)) / 2.0 + busy),
        _ => exactly(cycle),
    }
}

fn sync_delay(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    let least = match setting.n {
        1 => 0.0,
        _ if colocated(setting) => (2.0 * n - 3.0) / (n - 1.0),
        _ => 2.0,
    };
    let refused = setting.n > 1 && setting.params.is("busy", "try");
    (least, if refused { pause(setting) + 4.0 } else { least })
}

fn pause(setting: &Setting) -> f64 {
    setting.params.ticks("backoff").unwrap_or_default().as_units()
}
