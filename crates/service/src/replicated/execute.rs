//! Carrying out: what the leader does with a request, its own clients' or another node's.

use super::engine::ReplicatedEngine;
use super::hop::{Asked, Changed, Said};
use super::sights::{self, Details, Stood};
use super::waits::Woken;
use super::words::unrecorded;
use conclave_replica::{Committed, NotProposed};
use conclave_table::{
    Answer, Ask, Body, Change, Fence, Granted, Notice, Place, Refusal, Renewal, Renewed, Resource,
    SessionId, Table, Text, Ticket,
};
use std::sync::Arc;
use std::time::Instant;

impl ReplicatedEngine {
    /// Carries a request out at this node, if it leads.
    pub async fn carry_out(&self, asked: Asked) -> Said {
        match asked {
            Asked::Change { principal, change } => self.change(&principal, change).await,
            Asked::Renew { principal, renewal } => self.renew(&principal, renewal).await,
            Asked::ReadIndex => self.read(|table| Said::ReadIndex(table.index())).await,
            Asked::Verify(resource, fence, session) => self.verify(resource, fence, session).await,
            Asked::Look(resource, explain) => {
                let seen = |table: &_| sights::seen(table, &resource, self.pace(), explain);
                self.read(|table| Said::Seen(Box::new(seen(table)))).await
            }
            Asked::Value(name) => {
                let known = |value: &conclave_table::Value| (value.fence, value.value.clone());
                self.read(|table| Said::Value(table.value(&name).map(known))).await
            }
            Asked::Member(asked) => self.change_members(asked).await,
            Asked::Ping => Said::Done,
        }
    }

    /// Linearizable (ReadIndex): this node has applied all that was committed when it was asked,
    /// and leads still.
    async fn read(&self, look: impl FnOnce(&Table) -> Said) -> Said {
        let Some(replica) = self.replica() else { return Said::NotLeading };
        match replica.read_index().await {
            Ok(()) => replica.look(look),
            // Nothing was changed: it may be asked anywhere.
            Err(NotProposed::NotLeader { .. } | NotProposed::Unknown | NotProposed::Stopped) => {
                Said::NotLeading
            }
        }
    }

    async fn verify(&self, resource: Resource, fence: Fence, who: Option<SessionId>) -> Said {
        self.read(|table| {
            let latest = table.latest_fence(&resource);
            Said::Verified(table.verify(&resource, fence, who), latest)
        })
        .await
    }

    async fn renew(&self, principal: &Text, renewal: Renewal) -> Said {
        let Some(replica) = self.replica() else { return Said::NotLeading };
        let id = renewal.session;
        if !self.belongs_to(id, principal).await {
            return Said::Renewed(Renewed::NoSession, 0);
        }
        match replica.renew(renewal).await {
            Ok(renewed) => {
                let ttl_ms = |table: &Table| table.session(id).map_or(0, |session| session.ttl_ms);
                Said::Renewed(renewed, replica.look(ttl_ms))
            }
            Err(NotProposed::NotLeader { .. }) => Said::NotLeading,
            Err(NotProposed::Unknown | NotProposed::Stopped) => Said::Unknown,
        }
    }

    async fn change(&self, principal: &Text, change: Change) -> Said {
        if let Some(session) = session_of(&change)
            && !self.belongs_to(session, principal).await
        {
            return changed(Answer::Refused(Refusal::NoSession), 0, None);
        }
        if let Change::Ask(ask) = &change {
            let ticket = Ticket { session: ask.session, request: ask.request };
            if let Body::Acquire(acquire) = &ask.body {
                let wants = acquire.wants.iter().map(|want| want.resource.clone()).collect();
                let waits = acquire.wait_ms > 0;
                let leaving = Leaving::new(self, ticket, principal);
                return self.acquire(leaving, waits, wants, change).await;
            }
        }
        let about =
            if let Change::Force(force) = &change { vec![force.resource.clone()] } else { vec![] };
        match self.propose(change).await {
            Ok(committed) => self.told(committed.applied.answer, 0, about),
            Err(said) => said,
        }
    }

    /// A request that may have to wait. It is parked first: its grant may come before its answer.
    async fn acquire(
        &self,
        mut leaving: Leaving,
        waits: bool,
        wants: Vec<Resource>,
        change: Change,
    ) -> Said {
        let begun = Instant::now();
        let ticket = leaving.ticket;
        let mut parked = waits.then(|| self.waits().park(ticket));
        let Committed { index, applied } = match self.propose(change).await {
            Ok(committed) => committed,
            Err(said) => return leaving.answered(said),
        };
        let waiting = matches!(applied.answer, Answer::Waiting { .. });
        let Some(parked) = parked.as_mut().filter(|_| waiting) else {
            let mine = |granted: &Granted| granted.ticket == ticket;
            let fresh = applied.notices.iter().filter_map(Notice::granted).any(mine);
            let stood = Stood { wants, ..Stood::default() };
            return leaving.answered(self.granted_or_not(ticket, applied.answer, fresh, &stood));
        };
        let said = match parked.woken().await {
            Woken::Granted(granted) => {
                changed(Answer::Granted(granted.grants), granted.waited_ms, None)
            }
            Woken::Left(why) => {
                let waited_ms = Some(begun.elapsed().as_millis() as u64);
                let stood = Stood { wants, place: Some(Place(index)), waited_ms };
                self.refused(why, &stood)
            }
            Woken::AskAgain => Said::Unknown,
        };
        leaving.answered(said)
    }

