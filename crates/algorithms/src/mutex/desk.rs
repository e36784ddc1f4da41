//! The queue of a coordinator: who holds the resource, who stands in line, and what is already
//! over.
//!
//! The centralised algorithm has one, a quorum has one on each coordinator. Requests are numbered
//! by their clients, so a message that is late, doubled or out of order is always recognised.

use super::symmetry::moved;
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One request as it stands in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// Who asked.
    pub client: NodeId,
    /// The number the client gave its request; the first is 1.
    pub seq: u32,
    /// The logical time of the request, where the order of service needs one.
    pub time: u64,
}

/// What a request turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its own release, or a later request of the same client, came first.
    Over,
    /// A repetition; it holds the resource already.
    Holds,
    /// A repetition; it stands in line already.
    Waits,
    /// It now stands at the end of the line.
    New,
}

/// The state of one coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Desk {
    holder: Option<Ticket>,
    line: VecDeque<Ticket>,
    clients: Vec<Numbers>,
}

/// What is known of one client's numbers. Its request is open while `asked` exceeds `done`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
struct Numbers {
    asked: u32,
    done: u32,
}

impl Desk {
    /// Free, with nobody in line, for so many clients.
    pub fn new(clients: u32) -> Self {
        let clients = vec![Numbers::default(); clients as usize];
        Self { holder: None, line: VecDeque::new(), clients }
    }

    /// Who holds the resource.
    pub fn holder(&self) -> Option<Ticket> {
        self.holder
    }

    /// Who stands in line, in order of arrival.
    pub fn line(&self) -> &VecDeque<Ticket> {
        &self.line
    }

    /// Who waits for whom: those in line for the holder.
    pub fn waits(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let behind = |holder: Ticket| self.line.iter().map(move |one| (one.client, holder.client));
        self.holder.into_iter().flat_map(behind)
    }

    /// A request arrives. A client asks anew only when its last request is over, so whatever is
    /// open of an older number ends here, even if its release is still on the way.
    pub fn request(&mut self, ticket: Ticket) -> Arrival {
        let numbers = self.clients[ticket.client.index()];
        if ticket.seq <= numbers.done {
            return Arrival::Over;
        }
        if ticket.seq == numbers.asked {
            let holds = self.holder.is_some_and(|holder| holder.client == ticket.client);
            return if holds { Arrival::Holds } else { Arrival::Waits };
        }
        self.release(ticket.client, ticket.seq - 1);
        self.clients[ticket.client.index()].asked = ticket.seq;
        self.line.push_back(ticket);
        Arrival::New
    }

    /// A release or a withdrawal arrives: this request, and all before it, are over. What is over
    /// already stays so; what has not even arrived yet is remembered as over.
    pub fn release(&mut self, client: NodeId, seq: u32) {
        let numbers = &mut self.clients[client.index()];
        let open = numbers.asked > numbers.done;
        if seq <= numbers.done {
            return;
        }
        numbers.done = seq;
        if open && self.holder.is_some_and(|holder| holder.client == client) {
            self.holder = None;
        } else if open {
            self.line.retain(|ticket| ticket.client != client);
        }
    }

    /// Gives the free resource to whoever stands at this place of the line.
    pub fn grant(&mut self, place: usize) -> Option<Ticket> {
        assert!(self.holder.is_none(), "granted while held");
        self.holder = self.line.remove(place);
        self.holder
    }

    /// Sends the last in line away, as if it had never asked.
    pub fn refuse_last(&mut self) {
        if let Some(ticket) = self.line.pop_back() {
            let numbers = &mut self.clients[ticket.client.index()];
            numbers.asked = numbers.done;
        }
    }

    /// Whether this request of a client is known to be over.
    pub fn is_over(&self, client: NodeId, seq: u32) -> bool {
        seq <= self.clients[client.index()].done
    }

    /// Forgets what is never looked at: the last number of a client that has no open request, and
    /// since when the holder stood in line.
    pub fn forget(&mut self) {
        for numbers in &mut self.clients {
            numbers.asked = numbers.asked.max(numbers.done);
        }
        if let Some(holder) = &mut self.holder {
            holder.time = 0;
        }
    }

