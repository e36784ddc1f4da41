//! Carries out each move of a counterexample: a delivery, a loss, a crash, a request.

use super::law::Law;
use super::{Follower, UnderWay};
use crate::trace::Record;
use crate::trace::erased::{AnyEffect, AnyEvent, AnyMessage, AnyTimer, Misfit, value};
use crate::workload::Exercised;
use conclave_core::{Delay, IndicationFrom, Moment, Move, NodeId};
use serde::Deserialize;
use serde_json::Value;

/// Why something cannot happen, in words.
type Possible = Result<(), String>;

impl<S: Exercised> Follower<'_, '_, S> {
    pub(super) fn start(&mut self) -> Possible {
        (0..self.scene.nodes).try_for_each(|node| self.step(NodeId(node), &AnyEvent::Start, &[]))
    }

    pub(super) fn happens(&mut self, moment: &Moment) -> Possible {
        let choices = &moment.choices;
        self.exists(moment.act.node())?;
        match moment.act {
            Move::Deliver { from, to, place } => {
                let message = self.take(from, to, place)?;
                self.deliver(from, to, message, choices)
            }
            Move::Repeat { from, to, place } => {
                let message = self.find(from, to, place)?.clone();
                self.deliver(from, to, message, choices)
            }
            Move::Lose { from, to, place } => {
                let message = self.take(from, to, place)?;
                self.lost.insert(self.now, message.place as u64 + 1);
                Ok(())
            }
            Move::Fire { node, ref timer } => self.fire(node, timer, choices),
            Move::Acquire { node }
            | Move::Release { node }
            | Move::Cancel { node }
            | Move::Campaign { node } => self.ask(node, &moment.act, choices),
            Move::Crash { node } => self.is_up(node).map(|()| self.crash(node)),
            Move::Restart { node, amnesia } => self.restart(node, amnesia, choices),
            Move::Suspect { by, of } => {
                self.is_another(by, of)?;
                if self.nodes[of.index()].up && self.nodes[by.index()].up {
                    self.recorder.happens(Record::Suspect { at: self.now, by, of });
                }
                self.tell(by, (self.scene.suspicion)(of), choices)
            }
            Move::Trust { by, of } => {
                self.is_another(by, of)?;
                self.tell(by, (self.scene.trust)(of), choices)
            }
        }
    }

    fn exists(&self, node: NodeId) -> Possible {
        let known = node.index() < self.nodes.len();
        if known { Ok(()) } else { Err(format!("there is no node {node}")) }
    }

    /// No detector tells a node of itself.
    fn is_another(&self, by: NodeId, of: NodeId) -> Possible {
        self.exists(of)?;
        if by == of { Err(format!("{by} is told of itself")) } else { Ok(()) }
    }

    fn is_up(&self, node: NodeId) -> Possible {
        if self.nodes[node.index()].up { Ok(()) } else { Err(format!("{node} is down")) }
    }

    fn find(&self, from: NodeId, to: NodeId, place: usize) -> Result<&UnderWay, String> {
        let link = self.links.get(&(from, to));
        link.and_then(|link| link.get(place)).ok_or_else(|| {
            let ahead = link.map_or(0, Vec::len);
            format!("message {place} from {from} to {to} is wanted, but {ahead} are under way")
        })
    }

    fn take(&mut self, from: NodeId, to: NodeId, place: usize) -> Result<UnderWay, String> {
        let message = self.find(from, to, place)?.clone();
        self.links.entry((from, to)).or_default().remove(place);
        Ok(message)
    }

    fn deliver(&mut self, from: NodeId, to: NodeId, taken: UnderWay, choices: &[u32]) -> Possible {
        self.fates.messages[taken.place].push(self.now);
        let event = AnyEvent::Message { from, message: taken.message };
        if !self.nodes[to.index()].up {
            self.recorder.loses(self.now, to, &event);
            return Ok(());
        }
        if let (Some(stamp), Some(causality)) = (&taken.stamp, self.law.causality()) {
            causality.received(to, stamp);
        }
        self.step(to, &event, choices)
    }

    fn fire(&mut self, node: NodeId, name: &str, choices: &[u32]) -> Possible {
        self.is_up(node)?;
        let timers = &mut self.nodes[node.index()].timers;
        let running = timers.iter().position(|(timer, _)| timer.debug == name);
        let running = running.ok_or_else(|| format!("timer {name} of {node} does not run"))?;
        let (timer, place) = timers.remove(running);
        self.fates.timers[place] = Some(self.now);
        self.step(node, &AnyEvent::Timer(timer.value), choices)
    }

