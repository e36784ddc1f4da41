//! The row of the centralised algorithm that survives its coordinator.

use super::claims::{
    ALL, BY_RING, EFFECTIVE, FENCED, UNFENCED, UNSAFE, as_usual, claim, saturated_with_a_comeback,
    saturated_with_a_crash, thrice, untimed_with_a_comeback, untimed_with_a_crash, withdrawn,
    wrongly_suspected, wrongly_suspected_once,
};
use super::dropped::breaks;
use super::exactly;
use super::facets::{vote, votes};
use super::leadership::{
    self, DETECTOR, ELECTION, LEASE, Led, LedLock, MODE, PERIOD, PREVOTE, RETRANSMIT, TIMEOUT,
    UPKEEP, setup,
};
use super::network::Set;
use super::{
    Assumption, Cost, Entry, Evidence, Family, Formula, MutexCost, Rejoin, Setting, Stated, limits,
};
use crate::Error;
use crate::mutex::central_failover::{self, CentralFailover};
use crate::mutex::epoch::{Ballot, Mode, Setup};
use conclave_core::election::Election;
use conclave_core::{Facet, FacetKind, Normal, Process, Property, Stack, Ticks};

/// The centralised coordinator with failover.
pub const ENTRY: Entry = Entry {
    id: "central-failover",
    family: Family::Mutex,
    title: "Centralised coordinator with failover",
    summary: "When the coordinator fails, an elected one asks everybody what it wants and holds, \
              and goes on.",
    paper: "Folklore; leases: C. Gray and D. Cheriton, SOSP 1989; fences: M. Burrows, OSDI 2006",
    seeds: &["001", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "a message sent often enough arrives, in any order; with bully and ring every \
                   message does, and within half the timeout",
            dropped: breaks(limits::loss, &[Property::V1, Property::V2])
                .beyond(limits::crash_untimed)
                .with(BY_RING),
        },
        Assumption {
            tag: "A2",
            text: "a majority is up and in touch (election=majority); a crashed node returns with \
                   its disk or not at all",
            dropped: breaks(limits::amnesia_twice, &[Property::F1]).nodes(2).with(CERTAIN),
        },
        Assumption {
            tag: "A3",
            text: "suspicions are right (fence, an election not by majority, or strict with a \
                   perfect detector)",
            dropped: breaks(limits::suspicion, &[Property::S1, Property::F1])
                .nodes(2)
                .with(CERTAIN),
        },
        Assumption {
            tag: "A4",
            text: "a holder that is cut off or slow leaves within half a lease, and clocks are at \
                   most 1 % off (lease)",
            dropped: breaks(limits::slowness, &[Property::S1, Property::F1])
                .beyond(limits::passing_suspicion)
                .nodes(2)
                .with(&[("detector", "perfect")]),
        },
        Assumption {
            tag: "A5",
            text: "who enters also releases",
            dropped: breaks(limits::stay, &[Property::V2])
                .beyond(limits::timeouts_for_ever)
                .nodes(2)
                .with(BY_RING),
        },
        Assumption {
            tag: "A6",
            text: "who is silent for retransmit has crashed (fence)",
            dropped: breaks(limits::slowness, &[Property::S1, Property::F1])
                .beyond(limits::crash)
                .with(FENCED),
        },
    ],
    bounds: leadership::bounds,
    has: leadership::has,
    lacks: &[
        (Property::HB, "service follows arrival; an earlier request may arrive later"),
        (Property::BW, "a request that was not acknowledged loses its place with the coordinator"),
        (
            Property::V1,
            "only with mode=strict on a detector that may be mistaken: a node that stays dead is \
             waited for without end",
        ),
        (Property::V2, "only with mode=strict on a detector that may be mistaken, as above"),
        (
            Property::S1,
            "only with mode=fence or an election not by majority: a wrong suspicion or a partition \
             lets in a second",
        ),
        (
            Property::F1,
            "only with mode=fence or an election not by majority: the replaced may enter late",
        ),
    ],
    bypass: None,
    parameters: &[MODE, LEASE, ELECTION, PREVOTE, DETECTOR, PERIOD, TIMEOUT, RETRANSMIT],
    cost: Cost::Mutex(MutexCost {
        upkeep: UPKEEP,
        light: Formula {
            text: "3; 0 on the coordinator's node, so 3(N-1)/N",
            range: |setting| with_pings(setting, 3.0 * remote(setting)),
        },
        heavy: Formula {
            text: "4(N-1)/N: 3, and a QUEUED for each that waits; with leases, two KEEPALIVEs per \
                   lease of waiting",
            range: heavy,
        },
        client_delay: Formula {
            text: "2; 0 on the coordinator's node",
            range: |setting| exactly(2.0 * remote(setting)),
        },
        client_delay_serial: Formula {
            text: "2; 0 on the coordinator's node",
            range: |setting| with_pings(setting, 2.0 * remote(setting)),
        },
        sync_delay: Formula {
            text: "2; 1 if either end is the coordinator's node",
            range: |setting| {
                let n = setting.n();
                let late = line(setting).late as f64;
                exactly(if setting.n == 1 { 0.0 } else { (2.0 * n - 3.0 + late) / (n - 1.0) })
            },
        },
        textbooks: "Books count 3 and leave out what survival needs: an acknowledged place in \
                    line, signs of life, and, for a new coordinator, N-1 NEW_COORD and a STATE of \
                    each live node besides the election.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: leadership::ON_NETWORK,
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 2_462, ALL).place(3),
            claim(3, as_usual, 10_268, ALL).place(4),
            claim(3, untimed_with_a_crash, 9_220, ALL).with(BY_RING).place(31),
            claim(2, wrongly_suspected_once, 79_742, EFFECTIVE).with(FENCED).place(32),
            claim(2, wrongly_suspected, 50, UNSAFE).with(FENCED).place(11),
            claim(2, untimed_with_a_comeback, 831, ALL).with(BY_RING),
            claim(2, withdrawn, 134, ALL).with(BY_RING),
            claim(3, saturated_with_a_crash, 10_986, UNFENCED).with(BY_RING),
            // Three are left to pass each other over: places that a new coordinator does not give
            // out starve one of them.
            claim(3, saturated_with_a_comeback, 270_954, UNFENCED).with(BY_RING).large(),
        ]),
        normal: Stated::Yes(&[BY_RING, FENCED, &[("election", "bully"), ("detector", "perfect")]]),
        plain: Stated::No("it sets timers"),
    },
    why: &[central_failover::WHY, central_failover::CLIENT],
    facets: &[
        Facet {
            field: "coordinator.holder",
            kind: FacetKind::Node,
            english: "is inside",
            portuguese: "está dentro",
        },
        Facet {
            field: "coordinator.queue",
            kind: FacetKind::Queue,
            english: "in line",
            portuguese: "na fila",
        },
        Facet {
            field: "coordinator.reports",
            kind: FacetKind::Set,
            english: "have answered it",
            portuguese: "responderam",
        },
        Facet { field: "leader", kind: FacetKind::Node, english: "leader", portuguese: "líder" },
        Facet {
            field: "suspects",
            kind: FacetKind::Set,
            english: "taken for crashed",
            portuguese: "dados por caídos",
        },
        vote("majority.voted_for"), // Of the election below, where it is that one.
        votes("majority.votes"),
    ],
};