    /// This desk with new names for all clients.
    pub fn renamed(&self, names: &[NodeId]) -> Self {
        let rename = |ticket: Ticket| Ticket { client: names[ticket.client.index()], ..ticket };
        Self {
            holder: self.holder.map(rename),
            line: self.line.iter().copied().map(rename).collect(),
            clients: moved(&self.clients, names),
        }
    }

    /// Shows every number that is known of a client's requests.
    pub fn each_number(&mut self, client: NodeId, show: &mut dyn FnMut(&mut u32)) {
        let numbers = &mut self.clients[client.index()];
        show(&mut numbers.asked);
        show(&mut numbers.done);
        for ticket in self.holder.iter_mut().chain(&mut self.line) {
            if ticket.client == client {
                show(&mut ticket.seq);
            }
        }
    }

    /// Shows the logical times of all who stand in line.
    pub fn each_time(&mut self, show: &mut dyn FnMut(&mut u64)) {
        self.line.iter_mut().for_each(|ticket| show(&mut ticket.time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(client: u32, seq: u32) -> Ticket {
        Ticket { client: NodeId(client), seq, time: 0 }
    }

    /// Client 0 holds with its request 1, client 1 waits with its request 1.
    fn one_inside_one_waiting() -> Desk {
        let mut desk = Desk::new(3);
        assert_eq!(desk.request(ticket(0, 1)), Arrival::New);
        assert_eq!(desk.grant(0), Some(ticket(0, 1)));
        assert_eq!(desk.request(ticket(1, 1)), Arrival::New);
        desk
    }

    #[test]
    fn repetitions_are_recognised() {
        let mut desk = one_inside_one_waiting();
        assert_eq!(desk.request(ticket(0, 1)), Arrival::Holds);
        assert_eq!(desk.request(ticket(1, 1)), Arrival::Waits);
        assert_eq!(desk.line().len(), 1);
    }

    #[test]
    fn a_request_overtaken_by_its_own_release_is_over() {
        let mut desk = one_inside_one_waiting();
        desk.release(NodeId(2), 1);
        assert_eq!(desk.request(ticket(2, 1)), Arrival::Over);
        assert_eq!(desk.request(ticket(2, 2)), Arrival::New);
    }

    #[test]
    fn a_release_of_the_holder_frees_and_of_another_withdraws() {
        let mut desk = one_inside_one_waiting();
        desk.release(NodeId(1), 1);
        assert!(desk.line().is_empty() && desk.holder() == Some(ticket(0, 1)));
        desk.release(NodeId(0), 1);
        assert_eq!(desk.holder(), None);
    }

    #[test]
    fn a_newer_request_ends_the_older_hold_and_its_late_release_changes_nothing() {
        let mut desk = one_inside_one_waiting();
        assert_eq!(desk.request(ticket(0, 2)), Arrival::New);
        assert_eq!(desk.grant(0), Some(ticket(1, 1)));
        desk.release(NodeId(0), 1);
        assert_eq!(desk.holder(), Some(ticket(1, 1)));
        assert_eq!(desk.line(), &[ticket(0, 2)]);
    }

    #[test]
    fn a_newer_request_takes_the_place_of_the_one_in_line() {
        let mut desk = one_inside_one_waiting();
        assert_eq!(desk.request(ticket(2, 1)), Arrival::New);
        assert_eq!(desk.request(ticket(1, 2)), Arrival::New);
        assert_eq!(desk.line(), &[ticket(2, 1), ticket(1, 2)]);
        assert_eq!(desk.request(ticket(1, 1)), Arrival::Over);
    }

    #[test]
    fn who_was_refused_may_ask_again_with_the_same_number() {
        let mut desk = one_inside_one_waiting();
        desk.refuse_last();
        assert!(desk.line().is_empty());
        assert_eq!(desk.request(ticket(1, 1)), Arrival::New);
    }
}
