//! Elections by name: candidates campaign, the leader proclaims and resigns, and leaderships are
//! lost with that of the node.

use super::acquire::check;
use super::audited::Held;
use super::refusal::{self, Refusal};
use super::sessions::Kind;
use super::timing::{CANDIDATE_TTL, milliseconds};
use super::{Answer, Desk, Reply, answer, election_key, persistence};
use conclave_api::limits::{self, ELECTIONS_MAX};
use conclave_api::{self as api, Code};
use conclave_core::FenceLayout;
use conclave_net::{AnyRequest, HostContext};

impl Desk {
    pub(super) fn campaign(
        &mut self,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        host: &mut dyn HostContext,
    ) {
        if let Err(refusal) = self.may_campaign(name, &request) {
            return answer(reply, Err(refusal), host);
        }
        self.queues.elections.add(name);
        self.skip_gone(Kind::Election, name, host);
        self.join(Kind::Election, name, request, reply, host);
        self.settle_election(name, host);
    }

    fn may_campaign(&self, name: &str, request: &api::Acquire) -> Result<(), Refusal> {
        limits::name(name)?;
        check(request)?;
        self.check_stays()?;
        let ttl = self.session(&request.session)?.record().ttl;
        limits::candidate_ttl_ms(milliseconds(ttl))?;
        if self.leadership.own_term().is_none() {
            return Err(self.not_leading());
        }
        let elections = &self.queues.elections;
        if !elections.contains(name) && elections.len() >= ELECTIONS_MAX {
            let words = format!("{ELECTIONS_MAX} elections are held at this node already");
            return Err(refusal::too_many(words));
        }
        Ok(())
    }

    pub(super) fn proclaim(
        &mut self,
        name: &str,
        request: &api::Proclaim,
        host: &mut dyn HostContext,
    ) -> Answer<api::Election> {
        limits::name(name)?;
        limits::proclaimed(&request.value)?;
        limits::fence(request.fence)?;
        self.session(&request.session)?;
        let queue = self.queues.elections.queue_mut(name);
        let queue = queue.filter(|queue| {
            queue.held_by(&request.session).is_some_and(|holder| holder.fence == request.fence)
        });
        queue.ok_or_else(|| refusal::not_holder(name))?.proclaim(request.value.clone());
        let label = self.sessions.label(&request.session);
        let words = format!("'{label}' is known by something new");
        self.journal.note(host, "leader", Some(name), words);
        self.election_view(name)
    }

    pub(super) fn resign(
        &mut self,
        name: &str,
        request: &api::Release,
        host: &mut dyn HostContext,
    ) -> Answer<api::Released> {
        let released = self.give_back(Kind::Election, name, request, host)?;
        self.settle_election(name, host);
        Ok(released)
    }

    /// Lets the first candidate lead if nobody does; forgets an election that nobody cares for.
    /// Without fences left nobody leads before this node, or another, is elected in a new term.
    pub(super) fn settle_election(&mut self, name: &str, host: &mut dyn HostContext) {
        self.queues.elections.forget_if_empty(name);
        if self.queues.elections.is_vacant(name, self.timer.now())
            && self.connectivity.paused_since(host.now()).is_none()
            && let Some(term) = self.leadership.own_term()
        {
            match self.queues.elections.next_fence(term) {
                Some(fence) => {
                    persistence::save_counter(self.queues.elections.counter(), host);
                    self.grant(Kind::Election, name, fence, Some(term), host);
                }
                None => {
                    self.refuse_candidates(name, &used_up(), host);
                    if FenceLayout::default().has_term(term + 1) {
                        host.ask(&election_key(), AnyRequest::Campaign);
                    }
                }
            }
        }
    }

    /// This node leads from now on. Candidates that led at another one must have noticed first:
    /// that node that it is cut off, then they that they are not heard any more.
    pub(super) fn lead_soon(&mut self) {
        let moment = self.timer.now() + self.config.notice + CANDIDATE_TTL;
        self.queues.elections.wait_until(moment);
        self.timer.due(moment);
    }

    /// This node leads no longer: all leaderships at it are lost.
    pub(super) fn lose_leaderships(&mut self, host: &mut dyn HostContext) {
        let refusal = self.not_leading();
        for name in self.queues.elections.names() {
            self.refuse_candidates(&name, &refusal, host);
            let queue = self.queues.elections.remove(&name);
            if let Some(holder) = queue.as_ref().and_then(|queue| queue.holder()) {
                let label = self.sessions.label(&holder.session);
                let words = format!("'{label}' leads no longer");
                self.journal.note(host, "leader", Some(&name), words);
                let (kind, session, fence) = (Kind::Election, &*holder.session, holder.fence);
                let held = Held { kind, name: &name, session, fence };
                self.note_hold("lost", &held, "this node leads no longer", host);
            }
        }
    }

    fn refuse_candidates(&mut self, name: &str, refusal: &Refusal, host: &mut dyn HostContext) {
        let Some(queue) = self.queues.elections.queue_mut(name) else { return };
        for (_, waiter) in queue.take_waiters(|_| true) {
            self.replies.refuse(waiter.request, refusal, host);
        }
        self.queues.elections.forget_if_empty(name);
    }

    /// Where to go instead, if that is known.
    fn not_leading(&self) -> Refusal {
        let Some((leader, _)) = self.leadership.leader() else {
            return refusal::unavailable("no node leads the cluster at the moment");
        };
        let words = format!("node {} leads: candidates stand there", leader.0 + 1);
        let mut refusal = refusal::refuse(Code::NotLeader, words);
        refusal.leading_api = self.api_of(leader);
        refusal
    }
}

fn used_up() -> Refusal {
    refusal::unavailable("the fences of this term are used up")
}
