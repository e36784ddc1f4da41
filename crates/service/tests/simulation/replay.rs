//! The log, replayed: what may be granted to whom, and when a session may end.

use crate::checker::is_alive;
use crate::history::{History, Logged};
use conclave_table::{
    Answer, Ask, Body, Change, Notice, Place, Resource, SessionEnd, SessionId, Ticket,
};
use std::collections::{BTreeMap, BTreeSet};

/// Replays the log by rules of its own, which are simpler than the table's.
#[derive(Default)]
pub struct Replay {
    holders: BTreeMap<Resource, (Ticket, u64)>,
    fences: BTreeMap<Resource, u64>,
    lines: BTreeMap<Resource, BTreeMap<Place, Ticket>>,
    /// Time to live, and the latest renewal.
    sessions: BTreeMap<SessionId, (u64, u64)>,
    /// Requests that are not wanted any more, whether they have come or not.
    withdrawn: BTreeSet<Ticket>,
    now: u64,
    wrong: Vec<String>,
}

impl Replay {
    /// All that is wrong with a log.
    pub fn run(history: &History) -> Vec<String> {
        let mut replay = Self::default();
        for (index, logged) in &history.log {
            replay.now = replay.now.max(logged.lease);
            let mut granted = BTreeSet::new();
            replay.before(*index, logged);
            for notice in &logged.applied.notices {
                replay.notice(*index, notice, &mut granted);
            }
            replay.after(*index, logged);
        }
        replay.wrong
    }

    /// Ends come first: one entry frees a lock and grants it.
    fn before(&mut self, index: u64, logged: &Logged) {
        for notice in &logged.applied.notices {
            match notice {
                Notice::Ended(ended) => drop(self.holders.remove(&ended.resource)),
                Notice::SessionEnded { session, why, .. } => {
                    self.session_ended(index, session, *why)
                }
                Notice::Left { ticket, wants, .. } => {
                    for resource in wants {
                        let line = self.lines.entry(resource.clone()).or_default();
                        line.retain(|_, waiting| waiting != ticket);
                    }
                }
                Notice::Granted(_) | Notice::Revoked(..) | Notice::Proclaimed(..) => {}
            }
        }
    }

    fn session_ended(&mut self, index: u64, session: &SessionId, why: SessionEnd) {
        let Some((ttl, renewed)) = self.sessions.remove(session) else { return };
        if why == SessionEnd::Expired && self.now < renewed + ttl {
            self.wrong.push(format!(
                "entry {index}, at {} of the lease clock, ends {session:?} ({ttl} ms), which was \
                 renewed at {renewed}",
                self.now
            ));
        }
    }

    fn notice(&mut self, index: u64, notice: &Notice, granted: &mut BTreeSet<Resource>) {
        let Some(grant) = notice.granted() else { return };
        if self.withdrawn.contains(&grant.ticket) {
            self.wrong
                .push(format!("entry {index} grants {:?}, which was withdrawn", grant.ticket));
        }
        for one in &grant.grants {
            let resource = &one.resource;
            let fence = one.inside.fence.0;
            if !granted.insert(resource.clone()) {
                self.wrong.push(format!("entry {index} grants {resource:?} twice"));
            }
            if let Some(holder) = self.holders.get(resource) {
                let words = format!("entry {index} grants {resource:?}, which {holder:?} holds");
                self.wrong.push(words);
            }
            if self.fences.get(resource).is_some_and(|last| *last >= fence) {
                self.wrong.push(format!("entry {index}: the fence of {resource:?} did not rise"));
            }
            let line = self.lines.entry(resource.clone()).or_default();
            line.remove(&grant.place);
            if let Some((place, _)) =
                line.first_key_value().filter(|(place, _)| **place < grant.place)
            {
                let words = format!("entry {index} lets {:?} pass {place:?}", grant.place);
                self.wrong.push(words);
            }
            self.holders.insert(resource.clone(), (grant.ticket, fence));
            self.fences.insert(resource.clone(), fence);
        }
    }

    fn after(&mut self, index: u64, logged: &Logged) {
        match (&logged.change, &logged.applied.answer) {
            (Change::Open(open), Answer::Opened { session, ttl_ms })
                if *session == open.session =>
            {
                self.sessions.entry(*session).or_insert((*ttl_ms, self.now));
            }
            (Change::Renew(asked), Answer::Renewed(told)) => {
                for (renewal, told) in asked.iter().zip(told) {
                    if let Some(known) = self.sessions.get_mut(&renewal.session)
                        && is_alive(told)
                    {
                        known.1 = self.now;
                    }
                }
            }
            (
                Change::Ask(Ask { session, body: Body::Cancel { request, .. }, .. }),
                Answer::Done,
            ) => {
                self.withdrawn.insert(Ticket { session: *session, request: *request });
            }
            (Change::Ask(ask), Answer::Waiting { .. }) => {
                let Body::Acquire(acquire) = &ask.body else { return };
                let ticket = Ticket { session: ask.session, request: ask.request };
                for want in &acquire.wants {
                    let line = self.lines.entry(want.resource.clone()).or_default();
                    if !line.values().any(|waiting| *waiting == ticket) {
                        line.insert(Place(index), ticket);
                    }
                }
            }
            _ => {}
        }
    }
}
