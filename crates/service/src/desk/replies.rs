//! Reply channels: where the answers to waiting requests go, by request key.
//!
//! They are the edge of the desk. Its state (sessions, queues, elections) knows a request by its
//! key only, and learns from here who took note of a grant.

use super::sessions::Kind;
use super::{Refusal, Reply, answer};
use conclave_api as api;
use conclave_net::HostContext;
use std::collections::BTreeMap;
use std::sync::mpsc;

/// The number of a request at this node. It tells requests apart that have no id of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestKey(u64);

/// A grant that somebody took note of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// A lock or an election.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The request that was granted.
    pub request: RequestKey,
}

/// The reply channels of all requests that wait. A request has an entry exactly while it waits in a
/// queue.
pub struct Replies {
    latest: u64,
    waiting: BTreeMap<RequestKey, Vec<Reply<api::Grant>>>,
    deliveries: mpsc::Sender<Delivered>,
    delivered: mpsc::Receiver<Delivered>,
}

impl Replies {
    /// Nobody waits.
    pub fn new() -> Self {
        let (deliveries, delivered) = mpsc::channel();
        Self { latest: 0, waiting: BTreeMap::new(), deliveries, delivered }
    }

    /// A key that no other request has.
    pub fn new_key(&mut self) -> RequestKey {
        self.latest += 1;
        RequestKey(self.latest)
    }

    /// The answer to this request, or to a repeat of it, goes there. Channels at which nobody
    /// listens any more are dropped.
    pub fn add(&mut self, request: RequestKey, reply: Reply<api::Grant>) {
        let replies = self.waiting.entry(request).or_default();
        replies.retain(|reply| !reply.is_closed());
        replies.push(reply);
    }

    /// Whether nobody listens for the answer to this request any more.
    pub fn is_deserted(&self, request: RequestKey) -> bool {
        let replies = self.waiting.get(&request);
        replies.is_none_or(|replies| replies.iter().all(Reply::is_closed))
    }

    /// Tells a request and its repeats that they wait for nothing.
    pub fn refuse(&mut self, request: RequestKey, refusal: &Refusal, host: &mut dyn HostContext) {
        for reply in self.waiting.remove(&request).unwrap_or_default() {
            answer(reply, Err(refusal.clone()), host);
        }
    }

    /// Answers a request that waited, and its repeats, with a grant.
    pub fn grant(&mut self, what: &Delivered, grant: &api::Grant, host: &mut dyn HostContext) {
        for reply in self.waiting.remove(&what.request).unwrap_or_default() {
            self.deliver(reply, what.clone(), grant.clone(), host);
        }
    }

    /// Answers with a grant when all that led to it is on disk. Whoever still waits for it takes
    /// note of it; see [`Replies::delivered`].
    pub fn deliver(
        &self,
        reply: Reply<api::Grant>,
        what: Delivered,
        grant: api::Grant,
        host: &mut dyn HostContext,
    ) {
        let deliveries = self.deliveries.clone();
        host.afterwards(Box::new(move || {
            if reply.send(Ok(grant)).is_ok() {
                let _ = deliveries.send(what); // The desk is gone only when the node stops.
            }
        }));
    }

    /// The grants that somebody took note of since the last call.
    pub fn delivered(&self) -> Vec<Delivered> {
        self.delivered.try_iter().collect()
    }

    /// How many requests wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::refusal;
    use super::super::tests::Idle;
    use super::*;
    use tokio::sync::oneshot;

    fn grant() -> api::Grant {
        api::Grant {
            name: "x".to_string(),
            fence: 7,
            cluster_id: String::new(),
            generation: None,
            node: 1,
            slot: None,
            holds: 1,
            waited_ms: 0,
            term: None,
            released: false,
        }
    }

    fn commit(host: Idle) {
        host.deeds.into_iter().for_each(|deed| deed());
    }

    #[test]
    fn a_grant_is_delivered_only_to_who_still_waits_for_it() {
        for listens in [true, false] {
            let mut replies = Replies::new();
            let mut host = Idle::default();
            let request = replies.new_key();
            let (reply, answer) = oneshot::channel();
            let answer = listens.then_some(answer);
            replies.add(request, reply);
            let what = Delivered { kind: Kind::Lock, name: "x".to_string(), request };
            replies.grant(&what, &grant(), &mut host);
            assert_eq!(replies.delivered(), [], "it is not on disk yet");
            commit(host);
            assert_eq!(replies.delivered().len(), usize::from(listens));
            assert_eq!(answer.is_some_and(|mut answer| answer.try_recv().is_ok()), listens);
            assert_eq!(replies.len(), 0);
        }
    }

    #[test]
    fn a_request_and_its_repeat_get_the_same_refusal() {
        let mut replies = Replies::new();
        let mut host = Idle::default();
        let request = replies.new_key();
        let mut answers = [(); 2].map(|()| {
            let (reply, answer) = oneshot::channel();
            replies.add(request, reply);
            answer
        });
        replies.refuse(request, &refusal::no_session(), &mut host);
        commit(host);
        assert!(answers.iter_mut().all(|answer| answer.try_recv().expect("answered").is_err()));
        assert_eq!(replies.delivered(), []);
    }
}
