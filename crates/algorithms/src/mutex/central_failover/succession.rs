//! Failover of the coordinator: how one becomes it, learns what everybody wants and holds, and
//! ceases to be it.

use super::coordinator::{Coordinator, Holder, Phase, Ticket};
use super::{Ballot, CentralFailover, Message, Mode, NO_PLACE, Status, Timer, why};
use conclave_core::{Context, Delay, NodeId, election};

impl CentralFailover {
    /// The election named a leader.
    pub(super) fn on_elected(&mut self, leader: NodeId, term: u64, ctx: &mut Context<Self>) {
        let Some(term) = self.setup.term(term) else {
            return ctx.because(&why::TERM_TOO_LARGE, term); // Beyond any fence below 2^53.
        };
        let by_majority = self.setup.ballot == Ballot::Majority;
        if by_majority && term < self.mandate.max(self.epoch.term) {
            return ctx.because(&why::ELECTED_LATE, leader); // A later leader is known.
        }
        self.leader = Some(leader);
        if leader == self.me {
            self.mandate = term;
            let sits = |coordinator: &Coordinator| coordinator.phase == Phase::Active;
            if !self.coordinator.as_deref().is_some_and(sits) {
                self.begin(ctx);
            } else {
                ctx.because(&why::STAYS, ()); // And nobody need hear of it.
            }
            return;
        }
        ctx.because(&why::FOLLOWS, leader);
        self.step_down(ctx);
        if !self.joined {
            self.join(ctx);
        } // Otherwise the new leader will speak first; if that is lost, a waiter asks.
        self.beat += 1; // The timer starts anew: no beat may seem younger than it is.
        self.keep_beating(ctx);
    }