    /// The answer to a request that did not have to wait, or has waited before.
    fn granted_or_not(&self, ticket: Ticket, answer: Answer, fresh: bool, stood: &Stood) -> Said {
        if let Answer::Refused(why) = answer {
            return self.refused(why, stood);
        }
        let is_held = |table: &Table| table.held_by(ticket).next().is_some();
        let held = fresh || self.replica().is_some_and(|replica| replica.look(is_held));
        Said::Changed(Changed { answer, waited_ms: 0, released: !held, details: None })
    }

    /// An answer, with who held what it was about.
    fn told(&self, answer: Answer, waited_ms: u64, about: Vec<Resource>) -> Said {
        let stood = Stood { wants: about, ..Stood::default() };
        if let Answer::Refused(why) = answer {
            return self.refused(why, &stood);
        }
        let look = |table: &Table| sights::forced(table, stood.wants.first()?, self.pace());
        let details = self.replica().filter(|_| !stood.wants.is_empty());
        let details = details.and_then(|replica| replica.look(look)).map(Box::new);
        changed(answer, waited_ms, details)
    }

    /// A refusal, and more about it.
    fn refused(&self, why: Refusal, stood: &Stood) -> Said {
        let look = |table: &Table| sights::details(table, &why, stood, self.pace());
        let details = self.replica().map(|replica| Box::new(replica.look(look)));
        changed(Answer::Refused(why), 0, details)
    }

    /// Puts a change into the log.
    async fn propose(&self, change: Change) -> Result<Committed, Said> {
        let Some(replica) = self.replica() else { return Err(Said::NotLeading) };
        let begun = Instant::now();
        let proposed = replica.propose(change).await;
        match proposed {
            Ok(committed) => {
                self.metrics().committed(begun.elapsed());
                Ok(committed)
            }
            Err(NotProposed::NotLeader { .. }) => Err(Said::NotLeading),
            Err(NotProposed::Unknown | NotProposed::Stopped) => Err(Said::Unknown),
        }
    }

    /// The same at the leader. One that was elected just now may have yet to apply who opened it.
    async fn belongs_to(&self, session: SessionId, principal: &Text) -> bool {
        let is_known = |table: &Table| table.session(session).is_some();
        if let Some(replica) = self.replica()
            && !replica.look(is_known)
        {
            let _ = replica.established().await; // One that does not lead does nothing.
        }
        self.is_of(session, principal)
    }

    /// A session is bound to the principal that opened it. Where nobody has to say who asks, there
    /// is but one, without a name; to that one, sessions of those with a name are closed as well.
    pub fn is_of(&self, session: SessionId, principal: &Text) -> bool {
        let Some(replica) = self.replica() else { return true };
        replica.look(|table| {
            table.session(session).is_none_or(|session| session.principal == *principal)
        })
    }

    /// Withdraws a request of this principal that nobody can ask for again, whatever came of it.
    pub async fn leave(&self, ticket: Ticket, principal: Text) {
        let body = Body::cancel(ticket.request);
        let change = Change::Ask(Ask::new(ticket.session, unrecorded(), body));
        let asked = Asked::Change { principal, change };
        // It is tried for as long as it can be: what is left over ends with its session.
        for _ in 0..LEAVE_MAX {
            if self.ask(&asked, super::hop::Patience::repeatable()).await.is_ok() {
                return;
            }
        }
        tracing::warn!("a request whose client has gone could not be withdrawn");
    }
}

/// So often is it tried to withdraw a request, for some seconds each time.
const LEAVE_MAX: usize = 30;

/// The session that a client asks something for.
fn session_of(change: &Change) -> Option<SessionId> {
    match change {
        Change::Ask(ask) => Some(ask.session),
        Change::End { session } | Change::Attach { session, .. } => Some(*session),
        Change::Detach { session, .. } => Some(*session),
        Change::Tick
        | Change::Open(_)
        | Change::Renew(_)
        | Change::Expire { .. }
        | Change::Lapse { .. }
        | Change::Put { .. }
        | Change::Force(_)
        | Change::SetLimits(_)
        | Change::RaiseVersion(_) => None,
    }
}

fn changed(answer: Answer, waited_ms: u64, details: Option<Box<Details>>) -> Said {
    Said::Changed(Changed { answer, waited_ms, released: false, details })
}

/// A request that nobody can ask for again leaves when whoever asked has gone before the answer.
struct Leaving {
    engine: Option<Arc<ReplicatedEngine>>,
    ticket: Ticket,
    /// Who asked.
    principal: Text,
}

impl Leaving {
    fn new(engine: &ReplicatedEngine, ticket: Ticket, principal: &Text) -> Self {
        let engine = ticket.request.is_unrecorded().then(|| engine.itself()).flatten();
        Self { engine, ticket, principal: Text::clone(principal) }
    }

    /// It has its answer. If that says nothing, its node will withdraw it.
    fn answered(&mut self, said: Said) -> Said {
        self.engine = None;
        said
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            let ticket = self.ticket;
            let principal = Text::clone(&self.principal);
            tokio::spawn(async move { engine.leave(ticket, principal).await });
        }
    }
}
