//! The machines of a node and its application, taking one thing at a time.
//!
//! Whatever comes in (news, a command, a timer) is carried through to its end: the machine takes
//! its step, the application hears of it, and what the application then wants of machines is done
//! in the order in which it was said.

use super::HostError;
use super::complaints::named;
use super::link::Arrival;
use super::node::{Node, Resident, Work};
use crate::recording::{Done, Entry, Step};
use crate::store::Kept;
use crate::{Deed, Foreign, Input, Key, Lane, News, Packet, Stepped, Upper};
use conclave_core::{NodeId, Ticks};

pub(super) struct Life<U> {
    pub(super) upper: U,
    pub(super) node: Node,
}

impl<U: Upper> Life<U> {
    /// Brings back what the disk kept, and lets the application begin.
    pub(super) fn begin(&mut self, kept: Kept) -> Result<(), HostError> {
        for (key, machine) in &kept.machines {
            let unknown = || HostError::Unknown(key.clone());
            let (automaton, _) = self.upper.machine(key).ok_or_else(unknown)?;
            let mut resident = Resident::new(automaton);
            let restored = resident.automaton.restore(&machine.saved);
            if restored.is_err() || resident.survival != machine.survival {
                return Err(unknown());
            }
            self.node.restored(key, resident, machine);
        }
        // Restarts are queued by now, so they come before anything that the application wants.
        self.upper.begin(kept.application, &mut self.node);
        self.carry_out();
        Ok(())
    }

    pub(super) fn hear(&mut self, news: News) -> Result<(), HostError> {
        match news {
            News::Arrived { from, packet } => self.arrived(from, packet),
            News::Acknowledged { by, number } => self.node.acknowledged(by, number),
            News::Connected { to } => self.link(to, true),
            News::Disconnected { to, .. } => self.link(to, false),
            News::Met { peer, identity, incarnation } => {
                self.node.met(peer, identity, incarnation);
            }
            News::Disowned { by, reason } => return Err(HostError::Disowned { by, reason }),
            News::OldCopy { by, reason } => return Err(HostError::OldCopy { by, reason }),
        }
        self.carry_out();
        Ok(())
    }

    pub(super) fn command(&mut self, command: U::Command) {
        self.upper.command(command, &mut self.node);
        self.carry_out();
    }

    /// Fires what is due, in order of the deadlines, and wakes the application if it is time.
    pub(super) fn tick(&mut self) {
        for place in self.node.timers.due_by(self.node.now) {
            if let Some((key, name)) = self.node.timers.take(place) {
                let input = Input::Timer(name);
                self.node.queue.push_back(Work { key, input, arrival: None });
                self.carry_out();
            }
        }
        if self.node.wake.is_some_and(|at| at <= self.node.now) {
            self.node.wake = None;
            self.upper.wake(&mut self.node);
            self.carry_out();
        }
    }

    /// When there will be something to do even if nobody says anything.
    pub(super) fn next(&self) -> Option<Ticks> {
        [self.node.timers.next(), self.node.wake].into_iter().flatten().min()
    }

    fn link(&mut self, peer: NodeId, connected: bool) {
        let Some(link) = self.node.links.get_mut(peer.index()) else { return };
        link.turns(connected, self.node.now);
        self.upper.link(peer, connected, &mut self.node);
    }

