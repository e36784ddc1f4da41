//! Registration of requests, for bounded waiting (`BW`): follows the messages of each request.

use crate::wheel::SlotId;
use conclave_core::NodeId;

/// Follows the messages that each request sends until all have arrived: then it is registered, and
/// `BW` begins to count. What is passed on afterwards is the algorithm's own business.
///
/// A request that loses one of its messages is never registered: it has not reached all it was sent
/// to. Those of a request that was withdrawn, or that a crash has ended, say nothing of the next,
/// unless that sends none: who asks again may rely on what is still under way.
#[derive(Default)]
pub(crate) struct Registration {
    /// By slot: which of its sender's requests has sent the message there, if one has.
    sent: Vec<Option<Request>>,
    /// By node: its last request that has sent anything.
    last: Vec<Followed>,
    /// Whether the request that is being made has not sent anything so far.
    silent: bool,
}

/// Which of a node's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request(u32);

#[derive(Clone, Copy, Default)]
struct Followed {
    request: Request,
    /// How many of its messages are under way or lost.
    under_way: u32,
}

impl Registration {
    /// A node makes a request; what it sends follows.
    #[inline]
    pub fn begins(&mut self, node: NodeId) {
        if self.last.len() <= node.index() {
            self.last.resize(node.index() + 1, Followed::default());
        }
        self.silent = true;
    }

    /// The request sends a message, which waits in this slot; in none if it is lost.
    #[inline]
    pub fn sends(&mut self, from: NodeId, slot: Option<SlotId>) {
        let last = &mut self.last[from.index()];
        if std::mem::take(&mut self.silent) {
            *last = Followed { request: Request(last.request.0 + 1), under_way: 0 };
        }
        last.under_way += 1;
        let Some(slot) = slot else { return };
        let slot = slot as usize;
        if self.sent.len() <= slot {
            self.sent.resize(slot + 1, None);
        }
        self.sent[slot] = Some(last.request);
    }

    /// Whether all that the node's request has sent, or relies on, has arrived.
    #[inline]
    pub fn is_complete(&self, node: NodeId) -> bool {
        self.last[node.index()].under_way == 0
    }

    /// A slot is emptied: whether what was in it was sent by a request, and by which.
    #[inline]
    pub fn taken(&mut self, slot: SlotId) -> Option<Request> {
        self.sent.get_mut(slot as usize)?.take()
    }

    /// A message of a request arrives; true if it is the last of one that still matters.
    #[inline]
    pub fn arrives(&mut self, from: NodeId, request: Request) -> bool {
        let last = &mut self.last[from.index()];
        if last.request != request {
            return false;
        }
        last.under_way -= 1;
        last.under_way == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Act, Action, MessageRule, Options, Plan, ScriptLine, Workload};
    use crate::runnable::Runnable;
    use crate::toys::desk;
    use conclave_core::Ticks;

    const NODE: NodeId = NodeId(1);

    /// How many are seen to enter before the node's second request, of which one does so since it
    /// came first to the desk. This happens to the first request, which is withdrawn.
    fn bypassed(action: Action) -> u64 {
        let line = |at, node, act| ScriptLine { at: Ticks(at), node, act };
        let script = vec![
            line(0, NODE, Act::Acquire),
            line(5_000, NODE, Act::Cancel),
            line(9_000, NodeId(0), Act::Acquire),
            line(9_500, NodeId(2), Act::Acquire),
            line(10_000, NODE, Act::Acquire),
        ];
        let rule = MessageRule {
            from: Some(NODE),
            to: None,
            kind: Some("ASK".into()),
            nth: Some(1),
            action,
        };
        let plan = Plan {
            workload: Workload::Script(script),
            rules: vec![rule],
            fifo: false,
            ..Plan::default()
        };
        let outcome = desk(3).run(&plan, &Options::default()).expect("the plan is sound");
        outcome.mutex().bypass_max
    }

    #[test]
    fn what_a_withdrawn_request_sent_says_nothing_of_the_next() {
        assert_eq!(bypassed(Action::Delay(Ticks::UNIT)), 1, "nothing special");
        assert_eq!(bypassed(Action::Drop), 1, "lost");
        assert_eq!(bypassed(Action::Delay(Ticks::units(100))), 1, "late");
    }

    #[test]
    fn who_asks_again_without_a_word_relies_on_what_is_still_under_way() {
        let mut registration = Registration::default();
        registration.begins(NODE);
        registration.sends(NODE, Some(7));
        registration.begins(NODE);
        assert!(!registration.is_complete(NODE), "it has asked before, and withdrawn");
        let request = registration.taken(7).expect("it waits there");
        assert!(registration.arrives(NODE, request));
        assert!(registration.is_complete(NODE));
    }
}
