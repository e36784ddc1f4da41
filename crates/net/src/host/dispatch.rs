//! Event dispatch: the machines of a node and its application take one event at a time.
//!
//! Whatever comes in (news, a command, a timer) is carried through to its end: the machine takes
//! its step, the application hears of it, and what the application then wants of machines is done
//! in the order in which it was said.

use super::HostError;
use super::link::Arrival;
use super::state::{HostState, Resident, Work};
use super::warnings::named;
use crate::recording::{Done, Entry, Step};
use crate::store::Kept;
use crate::{Application, Deed, Foreign, Input, Key, Lane, News, Packet, Stepped};
use conclave_core::{NodeId, Ticks};

pub(super) struct Dispatcher<U> {
    pub(super) application: U,
    pub(super) state: HostState,
}

impl<U: Application> Dispatcher<U> {
    /// Brings back what the disk kept, and lets the application begin.
    pub(super) fn begin(&mut self, kept: Kept) -> Result<(), HostError> {
        for (key, machine) in &kept.machines {
            let unknown = || HostError::Unknown(key.clone());
            let (automaton, _) = self.application.machine(key).ok_or_else(unknown)?;
            let mut resident = Resident::new(automaton);
            let restored = resident.automaton.restore(&machine.saved);
            if restored.is_err() || resident.survival != machine.survival {
                return Err(unknown());
            }
            self.state.restored(key, resident, machine);
        }
        // Restarts are queued by now, so they come before anything that the application wants.
        self.application.begin(kept.application, &mut self.state);
        self.carry_out();
        Ok(())
    }

    pub(super) fn hear(&mut self, news: News) -> Result<(), HostError> {
        match news {
            News::Arrived { from, packet } => self.arrived(from, packet),
            News::Acknowledged { by, number } => self.state.acknowledged(by, number),
            News::Connected { to } => self.link(to, true),
            News::Disconnected { to, .. } => self.link(to, false),
            News::Met { peer, identity, incarnation, nonce } => {
                self.state.met(peer, identity, incarnation, nonce);
            }
            News::Disowned { by, reason } => return Err(HostError::Disowned { by, reason }),
            News::OldCopy { by, reason } => return Err(HostError::OldCopy { by, reason }),
        }
        self.carry_out();
        Ok(())
    }

    pub(super) fn command(&mut self, command: U::Command) {
        self.application.command(command, &mut self.state);
        self.carry_out();
    }

    /// Fires what is due, in order of the deadlines, and wakes the application if it is time.
    pub(super) fn tick(&mut self) {
        for place in self.state.timers.due_by(self.state.now) {
            if let Some((key, name)) = self.state.timers.take(place) {
                let input = Input::Timer(name);
                self.state.queue.push_back(Work { key, input, arrival: None });
                self.carry_out();
            }
        }
        if self.state.wake.is_some_and(|at| at <= self.state.now) {
            self.state.wake = None;
            self.application.wake(&mut self.state);
            self.carry_out();
        }
    }

    /// When there will be something to do even if nobody says anything.
    pub(super) fn next(&self) -> Option<Ticks> {
        [self.state.timers.next(), self.state.wake].into_iter().flatten().min()
    }

    fn link(&mut self, peer: NodeId, connected: bool) {
        let Some(link) = self.state.links.get_mut(peer.index()) else { return };
        link.turns(connected, self.state.now);
        self.application.link(peer, connected, &mut self.state);
    }

    fn arrived(&mut self, from: NodeId, packet: Packet) {
        let Some(link) = self.state.links.get_mut(from.index()) else { return };
        let arrival = link.arrives(packet.lane, packet.number);
        if packet.lane == Lane::Durable && arrival != Arrival::Early {
            self.state.gathered.acknowledgements.insert(from, link.kept.received);
        }
        match arrival {
            Arrival::Again => {}
            Arrival::Early => {
                let number = packet.number;
                let what = format!("node {from} sent message {number} before those before it");
                self.state.warnings.say(self.state.now, what);
            }
            Arrival::Next => {
                let arrival = Some((packet.lane, packet.number));
                let input = Input::Message { from, bytes: packet.bytes };
                self.state.queue.push_back(Work { key: packet.key, input, arrival });
            }
        }
    }

