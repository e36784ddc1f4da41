//! Histories of leases, played with a real table and a clock by hand.

use super::*;
use conclave_core::NodeId;
use conclave_table::{Acquire, Fence, Floor, Open, RequestId, Resource, SessionId};

const ALICE: SessionId = SessionId([1; 16]);
const BOB: SessionId = SessionId([2; 16]);

/// A leader, the table that it commits to, and the time.
struct Leader {
    agenda: Agenda<(), ()>,
    table: Table,
    at: u64,
    /// Whether there is a quorum.
    commits: bool,
    log: Vec<(LeaseTime, Change)>,
}

impl Leader {
    fn new() -> Self {
        Self::after(Table::new(Floor(0)), 0)
    }

    /// The next leader, at a clock of its own.
    fn after(table: Table, at: u64) -> Self {
        let config = AgendaConfig { gather: Duration::from_millis(50), largest: table.now() };
        Self { agenda: Agenda::new(config, reading(at)), table, at, commits: true, log: Vec::new() }
    }

    fn open(&mut self, session: SessionId, ttl_ms: u64) {
        self.agenda.on_propose(Change::Open(Open::new(session, ttl_ms)), ());
        self.turn();
    }

    fn keepalive(&mut self, session: SessionId) {
        let at = Duration::from_millis(self.at);
        self.agenda.on_keepalive(Renewal { session, at: NodeId(0), open: None }, (), at);
    }

    /// A request under a number of its own.
    fn ask(&mut self, session: SessionId, body: Body) {
        let request = RequestId(self.log.len() as u64 + 1);
        self.agenda.on_propose(Change::Ask(Ask::new(session, request, body)), ());
        self.turn();
    }

    /// Who has the lock, and its fence.
    fn holder(&self) -> Option<(SessionId, Fence)> {
        let lock = self.table.lock(&Resource::lock("a"))?;
        lock.holders.first().map(|(ticket, hold)| (ticket.session, hold.fence))
    }

    /// One turn; what it submits is committed and applied at once, if there is a quorum.
    fn turn(&mut self) {
        let turn = self.agenda.turn(reading(self.at), &self.table);
        for (change, origin) in turn.entries {
            if self.commits {
                let index = self.table.index() + 1;
                self.table.apply(index, turn.stamp, &change);
                if origin == Origin::Burst {
                    self.agenda.on_expired();
                }
            }
            self.log.push((turn.stamp, change));
        }
    }

    /// Runs until then, with turns whenever the loop wants them.
    fn run(&mut self, until: u64) {
        loop {
            let wake = u64::try_from(self.agenda.wake().as_millis()).expect("a small number");
            if wake > until {
                self.at = until;
                return;
            }
            self.at = self.at.max(wake);
            self.turn();
        }
    }

    fn lives(&self, session: SessionId) -> bool {
        self.table.session(session).is_some()
    }

    fn count(&self, wanted: impl Fn(&Change) -> bool) -> usize {
        self.log.iter().filter(|(_, change)| wanted(change)).count()
    }
}

fn reading(ms: u64) -> Reading {
    Reading { monotonic: Duration::from_millis(ms), raw: Duration::from_millis(ms) }
}

fn is_expiry(change: &Change) -> bool {
    matches!(change, Change::Expire { .. })
}

#[test]
fn a_silent_session_expires_after_its_time_and_within_the_bound() {
    let mut leader = Leader::new();
    leader.open(ALICE, 1_000);
    leader.run(999);
    assert!(leader.lives(ALICE));
    leader.run(1_060);
    assert!(!leader.lives(ALICE), "{:?}", leader.log);
    assert_eq!(leader.count(is_expiry), 1);
}

#[test]
fn a_session_that_is_heard_of_lives_on_and_its_keepalive_goes_ahead_of_any_expiry() {
    let mut leader = Leader::new();
    leader.open(ALICE, 1_000);
    leader.open(BOB, 1_000);
    leader.run(1_020); // Due, and not yet settled.
    leader.keepalive(ALICE);
    leader.run(1_100);
    assert!(leader.lives(ALICE) && !leader.lives(BOB));
    let renewal = leader.log.iter().position(|(_, change)| matches!(change, Change::Renew(_)));
    let expiry = leader.log.iter().position(|(_, change)| is_expiry(change));
    assert!(renewal.expect("it was gathered") < expiry.expect("bob was silent"));
}

