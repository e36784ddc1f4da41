//! The normal form of Ricart and Agrawala's algorithm.

use super::{Message, Phase, RicartAgrawala};
use crate::mutex::normal::{messages, set_back};
use conclave_core::clock::Stamp;
use conclave_core::{NodeId, Snapshot};

/// Times are compared with times, and every clock only counts on from the largest it has seen: the
/// same is taken from all. The time of a request counts while it waits, no longer. A time under way
/// that is not ahead of the receiver's clock does not move it further than any other would; all it
/// can still tell is whether a request is later than the one of a receiver that waits now, since
/// whatever the receiver asks from now on is later still.
///
/// The numbers of a node's requests are compared with each other alone: the same is taken from all
/// of one node, whoever knows them.
pub fn normal(all: &mut Snapshot<RicartAgrawala>) {
    for node in all.nodes.iter_mut().filter(|node| node.phase != Phase::Waiting) {
        node.asked = 0;
    }
    for (from, to, messages) in &mut all.links {
        let receiver = &all.nodes[to.index()];
        messages.iter_mut().for_each(|message| message.forget_time(*from, receiver));
    }
    set_back(all, each_time);
    for owner in (0..all.nodes.len() as u32).map(NodeId) {
        set_back(all, |all, show| each_number(all, owner, show));
    }
}

impl Message {
    fn forget_time(&mut self, from: NodeId, receiver: &RicartAgrawala) {
        match self {
            Self::Request { time, .. } | Self::Ok { time, .. } if *time > receiver.clock.now() => {}
            Self::Ok { time, .. } => *time = 0,
            Self::Request { time, .. } => {
                let waits = receiver.phase == Phase::Waiting;
                let later = waits && receiver.is_before(Stamp::new(*time, from));
                *time = if later { receiver.asked + u64::from(from < receiver.me) } else { 0 };
            }
        }
    }
}

fn each_time(all: &mut Snapshot<RicartAgrawala>, show: &mut dyn FnMut(&mut u64)) {
    for node in &mut all.nodes {
        show(&mut node.clock.0);
        if node.phase == Phase::Waiting {
            show(&mut node.asked);
        }
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Request { time: 0, .. } | Message::Ok { time: 0, .. } => {} // Does not count.
            Message::Request { time, .. } | Message::Ok { time, .. } => show(time),
        }
    }
}

fn each_number(all: &mut Snapshot<RicartAgrawala>, owner: NodeId, show: &mut dyn FnMut(&mut u32)) {
    for (me, node) in (0..).map(NodeId).zip(&mut all.nodes) {
        show(if me == owner { &mut node.seq } else { &mut node.heard[owner.index()] });
    }
    for (from, to, message) in messages(all) {
        match message {
            Message::Request { seq, .. } if from == owner => show(seq),
            Message::Ok { seq, .. } if to == owner => show(seq),
            Message::Request { .. } | Message::Ok { .. } => {} // Of somebody else.
        }
    }
}
