//! The row of the bully election.

use super::claims::{
    DIVIDED, LED, UNLED, claim, copied, hasty, replaced, suspected, together, two_crashes,
};
use super::dropped::breaks;
use super::{
    Assumption, Carries, Cluster, Cost, ElectionCost, Entry, Evidence, Family, Formula, Kind,
    OnNetwork, Parameter, Params, Rejoin, Setting, Stated, limits,
};
use crate::Error;
use crate::election::bully::{Announce, Bully, Setup, Text};
use crate::election::rank::Ranking;
use conclave_core::Property::{E1, E1Term, E2};
use conclave_core::{NodeId, NodeSet};

/// What the catalogue says of it.
pub const ENTRY: Entry = Entry {
    id: "bully",
    family: Family::Election,
    title: "The bully election",
    summary: "Whoever misses the leader asks all that are better; if none answers, it leads.",
    paper: "H. Garcia-Molina, \"Elections in a distributed computing system\", IEEE Transactions \
            on Computers C-31(1), 1982",
    seeds: &["000", "001", "003", "004"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once and within tt",
            dropped: breaks(limits::loss_and_slowness, &[E1, E2]).beyond(limits::one_timeout),
        },
        Assumption {
            tag: "A2",
            text: "a node answers within tp",
            dropped: breaks(limits::slowness, &[E1]).beyond(limits::one_timeout),
        },
        Assumption {
            tag: "A3",
            text: "suspicions are right in the end",
            dropped: breaks(limits::suspicion, &[E2])
                .beyond(limits::passing_suspicion)
                .nodes(2)
                .with(&[("majority", "true")]),
        },
        Assumption {
            tag: "A4",
            text: "no node returns and no partition heals while an election is under way \
                   (terms=false)",
            dropped: breaks(limits::comeback, &[E1]).beyond(limits::crash_in_an_election),
        },
        Assumption {
            tag: "A5",
            text: "a majority is up and in touch (majority=true)",
            dropped: breaks(limits::two_crashes, &[E1])
                .beyond(limits::crash)
                .with(&[("majority", "true")]),
        },
    ],
    bounds: limits::synchronous,
    has: |params| match params.is("text", "corrected") {
        true => vec![E1, E1Term, E2],
        false => vec![E1Term],
    },
    lacks: &[
        (E1, "text=seed: who is asked only answers, and so nobody announces itself"),
        (E2, "text=seed: who got an answer waits for ever"),
        (E1, "text=000: who waits for ever may go on following a leader that has died"),
        (E2, "text=000: who got an answer waits for ever, also if whoever gave it has died"),
    ],
    bypass: None,
    parameters: PARAMETERS,
    cost: Cost::Election(ElectionCost {
        one: Formula {
            text: "(N-p)^2+N-2, p the one that begins: N-1 to N^2-N-1",
            range: |setting| match with_votes(setting) {
                None => (0.0, 0.0),
                Some(rest) => (rest + 1.0, rest + square(setting)),
            },
        },
        all: Formula {
            text: "N^2-N-1",
            range: |setting| match with_votes(setting) {
                None => (0.0, 0.0),
                Some(rest) => (rest + square(setting), rest + square(setting)),
            },
        },
        all_mean: None,
        time: Formula { text: "T+1 to T+2, T=2tt+tp", range: time },
        without_last: true,
        textbooks: "With announce=all, as Tanenbaum has it, one more: to the dead leader. \
                    Coulouris counts N-2 at best, not asking whom it knows to be dead.",
    }),
    rejoin_without_disk: Rejoin::ByProtocol,
    on_network: OnNetwork::Election(Carries::Locks(&["period", "timeout"])),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(3, together, 863, LED).place(59),
            claim(4, together, 9_516_344, LED).large().place(60),
            claim(3, hasty, 2_122, DIVIDED).place(12),
            claim(3, replaced, 141_162, DIVIDED).place(13),
            claim(3, copied, 22_928, LED),
            claim(2, suspected, 207, LED),
            claim(3, suspected, 191_844, LED).large(),
            claim(3, together, 863, LED).with(&[("text", "000")]),
            claim(3, two_crashes, 1_140, UNLED).with(&[("text", "000")]),
        ]),
        normal: Stated::No("an election ends: no counter rises for ever"),
        plain: Stated::No("it sets timers"),
    },
    why: &[],
    facets: &[],
};

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "announce",
        kind: Kind::Choice(&["lower", "all"]),
        default: "lower",
        about: "whom the winner tells: those that it beats, or everybody, the dead included",
    },
    Parameter {
        name: "majority",
        kind: Kind::Flag,
        default: "false",
        about: "the winner leads only if a majority of all nodes votes for it",
    },
    Parameter {
        name: "rank",
        kind: Kind::ChoiceOrFile(&["id"]),
        default: "id",
        about: "who is better: the greater id; a file has one whole number per line, that of node \
                i on line i, and the greater one wins, the id breaking ties",
    },
    Parameter {
        name: "tt",
        kind: Kind::Time { or: &[] },
        default: "1",
        about: "how long a message takes at most",
    },
    Parameter {
        name: "tp",
        kind: Kind::Time { or: &[] },
        default: "0",
        about: "how long a node takes at most to answer",
    },
    Parameter {
        name: "hysteresis",
        kind: Kind::Time { or: &[] },
        default: "0",
        about: "how long a node that came back lets a working leader be",
    },
    Parameter {
        name: "terms",
        kind: Kind::Flag,
        default: "false",
        about: "of two announcements the greater term counts, not the later to arrive",
    },
    Parameter {
        name: "text",
        kind: Kind::Choice(&["corrected", "seed", "000"]),
        default: "corrected",
        about: "seed: as lecture note 003 prints it, where who is asked only answers and who got \
                an answer waits without a limit; 000: as slides 000 do, where who is asked begins \
                too, but who got an answer stops, with no second timer",
    },
];

