//! The row of Chang and Roberts' election.

use super::claims::{LED, UNLED, as_usual, claim, copied, crash};
use super::dropped::breaks;
use super::{
    Arrival, Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula,
    Kind, OnNetwork, Parameter, Rejoin, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::election::chang_roberts::{ChangRoberts, Join, Skip, Text};
use conclave_core::Links;
use conclave_core::Property::{E1, E1Term, E2};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "chang-roberts",
    family: Family::Election,
    title: "Chang and Roberts' election",
    summary: "Ids go round a ring, and whoever is greater than one that comes by does not let it \
              pass; the one that comes home is the greatest.",
    paper: "E. Chang, R. Roberts, \"An improved algorithm for decentralized extrema-finding in \
            circular configurations of processes\", CACM 22(5), 1979",
    seeds: &["003", "004"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once, in whatever order",
            dropped: breaks(limits::astray, &[E2]),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes; with skip=dead, crashes are detected without error and \
                   somebody who knows of the election stays up",
            dropped: breaks(limits::crash, &[E1, E2]),
        },
    ],
    bounds: limits::untimed,
    has: |_| vec![E1, E1Term, E2],
    lacks: &[],
    bypass: None,
    parameters: &[
        Parameter {
            name: "join",
            kind: Kind::Choice(&["contact", "initiators"]),
            default: "contact",
            about: "who is in the race: everybody whom the election reaches, or only who began it",
        },
        Parameter {
            name: "skip",
            kind: Kind::Choice(&["none", "dead"]),
            default: "none",
            about: "dead: send past suspected nodes, and again what was sent to one of them",
        },
        Parameter {
            name: "text",
            kind: Kind::Choice(&["corrected", "seed"]),
            default: "corrected",
            about: "seed: as a lecture note prints it, where a smaller id is always replaced and \
                    never taken off the ring",
        },
    ],
    cost: Cost::Election(ElectionCost {
        one: Formula { text: "d+2N", range: when_one_begins },
        all: Formula { text: "3N-1 to N(N+1)/2+N", range: when_all_begin },
        all_mean: Some(Formula { text: "N H_N + N", range: mean_when_all_begin }),
        time: Formula { text: "d+2N-1", range: time },
        without_last: false,
        textbooks: "d is the distance from who begins to the greatest: 0 to N-1, so 2N to 3N-1 \
                    messages. With join=initiators who begins alone wins, with 2N. Chang and \
                    Roberts count the ids only, and leave out the N messages that tell the \
                    result. With text=seed each of k initiators costs a lap of ids and one of \
                    ELECTED: 2N^2+N(N-1)/2 when all begin.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Election(Carries::NOTHING_SINCE_HELD_ONCE),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(4, as_usual, 796, LED).place(52),
            claim(3, crash, 625, UNLED).place(15),
            claim(3, copied, 730, LED),
        ]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::Yes(Arrival::AnyOrder),
    },
    why: &[],
    facets: &[],
};

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<ChangRoberts>, Error> {
    super::on_a_ring::everybody_is_a_candidate(setting)?;
    let is = |name, word| setting.params.is(name, word);
    let join = if is("join", "initiators") { Join::Initiators } else { Join::Contact };
    let skip = if is("skip", "dead") { Skip::Dead } else { Skip::None };
    let text = if is("text", "seed") { Text::Seed } else { Text::Corrected };
    if text == Text::Seed && (join == Join::Initiators || skip == Skip::Dead) {
        let reason = "seed has no rule for join=initiators or skip=dead".to_string();
        return Err(Error::Unusable { name: "text", reason });
    }
    let n = setting.n;
    let of = setting.clone();
    let fresh = move |me| ChangRoberts::new(me, n, of.id(me), join, skip, text);
    let mut cluster = Cluster::of_equals(n, fresh);
    cluster.links = Links::Ring;
    cluster.winner = match (join, skip) {
        (Join::Contact, Skip::None | Skip::Dead) => Some(super::on_a_ring::greatest(setting)),
        (Join::Initiators, Skip::None) => Some(super::on_a_ring::greatest_that_began(setting)),
        // Who begins anew because the others died may be anybody.
        (Join::Initiators, Skip::Dead) => None,
    };
    Ok(cluster)
}

fn when_one_begins(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    match setting.n {
        1 => (0.0, 0.0),
        _ if setting.params.is("join", "initiators") => (2.0 * n, 2.0 * n),
        _ => (2.0 * n, 3.0 * n - 1.0),
    }
}

fn when_all_begin(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    match setting.n {
        1 => (0.0, 0.0),
        _ if setting.params.is("text", "seed") => exactly(seed_when_all_begin(n)),
        _ => (3.0 * n - 1.0, n * (n + 1.0) / 2.0 + n),
    }
}

fn mean_when_all_begin(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    let harmonic: f64 = (1..=setting.n).map(|k| 1.0 / f64::from(k)).sum();
    match setting.n {
        1 => (0.0, 0.0),
        _ if setting.params.is("text", "seed") => exactly(seed_when_all_begin(n)),
        _ => exactly(n * harmonic + n),
    }
}

fn seed_when_all_begin(n: f64) -> f64 {
    2.0 * n * n + n * (n - 1.0) / 2.0
}

fn time(setting: &Setting) -> (f64, f64) {
    let (least, most) = when_one_begins(setting);
    ((least - 1.0).max(0.0), (most - 1.0).max(0.0))
}