    fn carry_out(&mut self) {
        while let Some(work) = self.state.queue.pop_front() {
            if !self.state.machines.contains_key(&work.key) {
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
            Input::Request(_) | Input::Message { .. } => self.application.machine(&key),
            // Nobody is made only to be told something, and the rest cannot come without one.
            Input::Indication(_) | Input::Timer(_) | Input::Start | Input::Restart => return,
        };
        let Some((automaton, first)) = made else {
            let name = named(&key);
            let what = format!("nothing goes by the name of {name} here; passed over");
            return self.state.warnings.say(self.state.now, what);
        };
        self.state.machines.insert(key.clone(), Resident::new(automaton));
        self.state.call_for(&key);
        let later = std::mem::take(&mut self.state.queue);
        self.step(Work { key: key.clone(), input: first, arrival: None });
        self.application.created(&key, &mut self.state);
        self.state.queue.push_back(work);
        self.state.queue.extend(later);
    }

    /// One step. If it panics, the process must not go on as if nothing had happened: the host's
    /// thread ends with it, and in a release build the whole process.
    fn step(&mut self, work: Work) {
        let Some(resident) = self.state.machines.get_mut(&work.key) else { return };
        let Stepped { deeds, choices } = match resident.automaton.step(&work.input) {
            Ok(stepped) => stepped,
            Err(foreign) => return self.refused(&work, &foreign),
        };
        let Work { key, input, arrival } = work;
        self.state.touch(&key);
        let deeds: Vec<Done> = deeds.into_iter().map(|deed| self.prepare(&key, deed)).collect();
        let words: Vec<Deed> =
            deeds.iter().map(|done| &done.deed).filter(is_word).cloned().collect();
        if self.state.recording {
            // Now, for whatever comes of these words is another step.
            let step =
                Step { at: self.state.now, key: key.clone(), input, arrival, choices, deeds };
            self.state.gathered.entries.push(Entry::Step(step));
        }
        self.pass_on(&key, words);
    }

    /// Messages get their numbers and timers their moments.
    fn prepare(&mut self, key: &Key, deed: Deed) -> Done {
        let mut sent = None;
        let mut due = None;
        match &deed {
            Deed::Send { to, kind, bytes } => sent = self.state.send(key, *to, kind, bytes),
            Deed::SetTimer { timer, after } => {
                due = Some(self.state.timers.set(self.state.now, key, timer, *after));
            }
            Deed::CancelTimer { timer } => self.state.timers.cancel(key, timer),
            Deed::Indicate(_) | Deed::Request(_) => {}
        }
        Done { deed, sent, due }
    }

    /// The application hears what the machine said, in order.
    fn pass_on(&mut self, key: &Key, words: Vec<Deed>) {
        for word in words {
            match word {
                Deed::Indicate(told) => self.application.told(key, told, &mut self.state),
                Deed::Request(asked) => self.application.asked(key, asked, &mut self.state),
                Deed::Send { .. } | Deed::SetTimer { .. } | Deed::CancelTimer { .. } => {}
            }
        }
    }

    fn refused(&mut self, work: &Work, foreign: &Foreign) {
        match &work.input {
            Input::Message { from, .. } => {
                let name = named(&work.key);
                let what = format!("a message of node {from} for {name} is {foreign}");
                self.state.warnings.say(self.state.now, what);
            }
            // Machines that have no ear for something are passed over; that is part of the bargain.
            Input::Request(_) | Input::Indication(_) => {}
            Input::Start | Input::Restart | Input::Timer(_) => {
                let what = format!("{} was given something that is {foreign}", named(&work.key));
                self.state.warnings.say(self.state.now, what);
            }
        }
    }
}

fn is_word(deed: &&Deed) -> bool {
    matches!(deed, Deed::Indicate(_) | Deed::Request(_))
}
