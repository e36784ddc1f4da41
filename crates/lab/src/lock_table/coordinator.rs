//! The coordinator of the lock table: the replicated log as one machine, of which each message that
//! arrives is an entry.

use super::witness::Witness;
use super::{Broken, LockTable, Message, Timer, Wish};
use conclave_core::{Context, Event, NodeId};
use conclave_table::{
    Acquire, Answer, Applied, Ask, Body, Change, Fence, Floor, LeaseTime, Notice, Open,
    OpenRequests, Refusal, Renewal, Renewed, RequestId, Resource, SessionId, Table, Ticket,
};
use serde::{Deserialize, Serialize};

/// The lease of every session, on the lease clock.
const TTL_MS: u64 = 1;
/// Nobody gives up waiting by itself.
const WAIT_MS: u64 = u64::MAX;

/// The log, and the table that comes of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Coordinator {
    table: Table,
    /// By client: the latest session that is known to be silent.
    silent: Vec<u32>,
    witness: Witness,
}

impl Coordinator {
    /// With an empty log.
    pub fn new(clients: u32) -> Self {
        let silent = vec![0; clients as usize];
        Self { table: Table::new(Floor(0)), silent, witness: Witness::default() }
    }

    /// What was seen to be wrong with the table.
    pub fn broken(&self) -> Option<Broken> {
        self.witness.broken()
    }

