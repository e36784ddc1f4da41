//! The normal form of the token ring that replaces lost tokens, whatever it stands on.

use super::regeneration::FENCES_APART;
use super::{Epoch, Message, Token, TokenRingRegenerating};
use crate::mutex::normal::{keep, messages};
use conclave_core::election::Election;
use conclave_core::{Layer, NodeId, Process, Snapshot, Stack};
use std::collections::{BTreeMap, BTreeSet};

type Ring<L> = Stack<TokenRingRegenerating, L>;

/// Hops are compared with hops of the same epoch, and fences with fences. What is counted on is
/// the greatest of its kind: the hop of the token that counts, and the entries that it has allowed.
/// So each number becomes its place among those that are about. (As fences go, those of one token
/// are of one kind; where the next one's begin follows from that alone.)
///
/// What the layers below count is left as it is.
pub fn normal<L: Process<Provides = Election>>(all: &mut Snapshot<Ring<L>>) {
    keep(all, |nodes, from, to, message| match message {
        Layer::Upper(message) => counts(&nodes[to.index()].upper, from, message),
        Layer::Lower(_) => true,
    });
    for node in &mut all.nodes {
        node.upper.last.entries = 0; // Only its epoch and hop are looked at.
    }
    rank_hops(all);
    rank_fences(all);
}

/// Nothing comes of an answer to what is settled, or of an epoch that is known.
fn counts(receiver: &TokenRingRegenerating, from: NodeId, message: &Message) -> bool {
    match *message {
        Message::TokenAck { epoch, hop } => receiver
            .passing
            .is_some_and(|(to, token)| (to, token.epoch, token.hop) == (from, epoch, hop)),
        Message::FreezeAck { epoch, .. } => {
            receiver.regeneration.is_some() && epoch == receiver.epoch
        }
        Message::Fenced { epoch } | Message::Stale { epoch } => epoch > receiver.epoch,
        // Whatever these say, they may be answered.
        Message::Token(_) | Message::Probe { .. } | Message::Freeze { .. } => true,
    }
}

fn rank_hops<L: Process<Provides = Election>>(all: &mut Snapshot<Ring<L>>) {
    let mut known = BTreeMap::<Epoch, BTreeSet<u64>>::new();
    each_hop(all, &mut |epoch, hop| {
        known.entry(epoch).or_default().insert(*hop);
    });
    each_hop(all, &mut |epoch, hop| {
        *hop = known[&epoch].range(..=*hop).count() as u64; // A new token begins with 1, too.
    });
}

fn rank_fences<L: Process<Provides = Election>>(all: &mut Snapshot<Ring<L>>) {
    let first = |fence: u64| fence - fence % u64::from(FENCES_APART);
    let mut known = BTreeSet::new();
    each_fence(all, &mut |fence| {
        known.insert(*fence);
    });
    each_fence(all, &mut |fence| {
        let first = first(*fence);
        *fence = first + known.range(first..*fence).count() as u64;
    });
}

/// Shows every hop, with the epoch in which it was made.
fn each_hop<L: Process<Provides = Election>>(
    all: &mut Snapshot<Ring<L>>,
    show: &mut dyn FnMut(Epoch, &mut u64),
) {
    for node in &mut all.nodes {
        each_token(&mut node.upper, &mut |token| show(token.epoch, &mut token.hop));
        show(node.upper.last.epoch, &mut node.upper.last.hop);
    }
    for message in said(all) {
        match message {
            Message::Token(token) => show(token.epoch, &mut token.hop),
            Message::TokenAck { epoch, hop } => show(*epoch, hop),
            Message::Fenced { .. } | Message::Probe { .. } | Message::Stale { .. } => {}
            Message::Freeze { .. } | Message::FreezeAck { .. } => {}
        }
    }
}

/// Shows every fence, and the entries of every token as the fence that they make.
fn each_fence<L: Process<Provides = Election>>(
    all: &mut Snapshot<Ring<L>>,
    show: &mut dyn FnMut(&mut u64),
) {
    let Some(setup) = all.nodes.first().map(|node| node.upper.setup) else { return };
    let mut entries = |token: &mut Token| {
        // No token allows more entries than its term has fences for.
        let Some(mut fence) = setup.fence(token.epoch, token.entries) else { return };
        show(&mut fence);
        token.entries = setup.counter_of(token.epoch, fence);
    };
    for node in &mut all.nodes {
        each_token(&mut node.upper, &mut entries);
    }
    for message in said(all) {
        if let Message::Token(token) = message {
            entries(token);
        }
    }
    for Stack { upper, .. } in &mut all.nodes {
        show(&mut upper.fence);
        if let Some((_, fence)) = upper.regeneration.as_mut().and_then(|it| it.inside.as_mut()) {
            show(fence);
        }
    }
    for message in said(all) {
        if let Message::FreezeAck { fence, .. } = message {
            show(fence);
        }
    }
}

/// The tokens at a node: the one that it has, and the one that it passes on.
fn each_token(node: &mut TokenRingRegenerating, show: &mut dyn FnMut(&mut Token)) {
    node.token.iter_mut().for_each(&mut *show);
    node.passing.iter_mut().for_each(|(_, token)| show(token));
}

/// What the nodes of the ring themselves have said, and is still under way.
fn said<L: Process<Provides = Election>>(
    all: &mut Snapshot<Ring<L>>,
) -> impl Iterator<Item = &mut Message> {
    messages(all).filter_map(|(_, _, message)| match message {
        Layer::Upper(message) => Some(message),
        Layer::Lower(_) => None,
    })
}
