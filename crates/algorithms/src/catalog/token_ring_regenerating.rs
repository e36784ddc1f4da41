//! The row of the token ring that replaces a lost token.

use super::claims::{
    BY_RING, SOUND, UNSAFE, claim, hasty, thrice_untimed, untimed, untimed_and_wrongly_suspected,
    untimed_with_a_comeback, wrongly_suspected,
};
use super::dropped::{breaks, out_of_reach};
use super::exactly;
use super::facets::{vote, votes};
use super::leadership::{
    self, DETECTOR, ELECTION, LEASE, Led, LedLock, MODE, PERIOD, PREVOTE, RETRANSMIT, TIMEOUT,
    UPKEEP,
};
use super::network::Set;
use super::{
    Assumption, Cost, Entry, Evidence, Family, Formula, Kind, MutexCost, Parameter, Rejoin,
    Setting, Stated, limits,
};
use crate::Error;
use crate::mutex::epoch::{Ballot, Setup};
use crate::mutex::token_ring_regenerating::{self, TokenRingRegenerating};
use conclave_core::election::Election;
use conclave_core::{Facet, FacetKind, NodeId, Normal, Process, Property, Stack, Ticks};

/// The token ring that replaces a lost token.
pub const ENTRY: Entry = Entry {
    id: "token-ring-regenerating",
    family: Family::Mutex,
    title: "Token ring with regeneration",
    summary: "The token skips dead nodes; when it seems lost, an elected leader voids it and makes \
              a new one.",
    paper: "After G. Le Lann, \"Distributed systems: towards a formal approach\", IFIP Congress \
            1977",
    seeds: &["000", "002", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "a message sent often enough arrives, in any order; with bully and ring every \
                   message does, and within half the timeout",
            dropped: out_of_reach(
                limits::loss,
                "somebody should wait for ever, but timers go on for ever and every lap of the \
                 token has a new number, so no state comes twice: it would take a normal form for \
                 epochs and laps. Nothing breaks with 3 nodes, a crash, a loss and a timeout each \
                 (172,221 states)",
            )
            .beyond(limits::crash)
            .with(RESTING),
        },
        Assumption {
            tag: "A2",
            text: "a majority is up and in touch (election=majority); a crashed node returns with \
                   its disk or not at all",
            dropped: breaks(limits::amnesia, &[Property::S1, Property::F1]).with(RESTING),
        },
        Assumption {
            tag: "A3",
            text: "suspicions are right (fence, an election not by majority, or strict with a \
                   perfect detector)",
            dropped: breaks(limits::suspicion, &[Property::S1]).nodes(2).with(RESTING),
        },
        Assumption {
            tag: "A4",
            text: "a holder that is cut off or slow leaves within half a lease, a token arrives \
                   within a quarter of one or never, clocks are at most 1 % off, and who is cut \
                   off suspects so within half a lease (lease)",
            dropped: breaks(limits::slowness, &[Property::S1])
                .beyond(limits::two_timeouts)
                .nodes(2)
                .with(LEASED),
        },
        Assumption {
            tag: "A5",
            text: "who enters also releases",
            dropped: out_of_reach(
                limits::stay,
                "whoever else asks should wait for ever, but it goes on asking by its timer and \
                 every lap of the token has a new number, so no state comes twice: it would take \
                 a normal form for epochs and laps. Nothing breaks with 2 nodes and 2 timeouts \
                 each (332 states)",
            )
            .nodes(2)
            .with(RESTING),
        },
        Assumption {
            tag: "A6",
            text: "who is silent for retransmit has crashed (fence)",
            dropped: breaks(limits::slowness, &[Property::S1])
                .beyond(limits::crash)
                .with(FENCED_AND_RESTING),
        },
    ],
    bounds: leadership::bounds,
    has: leadership::has,
    lacks: &[
        (Property::HB, "entries follow the ring, not the order of the requests"),
        (Property::BW, "a new token begins elsewhere, so a lap may be cut short again and again"),
        (
            Property::V1,
            "only with mode=strict on a detector that may be mistaken: a node that stays dead is \
             waited for without end",
        ),
        (Property::V2, "only with mode=strict on a detector that may be mistaken, as above"),
        (
            Property::S1,
            "only with mode=fence or an election not by majority: a wrong suspicion or a partition \
             makes a second token",
        ),
        (
            Property::F1,
            "only with mode=fence or an election not by majority: the old token may let in late",
        ),
    ],
    bypass: None,
    parameters: &[MODE, LEASE, ELECTION, PREVOTE, DETECTOR, PERIOD, TIMEOUT, RETRANSMIT, HOLD],
    cost: Cost::Mutex(MutexCost {
        upkeep: UPKEEP,
        light: Formula {
            text: "2..∞, from the start N: each hop is acknowledged",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { setting.n() }),
        },
        heavy: Formula {
            text: "2, but for the last acknowledgement: (2N-1)/N",
            range: |setting| {
                let n = setting.n();
                exactly(if setting.n == 1 { 0.0 } else { (2.0 * n - 1.0) / n })
            },
        },
        client_delay: Formula {
            text: "0..N, from the start (N-1)/2",
            range: |setting| {
                let n = setting.n();
                exactly((n - 1.0) / 2.0 + Ticks(1).as_units() * (n - 1.0) / n)
            },
        },
        client_delay_serial: Formula {
            text: "0..2N, from the start N-1",
            range: |setting| exactly(setting.n() - 1.0),
        },
        sync_delay: Formula {
            text: "1..N; 1 when all wait",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 1.0 }),
        },
        textbooks: "Books count the hops only, 1 to N or without bound. A new token costs N-1 \
                    FREEZE and an answer of each live node besides the election.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: leadership::ON_NETWORK,
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice_untimed, 414, SOUND).place(28),
            claim(3, untimed, 7_164, SOUND).place(29),
            claim(3, hasty, 77_650, SOUND).with(BY_RING).place(30),
            claim(2, wrongly_suspected, 103, UNSAFE)
                .with(&[("mode", "fence"), ("detector", "perfect"), ("election", "bully")])
                .place(10),
            claim(2, untimed_and_wrongly_suspected, 785, SOUND).with(BY_RING),
            claim(2, untimed_with_a_comeback, 290, SOUND).with(BY_RING),
        ]),
        normal: Stated::Yes(&[
            &[],
            &[("mode", "strict"), ("detector", "perfect")],
            &[("mode", "fence"), ("detector", "perfect")],
            &[("election", "ring"), ("detector", "perfect")],
        ]),
        plain: Stated::No("it sets timers"),
    },
    why: &[token_ring_regenerating::WHY],
    facets: &[
        Facet {
            field: "suspects",
            kind: FacetKind::Set,
            english: "taken for crashed",
            portuguese: "dados por caídos",
        },
        Facet { field: "leader", kind: FacetKind::Node, english: "leader", portuguese: "líder" },
        Facet {
            field: "regeneration.reports",
            kind: FacetKind::Set,
            english: "obey no older token",
            portuguese: "não obedecem a token antigo",
        },
        vote("majority.voted_for"), // Of the election below, where it is that one.
        votes("majority.votes"),
    ],
};

