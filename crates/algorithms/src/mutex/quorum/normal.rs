//! The normal form of the quorum algorithm.

use super::{Message, Phase, Quorum};
use crate::mutex::normal::{keep, messages, set_back};
use conclave_core::{NodeId, Snapshot};

/// A coordinator does nothing about a request that is over, or its release. The numbers of one
/// client's requests are compared with each other alone: the same is taken from all. Grants count
/// while somebody waits for more of them.
pub fn normal(all: &mut Snapshot<Quorum>) {
    keep(all, |nodes, from, to, message| match *message {
        Message::Request { seq, .. } | Message::Release { seq, .. } => {
            let coordinator = nodes[to.index()].coordinator.as_deref();
            coordinator.is_some_and(|coordinator| !coordinator.desk.is_over(from, seq))
        }
        Message::Grant { .. } => true, // One that nobody waits for is given back.
    });
    for (_, _, message) in messages(all) {
        match message {
            Message::Request { fence, .. }
            | Message::Grant { fence, .. }
            | Message::Release { fence, .. } => *fence = 0,
        }
    }
    for node in &mut all.nodes {
        node.fence = 0;
        if node.phase != Phase::Waiting {
            node.grants.clear();
        }
        if let Some(coordinator) = node.coordinator.as_deref_mut() {
            coordinator.fence = 0;
            coordinator.desk.forget();
        }
    }
    for client in (0..all.nodes.len() as u32).map(NodeId) {
        set_back(all, |all, show| each_number(all, client, show));
    }
}

fn each_number(all: &mut Snapshot<Quorum>, owner: NodeId, show: &mut dyn FnMut(&mut u32)) {
    for (me, node) in (0..).map(NodeId).zip(&mut all.nodes) {
        if me == owner {
            show(&mut node.seq);
        }
        if let Some(coordinator) = node.coordinator.as_deref_mut()
            && node.setup.places.is_client(owner)
        {
            coordinator.desk.each_number(owner, show);
        }
    }
    for (from, to, message) in messages(all) {
        match message {
            Message::Request { seq, .. } | Message::Release { seq, .. } if from == owner => {
                show(seq);
            }
            Message::Grant { seq, .. } if to == owner => show(seq),
            Message::Request { .. } | Message::Release { .. } => {} // Of somebody else.
            Message::Grant { .. } => {}
        }
    }
}
