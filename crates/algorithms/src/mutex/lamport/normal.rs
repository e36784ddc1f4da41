//! The normal form of Lamport's algorithm.

use super::{Lamport, Message, NO_REQUEST, Phase};
use crate::mutex::normal::{messages, set_back};
use conclave_core::{NodeId, Snapshot};

/// Times are compared with times, and every clock only counts on from the largest it has seen: the
/// same is taken from all. This alone would not do, for who never asks is never heard of again by
/// others who never ask. So what was seen of a node, and sent to it, becomes as small as it can be
/// without a difference to any comparison that is still to come (see `least_seen`, `least_sent`).
/// The time of a request counts while it waits, and in the queues of the others.
pub fn normal(all: &mut Snapshot<Lamport>) {
    for me in (0..all.nodes.len() as u32).map(NodeId) {
        let peers = 0..all.nodes.len() as u32;
        let seen = peers.clone().map(|peer| least_seen(all, me, NodeId(peer))).collect();
        let sent = peers.map(|peer| least_sent(all, me, NodeId(peer))).collect();
        let node = &mut all.nodes[me.index()];
        node.seen = seen;
        if node.reply_saving {
            node.sent = sent;
        }
        if node.phase != Phase::Waiting {
            node.asked = 0;
            node.queue[me.index()] = NO_REQUEST;
        }
    }
    set_back(all, each_time);
}

/// What was seen of a peer is looked at twice. A request of it that comes is new if it is later:
/// those to come are, so only what is under way matters. And who waits has heard of the peer since
/// it asked if it is later than that; of who asks next, nobody has.
fn least_seen(all: &Snapshot<Lamport>, me: NodeId, peer: NodeId) -> u64 {
    let node = &all.nodes[me.index()];
    let seen = node.seen[peer.index()];
    let known = requests(all, peer, me).filter(|&time| time <= seen).max().unwrap_or(0);
    let heard = node.phase == Phase::Waiting && peer != me && !node.is_before_us(peer, seen);
    known.max(if heard { just_after(node.asked, me, peer) } else { 0 })
}

/// What was sent to a peer is compared with its requests. Those to come are later than its clock;
/// unless something later than that is on the way to it, only what is under way matters.
fn least_sent(all: &Snapshot<Lamport>, me: NodeId, peer: NodeId) -> u64 {
    let node = &all.nodes[me.index()];
    if peer == me || !node.reply_saving {
        return 0;
    }
    let sent = node.sent[peer.index()];
    if sent > all.nodes[peer.index()].clock.now() {
        return sent;
    }
    let answered = requests(all, peer, me).filter(|&time| node.has_sent_later(peer, time));
    answered.map(|time| just_after(time, peer, me)).max().unwrap_or(0)
}

/// The first time of a peer that comes after this time of this node.
fn just_after(time: u64, node: NodeId, peer: NodeId) -> u64 {
    time + u64::from(peer < node)
}

/// The times of the requests under way from one node to another.
fn requests(all: &Snapshot<Lamport>, from: NodeId, to: NodeId) -> impl Iterator<Item = u64> {
    let link = all.links.iter().filter(move |link| (link.0, link.1) == (from, to));
    link.flat_map(|(_, _, messages)| messages).filter_map(|message| match *message {
        Message::Request { time } => Some(time),
        Message::Reply { .. } | Message::Release { .. } => None,
    })
}

fn each_time(all: &mut Snapshot<Lamport>, show: &mut dyn FnMut(&mut u64)) {
    for node in &mut all.nodes {
        show(&mut node.clock.0);
        if node.phase == Phase::Waiting {
            show(&mut node.asked);
        }
        let queue = node.queue.iter_mut().filter(|time| **time != NO_REQUEST);
        let known = node.seen.iter_mut().chain(&mut node.sent).filter(|time| **time > 0);
        queue.chain(known).for_each(&mut *show);
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Request { time } | Message::Reply { time } | Message::Release { time } => {
                show(time);
            }
        }
    }
}