    fn arrived(&mut self, from: NodeId, packet: Packet) {
        let Some(link) = self.node.links.get_mut(from.index()) else { return };
        let arrival = link.arrives(packet.lane, packet.number);
        if packet.lane == Lane::Durable && arrival != Arrival::Early {
            self.node.gathered.acknowledgements.insert(from, link.kept.received);
        }
        match arrival {
            Arrival::Again => {}
            Arrival::Early => {
                let number = packet.number;
                let what = format!("node {from} sent message {number} before those before it");
                self.node.complaints.say(self.node.now, what);
            }
            Arrival::Next => {
                let arrival = Some((packet.lane, packet.number));
                let input = Input::Message { from, bytes: packet.bytes };
                self.node.queue.push_back(Work { key: packet.key, input, arrival });
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(work) = self.node.queue.pop_front() {
            if !self.node.machines.contains_key(&work.key) {
                self.create_for(work);
            } else if !work.only_opens() {
                self.step(work);
            }
        }
    }

    /// Makes the machine that somebody asks or sends a message to. What the application tells it on
    /// that occasion comes before what it was made for, and that before all else.
    fn create_for(&mut self, work: Work) {
        let key = work.key.clone();
        let made = match work.input {
            Input::Asked(_) | Input::Message { .. } => self.upper.machine(&key),
            // Nobody is made only to be told something, and the rest cannot come without one.
            Input::Told(_) | Input::Timer(_) | Input::Start | Input::Restart => return,
        };
        let Some((automaton, first)) = made else {
            let name = named(&key);
            let what = format!("nothing goes by the name of {name} here; passed over");
            return self.node.complaints.say(self.node.now, what);
        };
        self.node.machines.insert(key.clone(), Resident::new(automaton));
        self.node.call_for(&key);
        let later = std::mem::take(&mut self.node.queue);
        self.step(Work { key: key.clone(), input: first, arrival: None });
        self.upper.created(&key, &mut self.node);
        self.node.queue.push_back(work);
        self.node.queue.extend(later);
    }

    /// One step. If it panics, the process must not go on as if nothing had happened: the host's
    /// thread ends with it, and in a release build the whole process.
    fn step(&mut self, work: Work) {
        let Some(resident) = self.node.machines.get_mut(&work.key) else { return };
        let Stepped { deeds, choices } = match resident.automaton.step(&work.input) {
            Ok(stepped) => stepped,
            Err(foreign) => return self.refused(&work, &foreign),
        };
        let Work { key, input, arrival } = work;
        self.node.touch(&key);
        let deeds: Vec<Done> = deeds.into_iter().map(|deed| self.prepare(&key, deed)).collect();
        let words: Vec<Deed> =
            deeds.iter().map(|done| &done.deed).filter(is_word).cloned().collect();
        if self.node.recording {
            // Now, for whatever comes of these words is another step.
            let step = Step { at: self.node.now, key: key.clone(), input, arrival, choices, deeds };
            self.node.gathered.entries.push(Entry::Step(step));
        }
        self.pass_on(&key, words);
    }

    /// Messages get their numbers and timers their moments.
    fn prepare(&mut self, key: &Key, deed: Deed) -> Done {
        let (mut sent, mut due) = (None, None);
        match &deed {
            Deed::Send { to, kind, bytes } => sent = self.node.send(key, *to, kind, bytes),
            Deed::SetTimer { timer, after } => {
                due = Some(self.node.timers.set(self.node.now, key, timer, *after));
            }
            Deed::CancelTimer { timer } => self.node.timers.cancel(key, timer),
            Deed::Tell(_) | Deed::Ask(_) => {}
        }
        Done { deed, sent, due }
    }

    /// The application hears what the machine said, in order.
    fn pass_on(&mut self, key: &Key, words: Vec<Deed>) {
        for word in words {
            match word {
                Deed::Tell(told) => self.upper.told(key, told, &mut self.node),
                Deed::Ask(asked) => self.upper.asked(key, asked, &mut self.node),
                Deed::Send { .. } | Deed::SetTimer { .. } | Deed::CancelTimer { .. } => {}
            }
        }
    }

    fn refused(&mut self, work: &Work, foreign: &Foreign) {
        match &work.input {
            Input::Message { from, .. } => {
                let name = named(&work.key);
                let what = format!("a message of node {from} for {name} is {foreign}");
                self.node.complaints.say(self.node.now, what);
            }
            // Machines that have no ear for something are passed over; that is part of the bargain.
            Input::Asked(_) | Input::Told(_) => {}
            Input::Start | Input::Restart | Input::Timer(_) => {
                let what = format!("{} was given something that is {foreign}", named(&work.key));
                self.node.complaints.say(self.node.now, what);
            }
        }
    }
}

fn is_word(deed: &&Deed) -> bool {
    matches!(deed, Deed::Tell(_) | Deed::Ask(_))
}