/// A token that rests where nobody wants it: otherwise it goes round without end.
const RESTING: Set =
    &[("election", "ring"), ("detector", "perfect"), ("mode", "strict"), ("hold", "5")];
/// The same, waiting for nobody.
const FENCED_AND_RESTING: Set =
    &[("election", "ring"), ("detector", "perfect"), ("mode", "fence"), ("hold", "5")];
/// The same, waiting until what the silent may hold has lapsed.
const LEASED: Set = &[("election", "ring"), ("detector", "perfect"), ("hold", "5")];

impl Led for TokenRingRegenerating {
    fn normal<L: Process<Provides = Election>>(_: Ballot) -> Option<Normal<Stack<Self, L>>> {
        Some(token_ring_regenerating::normal)
    }
}

/// How long the token rests.
const HOLD: Parameter = Parameter {
    name: "hold",
    kind: Kind::Time { or: &[] },
    default: "0",
    about: "how long an unwanted token stays before it goes on; less than retransmit",
};

/// The lock of a setting.
pub fn lock(setting: &Setting) -> Result<LedLock<'_, TokenRingRegenerating>, Error> {
    LedLock::new(setting, false, fresh(setting)?)
}

/// Who waits takes the token for lost when it is away for n times `retransmit`.
fn fresh(
    setting: &Setting,
) -> Result<impl Fn(NodeId, Setup) -> TokenRingRegenerating + Send + Sync + use<>, Error> {
    let hold = setting.params.ticks("hold").unwrap_or_default();
    if hold >= leadership::setup(setting)?.retransmit {
        let reason = "it must be less than retransmit".to_string();
        return Err(Error::Unusable { name: "hold", reason });
    }
    Ok(move |me, setup| TokenRingRegenerating::new(me, setup).holding(hold))
}
