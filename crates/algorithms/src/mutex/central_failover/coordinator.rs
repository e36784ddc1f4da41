//! The elected coordinator: it lets in one client at a time.

use super::{CentralFailover, Epoch, Message, Mode, NO_PLACE, Setup, Timer, Wish, why};
use conclave_core::{Context, Delay, NodeId, NodeSet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What a coordinator knows. It is forgotten with the office.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Coordinator {
    pub(super) phase: Phase,
    pub(super) holder: Option<Holder>,
    pub(super) queue: VecDeque<Ticket>,
    /// Counts the places in line given out in this epoch.
    pub(super) tickets: u32,
    /// The last seq of each client that is known, and the last that is over.
    pub(super) known: Vec<u32>,
    pub(super) over: Vec<u32>,
    /// Who has answered in this epoch.
    pub(super) reports: NodeSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Waits for reports. `waited` once the silent need no longer be waited for.
    Recovering { waited: bool },
    /// Lets clients in.
    Active,
}

/// `lapsed` when a lease has passed without a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Holder {
    pub(super) client: NodeId,
    pub(super) seq: u32,
    pub(super) fence: u64,
    pub(super) lapsed: bool,
}

/// A place in line, ordered by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Ticket {
    pub(super) number: u64,
    pub(super) client: NodeId,
    pub(super) seq: u32,
    pub(super) beat: u32,
}

impl Coordinator {
    /// The first of all: nobody can hold anything yet.
    pub(super) fn first(n: u32) -> Self {
        let reports = (0..n).map(NodeId).collect();
        Self { phase: Phase::Active, reports, ..Self::new(n) }
    }

    pub(super) fn new(n: u32) -> Self {
        Self {
            phase: Phase::Recovering { waited: false },
            holder: None,
            queue: VecDeque::new(),
            tickets: 0,
            known: vec![0; n as usize],
            over: vec![0; n as usize],
            reports: NodeSet::new(n),
        }
    }

    /// Who waits for whom: those in line for the holder.
    pub(super) fn waits(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let behind = |holder: Holder| self.queue.iter().map(move |one| (one.client, holder.client));
        self.holder.into_iter().flat_map(behind)
    }

    /// Everything this client asked for up to `seq` is over.
    pub(super) fn finish(&mut self, client: NodeId, seq: u32) {
        let over = &mut self.over[client.index()];
        *over = seq.max(*over);
        self.known[client.index()] = seq.max(self.known[client.index()]);
        self.queue.retain(|ticket| ticket.client != client || ticket.seq > seq);
        self.holder = self.holder.filter(|holder| holder.client != client || holder.seq > seq);
    }

    pub(super) fn holds(&self, client: NodeId, seq: u32) -> bool {
        self.holder.is_some_and(|holder| (holder.client, holder.seq) == (client, seq))
    }

    /// Puts a ticket in its place; false if it has one.
    pub(super) fn line_up(&mut self, new: Ticket) -> bool {
        let same = |old: &&mut Ticket| (old.client, old.seq) == (new.client, new.seq);
        if let Some(old) = self.queue.iter_mut().find(same) {
            old.beat = old.beat.max(new.beat);
            return false;
        }
        self.known[new.client.index()] = new.seq;
        let place = |old: &Ticket| (old.number, old.client) <= (new.number, new.client);
        let place = self.queue.iter().rposition(place).map_or(0, |before| before + 1);
        self.queue.insert(place, new);
        true
    }
}

impl CentralFailover {
    pub(super) fn on_request(
        &mut self,
        from: NodeId,
        epoch: Epoch,
        wish: Wish,
        ctx: &mut Context<Self>,
    ) {
        let Wish { seq, beat, repeated } = wish;
        let Some(coordinator) = &mut self.coordinator else {
            return ctx.because(&why::NOT_COORDINATOR, from); // The sender will learn.
        };
        if epoch != self.epoch || seq <= coordinator.over[from.index()] {
            ctx.because(&why::SENDER_KNOWS_LESS, from);
            // Overtaken by its own release, most likely; or the sender knows less than it should.
            return self.announce(from, ctx);
        }
        if coordinator.holds(from, seq) {
            ctx.because(&why::GRANTED_AGAIN, from);
            return self.grant_again(beat, ctx); // The first grant was lost, or is too old.
        }
        // Places in line rise like fences, so that those of an earlier epoch come first.
        let Some(number) = self.setup.next_fence(self.epoch, coordinator.tickets) else {
            return self.renew_term(ctx);
        };
        coordinator.finish(from, seq - 1);
        if coordinator.line_up(Ticket { number, client: from, seq, beat }) {
            coordinator.tickets += 1;
        } else if repeated {
            return ctx.because(&why::PLACE_KNOWN, from);
        }
        self.pump(ctx);
        self.tell_place(from, epoch, seq, ctx);
    }

    /// Tells a client that could not be let in at once that it stands in line.
    fn tell_place(&self, from: NodeId, epoch: Epoch, seq: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = &self.coordinator else { return };
        let of_sender = |ticket: &&Ticket| (ticket.client, ticket.seq) == (from, seq);
        let Some(ticket) = coordinator.queue.iter().find(of_sender) else { return };
        match coordinator.holder {
            Some(holder) => ctx.because(&why::QUEUED, (from, holder.client)),
            None => ctx.because(&why::QUEUED_EARLY, from),
        }
        ctx.send(from, Message::Queued { epoch, seq, ticket: ticket.number });
    }

    /// A release counts whatever the epoch: what it ends is named by its number.
    pub(super) fn on_released(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = &mut self.coordinator else {
            return ctx.because(&why::NOT_COORDINATOR, from); // It reports when asked.
        };
        ctx.because(&why::RELEASED, (seq, from));
        coordinator.finish(from, seq);
        self.pump(ctx);
    }

