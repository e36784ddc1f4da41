//! Random logs, applied to the table and to the model: both always agree about who holds, with
//! which fence, and who waits, in which order.

use crate::kit::id;
use crate::model::{Model, Part, Request};
use conclave_core::NodeId;
use conclave_table::*;
use std::collections::BTreeMap;

const SESSIONS: u64 = 4;
const TTL: u64 = 500;

#[test]
#[allow(clippy::disallowed_methods, reason = "long runs are asked for by the environment")]
fn the_table_and_the_model_agree() {
    let seeds = std::env::var("CONCLAVE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..seeds.unwrap_or(100) {
        Run::new(seed).all();
    }
}

/// Numbers that look like chance (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

struct Run {
    seed: u64,
    chance: Chance,
    table: Table,
    model: Model,
    now: u64,
    requests: u64,
    said: BTreeMap<Ticket, (Change, Answer)>,
    refused: Vec<Ticket>,
    deadlocks: u32,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut table = Table::new(Floor(0));
        for session in 0..SESSIONS {
            let label = format!("s{session}").as_str().into();
            let open = Open { label, ..Open::new(id(session as u8), TTL) };
            table.apply(table.index() + 1, LeaseTime(0), &Change::Open(open));
        }
        let chance = Chance(seed * 2 + 0x9E37_79B9_7F4A_7C15);
        let said = BTreeMap::new();
        let model = Model::default();
        Self {
            seed,
            chance,
            table,
            model,
            now: 0,
            requests: 0,
            said,
            refused: Vec::new(),
            deadlocks: 0,
        }
    }

    fn all(mut self) {
        for _ in 0..200 {
            self.now += [0, 0, 1, 20, 80][self.chance.below(5) as usize];
            match self.chance.below(16) {
                0..8 => self.acquire(),
                8..11 => self.release(),
                11 => self.cancel(),
                12 => self.force(),
                13 => self.hand_over(),
                14 => self.keep_alive(),
                _ => self.repeat(),
            }
            self.compare();
        }
    }

    fn apply(&mut self, change: &Change) -> Applied {
        self.model.time_passes(self.now);
        let applied = self.table.apply(self.table.index() + 1, LeaseTime(self.now), change);
        let refused = applied.notices.iter().filter_map(Notice::deadlocked);
        self.refused = refused.collect();
        applied
    }

    /// All have left who had to. The table says who was in a deadlock by that; the model, that this
    /// was so, and that nobody else is.
    fn settle(&mut self) {
        for ticket in std::mem::take(&mut self.refused) {
            if !self.model.is_deadlocked(ticket) {
                self.model.let_in(self.table.index()); // It may be so by what was granted.
            }
            assert!(self.model.is_deadlocked(ticket), "{}", self.told(ticket));
            self.model.requests.retain(|request| request.ticket != ticket);
        }
        self.model.let_in(self.table.index());
        let waiting = self.model.requests.iter().filter(|request| request.inside.is_none());
        for ticket in waiting.map(|request| request.ticket) {
            assert!(!self.model.is_deadlocked(ticket), "{}", self.told(ticket));
        }
    }

    fn told(&self, ticket: Ticket) -> String {
        format!("seed {}: {ticket:?} of\n{}", self.seed, self.model.told())
    }

    fn ask(&mut self, session: SessionId, body: Body) -> Answer {
        self.requests += 1;
        let ticket = Ticket { session, request: RequestId(self.requests) };
        let change = Change::Ask(Ask::new(session, ticket.request, body));
        let answer = self.apply(&change).answer;
        self.said.insert(ticket, (change, answer.clone()));
        answer
    }

    fn resource(&mut self) -> (Resource, Mode) {
        match self.chance.below(5) {
            0 => (Resource::election("e"), Mode::Exclusive),
            1 => (Resource::lock("p"), Mode::Permits(2)),
            name => {
                let mode = [Mode::Exclusive, Mode::Shared][self.chance.below(2) as usize];
                (Resource::lock(["a", "b", "c"][name as usize - 2]), mode)
            }
        }
    }

    fn acquire(&mut self) {
        let session = id(self.chance.below(SESSIONS) as u8);
        let (resource, mode) = self.resource();
        let mut acquire = Acquire::of(resource.clone(), mode);
        if resource.kind == Kind::Lock && self.chance.below(3) == 0 {
            let (other, mode) = self.resource();
            if other != resource && other.kind == Kind::Lock {
                acquire = acquire.and(other, mode);
            }
        }
        acquire.wait_ms = [0, 50, 400, 400][self.chance.below(4) as usize];
        acquire.owner =
            [None, None, Some("x".into()), Some("y".into())][self.chance.below(4) as usize].clone();
        let party = Party { session, owner: acquire.owner.clone() };
        let answer = self.ask(session, Body::Acquire(acquire.clone()));
        let ticket = Ticket { session, request: RequestId(self.requests) };
        let arrived = self.table.index();
        let deadline = self.now + acquire.wait_ms;
        let wait = acquire.wait_ms;
        self.settle();
        let request = Request { ticket, party, acquire, arrived, deadline, inside: None };
        self.model.requests.push(request);
        self.model.let_in(arrived);
        let mine = self.model.requests.iter().find(|request| request.ticket == ticket);
        let inside = mine.is_some_and(|request| request.inside.is_some());
        let expected = match inside {
            true => "granted",
            false if wait == 0 => "busy",
            false if self.model.is_deadlocked(ticket) => "deadlock",
            false => "waiting",
        };
        assert_eq!(said(&answer), expected, "seed {}:\n{}", self.seed, self.model.told());
        if matches!(expected, "busy" | "deadlock") {
            self.model.requests.retain(|request| request.ticket != ticket);
        }
        self.deadlocks += u32::from(expected == "deadlock");
    }

    /// Somebody's hold, if there is any.
    fn some_hold(&mut self) -> Option<(Ticket, Part)> {
        let parts = |request: &Request| {
            let ticket = request.ticket;
            let parts = request.inside.clone().unwrap_or_default().into_iter();
            parts.filter(|part| !part.gone).map(move |part| (ticket, part)).collect::<Vec<_>>()
        };
        let holds: Vec<(Ticket, Part)> = self.model.requests.iter().flat_map(parts).collect();
        let at = self.chance.below(holds.len().max(1) as u64) as usize;
        holds.get(at).cloned()
    }

    fn release(&mut self) {
        let Some((ticket, part)) = self.some_hold() else { return };
        let resource = part.resource.clone();
        let fence = Fence(part.fence);
        let hold = Some(ticket.request);
        let answer = self.ask(ticket.session, Body::Release { resource, fence, hold });
        let still = self.model.requests.iter().any(|request| {
            let mut parts = request.inside.iter().flatten().filter(|part| !part.gone);
            request.ticket == ticket && parts.any(|held| held.resource == part.resource)
        });
        let released = matches!(answer, Answer::Released { .. });
        assert_eq!(released, still, "seed {}: {answer:?}", self.seed);
        let same = |request: &Request, held: &Part| {
            request.ticket == ticket && held.resource == part.resource
        };
        self.model.end_parts(same);
        self.settle();
    }

    fn cancel(&mut self) {
        let at = self.chance.below(self.requests.max(1)) + 1;
        let found = self.said.keys().find(|ticket| ticket.request.0 == at).copied();
        let Some(ticket) = found else { return };
        self.ask(ticket.session, Body::cancel(ticket.request));
        self.model.requests.retain(|request| request.ticket != ticket);
        self.settle();
    }

    fn force(&mut self) {
        let Some((_, part)) = self.some_hold() else { return };
        let resource = part.resource.clone();
        let now = self.chance.below(2) == 0;
        let force = Force::of(resource.clone(), Fence(u64::MAX));
        self.apply(&Change::Force(Force { now, ..force }));
        let ends = self.now + TTL;
        for request in &mut self.model.requests {
            let parts = request.inside.iter_mut().flatten();
            for part in parts.filter(|part| part.resource == resource) {
                part.revoked.get_or_insert(ends);
            }
        }
        if now {
            self.model.end_parts(|_, part| part.resource == resource);
        }
        self.settle();
    }

    fn keep_alive(&mut self) {
        let session = id(self.chance.below(SESSIONS) as u8);
        let as_of = RequestId(self.requests);
        let keep = self.chance.below(3);
        let mine = self.model.requests.iter().filter(|request| request.ticket.session == session);
        let requests: Vec<RequestId> = mine
            .map(|request| request.ticket.request)
            .filter(|request| request.0 % 3 != keep)
            .collect();
        let open = Some(OpenRequests { as_of, requests: requests.clone() });
        self.apply(&Change::Renew(vec![Renewal { session, at: NodeId(0), open }]));
        let known = |ticket: Ticket| {
            let of_another = ticket.session != session;
            of_another || ticket.request >= as_of || requests.contains(&ticket.request)
        };
        self.model.requests.retain(|request| known(request.ticket));
        self.settle();
    }

    /// Whoever repeats a request gets the answer that it got, or learns what became of it.
    fn repeat(&mut self) {
        let at = self.chance.below(self.said.len().max(1) as u64) as usize;
        let Some((ticket, (change, first))) = self.said.iter().nth(at) else { return };
        let ticket = *ticket;
        let change = change.clone();
        let first = first.clone();
        let again = self.apply(&change).answer;
        self.settle();
        let waits = |request: &Request| request.ticket == ticket && request.inside.is_none();
        let waits = self.model.requests.iter().any(waits);
        assert_eq!(said(&again) == "waiting", waits, "seed {}", self.seed);
        if said(&first) != "waiting" && !matches!(again, Answer::Refused(Refusal::Withdrawn)) {
            assert_eq!(again, first, "seed {}", self.seed);
        }
    }

    fn hand_over(&mut self) {
        let election = Resource::election("e");
        self.apply(&Change::Tick);
        self.settle();
        let leader = self.model.held(&election).next();
        let Some((leader, fence)) = leader.map(|(r, part)| (r.ticket, Fence(part.fence))) else {
            return;
        };
        let stands = |request: &&Request| {
            request.inside.is_none() && request.acquire.wants[0].resource == election
        };
        let candidate = self.model.requests.iter().rfind(stands).map(|r| r.ticket.session);
        let Some(to) = candidate else { return };
        let label = format!("s{}", to.0[0]).as_str().into();
        let body = Body::HandOver { election: election.clone(), fence, to: label };
        let answer = self.ask(leader.session, body);
        assert_eq!(answer, Answer::Done, "seed {}", self.seed);
        self.model.end_parts(|_, part| part.resource == election);
        let first = |request: &Request| stands(&request) && request.ticket.session == to;
        let at = self.model.requests.iter().position(first).expect("it stands");
        self.model.enter_ahead(at, self.table.index());
        self.settle();
    }

    fn compare(&mut self) {
        for (kind, name) in [("e", "e"), ("l", "a"), ("l", "b"), ("l", "c"), ("l", "p")] {
            let resource =
                if kind == "e" { Resource::election(name) } else { Resource::lock(name) };
            let lock = self.table.lock(&resource);
            let (holders, waiters) = lock.map_or((vec![], vec![]), |l| (l.holders, l.waiters));
            let mut table: Vec<(Ticket, u64, u32)> = holders
                .iter()
                .flat_map(|(first, hold)| {
                    let of = |request| Ticket { request, ..**first };
                    hold.entries.iter().map(move |it| (of(it.request), hold.fence.0, hold.slot))
                })
                .collect();
            let mut model: Vec<(Ticket, u64, u32)> = self
                .model
                .held(&resource)
                .map(|(request, part)| (request.ticket, part.fence, part.slot))
                .collect();
            table.sort();
            model.sort();
            assert_eq!(table, model, "seed {}, {resource:?}", self.seed);
            let waits = |request: &&Request| {
                let wants = &request.acquire.wants;
                request.inside.is_none() && wants.iter().any(|want| want.resource == resource)
            };
            let queue = self.model.requests.iter().filter(waits).map(|request| request.ticket);
            let table: Vec<Ticket> = waiters.iter().map(|(_, ticket)| *ticket).collect();
            assert_eq!(table, queue.collect::<Vec<_>>(), "seed {}, {resource:?}", self.seed);
        }
    }
}

fn said(answer: &Answer) -> &'static str {
    match answer {
        Answer::Granted(_) => "granted",
        Answer::Waiting { .. } => "waiting",
        Answer::Refused(Refusal::Busy) => "busy",
        Answer::Refused(Refusal::Deadlock(_)) => "deadlock",
        Answer::Done
        | Answer::Opened { .. }
        | Answer::Renewed(_)
        | Answer::Released { .. }
        | Answer::Forced(_)
        | Answer::Refused(_) => "other",
    }
}
