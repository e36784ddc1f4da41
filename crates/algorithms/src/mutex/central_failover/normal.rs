//! The normal form of the centralised algorithm with failover, whatever it stands on.

use super::{CentralFailover, Message, Mode, NO_PLACE, Setup, Status};
use crate::mutex::normal::{Ranks, messages, rank};
use conclave_core::election::Election;
use conclave_core::{Layer, NodeId, Process, Snapshot, Stack};

type Central<L> = Stack<CentralFailover, L>;

/// Four kinds of numbers rise for ever: those of a client's requests, of the signs of life within a
/// request, of the fences of a term and of the places in line given out in a term. Each is compared
/// with its own kind alone, and only the greatest is counted on: so each becomes its rank.
///
/// This is for leaders that claim a term of their own each time. One that a majority elects may
/// gather its knowledge anew within its term, and then counts on from the greatest place that it is
/// told of, whatever the silent have. What the layers below count is left as it is.
pub fn normal<L: Process<Provides = Election>>(all: &mut Snapshot<Central<L>>) {
    let Some(setup) = all.nodes.first().map(|node| node.upper.setup) else { return };
    forget(all, &setup);
    rank(all, each_beat);
    let requests = Ranks::of(all, each_seq);
    requests.give(all, each_bound);
    requests.give(all, each_seq);
    rank(all, |all, show| each_fence(all, &setup, show));
    rank(all, |all, show| each_place(all, &setup, show));
}

/// Nobody looks at the place of who does not wait, at its signs of life (with leases; else at
/// none), at the fence that is taken away, or at the grants of who will lead in another term only.
fn forget<L: Process<Provides = Election>>(all: &mut Snapshot<Central<L>>, setup: &Setup) {
    for Stack { upper: node, .. } in &mut all.nodes {
        if node.status != Status::Waiting {
            node.ticket = None;
            node.beat = 0;
        }
        if node.coordinator.is_none() {
            node.issued = 0;
        }
    }
    for (_, _, message) in said(all) {
        if let Message::State { status: Status::Idle | Status::Inside, beat, .. } = message {
            *beat = 0;
        } else if let Message::Revoke { fence, .. } = message {
            *fence = 0;
        }
    }
    if setup.mode != Mode::Lease {
        each_beat(all, &mut |_, beat| *beat = 0);
    }
}

/// Shows the number of every request, with the client whose it is.
fn each_seq<L: Process<Provides = Election>>(
    all: &mut Snapshot<Central<L>>,
    show: &mut dyn FnMut(NodeId, &mut u32),
) {
    for Stack { upper: node, .. } in &mut all.nodes {
        show(node.me, &mut node.seq);
        let Some(coordinator) = node.coordinator.as_deref_mut() else { continue };
        coordinator.holder.iter_mut().for_each(|holder| show(holder.client, &mut holder.seq));
        coordinator.queue.iter_mut().for_each(|ticket| show(ticket.client, &mut ticket.seq));
    }
    for (from, to, message) in said(all) {
        match message {
            Message::Request { seq, .. }
            | Message::Keepalive { seq, .. }
            | Message::Release { seq, .. }
            | Message::Pong { seq, .. }
            | Message::State { seq, .. } => show(from, seq),
            Message::Queued { seq, .. }
            | Message::Grant { seq, .. }
            | Message::Ping { seq, .. } => show(to, seq),
            Message::NewCoord { .. } | Message::Stale { .. } => {}
            Message::Join { .. } | Message::Revoke { .. } => {}
        }
    }
}

/// Shows up to which request a client is known or over, which need not be one that is about.
fn each_bound<L: Process<Provides = Election>>(
    all: &mut Snapshot<Central<L>>,
    show: &mut dyn FnMut(NodeId, &mut u32),
) {
    for coordinator in all.nodes.iter_mut().filter_map(|node| node.upper.coordinator.as_mut()) {
        for seqs in [&mut coordinator.known, &mut coordinator.over] {
            (0..).map(NodeId).zip(seqs).for_each(|(client, seq)| show(client, seq));
        }
    }
    for (_, to, message) in said(all) {
        if let Message::NewCoord { known, over, .. } = message {
            show(to, known);
            show(to, over);
        }
    }
}

