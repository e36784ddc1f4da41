//! The row of voting through total-order broadcast.

use super::claims::{
    ALL, SAFE, STARVED, as_usual, claim, comeback, copied, for_ever, thrice, twice, withdrawn,
};
use super::council::{
    self, COORDINATOR, COORDINATORS, VOTES, colocated, coordinators, council, exact_if, votes,
};
use super::dropped::breaks;
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost, OnNetwork,
    Parameter, Params, Rejoin, Setting, Stated, limits,
};
use crate::Error;
use crate::mutex::total_order::{Busy, Setup, TotalOrder, WHY, normal};
use conclave_core::{Bounds, Facet, FacetKind, NodeId, Property, Ticks};

/// Voting through total-order broadcast.
pub const ENTRY: Entry = Entry {
    id: "total-order",
    family: Family::Mutex,
    title: "Voting through total-order broadcast",
    summary: "A sequencer numbers all requests, every coordinator queues them in that order, and \
              a client enters when it is first at more than half of them.",
    paper: "After the decentralised algorithm; fixed sequencer as in X. Défago, A. Schiper, \
            P. Urbán, Total order broadcast and multicast algorithms, ACM CSUR 36(4), 2004",
    seeds: &["000"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in any order",
            dropped: breaks(limits::astray, &[Property::V1, Property::V2])
                .nodes(2)
                .with(&[("coordinators", "3")]),
        },
        Assumption {
            tag: "A2",
            text: "the sequencer does not crash, at most m-q other coordinators do, none forgets",
            dropped: breaks(
                limits::amnesia,
                &[Property::S1, Property::S1Eff, Property::V1, Property::V2, Property::F1],
            )
            .nodes(2)
            .with(&[("coordinators", "1")]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also releases",
            dropped: breaks(limits::stay, &[Property::V2]).nodes(2).with(&[("coordinators", "3")]),
        },
    ],
    bounds,
    has,
    lacks: &[
        (Property::HB, "an earlier request may reach the sequencer later"),
        (Property::V2, "only with busy=refuse: who is refused may be refused for ever"),
        (Property::BW, "only with busy=refuse: no bound on how many others win first"),
    ],
    bypass: Some(|setting| match refuses(&setting.params) {
        true => u64::MAX,
        false => u64::from(setting.n - 1),
    }),
    parameters: &[
        COORDINATORS,
        VOTES,
        COORDINATOR,
        Parameter {
            name: "busy",
            kind: Kind::Choice(&["queued", "refuse"]),
            default: "queued",
            about: "what becomes of a request that is not the first: it waits in line, or is \
                    refused with NOK and made again after a pause, as in voting",
        },
        Parameter {
            name: "backoff",
            kind: Kind::Time { or: &[] },
            default: "10",
            about: "with busy=refuse, the longest first pause; it doubles up to 64 times that",
        },
    ],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula { text: "3m; 3m - (m+2)/N colocated", range: messages },
        heavy: Formula {
            text: "3m; 3m - (m+2)/N colocated; 2m more per refusal with busy=refuse",
            range: heavy,
        },
        client_delay: Formula { text: "3", range: client_delay },
        client_delay_serial: Formula { text: "2m", range: client_delay_serial },
        sync_delay: Formula { text: "3", range: sync_delay },
        textbooks: "Lectures say that with total order \"the rest is the same\" as in voting; but \
                    refusals must become queues, or a loser may still lose for ever.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock {
        needs: |setting| council::needs(setting, Some(NodeId(0))),
        ..Lock::OF_EQUALS
    }),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 284_384, ALL).with(&[("coordinators", "3")]).place(10),
            claim(3, as_usual, 38_726, ALL).with(&[("coordinators", "3")]).place(11),
            claim(3, twice, 11_602_556, ALL).with(&[("coordinators", "3")]).large().place(41),
            claim(2, withdrawn, 16_304, ALL).with(&[("coordinators", "3")]),
            claim(2, comeback, 18_598, ALL).with(&[("coordinators", "3")]),
            claim(2, copied, 20_774, ALL).with(&[("coordinators", "3")]),
            claim(2, as_usual, 7_885, SAFE).with(&[("coordinators", "3"), ("busy", "refuse")]),
            claim(3, as_usual, 2_601, SAFE).with(&[("coordinators", "1"), ("busy", "refuse")]),
            claim(2, for_ever, 44, STARVED).with(&[("coordinators", "1"), ("busy", "refuse")]),
            claim(2, withdrawn, 407, SAFE).with(&[("coordinators", "1"), ("busy", "refuse")]),
            claim(2, comeback, 538, SAFE).with(&[("coordinators", "1"), ("busy", "refuse")]),
            claim(2, copied, 562, SAFE).with(&[("coordinators", "1"), ("busy", "refuse")]),
        ]),
        normal: Stated::Yes(&[
            &[("coordinators", "3")],
            &[("coordinators", "3"), ("busy", "refuse")],
        ]),
        plain: Stated::No("five coordinators have too many states"),
    },
    why: &[WHY],
    facets: &[
        Facet {
            field: "oks",
            kind: FacetKind::Set,
            english: "first in line at",
            portuguese: "primeiro da fila em",
        },
        Facet {
            field: "noks",
            kind: FacetKind::Set,
            english: "refused it",
            portuguese: "recusaram",
        },
        Facet {
            field: "coordinator.line",
            kind: FacetKind::Queue,
            english: "in line",
            portuguese: "na fila",
        },
    ],
};