/// Builds the nodes.
pub fn cluster(setting: &Setting) -> Result<Cluster<Bully>, Error> {
    let setup = setup(setting)?;
    let ranking = setup.ranking.clone();
    let by_majority = setup.by_majority;
    let n = setting.n;
    let equals = Cluster::of_equals(n, move |me| Bully::new(me, setup.clone(), None));
    let winner = move |up: &NodeSet, _: &NodeSet| winner(&ranking, by_majority, up);
    Ok(Cluster { winner: Some(Box::new(winner)), ..equals })
}

fn winner(ranking: &Ranking, by_majority: bool, up: &NodeSet) -> Option<NodeId> {
    let enough = !by_majority || up.len() > ranking.n() / 2;
    ranking.best(up.iter()).filter(|_| enough)
}

fn setup(setting: &Setting) -> Result<Setup, Error> {
    let params = &setting.params;
    let time = |name| params.ticks(name).unwrap_or_default();
    let all = params.is("announce", "all");
    let setup = Setup {
        announce: if all { Announce::All } else { Announce::Lower },
        by_majority: params.on("majority"),
        transmission: time("tt"),
        processing: time("tp"),
        hysteresis: time("hysteresis"),
        terms: params.on("terms"),
        text: text(params),
        ..Setup::new(ranking(setting)?)
    };
    if setup.round_trip().0 == 0 {
        return Err(Error::Unusable { name: "tt", reason: "2tt+tp must be above 0".into() });
    }
    Ok(setup)
}

fn text(params: &Params) -> Text {
    match params.is("text", "seed") {
        true => Text::Seed,
        false if params.is("text", "000") => Text::Slides,
        false => Text::Corrected,
    }
}

fn ranking(setting: &Setting) -> Result<Ranking, Error> {
    let attributes = setting.attributes()?;
    let key = |node: NodeId| (attributes[node.index()], setting.id(node));
    let ranking = Ranking::by_key(setting.n, key);
    Ok(ranking.with_candidates(setting.candidates.clone()))
}

/// All but what ELECTION and OK cost; nothing at all if nobody is left without the last.
fn with_votes(setting: &Setting) -> Option<f64> {
    let announced = setting.n() - 2.0 + f64::from(setting.params.is("announce", "all"));
    let votes = if setting.params.on("majority") { 2.0 * setting.n() - 3.0 } else { 0.0 };
    (setting.n > 1).then_some(announced + votes)
}

/// ELECTION and OK if the lowest begins.
fn square(setting: &Setting) -> f64 {
    (setting.n() - 1.0).powi(2)
}

fn time(setting: &Setting) -> (f64, f64) {
    let params = &setting.params;
    let unit = |name| params.ticks(name).unwrap_or_default().as_units();
    let votes = if params.on("majority") { 2.0 } else { 0.0 };
    let round_trip = 2.0 * unit("tt") + unit("tp") + votes;
    match setting.n {
        1 => (0.0, 0.0),
        2 => (round_trip, round_trip), // Nobody is left to be told.
        _ => (round_trip + 1.0, round_trip + 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_totals_come_out() {
        let cost = ENTRY.cost.election().expect("an election");
        let of = |n, set: &[_]| (cost.one.range)(&ENTRY.setting(n, set).expect("taken"));
        assert_eq!(of(7, &[]), (6.0, 41.0));
        assert_eq!(of(7, &[("announce", "all")]), (7.0, 42.0));
        assert_eq!((of(1, &[]), of(2, &[])), ((0.0, 0.0), (1.0, 1.0)));
    }

    #[test]
    fn the_best_attribute_wins_and_the_id_breaks_ties() {
        let setting = ENTRY.setting(4, &[("rank", "8\n16\n16\n4")]).expect("taken");
        let winner = cluster(&setting).expect("built").winner.expect("a rule");
        let of = |up: &[u32]| {
            let up = up.iter().copied().map(NodeId).collect();
            winner(&up, &up)
        };
        assert_eq!(of(&[0, 1, 2, 3]), Some(NodeId(2)));
        assert_eq!(of(&[0, 1, 3]), Some(NodeId(1)));
    }

    #[test]
    fn a_file_that_ranks_too_few_is_refused_by_name() {
        let setting = ENTRY.setting(3, &[("rank", "1\n2")]).expect("taken");
        let error = cluster(&setting).err().expect("too few");
        let expected = "--set rank: 2 numbers for 3 nodes; one line each is needed";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn without_a_majority_nobody_should_lead_where_votes_are_needed() {
        let setting = ENTRY.setting(4, &[("majority", "true")]).expect("taken");
        let winner = cluster(&setting).expect("built").winner.expect("a rule");
        let two = [2, 3].map(NodeId).into_iter().collect();
        assert_eq!(winner(&two, &two), None);
    }
}
