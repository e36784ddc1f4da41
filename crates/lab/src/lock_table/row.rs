//! The row of the lock table: what it is, promises and takes, and what is known of it from looking
//! at all its runs.

use super::LockTable;
use conclave_algorithms::catalog::{
    Assumption, Cluster, Cost, Dropped, Entry, Evidence, Family, Finding, Kind, OnNetwork,
    Parameter, Params, Rejoin, Runs, Setting, Stated, claim,
};
use conclave_core::Property::{BW, F1, S1, S1Eff, V1, V2};
use conclave_core::Verdict::{Holds, Violated};
use conclave_core::{Bounds, Network, Property, Timing, Verdict};

/// The lock table of the replicated service.
pub static ENTRY: Entry = Entry {
    id: "lock-table",
    family: Family::Mutex,
    title: "Lock table of the replicated service",
    summary: "A replicated log is asked by clients with sessions and leases, and lets in one at a \
              time.",
    paper: "Leases: C. Gray and D. Cheriton, SOSP 1989; sessions and fences: M. Burrows, OSDI 2006",
    seeds: &[],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "a message sent often enough arrives, in any order, perhaps twice",
            dropped: Dropped {
                finding: Finding::OutOfReach(
                    "bounds can lose some messages, but not all; who is not heard is expired",
                ),
                runs: None,
            },
        },
        Assumption {
            tag: "A2",
            text: "the log loses nothing",
            dropped: Dropped {
                finding: Finding::OutOfReach("that is what consensus is for"),
                runs: None,
            },
        },
        Assumption {
            tag: "A3",
            text: "who is inside notices in time that its lease runs out, and leaves",
            dropped: Dropped {
                finding: Finding::Breaks(&[S1, F1]),
                runs: Some(Runs {
                    nodes: 2,
                    set: PAUSED,
                    bounds: at_any_moment,
                    beyond: None,
                    large: false,
                }),
            },
        },
    ],
    bounds,
    has,
    lacks: &[
        (Property::HB, "service follows the log; an earlier request may arrive later"),
        (S1, "only with clients=paused: whose lease ran out may not know it"),
        (F1, "only with clients=paused: whose lease ran out may enter late"),
    ],
    bypass: None,
    parameters: &[Parameter {
        name: "clients",
        kind: Kind::Choice(&["running", "paused"]),
        default: "running",
        about: "whether clients see their own deadline in time, or may be stopped at any moment",
    }],
    cost: Cost::Unstated,
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Nothing("it is the lock of the replicated service"),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(3, as_usual, 71_634, ALL),
            claim(2, twice_with_a_loss, 86_719, ALL),
            claim(2, astray_with_a_comeback, 656_602, ALL),
            claim(2, astray, 919_410, SAFE),
            claim(2, comeback, 255_334, SAFE),
            claim(2, overtaken, 232_995, SAFE),
            claim(2, astray, 603_198, SAFE_AT_THE_RESOURCE).with(PAUSED),
            claim(2, at_any_moment, 2_242, TWO_INSIDE).with(PAUSED),
            claim(3, loss, 870_008, ALL).large(),
            claim(3, synchronous_comeback, 1_020_296, ALL).large(),
            claim(2, twice_withdrawn, 2_565_437, SAFE).large(),
            claim(2, in_any_order, 3_443_907, SAFE).large(),
        ]),
        normal: Stated::No("its requests are counted, and so are its entries"),
        plain: Stated::No("it sets timers"),
    },
    why: &[],
    facets: &[],
};

type Verdicts = &'static [(Property, Verdict)];

const PAUSED: &[(&str, &str)] = &[("clients", "paused")];
const ALL: Verdicts =
    &[(S1, Holds), (S1Eff, Holds), (V1, Holds), (V2, Holds), (BW, Holds), (F1, Holds)];
const SAFE: Verdicts = &[(S1, Holds), (S1Eff, Holds), (BW, Holds), (F1, Holds)];
const SAFE_AT_THE_RESOURCE: Verdicts = &[(S1Eff, Holds), (BW, Holds)];
const TWO_INSIDE: Verdicts = &[(S1, Violated)];

/// The nodes of a setting: the clients, and the coordinator behind them.
pub fn cluster(setting: &Setting) -> Cluster<LockTable> {
    let clients = setting.n;
    let paused = setting.params.is("clients", "paused");
    Cluster {
        coordinators: 1,
        silent: false,
        upkeep: &["KEEPALIVE", "ALIVE"],
        invariant: Some(LockTable::broken),
        ..Cluster::of_equals(clients, move |me| LockTable::new(me, clients, paused))
    }
}

/// Everybody asks once. Messages are faster than timers, which fire without end.
fn bounds(_: &Params) -> Bounds {
    Bounds { timing: Timing::Synchronous, ..Bounds::default() }
}

fn has(params: &Params) -> Vec<Property> {
    let mut has = vec![S1Eff, V1, V2, BW];
    if params.is("clients", "running") {
        has.extend([S1, F1]);
    }
    has
}

fn as_usual(_: &mut Bounds) {}

/// A message is lost.
fn loss(bounds: &mut Bounds) {
    bounds.losses = 1;
}

/// A node comes back; a client has forgotten everything.
fn synchronous_comeback(bounds: &mut Bounds) {
    bounds.restarts = 1;
}

/// Everybody asks twice, and a message is lost.
fn twice_with_a_loss(bounds: &mut Bounds) {
    bounds.requests = Some(2);
    bounds.losses = 1;
}

/// A message is lost, one comes twice, somebody withdraws, and a node comes back.
fn astray_with_a_comeback(bounds: &mut Bounds) {
    bounds.losses = 1;
    bounds.duplicates = 1;
    bounds.cancels = 1;
    bounds.restarts = 1;
}

/// On every node one timer fires, at any moment: a lease runs out, a client asks again or says that
/// it is alive.
fn at_any_moment(bounds: &mut Bounds) {
    bounds.timing = Timing::AnyMoment;
    bounds.timeouts = Some(1);
}

/// The same, a message is lost, and one comes twice.
fn astray(bounds: &mut Bounds) {
    at_any_moment(bounds);
    bounds.losses = 1;
    bounds.duplicates = 1;
}

/// On every node one timer fires, at any moment, and a node comes back.
fn comeback(bounds: &mut Bounds) {
    at_any_moment(bounds);
    bounds.restarts = 1;
}

/// On every node one timer fires, at any moment; everybody asks twice, and somebody withdraws.
fn twice_withdrawn(bounds: &mut Bounds) {
    at_any_moment(bounds);
    bounds.requests = Some(2);
    bounds.cancels = 1;
}

/// On every node one timer fires, at any moment, and messages overtake each other.
fn in_any_order(bounds: &mut Bounds) {
    at_any_moment(bounds);
    bounds.network = Network::Bag;
}

/// Messages overtake each other, and one comes twice; everybody asks twice, and somebody withdraws.
/// No timer fires.
fn overtaken(bounds: &mut Bounds) {
    bounds.timing = Timing::AnyMoment;
    bounds.timeouts = Some(0);
    bounds.requests = Some(2);
    bounds.cancels = 1;
    bounds.duplicates = 1;
    bounds.network = Network::Bag;
}