    /// Somebody else may have been elected: what is granted from here on could be granted twice.
    pub(super) fn on_deposed(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::DEPOSED, ());
        self.leader = self.leader.filter(|&leader| leader != self.me);
        self.step_down(ctx);
    }

    /// Claims a new epoch and asks everybody for its state.
    fn begin(&mut self, ctx: &mut Context<Self>) {
        let Some(epoch) = self.setup.claim(self.me, self.epoch, self.mandate) else {
            ctx.because(&why::GIVES_UP, ());
            return self.step_down(ctx); // A later leader is known, or there are no more terms.
        };
        ctx.because(&why::BEGINS, epoch);
        // A fence of an older version of the program may lie in the room of a later term.
        let issued = if epoch.term == self.epoch.term { self.issued } else { 0 };
        self.issued = issued.max(self.setup.counter_of(epoch, self.fence));
        self.epoch = epoch;
        self.coordinated_by = self.me;
        self.joined = true;
        let mut coordinator = Coordinator::new(self.setup.n);
        let client = self.me;
        let seq = self.seq;
        match self.status {
            Status::Idle => {}
            Status::Waiting => {
                let number = self.ticket.unwrap_or(NO_PLACE);
                coordinator.line_up(Ticket { number, client, seq, beat: self.beat });
            }
            Status::Inside => {
                let fence = self.fence;
                coordinator.holder = Some(Holder { client, seq, fence, lapsed: false });
            }
        }
        self.coordinator = Some(Box::new(coordinator));
        for other in self.me.others(self.setup.n) {
            self.announce(other, ctx);
        }
        for timer in [Timer::Beat, Timer::Probe] {
            ctx.cancel_timer(timer);
        }
        ctx.set_timer(Timer::Round, Delay::exactly(self.setup.retransmit));
        if self.setup.mode == Mode::Lease {
            ctx.set_timer(Timer::Lease, Delay::exactly(self.setup.recovery()));
        }
        self.activate_if_known(ctx);
    }

    /// All fences of this term have been given out, and those of the next term are larger. Nobody
    /// is let in before it has begun.
    pub(super) fn renew_term(&mut self, ctx: &mut Context<Self>) {
        ctx.because(&why::NO_FENCES, ());
        match self.setup.ballot {
            Ballot::Own => self.begin(ctx),
            Ballot::Majority => {
                self.step_down(ctx);
                ctx.request(election::Request::Campaign);
            }
        }
    }

    /// Somebody knows a greater epoch: obey it, or claim a greater one still.
    pub(super) fn on_outbid(&mut self, from: NodeId, message: Message, ctx: &mut Context<Self>) {
        let epoch = message.epoch();
        let again = match self.setup.ballot {
            // Only a leader that lost its disk can be outbid by itself.
            Ballot::Majority => epoch.term == self.mandate,
            Ballot::Own => {
                let other = NodeId(epoch.term % self.setup.n);
                let speaks = matches!(message, Message::NewCoord { .. }) && from == other;
                let yields = other > self.me && (speaks || !self.suspects.contains(other));
                self.leader == Some(self.me) && !yields
            }
        };
        match again {
            true => ctx.because(&why::OUTBIDS, (epoch, self.epoch)),
            false => ctx.because(&why::OUTBID, (epoch, self.epoch)),
        }
        if matches!(message, Message::NewCoord { .. }) && !again {
            return self.step_down(ctx); // Its epoch is taken over in a moment, with its sender.
        }
        self.epoch = epoch;
        if again { self.begin(ctx) } else { self.step_down(ctx) }
    }

    /// Forgets queue and holder; they are somebody else's to know.
    fn step_down(&mut self, ctx: &mut Context<Self>) {
        if self.coordinator.take().is_some() {
            for timer in [Timer::Round, Timer::Probe, Timer::Lease] {
                ctx.cancel_timer(timer);
            }
            self.keep_beating(ctx);
        }
    }

    pub(super) fn on_suspect(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        if node == self.me || node.0 >= self.setup.n || !self.suspects.insert(node) {
            return ctx.because(&why::SUSPECTED_BEFORE, node); // Or nonsense.
        }
        ctx.because(&why::SUSPECTS, node);
        let excused = self.setup.excuses_suspects();
        let Some(coordinator) = &mut self.coordinator else { return };
        match coordinator.phase {
            Phase::Recovering { .. } => self.activate_if_known(ctx),
            Phase::Active => {
                let held = coordinator.holder.filter(|holder| holder.client == node);
                if let Some(holder) = held.filter(|held| excused || held.lapsed) {
                    ctx.because(&why::FREED, node);
                    coordinator.finish(node, holder.seq);
                    self.pump(ctx);
                }
            }
        }
    }

    pub(super) fn on_trust(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        if !self.suspects.remove(node) {
            return ctx.because(&why::TRUSTED_BEFORE, node);
        }
        ctx.because(&why::TRUSTS, node);
        match &self.coordinator {
            Some(_) => {
                self.ask_again(node, ctx);
                self.pump(ctx);
            }
            None if !self.joined && self.leader == Some(node) => {
                self.join(ctx);
                self.keep_beating(ctx);
            }
            None => {}
        }
    }

    pub(super) fn on_join(&mut self, from: NodeId, ctx: &mut Context<Self>) {
        match &self.coordinator {
            Some(_) => {
                ctx.because(&why::ANNOUNCES, (from, self.epoch));
                self.announce(from, ctx);
            }
            // It yielded to another that seems to be gone.
            None if self.leader == Some(self.me) => self.begin(ctx),
            // The sender is mistaken, or ahead of what is known here.
            None => ctx.because(&why::NOT_COORDINATOR, from),
        }
    }

    pub(super) fn on_state(&mut self, from: NodeId, state: Message, ctx: &mut Context<Self>) {
        let Message::State { seq, beat, status, number, .. } = state else { return };
        let Some(coordinator) = &mut self.coordinator else {
            return ctx.because(&why::NOT_COORDINATOR, from); // No longer of interest.
        };
        let counter = self.setup.counter_of(self.epoch, number);
        match status {
            Status::Waiting if number == NO_PLACE => {}
            Status::Waiting => coordinator.tickets = coordinator.tickets.max(counter),
            Status::Idle | Status::Inside => self.issued = self.issued.max(counter),
        }
        coordinator.reports.insert(from);
        let open = seq > coordinator.over[from.index()];
        match status {
            Status::Idle => {
                ctx.because(&why::WANTS_NOTHING, from);
                coordinator.finish(from, seq);
            }
            // Overtaken by its own release.
            Status::Waiting | Status::Inside if !open => ctx.because(&why::WANTED, (seq, from)),
            // The probe will find out.
            Status::Waiting if coordinator.holds(from, seq) => ctx.because(&why::HOLDS, from),
            Status::Waiting => {
                ctx.because(&why::WAITS, from);
                coordinator.finish(from, seq - 1);
                coordinator.line_up(Ticket { number, client: from, seq, beat });
            }
            Status::Inside => {
                ctx.because(&why::IS_INSIDE, (from, number));
                self.note_holder(from, seq, number, ctx);
            }
        }
        self.give_places();
        self.activate_if_known(ctx);
        self.pump(ctx);
    }

    /// Of several that hold, the one with the greatest fence is right.
    fn note_holder(&mut self, client: NodeId, seq: u32, fence: u64, ctx: &mut Context<Self>) {
        let epoch = self.epoch;
        let Some(coordinator) = &mut self.coordinator else { return };
        coordinator.finish(client, seq - 1);
        coordinator.known[client.index()] = seq;
        coordinator.queue.retain(|ticket| ticket.client != client);
        let new = Holder { client, seq, fence, lapsed: false };
        match coordinator.holder {
            Some(old) if old.client == client => {}
            Some(old) if old.fence > fence => {
                ctx.because(&why::REVOKES, (client, old.client));
                ctx.send(client, Message::Revoke { epoch, fence });
            }
            Some(old) => {
                ctx.because(&why::REVOKES, (old.client, client));
                ctx.send(old.client, Message::Revoke { epoch, fence: old.fence });
                coordinator.holder = Some(new);
                self.watch_holder(ctx);
            }
            None => {
                coordinator.holder = Some(new);
                self.watch_holder(ctx);
            }
        }
    }

    /// Goes to work when enough is known of everybody.
    pub(super) fn activate_if_known(&mut self, ctx: &mut Context<Self>) {
        let excused = self.setup.excuses_suspects();
        let Some(coordinator) = &mut self.coordinator else { return };
        let Phase::Recovering { waited } = coordinator.phase else { return };
        let settled = |node: NodeId| {
            coordinator.reports.contains(node) || excused && self.suspects.contains(node)
        };
        let all = self.me.others(self.setup.n).all(settled);
        if !self.setup.suffices(coordinator.reports.len() + 1) || !(waited || all) {
            return ctx.because(&why::WAITS_FOR_REPORTS, &coordinator.reports);
        }
        ctx.because(&why::ACTIVE, &coordinator.reports);
        coordinator.phase = Phase::Active;
        if all {
            ctx.cancel_timer(Timer::Round);
        }
        ctx.cancel_timer(Timer::Lease);
        if coordinator.holder.is_some() {
            self.watch_holder(ctx);
        }
        self.give_places();
        self.pump(ctx);
    }

    /// Those that do not answer are asked again; in mode `fence`, silence ends the wait.
    pub(super) fn on_round(&mut self, ctx: &mut Context<Self>) {
        let mode = self.setup.mode;
        let Some(coordinator) = &mut self.coordinator else { return };
        if let Phase::Recovering { waited } = &mut coordinator.phase {
            *waited |= mode == Mode::Fence;
        }
        ctx.because(&why::ASKS_SILENT, &coordinator.reports);
        let mut silent = false;
        for other in self.me.others(self.setup.n) {
            let asked = self.coordinator.as_ref().is_some_and(|it| !it.reports.contains(other));
            if asked && !self.suspects.contains(other) {
                self.announce(other, ctx);
                silent = true;
            }
        }
        if silent {
            ctx.set_timer(Timer::Round, Delay::exactly(self.setup.retransmit));
        }
        self.activate_if_known(ctx);
    }

    /// Asks one for its state, again and again until it answers.
    fn ask_again(&mut self, node: NodeId, ctx: &mut Context<Self>) {
        let Some(coordinator) = &mut self.coordinator else { return };
        coordinator.reports.remove(node);
        self.announce(node, ctx);
        ctx.set_timer(Timer::Round, Delay::exactly(self.setup.retransmit));
    }

    pub(super) fn announce(&self, to: NodeId, ctx: &mut Context<Self>) {
        let Some(coordinator) = &self.coordinator else { return };
        let known = coordinator.known[to.index()];
        let over = coordinator.over[to.index()];
        ctx.send(to, Message::NewCoord { epoch: self.epoch, known, over });
    }
}
