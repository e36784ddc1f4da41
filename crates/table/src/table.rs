//! The table: the replicated state machine, and `apply`, which is all that ever changes it.

use crate::answer::{Answer, Applied, Notice, Refusal, Senseless};
use crate::expiry::Timer;
use crate::lock::Lock;
use crate::session::Sessions;
use crate::value::Values;
use crate::{
    Acquire, Change, Fence, Floor, LeaseTime, Limits, Party, Place, Resource, Text, Ticket,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The rules that this build knows.
pub const VERSION: u32 = 1;

/// The rules that every table begins with, whatever a build knows: an old log must give what it
/// gave. Later rules come by [`Change::RaiseVersion`], other limits by [`Change::SetLimits`].
pub const GENESIS: u32 = 1;

/// Sessions, locks, elections and values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Table {
    /// The rules by which it applies changes.
    pub(crate) version: u32,
    pub(crate) floor: Floor,
    /// The index of the latest change.
    pub(crate) index: u64,
    /// The lease clock: the largest that any change came with.
    pub(crate) now: LeaseTime,
    pub(crate) limits: Limits,
    pub(crate) sessions: Sessions,
    /// Those that somebody holds or waits for. The others are forgotten.
    pub(crate) locks: BTreeMap<Resource, Lock>,
    /// How many of them begin with the same segment.
    pub(crate) prefixes: BTreeMap<Text, u32>,
    /// The largest fence of a lock that was forgotten.
    pub(crate) forgotten: Fence,
    pub(crate) waiting: BTreeMap<Place, Waiting>,
    pub(crate) timers: BTreeSet<(LeaseTime, Timer)>,
    pub(crate) values: Values,
    /// Nobody is let in before: see [`Table::restored`].
    pub(crate) quiet_until: LeaseTime,
}

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub ticket: Ticket,
    pub acquire: Acquire,
    pub since: LeaseTime,
}

/// What one change does beside its answer. First all leave who have to, then each lock is looked at
/// once: so nothing is granted twice at one index, and notices tell how it ended.
#[derive(Default)]
pub(crate) struct Turn {
    /// Locks that somebody left.
    pub left: BTreeSet<Resource>,
    /// Places that may be let in now.
    pub ready: BTreeSet<Place>,
    /// Parties whose requests may wait for others than before.
    pub rearranged: BTreeSet<Party>,
    pub notices: Vec<Notice>,
}

/// How a change was carried out.
pub(crate) enum Step {
    /// The answer is known.
    Answered(Answer),
    /// A new request stands in line. Whether it is let in is known when the locks were looked at.
    Joined(Place, Ticket),
    /// It was asked for before: the answer is what has become of it by then.
    Repeated(Ticket),
}

impl Table {
    /// An empty one, the same in every build.
    pub fn new(floor: Floor) -> Self {
        Self {
            version: GENESIS,
            floor,
            index: 0,
            now: LeaseTime::default(),
            limits: Limits::default(),
            sessions: Sessions::default(),
            locks: BTreeMap::new(),
            prefixes: BTreeMap::new(),
            forgotten: Fence::default(),
            waiting: BTreeMap::new(),
            timers: BTreeSet::new(),
            values: Values::default(),
            quiet_until: LeaseTime::default(),
        }
    }

    /// As it goes on when it is restored from a backup. Fences are above a new floor. Nobody is
    /// let in for so many milliseconds: what was granted after the backup is not known, and ends
    /// by then.
    ///
    /// # Panics
    /// If fences would fall.
    pub fn restored(mut self, floor: Floor, quiet_ms: u64) -> Self {
        assert!(floor.0 >= self.floor.0, "fences never fall");
        self.floor = floor;
        if quiet_ms > 0 {
            self.quiet_until = self.now.after(quiet_ms);
            self.timers.insert((self.quiet_until, Timer::Quiet));
        }
        self
    }

    /// For how many milliseconds more nobody is let in, if it was restored from a backup not long
    /// ago.
    pub fn quiet_ms(&self) -> Option<u64> {
        (self.now < self.quiet_until).then(|| self.quiet_until.since(self.now))
    }

    /// Applies one entry of the log.
    ///
    /// # Panics
    /// If an entry of this index, or of a later one, was applied before: the log would have been
    /// applied twice, and nothing could be trusted any more.
    pub fn apply(&mut self, index: u64, lease_time: LeaseTime, change: &Change) -> Applied {
        assert!(index > self.index, "entry {index} comes after {}", self.index);
        self.index = index;
        self.now = self.now.max(lease_time);
        let mut turn = Turn::default();
        self.ring_timers(&mut turn);
        let step = self.carry_out(change, &mut turn);
        if let Step::Joined(place, _) = step {
            turn.ready.insert(place);
        }
        self.let_all_in(&mut turn);
        let answer = match step {
            Step::Answered(answer) => answer,
            Step::Joined(place, ticket) => self.outcome(place, ticket, &mut turn),
            Step::Repeated(ticket) => self.answer_again(ticket),
        };
        self.forget_unrecorded(change);
        self.forget_unused(&turn);
        Applied { answer, notices: turn.notices }
    }

    /// The hash of all of it: the same on every node that has applied the same log.
    pub fn state_hash(&self) -> u64 {
        conclave_core::hash(self)
    }

    fn carry_out(&mut self, change: &Change, turn: &mut Turn) -> Step {
        let answer = match change {
            Change::Tick => Answer::Done,
            Change::Open(open) => self.open(open),
            Change::Renew(renewals) => self.renew(renewals, turn),
            Change::End { session } => self.close(*session, turn),
            Change::Expire { session, if_last_renew } => {
                self.expire(*session, *if_last_renew, turn)
            }
            Change::Attach { session, stream } => self.attach(*session, *stream),
            Change::Detach { session, stream } => self.detach(*session, *stream),
            Change::Lapse { session, stream } => self.lapse(*session, *stream, turn),
            Change::Ask(ask) => return self.ask(ask, turn),
            Change::Put(put) => self.put(put),
            Change::Force(force) => self.force(force, turn),
            Change::SetLimits(limits) => {
                self.limits = limits.clone();
                Answer::Done
            }
            Change::RaiseVersion(version) => self.raise_version(*version),
        };
        Step::Answered(answer)
    }

    /// The log never has a version that a member does not know: the leader asks all of them first.
    fn raise_version(&mut self, version: u32) -> Answer {
        if version < self.version {
            return Answer::Refused(Refusal::Senseless(Senseless::Version));
        }
        self.version = version;
        Answer::Done
    }

    /// The fence of what is granted by this change.
    pub(crate) fn fresh_fence(&self) -> Fence {
        Fence(self.floor.0 + self.index)
    }
}
