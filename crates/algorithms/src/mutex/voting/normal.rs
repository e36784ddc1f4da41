//! The normal form of voting.

use super::{Message, Phase, Voting};
use crate::mutex::normal::{keep, messages, set_back};
use conclave_core::{NodeId, Snapshot};

/// Only the latest try of a client can be decided, so a refusal of any other says nothing more.
/// Of the tries that are over, a coordinator remembers the last only to recognise a `Req` that
/// comes too late: such a `Req` is forgotten at once, and with it what would recognise it. A `Rel`
/// does nothing if neither the vote nor any `Req` before it is of its try or an earlier one.
///
/// The tries of one client are compared with each other alone: the same is taken from all. That
/// there was none yet shows after a crash only: no `Rel` is sent then, none of which does anything.
pub fn normal(all: &mut Snapshot<Voting>) {
    forget_the_decided(all);
    for (_, _, message) in messages(all) {
        match message {
            Message::Ok { fence, .. } | Message::Rel { fence, .. } => *fence = 0,
            Message::Req { .. } | Message::Nok { .. } => {}
        }
    }
    for node in &mut all.nodes {
        node.forget();
    }
    for client in (0..all.nodes.len() as u32).map(NodeId) {
        set_back(all, |all, show| each_try(all, client, show));
    }
}

fn forget_the_decided(all: &mut Snapshot<Voting>) {
    keep(all, |nodes, from, to, message| match *message {
        Message::Req { attempt } => nodes[to.index()].may_vote(from, attempt),
        Message::Nok { attempt } => {
            let client = &nodes[to.index()];
            client.phase == Phase::Trying && client.attempt == attempt
        }
        Message::Ok { .. } | Message::Rel { .. } => true,
    });
    for (from, to, messages) in &mut all.links {
        let client = *from;
        let coordinator = &all.nodes[to.index()];
        let first_asked = messages.iter().filter_map(Message::asks).min();
        messages.retain(|message| match *message {
            Message::Rel { attempt, .. } => {
                let asked = first_asked.is_some_and(|asked| asked <= attempt);
                asked || coordinator.has_voted(client, attempt)
            }
            Message::Req { .. } | Message::Ok { .. } | Message::Nok { .. } => true,
        });
    }
}

fn each_try(all: &mut Snapshot<Voting>, owner: NodeId, show: &mut dyn FnMut(&mut u32)) {
    for (me, node) in (0..).map(NodeId).zip(&mut all.nodes) {
        if me == owner {
            show(&mut node.attempt);
        }
        let coordinator = node.coordinator.as_deref_mut();
        if let Some((client, attempt)) = coordinator.and_then(|it| it.vote.as_mut())
            && *client == owner
        {
            show(attempt);
        }
    }
    for (from, to, message) in messages(all) {
        match message {
            Message::Req { attempt } | Message::Rel { attempt, .. } if from == owner => {
                show(attempt);
            }
            Message::Ok { attempt, .. } | Message::Nok { attempt } if to == owner => show(attempt),
            Message::Req { .. } | Message::Rel { .. } => {} // Of somebody else.
            Message::Ok { .. } | Message::Nok { .. } => {}
        }
    }
}

impl Message {
    fn asks(&self) -> Option<u32> {
        match *self {
            Self::Req { attempt } => Some(attempt),
            Self::Ok { .. } | Self::Nok { .. } | Self::Rel { .. } => None,
        }
    }
}

impl Voting {
    fn may_vote(&self, client: NodeId, attempt: u32) -> bool {
        let over = |it: &super::Coordinator| attempt <= it.done[client.index()];
        self.coordinator.as_deref().is_some_and(|it| !over(it))
    }

    /// Whether this client has the vote for that try or an earlier one.
    fn has_voted(&self, client: NodeId, attempt: u32) -> bool {
        let vote = self.coordinator.as_deref().and_then(|it| it.vote);
        vote.is_some_and(|(voter, voted)| voter == client && voted <= attempt)
    }

    /// The answers count while there is a try, the votes until they are given back.
    fn forget(&mut self) {
        self.failures = 0;
        self.fence = 0;
        match self.phase {
            Phase::Idle | Phase::Backoff => {
                self.ok.clear();
                self.nok.clear();
            }
            Phase::Inside => self.nok.clear(),
            Phase::Trying => {}
        }
        if let Some(coordinator) = self.coordinator.as_deref_mut() {
            coordinator.fence = 0;
            coordinator.done.fill(0);
        }
    }
}