    /// Takes one event. A table that broke its invariant is not used any more.
    pub fn step(&mut self, event: Event<LockTable>, ctx: &mut Context<LockTable>) {
        if self.broken().is_some() {
            return;
        }
        match event {
            Event::Start | Event::Request(_) => {}
            Event::Message { from, message } => self.on_message(from, message, ctx),
            Event::Restart => self.look_for_silent(ctx),
            Event::Timer(Timer::Sweep) => self.sweep(ctx),
            Event::Timer(Timer::Repeat | Timer::Keepalive | Timer::Deadline) => {} // Of clients.
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, ctx: &mut Context<LockTable>) {
        match message {
            Message::Open { session } => self.on_open(from, session, ctx),
            Message::Ask { session, request, lowest_open, wish } => {
                let ticket = Ticket { session: id(from, session), request: number(request) };
                let lowest_open = number(lowest_open);
                self.on_ask(from, ticket, lowest_open, wish, ctx);
            }
            Message::Keepalive { session, as_of, open } => {
                self.on_keepalive(from, session, as_of, &open, ctx);
            }
            Message::Silent { session } => self.on_silent(from, session, ctx),
            Message::Opened { .. }
            | Message::Granted { .. }
            | Message::Done { .. }
            | Message::Alive { .. }
            | Message::Gone { .. } => {} // Nobody answers a coordinator.
        }
        self.propose_in_vain();
    }

    fn on_open(&mut self, from: NodeId, session: u32, ctx: &mut Context<LockTable>) {
        let opening = Some(format!("{}/{session}", from.0).as_str().into());
        let open = Open { at: from, opening, ..Open::new(id(from, session), TTL_MS) };
        self.enter(&Change::Open(open), ctx);
        ctx.send(from, Message::Opened { session });
        self.look_for_silent(ctx);
    }

    fn on_ask(
        &mut self,
        from: NodeId,
        ticket: Ticket,
        lowest_open: RequestId,
        wish: Wish,
        ctx: &mut Context<LockTable>,
    ) {
        let body = match wish {
            Wish::Acquire => Body::Acquire(Acquire::exclusive(NAME).waiting(WAIT_MS)),
            Wish::Cancel { request } => Body::cancel(number(request)),
            Wish::Release { request, fence } => Body::Release {
                resource: resource(),
                fence: Fence(fence),
                hold: Some(number(request)),
            },
        };
        let Ticket { session, request } = ticket;
        let applied = self.enter(&Change::Ask(Ask { session, request, lowest_open, body }), ctx);
        let mut granted = applied.notices.iter().filter_map(Notice::granted);
        if granted.all(|new| new.ticket != ticket) {
            // Otherwise it was told already.
            answered(ticket, &applied.answer).into_iter().for_each(|said| ctx.send(from, said));
        }
    }

    fn on_keepalive(
        &mut self,
        from: NodeId,
        session: u32,
        as_of: u32,
        open: &[u32],
        ctx: &mut Context<LockTable>,
    ) {
        let requests = open.iter().copied().map(number).collect();
        let open = Some(OpenRequests { as_of: number(as_of), requests });
        let renewal = Renewal { session: id(from, session), at: from, open };
        let applied = self.enter(&Change::Renew(vec![renewal]), ctx);
        let lives = matches!(&applied.answer, Answer::Renewed(all)
            if matches!(all.as_slice(), [Renewed::Alive(_)]));
        let answer = if lives { Message::Alive { session } } else { Message::Gone { session } };
        ctx.send(from, answer);
    }

    /// The lease clock has passed the lease of this session, and of those before it.
    fn on_silent(&mut self, from: NodeId, session: u32, ctx: &mut Context<LockTable>) {
        if let Some(silent) = self.silent.get_mut(from.index()) {
            *silent = session.max(*silent);
        }
        self.sweep(ctx);
        ctx.send(from, Message::Gone { session });
    }

    /// Expires all sessions that nobody keeps alive.
    fn sweep(&mut self, ctx: &mut Context<LockTable>) {
        for session in self.silent_sessions() {
            let Some(known) = self.table.session(session) else { continue };
            let expire = Change::Expire { session, if_last_renew: known.renewed };
            let at = known.expires();
            self.enter_at(at, &expire, ctx);
        }
        self.look_for_silent(ctx);
    }

    /// A late repeat may open a session that its client gave up: it is expired in its turn.
    fn look_for_silent(&self, ctx: &mut Context<LockTable>) {
        match self.silent_sessions().is_empty() {
            true => ctx.cancel_timer(Timer::Sweep),
            false => ctx.set_timer(Timer::Sweep, Timer::Sweep.delay()),
        }
    }

    fn silent_sessions(&self) -> Vec<SessionId> {
        let all = self.table.sessions().map(|(session, _)| *session);
        let silent = |session: &SessionId| {
            let (client, number) = client_of(*session);
            self.silent.get(client.index()).is_some_and(|silent| number <= *silent)
        };
        all.filter(silent).collect()
    }

    /// What leaders propose that know an older renewal, or whose clock is early. Each is void.
    fn propose_in_vain(&mut self) {
        let now = self.table.now();
        let all: Vec<_> = self.table.sessions().map(|(id, known)| (*id, known.renewed)).collect();
        for (session, renewed) in all {
            let older = LeaseTime(renewed.0.saturating_sub(1));
            let early = Some(renewed).filter(|renewed| now < renewed.after(TTL_MS));
            for if_last_renew in [older].into_iter().chain(early) {
                let void = Change::Expire { session, if_last_renew };
                let applied = self.table.clone().apply(self.table.index() + 1, now, &void);
                self.witness.see_in_vain(&applied);
            }
        }
    }

    /// Applies a change now. The lease clock begins at 1, so that there is an earlier moment.
    fn enter(&mut self, change: &Change, ctx: &mut Context<LockTable>) -> Applied {
        self.enter_at(self.table.now().max(LeaseTime(1)), change, ctx)
    }

    /// Applies a change, and tells whoever was let in. What changes nothing gets no index.
    fn enter_at(
        &mut self,
        at: LeaseTime,
        change: &Change,
        ctx: &mut Context<LockTable>,
    ) -> Applied {
        let index = self.table.index() + 1;
        let mut idle = self.table.clone();
        idle.apply(index, at, &Change::Tick);
        let mut next = self.table.clone();
        let applied = next.apply(index, at, change);
        if next != idle {
            self.table = next;
        }
        self.witness.see(&self.table, change, &applied);
        for granted in applied.notices.iter().filter_map(Notice::granted) {
            let (client, _) = client_of(granted.ticket.session);
            let answer = answered(granted.ticket, &Answer::Granted(granted.grants.clone()));
            answer.into_iter().for_each(|said| ctx.send(client, said));
        }
        applied
    }
}

/// The one lock that there is.
const NAME: &str = "lock";

/// The one lock that there is.
pub fn resource() -> Resource {
    Resource::lock(NAME)
}

/// What its client is told of a request; nothing as long as it waits.
fn answered(ticket: Ticket, answer: &Answer) -> Option<Message> {
    let (_, session) = client_of(ticket.session);
    let request = ticket.request.0 as u32;
    match answer {
        Answer::Granted(grants) => {
            let fence = grants.first().map_or(0, |grant| grant.inside.fence.0);
            Some(Message::Granted { session, request, fence })
        }
        Answer::Waiting { .. } => None,
        Answer::Refused(Refusal::NoSession) => Some(Message::Gone { session }),
        Answer::Done
        | Answer::Opened { .. }
        | Answer::Renewed(_)
        | Answer::Released { .. }
        | Answer::Forced(_)
        | Answer::Refused(_) => Some(Message::Done { session, request }),
    }
}

fn id(client: NodeId, session: u32) -> SessionId {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&client.0.to_be_bytes());
    bytes[4..8].copy_from_slice(&session.to_be_bytes());
    SessionId(bytes)
}

/// The client of a session, and which of its sessions it is.
fn client_of(session: SessionId) -> (NodeId, u32) {
    let [a, b, c, d, e, f, g, h, ..] = session.0;
    (NodeId(u32::from_be_bytes([a, b, c, d])), u32::from_be_bytes([e, f, g, h]))
}

fn number(request: u32) -> RequestId {
    RequestId(request.into())
}