    pub(super) fn on_pong(&mut self, from: NodeId, seq: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = &self.coordinator else {
            return ctx.because(&why::NOT_COORDINATOR, from); // Asked before it lost office.
        };
        if coordinator.phase == Phase::Active && coordinator.holds(from, seq) {
            ctx.because(&why::STILL_INSIDE, from);
            self.renew_lease(ctx);
        } else {
            ctx.because(&why::ANSWERED_LATE, from);
        }
    }

    pub(super) fn on_probe(&mut self, ctx: &mut Context<Self>) {
        let Some(coordinator) = &self.coordinator else { return };
        let Some(holder) = coordinator.holder else { return };
        ctx.because(&why::PROBES, holder.client);
        ctx.send(holder.client, Message::Ping { epoch: self.epoch, seq: holder.seq });
        ctx.set_timer(Timer::Probe, Delay::exactly(self.probe_interval()));
    }

    pub(super) fn on_lease(&mut self, ctx: &mut Context<Self>) {
        let Some(coordinator) = &mut self.coordinator else { return };
        match &mut coordinator.phase {
            Phase::Recovering { waited } => {
                ctx.because(&why::LAPSED_UNHEARD, ());
                *waited = true;
                self.activate_if_known(ctx);
            }
            Phase::Active => {
                let Some(holder) = &mut coordinator.holder else { return };
                holder.lapsed = true;
                if self.suspects.contains(holder.client) {
                    ctx.because(&why::FREED, holder.client);
                    let client = holder.client;
                    let seq = holder.seq;
                    coordinator.finish(client, seq);
                    self.pump(ctx);
                } else {
                    // It is only slow: it is freed when it is suspected too.
                    ctx.because(&why::LAPSED, holder.client);
                }
            }
        }
    }

    /// Lets the next one in, if the resource is free and somebody in line can be reached.
    pub(super) fn pump(&mut self, ctx: &mut Context<Self>) {
        let Some(coordinator) = &mut self.coordinator else { return };
        if coordinator.phase != Phase::Active || coordinator.holder.is_some() {
            return;
        }
        let seems_up = |ticket: &Ticket| !self.suspects.contains(ticket.client);
        let place = match coordinator.queue.iter().position(seems_up) {
            // A lease ends even if the suspicion was right.
            None if self.setup.mode == Mode::Lease => 0,
            None => coordinator.queue.len(),
            Some(place) => place,
        };
        let Some(&Ticket { client, seq, beat, .. }) = coordinator.queue.get(place) else {
            ctx.because(&why::FREE, ());
            ctx.cancel_timer(Timer::Probe);
            return ctx.cancel_timer(Timer::Lease);
        };
        let Some(fence) = self.setup.next_fence(self.epoch, self.issued) else {
            return self.renew_term(ctx);
        };
        coordinator.queue.remove(place);
        self.issued += 1;
        ctx.because(&why::GRANTED, (client, fence));
        coordinator.holder = Some(Holder { client, seq, fence, lapsed: false });
        ctx.send(client, Message::Grant { epoch: self.epoch, seq, beat, fence });
        self.watch_holder(ctx);
    }

    fn grant_again(&mut self, beat: u32, ctx: &mut Context<Self>) {
        let Some(coordinator) = &self.coordinator else { return };
        let (Phase::Active, Some(holder)) = (coordinator.phase, coordinator.holder) else { return };
        let Holder { client, seq, fence, .. } = holder;
        ctx.send(client, Message::Grant { epoch: self.epoch, seq, beat, fence });
        self.renew_lease(ctx);
    }

    pub(super) fn watch_holder(&mut self, ctx: &mut Context<Self>) {
        let Some(coordinator) = &self.coordinator else { return };
        let elsewhere = coordinator.holder.is_some_and(|holder| holder.client != self.me);
        if coordinator.phase == Phase::Active && elsewhere {
            ctx.set_timer(Timer::Probe, Delay::exactly(self.probe_interval()));
            self.renew_lease(ctx);
        } else if coordinator.phase == Phase::Active {
            ctx.cancel_timer(Timer::Probe);
            ctx.cancel_timer(Timer::Lease);
        } // While recovering, the lease runs for the silent.
    }

    pub(super) fn renew_lease(&mut self, ctx: &mut Context<Self>) {
        let Some(holder) = self.coordinator.as_mut().and_then(|it| it.holder.as_mut()) else {
            return;
        };
        holder.lapsed = false;
        if self.setup.mode == Mode::Lease {
            ctx.set_timer(Timer::Lease, Delay::exactly(self.setup.lease_elsewhere()));
        }
    }

    fn probe_interval(&self) -> conclave_core::Ticks {
        let Setup { mode, retransmit, .. } = self.setup;
        if mode == Mode::Lease { retransmit.min(self.setup.keepalive()) } else { retransmit }
    }

    /// Those whose request no coordinator acknowledged get places of this epoch, behind all who had
    /// one: without, everybody who asks later would be placed before them. Not before all that can
    /// be known is, or two might get the same place.
    pub(super) fn give_places(&mut self) {
        let Some(coordinator) = &mut self.coordinator else { return };
        if coordinator.phase != Phase::Active {
            return;
        }
        for ticket in coordinator.queue.iter_mut().filter(|ticket| ticket.number == NO_PLACE) {
            let Some(number) = self.setup.next_fence(self.epoch, coordinator.tickets) else {
                return; // Behind all others. Whoever asks next brings about a new term.
            };
            coordinator.tickets += 1;
            ticket.number = number;
            if ticket.client == self.me {
                self.ticket = Some(ticket.number);
            }
        }
    }
}
