//! The invariant of the lock table, judged in every state by somebody who keeps a line of its own.

use super::coordinator::resource;
use conclave_core::Property;
use conclave_table::{Answer, Applied, Change, Fence, LockView, Notice, Table, Ticket};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What can be wrong with the table, whoever looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Broken {
    /// Somebody was let in before one who was there first.
    Overtaken,
    /// Somebody holds the lock or stands in line who is gone; or somebody who waits stands nowhere.
    Ghost,
    /// Somebody waits for a lock that is free.
    LostWakeUp,
    /// A session was ended by an expiry that had to be void: its client is running.
    Expired,
    /// Two hold the lock.
    TwoInside,
    /// The same request was granted twice.
    GrantedTwice,
    /// A fence did not rise.
    FenceFell,
}

impl Broken {
    /// The property that it is a violation of. Whoever has a bound on waiting is passed over by
    /// nobody, waits behind nobody who is gone, is woken up, and keeps its place as long as it lives.
    pub fn property(self) -> Property {
        match self {
            Self::Overtaken | Self::Ghost | Self::LostWakeUp | Self::Expired => Property::BW,
            Self::TwoInside | Self::GrantedTwice => Property::S1Eff,
            Self::FenceFell => Property::F1,
        }
    }
}

/// Somebody who looks at each entry of the log and at the table that comes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Witness {
    /// Who waits, in the order in which they came.
    line: Vec<Ticket>,
    /// What sessions that are there have been granted.
    granted: BTreeSet<Ticket>,
    /// The largest fence.
    fence: Fence,
    broken: Option<Broken>,
}

impl Witness {
    /// What was seen to be wrong.
    pub fn broken(&self) -> Option<Broken> {
        self.broken
    }

    /// Looks at what came of a change.
    pub fn see(&mut self, table: &Table, change: &Change, applied: &Applied) {
        for notice in &applied.notices {
            match notice {
                Notice::Left { ticket, .. } => self.line.retain(|waits| waits != ticket),
                Notice::Granted(granted) => {
                    let fences = granted.grants.iter().map(|grant| grant.inside.fence);
                    self.on_granted(granted.ticket, fences.max().unwrap_or_default());
                }
                Notice::Ended(_)
                | Notice::Revoked(..)
                | Notice::Proclaimed(..)
                | Notice::SessionEnded(..) => {}
            }
        }
        if let (Change::Ask(ask), Answer::Waiting { .. }) = (change, &applied.answer) {
            let ticket = Ticket { session: ask.session, request: ask.request };
            if !self.line.contains(&ticket) {
                self.line.push(ticket);
            }
        }
        self.granted.retain(|ticket| table.session(ticket.session).is_some());
        self.look_at(table);
    }

    /// Looks at what came of a change that had to be void.
    pub fn see_in_vain(&mut self, applied: &Applied) {
        if !applied.notices.is_empty() {
            self.say(Broken::Expired);
        }
    }

    fn on_granted(&mut self, ticket: Ticket, fence: Fence) {
        match self.line.first() {
            Some(first) if *first != ticket => self.say(Broken::Overtaken),
            Some(_) => drop(self.line.remove(0)),
            None => {}
        }
        if !self.granted.insert(ticket) {
            self.say(Broken::GrantedTwice);
        }
        if fence <= self.fence {
            self.say(Broken::FenceFell);
        }
        self.fence = fence;
    }

    fn look_at(&mut self, table: &Table) {
        let Some(LockView { holders, waiters }) = table.lock(&resource()) else {
            if !self.line.is_empty() {
                self.say(Broken::Ghost);
            }
            return;
        };
        let gone = |ticket: &Ticket| table.session(ticket.session).is_none();
        let waiters: Vec<Ticket> = waiters.into_iter().map(|(_, ticket)| ticket).collect();
        if waiters != self.line
            || waiters.iter().any(gone)
            || holders.iter().any(|(ticket, _)| gone(ticket))
        {
            self.say(Broken::Ghost);
        }
        match holders.len() {
            0 if waiters.is_empty() => self.say(Broken::Ghost), // A name that nobody uses.
            0 => self.say(Broken::LostWakeUp),
            1 => {}
            _ => self.say(Broken::TwoInside),
        }
    }

    /// What is seen first counts.
    fn say(&mut self, broken: Broken) {
        self.broken.get_or_insert(broken);
    }
}