/// Shows every sign of life, with the request of which it is.
fn each_beat<L: Process<Provides = Election>>(
    all: &mut Snapshot<Central<L>>,
    show: &mut dyn FnMut((NodeId, u32), &mut u32),
) {
    for Stack { upper: node, .. } in &mut all.nodes {
        show((node.me, node.seq), &mut node.beat);
        for ticket in node.coordinator.iter_mut().flat_map(|coordinator| &mut coordinator.queue) {
            show((ticket.client, ticket.seq), &mut ticket.beat);
        }
    }
    for (from, to, message) in said(all) {
        match message {
            Message::Request { seq, beat, .. }
            | Message::Keepalive { seq, beat, .. }
            | Message::State { seq, beat, .. } => show((from, *seq), beat),
            Message::Grant { seq, beat, .. } => show((to, *seq), beat),
            Message::Queued { .. } | Message::Release { .. } => {}
            Message::Ping { .. } | Message::Pong { .. } | Message::NewCoord { .. } => {}
            Message::Stale { .. } | Message::Join { .. } | Message::Revoke { .. } => {}
        }
    }
}

/// Shows the counter of every fence, with its term.
fn each_fence<L: Process<Provides = Election>>(
    all: &mut Snapshot<Central<L>>,
    setup: &Setup,
    show: &mut dyn FnMut(u64, &mut u32),
) {
    for Stack { upper: node, .. } in &mut all.nodes {
        show(node.epoch.term.into(), &mut node.issued);
        show_counter(&mut node.fence, setup, show);
        let holder = node.coordinator.as_deref_mut().and_then(|it| it.holder.as_mut());
        holder.into_iter().for_each(|holder| show_counter(&mut holder.fence, setup, show));
    }
    for (_, _, message) in said(all) {
        if let Message::Grant { fence, .. }
        | Message::State { status: Status::Idle | Status::Inside, number: fence, .. } = message
        {
            show_counter(fence, setup, show);
        }
    }
}

/// Shows the counter of every place in line, with its term.
fn each_place<L: Process<Provides = Election>>(
    all: &mut Snapshot<Central<L>>,
    setup: &Setup,
    show: &mut dyn FnMut(u64, &mut u32),
) {
    for Stack { upper: node, .. } in &mut all.nodes {
        node.ticket.iter_mut().for_each(|place| show_counter(place, setup, show));
        let Some(coordinator) = node.coordinator.as_deref_mut() else { continue };
        show(node.epoch.term.into(), &mut coordinator.tickets);
        for ticket in &mut coordinator.queue {
            show_counter(&mut ticket.number, setup, show);
        }
    }
    for (_, _, message) in said(all) {
        if let Message::Queued { ticket: place, .. }
        | Message::State { status: Status::Waiting, number: place, .. } = message
        {
            show_counter(place, setup, show);
        }
    }
}

/// Shows the counter within a fence, or within a place in line, which is laid out like one.
fn show_counter(number: &mut u64, setup: &Setup, show: &mut dyn FnMut(u64, &mut u32)) {
    if *number == NO_PLACE {
        return;
    }
    let (term, mut counter) = setup.fences.split(*number);
    show(term, &mut counter);
    *number = setup.fences.fence(term, counter).unwrap_or(*number);
}

/// What clients and coordinators themselves have said, and is still under way.
fn said<L: Process<Provides = Election>>(
    all: &mut Snapshot<Central<L>>,
) -> impl Iterator<Item = (NodeId, NodeId, &mut Message)> {
    messages(all).filter_map(|(from, to, message)| match message {
        Layer::Upper(message) => Some((from, to, message)),
        Layer::Lower(_) => None,
    })
}
