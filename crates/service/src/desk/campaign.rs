//! Elections by name: who stands first at the node that leads the cluster leads.

use super::expiry::turn_away;
use super::refusal::{self, Refusal};
use super::sessions::Kind;
use super::timing::{CANDIDATE_TTL, milliseconds};
use super::{Answer, Desk, Reply, acquire, answer};
use conclave_api::limits::{self, ELECTIONS_MAX};
use conclave_api::{self as api, Code};
use conclave_net::Hands;

impl Desk {
    pub(super) fn campaign(
        &mut self,
        name: &str,
        request: api::Acquire,
        reply: Reply<api::Grant>,
        hands: &mut dyn Hands,
    ) {
        if let Err(refusal) = self.may_campaign(name, &request) {
            return answer(reply, Err(refusal), hands);
        }
        self.elections.entry(name.to_string()).or_default();
        self.join(Kind::Election, name, request, reply, hands);
        self.settle_election(name, hands);
    }

    fn may_campaign(&self, name: &str, request: &api::Acquire) -> Result<(), Refusal> {
        limits::name(name)?;
        acquire::check(request)?;
        let ttl = self.session(&request.session)?.record.ttl;
        limits::candidate_ttl_ms(milliseconds(ttl))?;
        if self.leads().is_none() {
            return Err(self.not_leading());
        }
        if !self.elections.contains_key(name) && self.elections.len() >= ELECTIONS_MAX {
            let words = format!("{ELECTIONS_MAX} elections are held at this node already");
            return Err(refusal::too_many(words));
        }
        Ok(())
    }

    pub(super) fn proclaim(
        &mut self,
        name: &str,
        request: &api::Proclaim,
        hands: &mut dyn Hands,
    ) -> Answer<api::Election> {
        limits::name(name)?;
        limits::proclaimed(&request.value)?;
        self.session(&request.session)?;
        let holder = self.elections.get_mut(name).and_then(|line| line.holder.as_mut());
        let same = |holder: &&mut super::queue::Holder| {
            holder.session == request.session && holder.fence == request.fence
        };
        let holder = holder.filter(same).ok_or_else(|| refusal::not_holder(name))?;
        holder.value = request.value.clone();
        let words = format!("'{}' is known by something new", self.label(&request.session));
        self.journal.note(hands, "leader", Some(name), words);
        self.election_view(name)
    }

    pub(super) fn resign(
        &mut self,
        name: &str,
        request: &api::Release,
        hands: &mut dyn Hands,
    ) -> Answer<api::Released> {
        let released = self.give_back(Kind::Election, name, request, hands)?;
        self.settle_election(name, hands);
        Ok(released)
    }

    /// Lets the first candidate lead if nobody does; forgets an election that nobody cares for.
    pub(super) fn settle_election(&mut self, name: &str, hands: &mut dyn Hands) {
        let Some(line) = self.elections.get(name) else { return };
        if line.is_empty() {
            self.elections.remove(name);
        } else if line.holder.is_none()
            && self.clock.now() >= self.lead_from
            && self.stopped_since(hands.now()).is_none()
            && let Some(term) = self.leads()
        {
            match self.counter.next(term) {
                Some(fence) => {
                    self.save_counter(hands);
                    self.grant(Kind::Election, name, fence, Some(term), hands);
                }
                None => self.refuse_candidates(name, &used_up(), hands),
            }
        }
    }

    /// This node leads from now on. Candidates that led at another one must have noticed first:
    /// that node that it is cut off, then they that they are not heard any more.
    pub(super) fn lead_soon(&mut self) {
        self.lead_from = self.clock.now() + self.config.notice + CANDIDATE_TTL;
        self.due(self.lead_from);
    }

    /// This node leads no longer: all leaderships at it are lost.
    pub(super) fn lose_leaderships(&mut self, hands: &mut dyn Hands) {
        let refusal = self.not_leading();
        let names: Vec<String> = self.elections.keys().cloned().collect();
        for name in names {
            self.refuse_candidates(&name, &refusal, hands);
            let line = self.elections.remove(&name);
            if let Some(holder) = line.and_then(|line| line.holder) {
                let words = format!("'{}' leads no longer", self.label(&holder.session));
                self.journal.note(hands, "leader", Some(&name), words);
            }
        }
    }

    fn refuse_candidates(&mut self, name: &str, refusal: &Refusal, hands: &mut dyn Hands) {
        let Some(line) = self.elections.get_mut(name) else { return };
        for (_, waiter) in line.take_waiters(|_| true) {
            turn_away(waiter, refusal, hands);
        }
        if line.is_empty() {
            self.elections.remove(name);
        }
    }

    /// Where to go instead, if that is known.
    fn not_leading(&self) -> Refusal {
        let Some((leader, _)) = self.leader else {
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
