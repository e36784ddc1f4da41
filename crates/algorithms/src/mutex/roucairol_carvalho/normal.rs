//! The normal form of Carvalho and Roucairol's algorithm.

use super::{Message, Phase, RoucairolCarvalho};
use crate::mutex::normal::{keep, messages, set_back};
use conclave_core::{NodeId, Snapshot};

/// Times are compared with times, and every clock only counts on from the largest it has seen: the
/// same is taken from all. The time of a request counts while it waits. (Who holds all permissions
/// leaves the others' clocks behind without bound, so there is no end to the states.)
///
/// The numbers of a node's requests are compared with each other alone, and the same is taken from
/// all of one node. Of those that were heard, the largest counts for whoever is to be answered;
/// otherwise it only tells which requests under way were overtaken. An `Ok` to any but the request
/// that waits does nothing. Nobody compares fences but to find the largest.
pub fn normal(all: &mut Snapshot<RoucairolCarvalho>) {
    keep(all, |nodes, _, to, message| match *message {
        Message::Ok { seq, .. } => {
            let receiver = &nodes[to.index()];
            receiver.phase == Phase::Waiting && receiver.seq == seq
        }
        Message::Request { .. } => true,
    });
    for (_, _, message) in messages(all) {
        match message {
            Message::Ok { fence, .. } => *fence = 0,
            Message::Request { .. } => {}
        }
    }
    for me in (0..all.nodes.len() as u32).map(NodeId) {
        let peers = (0..all.nodes.len() as u32).map(NodeId);
        let heard = peers.map(|peer| least_heard(all, me, peer)).collect();
        let node = &mut all.nodes[me.index()];
        node.heard = heard;
        node.fence = 0;
        if node.phase != Phase::Waiting {
            node.asked = 0;
        }
    }
    set_back(all, each_time);
    for owner in (0..all.nodes.len() as u32).map(NodeId) {
        set_back(all, |all, show| each_number(all, owner, show));
    }
}

fn least_heard(all: &Snapshot<RoucairolCarvalho>, me: NodeId, peer: NodeId) -> u32 {
    let node = &all.nodes[me.index()];
    let heard = node.heard[peer.index()];
    if node.deferred.contains(peer) {
        return heard;
    }
    let link = all.links.iter().filter(|link| (link.0, link.1) == (peer, me));
    let overtaken =
        link.flat_map(|(_, _, messages)| messages).filter_map(|message| match *message {
            Message::Request { seq, .. } if seq < heard => Some(seq),
            Message::Request { .. } | Message::Ok { .. } => None,
        });
    overtaken.max().map_or(0, |seq| seq + 1)
}

fn each_time(all: &mut Snapshot<RoucairolCarvalho>, show: &mut dyn FnMut(&mut u64)) {
    for node in &mut all.nodes {
        show(&mut node.clock.0);
        if node.phase == Phase::Waiting {
            show(&mut node.asked);
        }
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Request { time, .. } => show(time),
            Message::Ok { .. } => {}
        }
    }
}

fn each_number(
    all: &mut Snapshot<RoucairolCarvalho>,
    owner: NodeId,
    show: &mut dyn FnMut(&mut u32),
) {
    for (me, node) in (0..).map(NodeId).zip(&mut all.nodes) {
        let heard = &mut node.heard[owner.index()];
        if me == owner {
            show(&mut node.seq);
        } else if *heard > 0 {
            show(heard);
        }
    }
    for (from, to, message) in messages(all) {
        match message {
            Message::Request { seq, .. } if from == owner => show(seq),
            Message::Ok { seq, .. } if to == owner => show(seq),
            Message::Request { .. } | Message::Ok { .. } => {} // Of somebody else.
        }
    }
}