    fn ask(&mut self, node: NodeId, act: &Move, choices: &[u32]) -> Possible {
        self.is_up(node)?;
        let cannot = || format!("the user of {node} cannot do this now");
        let client = node.0 < self.scene.clients;
        let asked = if client { self.law.asks(act, self.now) } else { None };
        let asked = asked.ok_or_else(cannot)?;
        self.step(node, &AnyEvent::Request(value(&asked)), choices)
    }

    fn tell(&mut self, node: NodeId, told: Option<Value>, choices: &[u32]) -> Possible {
        self.is_up(node)?;
        let told = told.ok_or_else(|| format!("{node} listens to no detector"))?;
        self.step(node, &AnyEvent::Indication(told), choices)
    }

    fn crash(&mut self, id: NodeId) {
        self.recorder.crashes(self.now, id);
        let node = &mut self.nodes[id.index()];
        node.up = false;
        node.process.crash();
        node.timers.clear();
        self.law.crashed(id, self.now);
    }

    /// A node that is up goes down first: a restart in one instant.
    fn restart(&mut self, id: NodeId, amnesia: bool, choices: &[u32]) -> Possible {
        if self.nodes[id.index()].up {
            self.crash(id);
        }
        self.recorder.happens(Record::Restart { at: self.now, node: id, amnesia });
        let node = &mut self.nodes[id.index()];
        node.up = true;
        node.process.restart(amnesia);
        self.law.returned(id);
        self.step(id, &AnyEvent::Restart, choices)
    }

    /// One atomic action of one node, and all it leads to.
    fn step(&mut self, node: NodeId, event: &AnyEvent, choices: &[u32]) -> Possible {
        let process = &mut self.nodes[node.index()].process;
        let foreign = || format!("{node} is given what is no event of its algorithm");
        let described = process.describe(event).ok_or_else(foreign)?;
        let effects = process.act(event, choices).map_err(|misfit| match misfit {
            Misfit::Choices => format!("{node} makes other choices than {choices:?}"),
            Misfit::Event => foreign(),
        })?;
        self.recorder.begins(self.now, node, described);
        effects.into_iter().try_for_each(|effect| self.carry_out(node, effect))?;
        choices.iter().for_each(|&choice| self.recorder.chose(choice));
        self.recorder.ends();
        Ok(())
    }

    fn carry_out(&mut self, node: NodeId, effect: AnyEffect) -> Possible {
        match effect {
            AnyEffect::Send { to, message } => self.send(node, to, message),
            AnyEffect::SetTimer { timer, after } => self.set_timer(node, timer, after),
            AnyEffect::CancelTimer(timer) => {
                let timers = &mut self.nodes[node.index()].timers;
                timers.retain(|(running, _)| *running != timer);
                self.recorder.cancels_timer(timer);
            }
            AnyEffect::Indicate(told) => {
                let unasked = || format!("{node} tells its user what nobody asked");
                let indication = IndicationFrom::<S>::deserialize(&told).map_err(|_| unasked())?;
                self.recorder.indicates(told);
                self.law.told(node, indication, self.now).ok_or_else(unasked)?;
            }
            AnyEffect::Request(asked) => self.recorder.asks(asked),
        }
        Ok(())
    }

    fn send(&mut self, from: NodeId, to: NodeId, message: AnyMessage) {
        let place = self.fates.messages.len();
        self.fates.messages.push(Vec::new());
        let known = self.known.messages.get(place).map_or(&[][..], Vec::as_slice);
        let again = known.get(1..).unwrap_or_default().to_vec();
        let value = message.value.clone();
        self.recorder.sends(to, message, known.first().copied(), again);
        let stamp = self.law.causality().map(|causality| causality.sent(from).clone());
        let link = self.links.entry((from, to)).or_default();
        link.push(UnderWay { place, message: value, stamp });
    }

    fn set_timer(&mut self, node: NodeId, timer: AnyTimer, after: Delay) {
        let place = self.fates.timers.len();
        self.fates.timers.push(None);
        let known = self.known.timers.get(place).copied().flatten();
        let until = known.unwrap_or_else(|| self.after());
        self.recorder.sets_timer(timer.clone(), after, until);
        let timers = &mut self.nodes[node.index()].timers;
        timers.retain(|(running, _)| *running != timer);
        timers.push((timer, place));
    }
}