#[test]
fn keepalives_are_gathered_into_one_entry_and_stamped_when_it_leaves() {
    let mut leader = Leader::new();
    leader.open(ALICE, 10_000);
    leader.open(BOB, 10_000);
    leader.run(1_000);
    leader.keepalive(ALICE);
    leader.run(1_040);
    leader.keepalive(BOB);
    assert_eq!(leader.count(|change| matches!(change, Change::Renew(_))), 0);
    leader.run(1_060);
    let batches: Vec<_> =
        leader.log.iter().filter(|(_, change)| matches!(change, Change::Renew(_))).collect();
    let [(stamp, Change::Renew(renewals))] = batches.as_slice() else {
        panic!("one batch, not {batches:?}");
    };
    assert_eq!(renewals.len(), 2);
    assert!(*stamp >= LeaseTime(1_050), "stamped with {stamp:?}, before it left");
}

#[test]
fn a_stall_expires_nobody_before_its_sockets_were_read() {
    let mut leader = Leader::new();
    leader.open(ALICE, 1_000);
    leader.run(900);
    leader.at = 5_000; // Stopped and continued; Alice's keepalives lie in the socket.
    leader.turn();
    leader.run(5_020);
    assert!(leader.lives(ALICE));
    leader.keepalive(ALICE); // Now it is read.
    leader.run(5_500);
    assert!(leader.lives(ALICE), "{:?}", leader.log);
}

#[test]
fn a_session_expires_after_a_stall_if_it_stays_silent() {
    let mut leader = Leader::new();
    leader.open(ALICE, 1_000);
    leader.run(900);
    leader.at = 5_000;
    leader.turn();
    leader.run(5_100);
    assert!(!leader.lives(ALICE));
}

#[test]
fn of_a_stall_only_half_a_second_counts() {
    let mut leader = Leader::new();
    leader.open(ALICE, 10_000);
    leader.run(1_000);
    leader.at = 60_000;
    leader.turn();
    leader.run(68_000);
    assert!(leader.lives(ALICE), "1 s, 0.5 s of the stall and 8 s are less than 10 s");
    leader.run(68_700);
    assert!(!leader.lives(ALICE));
}

#[test]
fn a_leader_without_a_quorum_expires_nobody_and_does_not_catch_up_later() {
    let mut leader = Leader::new();
    leader.open(ALICE, 1_000);
    leader.commits = false;
    leader.run(20_000);
    assert_eq!(leader.count(is_expiry), 0, "{:?}", leader.log);
    leader.commits = true;
    leader.run(20_300);
    assert!(leader.lives(ALICE));
    leader.run(21_000);
    assert!(!leader.lives(ALICE));
}

#[test]
fn the_next_leader_goes_on_with_what_is_left_of_a_lease() {
    let mut first = Leader::new();
    first.open(ALICE, 1_000);
    first.run(700);
    let now = first.table.now();
    let mut second = Leader::after(first.table, 900_000);
    second.run(900_000 + 1_000 - now.0 - 1);
    assert!(second.lives(ALICE), "time without a leader counts for nobody");
    second.run(900_000 + 1_000 - now.0 + 100);
    assert!(!second.lives(ALICE));
}

#[test]
fn a_deadline_of_a_request_passes_without_any_other_change() {
    use conclave_table::{Acquire, Ask, Body, RequestId};
    let mut leader = Leader::new();
    leader.open(ALICE, 60_000);
    leader.open(BOB, 60_000);
    for session in [ALICE, BOB] {
        let body = Body::Acquire(Acquire::exclusive("build").waiting(500));
        leader.agenda.on_propose(Change::Ask(Ask::new(session, RequestId(1), body)), ());
    }
    leader.turn();
    assert!(leader.table.due().timer.is_some());
    leader.run(leader.at + 520);
    assert_eq!(leader.table.due().timer, None, "bob has waited for long enough");
}