/// Refusals are followed by another try, without end.
fn bounds(params: &Params) -> Bounds {
    if refuses(params) { limits::timed(params) } else { limits::untimed(params) }
}

fn refuses(params: &Params) -> bool {
    params.is("busy", "refuse")
}

fn has(params: &Params) -> Vec<Property> {
    let mut has = vec![Property::S1, Property::S1Eff, Property::V1];
    if !refuses(params) {
        has.extend([Property::V2, Property::BW]);
    }
    has.push(Property::F1);
    has
}

/// The nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Cluster<TotalOrder>, Error> {
    let (places, votes) = council(setting)?;
    let params = &setting.params;
    let busy = match refuses(params) {
        true => Busy::Refuse(params.ticks("backoff").unwrap_or(Ticks::units(10))),
        false => Busy::Queued,
    };
    let setup = Setup { places, votes, busy };
    Ok(Cluster {
        coordinators: places.extra(),
        normal: Some(normal),
        ..Cluster::of_equals(setting.n, move |me| TotalOrder::new(me, setup))
    })
}

/// Colocated, the sequencer's client saves 3 messages and the other coordinators' clients 1 each.
fn messages(setting: &Setting) -> (f64, f64) {
    let m = f64::from(coordinators(setting));
    let saved = if colocated(setting) { (m + 2.0) / setting.n() } else { 0.0 };
    exact_if(true, if setting.n == 1 { 0.0 } else { 3.0 * m - saved })
}

/// Where requests are refused, all but the first are at least once.
fn heavy(setting: &Setting) -> (f64, f64) {
    let (least, _) = messages(setting);
    if !refuses(&setting.params) || setting.n == 1 {
        return (least, least);
    }
    if colocated(setting) {
        return (least, f64::INFINITY);
    }
    let m = f64::from(coordinators(setting));
    (least + 2.0 * m * (setting.n() - 1.0) / setting.n(), f64::INFINITY)
}

/// Message times from the numbering of what makes a client the first to its entry: the
/// sequencer's own OK takes one, the others' two, except that of the client's own coordinator.
fn answers(setting: &Setting, client: u32) -> f64 {
    let m = coordinators(setting);
    let q = votes(setting);
    let own = colocated(setting);
    let at_once = u32::from(own && client == 0);
    let after_one = 1 + u32::from(own && client > 0 && client < m);
    match q {
        _ if q <= at_once => 0.0,
        _ if q <= after_one && at_once == 0 => 1.0,
        _ => 2.0,
    }
}

/// Message times until the sequencer hears a client.
fn hearing(setting: &Setting, client: u32) -> f64 {
    if colocated(setting) && client == 0 { 0.0 } else { 1.0 }
}

fn client_delay(setting: &Setting) -> (f64, f64) {
    if setting.n == 1 {
        return (0.0, 0.0);
    }
    let delays = (0..setting.n).map(|client| hearing(setting, client) + answers(setting, client));
    exact_if(true, delays.sum::<f64>() / setting.n())
}

/// Where two OKs are enough, a colocated client may be in before the others have sent theirs.
fn client_delay_serial(setting: &Setting) -> (f64, f64) {
    let m = f64::from(coordinators(setting));
    let n = setting.n();
    let saved = if colocated(setting) { (m + 1.0) / n } else { 0.0 };
    let most = if setting.n == 1 { 0.0 } else { 2.0 * m - saved };
    let early = colocated(setting) && setting.n > 1 && votes(setting) == 2 && m > 2.0;
    (most - if early { (m - 1.0) * (m - 2.0) / n } else { 0.0 }, most)
}

/// Everybody having asked at the same time, clients enter in the order of their numbers.
fn sync_delay(setting: &Setting) -> (f64, f64) {
    if setting.n == 1 {
        return (0.0, 0.0);
    }
    if refuses(&setting.params) {
        // Whoever is heard first after the release.
        let least = if colocated(setting) { 0.0 } else { 1.0 + answers(setting, 1) };
        return (least, f64::INFINITY);
    }
    let delays = (1..setting.n).map(|next| hearing(setting, next - 1) + answers(setting, next));
    exact_if(true, delays.sum::<f64>() / (setting.n() - 1.0))
}
