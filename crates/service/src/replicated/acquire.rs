//! Acquire: to be let in, to one lock, to several at once, or to lead.

use super::answers::strange;
use super::caller::Caller;
use super::hop::{Changed, Patience};
use super::words::{self, Numbers};
use crate::desk::{Answer as Answered, Kind, Refusal, Reply, refusal};
use conclave_api as api;
use conclave_table::{Acquire, Answer, Body, Grant, Mode, SessionId, Ticket, Want};

impl Caller {
    /// One lock, or one leadership.
    pub async fn acquire_one(
        &self,
        kind: Kind,
        name: &str,
        request: &api::Acquire,
        reply: Reply<api::Grant>,
    ) {
        let wanted = match kind {
            Kind::Lock => words::lock(name).and_then(|lock| words::acquire(lock, request)),
            Kind::Election => words::election(name).and_then(|name| words::campaign(name, request)),
        };
        let numbers = Numbers::of(request.request_id.as_deref(), request.lowest_open.as_deref());
        let one = |grants: api::Grants| grants.grants.into_iter().next().ok_or_else(strange);
        let wish = self.wish(&request.session, wanted, numbers);
        self.enter(wish, reply, one).await;
    }

    /// Several locks at once.
    pub async fn acquire_all(&self, request: &api::AcquireAll, reply: Reply<api::Grants>) {
        let numbers = Numbers::of(request.request_id.as_deref(), request.lowest_open.as_deref());
        let wish = self.wish(&request.session, words::acquire_all(request), numbers);
        self.enter(wish, reply, Ok).await;
    }

    fn wish(
        &self,
        session: &str,
        acquire: Answered<Acquire>,
        numbers: Answered<Numbers>,
    ) -> Answered<Wish> {
        let acquire = acquire?;
        let numbers = numbers?;
        if *self.stopping().borrow() && acquire.wait_ms > 0 {
            return Err(stopping());
        }
        Ok(Wish { session: words::session(session)?, numbers, acquire })
    }

    /// Asks to be let in, and answers when that is decided. A request without a number leaves with
    /// its connection; one with a number does not: it can be asked for again.
    async fn enter<T>(
        &self,
        wish: Answered<Wish>,
        mut reply: Reply<T>,
        shape: impl FnOnce(api::Grants) -> Answered<T>,
    ) {
        let wish = match wish {
            Ok(wish) => wish,
            Err(refusal) => return self.answer(reply, Err(refusal)),
        };
        let mut stop = self.stopping().subscribe();
        let waits = wish.acquire.wait_ms > 0;
        let recorded = wish.numbers.are_recorded();
        let told_to_stop = async { drop(stop.wait_for(|stop| *stop).await) };
        let entered = tokio::select! {
            biased;
            entered = self.try_to_enter(&wish) => Some(entered),
            () = reply.closed() => None,
            () = told_to_stop, if waits => Some(Err(stopping())),
        };
        let Some(entered) = entered else {
            if !recorded {
                self.withdraw_unrecorded(&wish).await;
            }
            return; // The table keeps the place of one that can be asked for again.
        };
        let undecided = entered.as_ref().is_err_and(|refusal| refusal.status() == 503);
        let granted = entered.is_ok();
        let taken = self.is_taken(reply, entered.and_then(shape));
        if !recorded && (undecided || granted && !taken) {
            self.withdraw_unrecorded(&wish).await;
        }
    }

    async fn try_to_enter(&self, wish: &Wish) -> Answered<api::Grants> {
        let patience = Patience::waiting(wish.acquire.wait_ms, wish.numbers.are_recorded());
        let change = wish.numbers.ask(wish.session, Body::Acquire(wish.acquire.clone()));
        let changed = self.changed(change, patience).await?;
        let Answer::Granted(grants) = &changed.answer else {
            let wants = wish.acquire.wants.iter();
            let names: Vec<&str> = wants.map(|want| &*want.resource.name).collect();
            return Err(changed.refusal(&names.join("', '")));
        };
        Ok(self.grants_view(wish, grants, &changed))
    }

    async fn withdraw_unrecorded(&self, wish: &Wish) {
        let ticket = Ticket { session: wish.session, request: wish.numbers.request };
        self.leave(ticket, self.name()).await;
    }

    fn grants_view(&self, wish: &Wish, grants: &[Grant], changed: &Changed) -> api::Grants {
        let cluster_id = self.cluster_id();
        let view = |(grant, want): (&Grant, &Want)| api::Grant {
            name: grant.resource.name.to_string(),
            fence: grant.inside.fence.0,
            cluster_id: cluster_id.clone(),
            generation: self.generation(),
            node: self.number(),
            slot: slot(want.mode, grant.inside.slot),
            holds: grant.inside.holds,
            waited_ms: changed.waited_ms,
            term: (grant.resource.kind == conclave_table::Kind::Election).then(|| self.term()),
            released: changed.released,
        };
        api::Grants { grants: grants.iter().zip(&wish.acquire.wants).map(view).collect() }
    }
}

/// A request to be let in.
struct Wish {
    session: SessionId,
    numbers: Numbers,
    acquire: Acquire,
}

fn stopping() -> Refusal {
    let mut refusal = refusal::unavailable("this node is about to stop: ask another one");
    refusal.stopping = true;
    refusal
}

/// A grant of a lock with permits says which of them it is.
fn slot(mode: Mode, slot: u32) -> Option<u32> {
    matches!(mode, Mode::Permits(_)).then_some(slot)
}
