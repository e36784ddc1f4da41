//! The row of the centralised algorithm that survives its coordinator.

use super::leadership::{self, PARAMETERS, setup};
use super::{Assumption, Cluster, Cost, Entry, Family, Formula, MutexCost, Rejoin, Setting};
use crate::Error;
use crate::mutex::central_failover::CentralFailover;
use crate::mutex::epoch::{Mode, Setup};
use conclave_core::{Property, Ticks};

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
        Assumption { tag: "A1", text: "a message sent often enough arrives, in any order" },
        Assumption {
            tag: "A2",
            text: "a majority is up and in touch (election=majority); a crashed node returns with \
                   its disk or not at all",
        },
        Assumption {
            tag: "A3",
            text: "suspicions are right (strict, fence, or an election not by majority)",
        },
        Assumption {
            tag: "A4",
            text: "a holder that is cut off leaves before its lease ends, clocks are at most 1 % \
                   off, and a leader that is cut off is told so within half a lease (lease)",
        },
        Assumption { tag: "A5", text: "who enters also releases" },
        Assumption { tag: "A6", text: "who is silent for retransmit has crashed (fence)" },
    ],
    has: leadership::has,
    lacks: &[
        (Property::HB, "service follows arrival; an earlier request may arrive later"),
        (Property::BW, "a request that was not acknowledged loses its place with the coordinator"),
        (
            Property::S1,
            "only with mode=fence or an election not by majority: a wrong suspicion or a partition \
             lets in a second",
        ),
        (
            Property::S1Eff,
            "only with an election not by majority: each side of a partition has a leader",
        ),
        (
            Property::F1,
            "only with mode=fence or an election not by majority: the replaced may enter late",
        ),
    ],
    bypass: None,
    parameters: PARAMETERS,
    cost: Cost::Mutex(MutexCost {
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
                exactly(if setting.n == 1 { 0.0 } else { (2.0 * n - 3.0) / (n - 1.0) })
            },
        },
        textbooks: "Books count 3 and leave out what survival needs: an acknowledged place in \
                    line, signs of life, and, for a new coordinator, N-1 NEW_COORD and a STATE of \
                    each live node besides the election.",
    }),
    rejoin_without_disk: Rejoin::Never,
};

/// The nodes of a setting.
pub fn cluster(setting: &Setting) -> Result<Cluster<CentralFailover>, Error> {
    Ok(leadership::cluster(setup(setting)?, CentralFailover::new))
}

fn exactly(cost: f64) -> (f64, f64) {
    (cost, cost)
}

/// The share of clients that live elsewhere than the coordinator.
fn remote(setting: &Setting) -> f64 {
    (setting.n() - 1.0) / setting.n()
}

/// The i-th that waits enters at 12i - 1 and says, at each full interval before, that it waits.
/// Said while the grant is under way, that brings the grant once more.
fn heavy(setting: &Setting) -> (f64, f64) {
    let Ok(setup) = setup(setting) else { return exactly(0.0) };
    let interval = setup.keepalive().0;
    let beats_before = |units: u32| (Ticks::units(units.into()).0 - 1) / interval;
    let extra = |entry: u32| 2 * beats_before(entry) - beats_before(entry - 1);
    let total: u64 = match setup.mode {
        Mode::Lease => (1..setting.n).map(|place| extra(12 * place - 1)).sum(),
        Mode::Strict | Mode::Fence => 0,
    };
    with_pings(setting, 4.0 * remote(setting) + total as f64 / setting.n())
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
