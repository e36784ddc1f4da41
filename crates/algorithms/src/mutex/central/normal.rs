//! The normal form of the centralised algorithm.

use super::{Central, Message, Order, Phase};
use crate::mutex::normal::{keep, messages, set_back};
use crate::mutex::places::Places;
use conclave_core::{NodeId, Snapshot};

/// Nothing comes of a notice, of what is said about a request that is over, or of a refusal of any
/// but the latest; only, where service goes by timestamps, every request also moves the clock.
///
/// The numbers of a client's requests are compared with each other alone, and times with times: the
/// same is taken from all. (Where times decide, a client that never asks falls behind without
/// bound, and there is no end to the states.) The fence is a count of grants that nobody compares.
pub fn normal(all: &mut Snapshot<Central>) {
    keep(all, counts);
    for (_, _, message) in messages(all) {
        if let Message::Grant { fence, .. } = message {
            *fence = 0;
        }
    }
    for node in &mut all.nodes {
        if node.setup.places.alone() {
            node.seq = 0; // It is the fence, and nothing else: nobody is asked.
            continue;
        }
        if let Some(coordinator) = node.coordinator.as_deref_mut() {
            coordinator.granted = 0;
            coordinator.desk.forget();
        }
    }
    for client in clients(all) {
        set_back(all, |all, show| each_number(all, client, show));
    }
    if all.nodes.iter().any(|node| node.setup.order == Order::Timestamp) {
        set_back(all, each_time);
    }
}

/// All that need to ask.
fn clients(all: &Snapshot<Central>) -> impl Iterator<Item = NodeId> + use<> {
    let places = all.nodes.first().map(|node| node.setup.places).filter(|it| !it.alone());
    (0..places.map_or(0, Places::clients)).map(NodeId)
}

fn counts(nodes: &[Central], from: NodeId, to: NodeId, message: &Message) -> bool {
    let receiver = &nodes[to.index()];
    let over = |seq| {
        let desk = receiver.coordinator.as_deref().map(|coordinator| &coordinator.desk);
        desk.is_none_or(|desk| desk.is_over(from, seq))
    };
    match *message {
        Message::Request { seq, .. } => receiver.setup.order == Order::Timestamp || !over(seq),
        Message::Release { seq } => !over(seq),
        Message::Nok { seq } => seq == receiver.seq && receiver.phase != Phase::Idle,
        Message::Grant { .. } => true, // One that nobody waits for is given back.
        Message::Queued { .. } | Message::ReleaseAck { .. } => false,
    }
}

fn each_number(all: &mut Snapshot<Central>, owner: NodeId, show: &mut dyn FnMut(&mut u32)) {
    for (me, node) in (0..).map(NodeId).zip(&mut all.nodes) {
        if me == owner {
            show(&mut node.seq);
        }
        if let Some(coordinator) = node.coordinator.as_deref_mut() {
            coordinator.desk.each_number(owner, show);
        }
    }
    for (from, to, message) in messages(all) {
        match message {
            Message::Request { seq, .. } | Message::Release { seq } if from == owner => show(seq),
            Message::Grant { seq, .. } | Message::Nok { seq } if to == owner => show(seq),
            Message::Request { .. } | Message::Release { .. } => {} // Of somebody else.
            Message::Grant { .. } | Message::Nok { .. } => {}
            Message::Queued { .. } | Message::ReleaseAck { .. } => {} // Forgotten before.
        }
    }
}

fn each_time(all: &mut Snapshot<Central>, show: &mut dyn FnMut(&mut u64)) {
    for node in &mut all.nodes {
        show(&mut node.clock.0);
        if let Some(coordinator) = node.coordinator.as_deref_mut() {
            coordinator.desk.each_time(show);
        }
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Request { time, .. } | Message::Grant { time, .. } => show(time),
            Message::Queued { .. } | Message::Nok { .. } => {}
            Message::Release { .. } | Message::ReleaseAck { .. } => {}
        }
    }
}
