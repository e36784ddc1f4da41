//! The normal form of voting through total-order broadcast.

use super::{Message, Phase, TotalOrder};
use crate::mutex::normal::{keep, messages, set_back};
use crate::mutex::places::Places;
use conclave_core::{NodeId, Snapshot};

/// Broadcasts are numbered without a gap and compared with the last one delivered: the same is
/// taken from all, and a broadcast that was delivered is forgotten. The number of a request is
/// also its fence, which nobody compares. What a client numbers is compared with its other numbers
/// alone; a broadcast release ends whatever its client has in line, whichever number it names. An
/// `Ok` or `Nok` to any but the request that waits does nothing. How often a request was refused
/// only makes the pause longer.
pub fn normal(all: &mut Snapshot<TotalOrder>) {
    keep(all, counts);
    for (_, _, message) in messages(all) {
        match message {
            Message::Forward { broadcast, .. } if broadcast.release => broadcast.seq = 0,
            Message::Ok { number, .. } => *number = 0,
            Message::Request { .. } | Message::Release { .. } => {}
            Message::Forward { .. } | Message::Nok { .. } => {}
        }
    }
    all.nodes.iter_mut().for_each(TotalOrder::forget);
    set_back(all, each_broadcast);
    for client in clients(all) {
        set_back(all, |all, show| each_number(all, client, show));
    }
}

/// All that need to ask.
fn clients(all: &Snapshot<TotalOrder>) -> impl Iterator<Item = NodeId> + use<> {
    let places = all.nodes.first().map(|node| node.setup.places).filter(|it| !it.alone());
    (0..places.map_or(0, Places::clients)).map(NodeId)
}

fn counts(nodes: &[TotalOrder], _: NodeId, to: NodeId, message: &Message) -> bool {
    let receiver = &nodes[to.index()];
    match *message {
        Message::Forward { number, .. } => {
            let coordinator = receiver.coordinator.as_deref();
            coordinator.is_some_and(|coordinator| number > coordinator.delivered)
        }
        Message::Ok { seq, .. } | Message::Nok { seq } => {
            receiver.phase == Phase::Waiting && receiver.seq == seq
        }
        Message::Request { .. } | Message::Release { .. } => true,
    }
}

impl TotalOrder {
    fn forget(&mut self) {
        if self.setup.places.alone() {
            self.seq = 0; // It is the fence, and nothing else: nobody is asked.
        }
        self.failures = 0;
        if self.phase != Phase::Waiting {
            self.oks.clear();
            self.noks.clear();
        }
        if let Some(coordinator) = self.coordinator.as_deref_mut() {
            coordinator.line.iter_mut().for_each(|(_, _, number)| *number = 0);
            let early = coordinator.early.values_mut();
            early.filter(|broadcast| broadcast.release).for_each(|release| release.seq = 0);
        }
        if let Some(sequencer) = self.sequencer.as_deref_mut() {
            for (asked, done) in sequencer.asked.iter_mut().zip(&sequencer.done) {
                *asked = (*asked).max(*done);
            }
        }
    }
}

fn each_broadcast(all: &mut Snapshot<TotalOrder>, show: &mut dyn FnMut(&mut u64)) {
    for node in &mut all.nodes {
        if let Some(sequencer) = node.sequencer.as_deref_mut() {
            show(&mut sequencer.last);
        }
        if let Some(coordinator) = node.coordinator.as_deref_mut() {
            show(&mut coordinator.delivered);
            let early = std::mem::take(&mut coordinator.early).into_iter();
            let shown = early.map(|(mut number, broadcast)| {
                show(&mut number);
                (number, broadcast)
            });
            coordinator.early = shown.collect();
        }
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Forward { number, .. } => show(number),
            Message::Request { .. } | Message::Release { .. } => {}
            Message::Ok { .. } | Message::Nok { .. } => {}
        }
    }
}

fn each_number(all: &mut Snapshot<TotalOrder>, owner: NodeId, show: &mut dyn FnMut(&mut u32)) {
    for (me, node) in (0..).map(NodeId).zip(&mut all.nodes) {
        if me == owner {
            show(&mut node.seq);
        }
        if let Some(coordinator) = node.coordinator.as_deref_mut() {
            let line = coordinator.line.iter_mut().filter(|(client, _, _)| *client == owner);
            line.for_each(|(_, seq, _)| show(seq));
            let early = coordinator.early.values_mut().filter(|it| it.client == owner);
            early.filter(|it| !it.release).for_each(|request| show(&mut request.seq));
        }
        if let Some(sequencer) = node.sequencer.as_deref_mut() {
            show(&mut sequencer.asked[owner.index()]);
            show(&mut sequencer.done[owner.index()]);
        }
    }
    for (from, to, message) in messages(all) {
        match message {
            Message::Request { seq } | Message::Release { seq } if from == owner => show(seq),
            Message::Ok { seq, .. } | Message::Nok { seq } if to == owner => show(seq),
            Message::Forward { broadcast, .. } if broadcast.client == owner => {
                if !broadcast.release {
                    show(&mut broadcast.seq);
                }
            }
            Message::Request { .. } | Message::Release { .. } => {} // Of somebody else.
            Message::Ok { .. } | Message::Nok { .. } | Message::Forward { .. } => {}
        }
    }
}