#[test]
fn an_idle_leader_tells_the_time_only_while_somebody_waits_for_it() {
    let mut leader = Leader::new();
    leader.run(10_000);
    assert_eq!(leader.log, []);
    leader.open(ALICE, 10_000);
    leader.run(12_000);
    let ticks = leader.count(|change| matches!(change, Change::Tick));
    assert!((8..=12).contains(&ticks), "{ticks} ticks in 2 s");
}

#[test]
fn thousands_that_die_at_once_are_expired_in_bursts() {
    let mut leader = Leader::new();
    for n in 0..1_000u16 {
        let mut id = [0; 16];
        id[..2].copy_from_slice(&n.to_le_bytes());
        leader.agenda.on_propose(Change::Open(Open::new(SessionId(id), 1_000)), ());
    }
    leader.turn();
    leader.commits = false;
    // Committed far enough for the clock to run, but the burst is not applied.
    for ms in [400, 800, 1_000] {
        leader.at = ms;
        let index = leader.table.index() + 1;
        leader.table.apply(index, LeaseTime(ms), &Change::Tick);
        leader.turn();
    }
    leader.run(1_300);
    assert_eq!(leader.count(is_expiry), BURST);
    leader.commits = true;
    leader.agenda.on_expired();
    leader.run(1_400);
    assert_eq!(leader.table.sessions().count(), 0);
}

/// Alice has the lock, and Bob asks for it and is ready to wait.
fn bob_waits_for_alice() -> (Leader, Fence) {
    let mut leader = Leader::new();
    leader.open(ALICE, 10_000);
    leader.open(BOB, 10_000);
    leader.ask(ALICE, Body::Acquire(Acquire::exclusive("a").waiting(1_000)));
    let fence = leader.holder().expect("the lock was free").1;
    leader.run(100);
    leader.ask(BOB, Body::Acquire(Acquire::exclusive("a").waiting(1_000)));
    (leader, fence)
}

#[test]
fn who_will_only_join_a_queue_waits_for_company_but_not_for_long() {
    let (mut leader, _) = bob_waits_for_alice();
    let asks = |leader: &Leader| leader.count(|change| matches!(change, Change::Ask(_)));
    assert_eq!(asks(&leader), 1, "only Alice was in a hurry");
    assert!(leader.agenda.holds_back());
    leader.run(101);
    assert_eq!(asks(&leader), 2);
    assert!(!leader.agenda.holds_back());
}

#[test]
fn a_release_takes_those_along_that_came_before_it() {
    let (mut leader, fence) = bob_waits_for_alice();
    leader.ask(ALICE, Body::Release { resource: Resource::lock("a"), fence, hold: None });
    let asked = leader.log.iter().rev().take(2).map(|(stamp, change)| {
        let Change::Ask(ask) = change else { panic!("two requests, not {change:?}") };
        (*stamp, ask.session)
    });
    let [(released, last), (joined, first)] = asked.collect::<Vec<_>>()[..] else { panic!("two") };
    assert_eq!((first, last, joined), (BOB, ALICE, released));
    assert_eq!(leader.holder().map(|(session, _)| session), Some(BOB));
}

#[test]
fn who_need_not_wait_any_more_or_would_not_is_in_a_hurry() {
    let (mut leader, fence) = bob_waits_for_alice();
    let free = Body::Release { resource: Resource::lock("a"), fence, hold: None };
    let free = Change::Ask(Ask::new(ALICE, RequestId(9), free));
    let index = leader.table.index() + 1;
    leader.table.apply(index, leader.table.now(), &free); // As an earlier leader had it.
    leader.turn();
    assert_eq!(leader.holder().map(|(session, _)| session), Some(BOB));
    let log = leader.log.len();
    leader.ask(ALICE, Body::Acquire(Acquire::exclusive("a"))); // To be told no.
    assert_eq!(leader.log.len(), log + 1);
}
