//! A table with a log of its own: changes are applied at the next index.

use conclave_table::*;

pub struct Cluster {
    pub table: Table,
    pub now: u64,
    next_request: u64,
}

impl Cluster {
    /// With sessions 1 to `n` of 10 s, labelled `s1`, `s2` and so on.
    pub fn with_sessions(n: u8) -> Self {
        let mut cluster = Self { table: Table::new(Floor(0)), now: 0, next_request: 0 };
        for number in 1..=n {
            let label = format!("s{number}").as_str().into();
            cluster.apply(Change::Open(Open { label, ..Open::new(id(number), 10_000) }));
        }
        cluster
    }

    pub fn apply(&mut self, change: Change) -> Applied {
        self.table.apply(self.table.index() + 1, LeaseTime(self.now), &change)
    }

    /// The same, some time later.
    pub fn after(&mut self, ms: u64, change: Change) -> Applied {
        self.now += ms;
        self.apply(change)
    }

    /// Asks for something under a new number; gives that number, too.
    pub fn ask(&mut self, session: u8, body: Body) -> (RequestId, Applied) {
        self.next_request += 1;
        let request = RequestId(self.next_request);
        (request, self.apply(Change::Ask(Ask::new(id(session), request, body))))
    }

    pub fn acquire(&mut self, session: u8, acquire: Acquire) -> (RequestId, Answer) {
        let (request, applied) = self.ask(session, Body::Acquire(acquire));
        (request, applied.answer)
    }

    /// One that must be granted at once.
    pub fn enter(&mut self, session: u8, acquire: Acquire) -> Fence {
        assert!(!self.table.keeps_out(id(session), &acquire), "{acquire:?}");
        let (_, answer) = self.acquire(session, acquire);
        answer.fence().unwrap_or_else(|| panic!("granted at once, not {answer:?}"))
    }

    /// One that must wait.
    pub fn queue(&mut self, session: u8, acquire: Acquire) -> RequestId {
        let (request, answer) = self.acquire(session, acquire.waiting(1_000_000));
        assert!(matches!(answer, Answer::Waiting { .. }), "{answer:?}");
        request
    }

    pub fn release(&mut self, session: u8, resource: &Resource, fence: Fence) -> Applied {
        let resource = resource.clone();
        self.ask(session, Body::Release { resource, fence, hold: None }).1
    }

    /// The sessions that hold something, by their first byte.
    pub fn holders(&self, resource: &Resource) -> Vec<u8> {
        let lock = self.table.lock(resource);
        let holders = lock.map(|lock| lock.holders).unwrap_or_default();
        holders.iter().map(|(ticket, _)| ticket.session.0[0]).collect()
    }

    /// Those that wait for it, in order.
    pub fn waiters(&self, resource: &Resource) -> Vec<u8> {
        let lock = self.table.lock(resource);
        let waiters = lock.map(|lock| lock.waiters).unwrap_or_default();
        waiters.iter().map(|(_, ticket)| ticket.session.0[0]).collect()
    }
}

pub fn id(number: u8) -> SessionId {
    SessionId([number; 16])
}

pub fn lock(name: &str) -> Resource {
    Resource::lock(name)
}

pub fn refused(answer: &Answer) -> &Refusal {
    if let Answer::Refused(why) = answer { why } else { panic!("not refused: {answer:?}") }
}

/// The grants that a change brought about, as session and fence.
pub fn grants(applied: &Applied) -> Vec<(u8, Fence)> {
    let granted = applied.notices.iter().filter_map(Notice::granted);
    granted.map(|granted| (granted.ticket.session.0[0], granted.grants[0].inside.fence)).collect()
}
