//! The invariant of the lock table, judged in every state by somebody who keeps a line of its own.

use super::coordinator::resource;
use conclave_core::Property;
use conclave_table::{
    Answer, Applied, Ask, Body, Change, Fence, LockView, Notice, RequestId, SessionId, Table,
    Ticket,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What can be wrong with the table, whoever looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Broken {
    /// Somebody was let in before one who was there first.
    Overtaken,
    /// Somebody holds the lock or stands in line who is gone, or by a request that its client gave
    /// up; or somebody who waits stands nowhere.
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
    /// nobody, waits behind nobody who is gone, is woken up, and keeps its place while it lives.
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
    /// What they have withdrawn.
    withdrawn: BTreeSet<Ticket>,
    /// By session: below this request its client waits for no answer.
    marks: BTreeMap<SessionId, RequestId>,
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
        if let Change::Ask(ask) = change {
            self.hear(ask);
        }
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
                | Notice::SessionEnded { .. } => {}
            }
        }
        if let (Change::Ask(ask), Answer::Waiting { .. }) = (change, &applied.answer) {
            let ticket = Ticket { session: ask.session, request: ask.request };
            if !self.line.contains(&ticket) {
                self.line.push(ticket);
            }
        }
        self.forget(table);
        self.look_at(table);
    }

    /// What a client says of its own requests.
    fn hear(&mut self, ask: &Ask) {
        let mark = self.marks.entry(ask.session).or_default();
        *mark = ask.lowest_open.max(*mark);
        if let Body::Cancel { request, .. } = ask.body {
            self.withdrawn.insert(Ticket { session: ask.session, request });
        }
    }

    /// Nothing can come of requests of a session that has ended.
    fn forget(&mut self, table: &Table) {
        let lives = |session: SessionId| table.session(session).is_some();
        self.granted.retain(|ticket| lives(ticket.session));
        self.withdrawn.retain(|ticket| lives(ticket.session));
        self.marks.retain(|session, _| lives(*session));
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
        let given_up = self.marks.get(&ticket.session).is_some_and(|mark| ticket.request < *mark);
        if given_up || self.withdrawn.contains(&ticket) {
            self.say(Broken::Ghost);
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