/// What only a right suspicion keeps safe: led by a majority, told by a perfect detector.
const CERTAIN: Set = &[("detector", "perfect"), ("mode", "strict")];

impl Led for CentralFailover {
    fn normal<L: Process<Provides = Election>>(by: Ballot) -> Option<Normal<Stack<Self, L>>> {
        (by == Ballot::Own).then_some(central_failover::normal)
    }
}

/// The lock of a setting.
pub fn lock(setting: &Setting) -> Result<LedLock<'_, CentralFailover>, Error> {
    LedLock::new(setting, true, CentralFailover::new)
}

/// The share of clients that live elsewhere than the coordinator.
fn remote(setting: &Setting) -> f64 {
    (setting.n() - 1.0) / setting.n()
}

fn heavy(setting: &Setting) -> (f64, f64) {
    with_pings(setting, 4.0 * remote(setting) + line(setting).extra as f64 / setting.n())
}

/// What signs of life add when everybody waits in line.
#[derive(Default)]
struct Line {
    /// Messages.
    extra: u64,
    /// Units of time by which grants came late.
    late: u64,
}

/// The first in line is sent its grant at 10, each other one 12 units after the one before. At each
/// full interval until it enters, who waits says so. Said while the grant is under way, that makes
/// the grant too old: it is asked after, comes twice more, and the entry is a unit later.
fn line(setting: &Setting) -> Line {
    let Some(setup) = setup(setting).ok().filter(|setup| setup.mode == Mode::Lease) else {
        return Line::default();
    };
    let interval = setup.keepalive().0;
    let mut line = Line::default();
    let mut granted = Ticks::units(10).0;
    for _ in 1..setting.n {
        let crossed = granted.is_multiple_of(interval);
        let entered = granted + Ticks::units(if crossed { 2 } else { 1 }).0;
        line.extra += (entered - 1) / interval + if crossed { 3 } else { 0 };
        line.late += u64::from(crossed);
        granted = entered + Ticks::units(11).0;
    }
    line
}

/// A holder that stays for longer than the interval is asked, and answers; a client whose answer
/// takes longer asks again. From grant to release the standard setting takes 12 units.
fn with_pings(setting: &Setting, cost: f64) -> (f64, f64) {
    let Ok(Setup { retransmit, mode, .. }) = setup(setting) else { return exactly(cost) };
    let keepalive = setup(setting).map_or(retransmit, |setup| setup.keepalive());
    let interval = if mode == Mode::Lease { retransmit.min(keepalive) } else { retransmit };
    let again = 12.0 / interval.as_units();
    (cost, if again < 1.0 { cost } else { cost + 6.0 * again * remote(setting) })
}
