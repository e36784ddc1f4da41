//! Who may use the coordinator's resource: the lab's `Central`, or the original's semaphore.
//!
//! The original knows no request numbers and lets a client ask twice. So each request is a client
//! of its own to `Central`: it takes a free place among the clients, asks once, and leaves the
//! place when it is over. An answer to `/request_access` is the algorithm's `Grant`; a release and
//! a waiter that hung up are both its `Release`.

use super::semaphore::Semaphore;
use conclave_algorithms::mutex::central::{Busy, Central, Message, Order, Release as Ends, Setup};
use conclave_algorithms::mutex::places::Places;
use conclave_core::{Choices, Context, Effect, Event, NodeId};

/// More requests than this do not wait; the next is turned away.
pub const WAITERS_MAX: u32 = 256;

/// One request to be let in. No two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    /// Its place among the clients of the algorithm.
    pub place: u32,
    /// Which request of that place it is.
    pub seq: u32,
}

/// What came of a wish to release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The resource is free, or already the next one's.
    Freed,
    /// Somebody else holds it, or nobody does.
    NotYours {
        /// Who holds it.
        holder: Option<u32>,
    },
}

/// What became of a request whose client hung up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// It waited, and does no longer.
    LeftTheLine,
    /// It had just been let in, and is out again.
    GaveBack,
    /// Nobody takes notice: it still waits, or holds.
    Unnoticed,
}

/// Who is inside and who waits.
#[derive(Debug)]
pub enum Access {
    /// First come, first served, by the centralised algorithm.
    Line(Line),
    /// As the original has it.
    Literal(Semaphore),
}

impl Access {
    /// A client asks to be let in; `None` if too many wait.
    pub fn request(&mut self, client: u32) -> Option<Ticket> {
        match self {
            Self::Line(line) => line.request(client),
            Self::Literal(semaphore) => semaphore.acquire(),
        }
    }

    /// A client says that it leaves.
    pub fn release(&mut self, client: u32) -> Release {
        match self {
            Self::Line(line) => line.release(client),
            Self::Literal(semaphore) => {
                semaphore.release(); // Whoever it is.
                Release::Freed
            }
        }
    }

    /// The client of this request is gone.
    pub fn withdraw(&mut self, ticket: Ticket) -> Withdrawal {
        match self {
            Self::Line(line) => line.withdraw(ticket),
            Self::Literal(_) => Withdrawal::Unnoticed,
        }
    }

    /// The next one that was let in since this was last asked.
    pub fn next_granted(&mut self) -> Option<Ticket> {
        match self {
            Self::Line(line) => line.next_granted(),
            Self::Literal(semaphore) => semaphore.next_granted(),
        }
    }

    /// Whether this client may use the resource, as far as anybody can tell.
    pub fn holds(&self, client: u32) -> bool {
        match self {
            Self::Line(line) => line.holder() == Some(client),
            Self::Literal(_) => true, // A semaphore does not know.
        }
    }
}

/// The coordinator of the centralised algorithm, and the requests that are its clients.
#[derive(Debug)]
pub struct Line {
    me: NodeId,
    central: Central,
    ctx: Context<Central>,
    /// The open request of each place, if there is one.
    places: Vec<Place>,
    holder: Option<Ticket>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The client that asks from here.
    client: Option<u32>,
    /// How many requests there have been from here.
    seq: u32,
}

impl Line {
    /// Free, with nobody in line.
    pub fn new() -> Self {
        let clients = WAITERS_MAX + 1; // And one inside.
        let places = Places::separate(clients, 1);
        let setup = Setup {
            places,
            busy: Busy::Silent,
            order: Order::Fifo,
            release_ack: false,
            release: Ends::Own,
        };
        let me = places.node_at(NodeId(0));
        let mut line = Self {
            me,
            central: Central::new(me, setup),
            ctx: Context::new(Choices::None), // First come, first served: nothing to choose.
            places: vec![Place::default(); clients as usize],
            holder: None,
        };
        line.ctx.act(me, &mut line.central, Event::Start);
        line
    }

    /// The client inside.
    pub fn holder(&self) -> Option<u32> {
        self.holder.and_then(|ticket| self.places[ticket.place as usize].client)
    }

    fn request(&mut self, client: u32) -> Option<Ticket> {
        let free = |place: &Place| place.client.is_none() && place.seq < u32::MAX;
        let index = self.places.iter().position(free)?;
        let place = &mut self.places[index];
        place.client = Some(client);
        place.seq += 1;
        let ticket = Ticket { place: index as u32, seq: place.seq };
        self.tell(ticket.place, Message::Request { seq: ticket.seq, time: 0 });
        Some(ticket)
    }

    fn release(&mut self, client: u32) -> Release {
        match (self.holder, self.holder()) {
            (Some(ticket), Some(holder)) if holder == client => {
                self.end(ticket);
                Release::Freed
            }
            (_, holder) => Release::NotYours { holder },
        }
    }

    fn withdraw(&mut self, ticket: Ticket) -> Withdrawal {
        let place = self.places[ticket.place as usize];
        if place.client.is_none() || place.seq != ticket.seq {
            return Withdrawal::Unnoticed; // It is over already.
        }
        let held = self.holder == Some(ticket);
        self.end(ticket);
        if held { Withdrawal::GaveBack } else { Withdrawal::LeftTheLine }
    }

    /// This request is over, whether it held or waited.
    fn end(&mut self, ticket: Ticket) {
        self.places[ticket.place as usize].client = None;
        if self.holder == Some(ticket) {
            self.holder = None;
        }
        self.tell(ticket.place, Message::Release { seq: ticket.seq });
    }

    fn tell(&mut self, place: u32, message: Message) {
        let event = Event::Message { from: NodeId(place), message };
        self.ctx.act(self.me, &mut self.central, event);
    }

    fn next_granted(&mut self) -> Option<Ticket> {
        while let Some(effect) = self.ctx.pop() {
            // A silent coordinator says nothing but this, and keeps no timers.
            if let Effect::Send { to, message: Message::Grant { seq, .. } } = effect {
                let ticket = Ticket { place: to.0, seq };
                self.holder = Some(ticket);
                return Some(ticket);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
