//! Hand-over: a node that is told to stop leaves nothing behind that others would have to wait for.
//!
//! Whoever waits here is sent elsewhere at once, and its place in line is given up: a lock that is
//! granted to a node that is gone is nobody's for a lease. If this node leads, its election has
//! another stand, and again if it is elected anew. Locks that stand on the election then ask
//! every node what it wants and holds, and would wait a lease for one that does not answer; so this
//! node stays until each of its machines has said something under the new leader, or it takes too
//! long. What sessions of this node hold is theirs until their time is over, as always.

use super::refusal::{self, Refusal};
use super::sessions::Kind;
use super::timing::{HANDOVER_LOOK, HANDOVER_MAX};
use super::{Desk, Reply, answer, election_key};
use crate::{Hears, LOCK};
use conclave_core::{NodeId, Ticks};
use conclave_net::{AnyRequest, HostContext, Key};
use std::collections::BTreeMap;

/// A hand-over under way.
pub struct Handover {
    reply: Option<Reply<()>>,
    /// The term in which this node led when it was told to stop, if it did.
    first: Option<u64>,
    /// The last term in which this node led and had another stand, if it did.
    resigned: Option<u64>,
    /// When it stops, come what may.
    until: Ticks,
    /// Of each lock's machine, how much it had said when the new leader was heard of.
    said: Option<BTreeMap<Key, u64>>,
    /// Nothing is left to be waited for but that the last words leave.
    over: bool,
}

impl Desk {
    /// This node is about to stop. The answer comes when it may.
    pub(super) fn hand_over(&mut self, reply: Reply<()>, host: &mut dyn HostContext) {
        let first = self.leadership.own_term();
        let resigned = None;
        let until = host.now() + HANDOVER_MAX;
        let reply = Some(reply);
        self.handover = Some(Handover { reply, first, resigned, until, said: None, over: false });
        let refusal = stopping();
        for (kind, name) in self.queues.occupied() {
            let Some(queue) = self.queues.get_mut(kind, &name) else { continue };
            for (_, waiter) in queue.take_waiters(|_| true) {
                self.replies.refuse(waiter.request, &refusal, host);
            }
            if kind == Kind::Lock {
                self.queues.locks.settle(&name);
            }
        }
        if let Some(term) = first {
            self.resign_in(term, host);
        }
    }

    /// Has another stand in place of this node: once a term, and while there is time. It may be
    /// elected in spite of that: what it said was lost, or came to a node that was stopping too.
    fn resign_in(&mut self, term: u64, host: &mut dyn HostContext) {
        let Some(handover) = &mut self.handover else { return };
        let in_time = handover.reply.is_some() && host.now() < handover.until;
        if in_time && handover.resigned != Some(term) {
            handover.resigned = Some(term);
            handover.said = None; // It is another leader now that is to be waited for.
            handover.over = false;
            host.ask(&election_key(), AnyRequest::Resign);
        }
    }

    /// Refuses who comes to a node that is about to stop.
    pub(super) fn check_stays(&self) -> Result<(), Refusal> {
        if self.handover.is_some() { Err(stopping()) } else { Ok(()) }
    }

    /// The election named a leader: from now on the machines of locks answer to it.
    pub(super) fn handed_over_to(&mut self, leader: NodeId, term: u64, host: &mut dyn HostContext) {
        if leader == self.config.me {
            self.resign_in(term, host);
        } else if let Some(handover) = &mut self.handover {
            handover.said.get_or_insert_with(|| said(host));
        }
    }

    /// When to look how far the hand-over is.
    pub(super) fn handover_look(&self, now: Ticks) -> Option<Ticks> {
        let under_way = self.handover.as_ref().is_some_and(|handover| handover.reply.is_some());
        under_way.then(|| now + HANDOVER_LOOK)
    }

    /// Looks how far the hand-over is. What was said last leaves before the next look.
    pub(super) fn look_at_handover(&mut self, host: &mut dyn HostContext) {
        let waits = self.waits_for_handover(host);
        let Some(handover) = &mut self.handover else { return };
        if handover.over
            && let Some(reply) = handover.reply.take()
        {
            answer(reply, Ok(()), host);
        }
        handover.over |= !waits;
    }

    fn waits_for_handover(&self, host: &dyn HostContext) -> bool {
        let Some(handover) = &self.handover else { return false };
        let own = self.leadership.own_term();
        let leads_on = own.is_some() && own == handover.first; // This election cannot hand over.
        let alone = self.connectivity.is_in_minority(host); // Nobody is there to take over.
        let led = handover.resigned.is_some();
        if !led || leads_on || alone || host.now() >= handover.until {
            return false;
        }
        let Some(before) = &handover.said else { return true }; // Nobody leads yet.
        let silent = |(key, count): (&Key, &u64)| before.get(key).is_some_and(|old| old == count);
        self.config.lock_hears == Hears::Election && said(host).iter().any(silent)
    }
}

/// How much the machine of each lock has said to other nodes.
fn said(host: &dyn HostContext) -> BTreeMap<Key, u64> {
    let locks = host.machines().into_iter().filter(|key| key.starts_with(LOCK));
    let count = |key: &Key| host.sent(key).iter().map(|(_, count)| count).sum();
    locks.map(|key| (key.clone(), count(&key))).collect()
}

fn stopping() -> Refusal {
    let mut refusal = refusal::unavailable("this node is about to stop: ask another");
    refusal.stopping = true;
    refusal
}
