//! Locks: one machine per name, and a line of sessions in front of it.

use super::queue::Line;
use super::refusal::{self, Refusal};
use super::sessions::Kind;
use super::{Answer, Desk, Reply, acquire, answer, lock_key};
use conclave_api as api;
use conclave_api::limits::{self, LOCKS_MAX};
use conclave_net::{Asked, Hands, Survival};
use serde::{Deserialize, Serialize};

/// A lock as this node knows it.
pub struct Lock {
    /// Who holds it and who waits, among the sessions of this node.
    pub line: Line,
    /// What was asked of the machine last.
    pub stage: Stage,
    /// Whether this node has its machine.
    pub made: bool,
    /// Whether the machine remembers a hold over a crash.
    pub survival: Survival,
}

/// Where the machine of a lock stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It wants nothing.
    #[default]
    Idle,
    /// It was asked to enter.
    Asked,
    /// It is inside.
    Inside,
}

impl Default for Lock {
    fn default() -> Self {
        Self { line: Line::default(), stage: Stage::Idle, made: false, survival: Survival::Returns }
    }
}

impl Lock {
    /// How it looks from outside: who waits for the machine to be asked waits, too.
    pub fn state(&self) -> Stage {
        match self.stage {
            Stage::Idle if !self.line.waiters.is_empty() => Stage::Asked,
            Stage::Idle | Stage::Asked | Stage::Inside => self.stage,
        }
    }
}

impl Desk {
    pub(super) fn acquire(
        &mut self,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        hands: &mut dyn Hands,
    ) {
        if let Err(refusal) = self.may_acquire(name, &request) {
            return answer(reply, Err(refusal), hands);
        }
        self.locks.entry(name.to_string()).or_default();
        self.join(Kind::Lock, name, request, reply, hands);
        self.settle(name);
    }

    fn may_acquire(&self, name: &str, request: &api::Acquire) -> Result<(), Refusal> {
        limits::name(name)?;
        acquire::check(request)?;
        self.session(&request.session)?;
        if !self.locks.contains_key(name) && self.locks.len() >= LOCKS_MAX {
            return Err(refusal::too_many(format!(
                "this node knows {} locks, and forgets none",
                self.locks.len()
            )));
        }
        Ok(())
    }

    pub(super) fn release(
        &mut self,
        name: &str,
        request: &api::Release,
        hands: &mut dyn Hands,
    ) -> Answer<api::Released> {
        let released = self.give_back(Kind::Lock, name, request, hands)?;
        self.save_lock(name, hands);
        self.settle(name);
        Ok(released)
    }

    pub(super) fn verify(&self, name: &str, fence: u64) -> Answer<api::Verified> {
        limits::name(name)?;
        let line = self.locks.get(name).map(|lock| &lock.line);
        let holder = line.and_then(|line| line.holder.as_ref());
        Ok(api::Verified {
            name: name.to_string(),
            valid: holder.is_some_and(|holder| holder.fence == fence && !holder.lapsed),
            latest: line.and_then(|line| line.latest),
            scope: "node".to_string(),
        })
    }

    /// Takes a lock from its holder, who may go on believing that it has it.
    pub(super) fn force(
        &mut self,
        name: &str,
        request: &api::Force,
        hands: &mut dyn Hands,
    ) -> Answer<api::Forced> {
        limits::name(name)?;
        limits::reason(&request.reason)?;
        let now = self.clock.now();
        let lock = self.locks.get_mut(name);
        let Some(holder) = lock.and_then(|lock| lock.line.let_out(now)) else {
            return Err(refusal::not_found(format!("no session of this node holds '{name}'")));
        };
        let holder = self.holder_view(&holder);
        let reason = &request.reason;
        let words = format!("taken from '{}' ({}): {reason}", holder.label, holder.session);
        tracing::warn!(lock = name, fence = holder.fence, "force: {words}");
        self.journal.note(hands, "forced", Some(name), words);
        self.settle(name);
        let safety = "fence-only".to_string();
        Ok(api::Forced { name: name.to_string(), holder, safety })
    }

    /// The machine is inside: the first in line may enter, unless it would lose the lock at once.
    pub(super) fn entered(&mut self, name: &str, fence: u64, hands: &mut dyn Hands) {
        let may_lend = self.may_lend(hands);
        let Some(lock) = self.locks.get_mut(name) else { return };
        lock.stage = Stage::Inside;
        if may_lend {
            self.grant(Kind::Lock, name, fence, None, hands);
        }
        self.save_lock(name, hands);
        self.settle(name);
    }

    /// What the line of this lock needs is asked for when all has been said; see
    /// [`Desk::settle_all`].
    pub(super) fn settle(&mut self, name: &str) {
        self.unsettled.insert(name.to_string());
    }

    /// Asks of each machine what its line needs, once, when all that happens at this moment has
    /// happened: a machine that was asked to enter may be inside as soon as it takes its step, and
    /// must not be asked to cancel after that.
    pub(super) fn settle_all(&mut self, hands: &mut dyn Hands) {
        let may_lend = self.may_lend(hands);
        if may_lend {
            self.unsettled.append(&mut self.held_up);
        }
        for name in std::mem::take(&mut self.unsettled) {
            if !self.settled(&name, may_lend, hands) {
                self.held_up.insert(name);
            }
        }
    }

    /// Asks of the machine what the line needs, and nothing that is not its turn: acquire only
    /// when idle, cancel only when waiting, release only when inside. False if it has to wait.
    fn settled(&mut self, name: &str, may_lend: bool, hands: &mut dyn Hands) -> bool {
        let Some(lock) = self.locks.get_mut(name) else { return true };
        if lock.line.holder.as_ref().is_none_or(|holder| !holder.lapsed) {
            self.lapsed.remove(name);
        }
        let (before, key) = (lock.stage, lock_key(name));
        if lock.stage == Stage::Inside && lock.line.holder.is_none() {
            hands.ask(&key, Asked::Release);
            lock.stage = Stage::Idle;
        }
        let wanted = !lock.line.waiters.is_empty();
        if lock.stage == Stage::Asked && !wanted {
            hands.ask(&key, Asked::Cancel);
            lock.stage = Stage::Idle;
        }
        let waits = lock.stage == Stage::Idle && wanted && !may_lend;
        if lock.stage == Stage::Idle && wanted && may_lend {
            if self.config.everywhere && !lock.made {
                hands.open(&key);
            }
            hands.ask(&key, Asked::Acquire);
            lock.stage = Stage::Asked;
        }
        if lock.stage != before || before == Stage::Inside {
            self.save_lock(name, hands);
        }
        !waits
    }
}
