//! Runs every node of a recording again, and sees whether it does the same.
//!
//! A recording may have been changed by hand, so nothing in it is believed: a node is given only
//! what could have happened to it by the laws of its service and of the network. That matters for
//! more than honesty, since a process may rely on these laws and stop the program otherwise.

mod again;

use super::erased::{AnyEvent, AnyProcess, Described, Erased, Fresh};
use super::{Cause, Record, Step, Trace};
use crate::patience::Patience;
use conclave_core::{NodeId, Process, Ticks};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Where a recording and the run of it part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line of the recording, from 1.
    pub line: usize,
    /// When that was.
    pub at: Ticks,
    /// What is different.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, at {}: {}", self.line, self.at, self.what)
    }
}

/// Runs every node again, from the state that `fresh` makes, and tells how many steps were run; or
/// the first thing that is not as recorded.
pub fn verify<P: Process>(
    trace: &Trace,
    fresh: &Fresh<P>,
    patience: Patience,
) -> Result<u64, Box<Difference>> {
    replay(trace, patience, &|node| Box::new(Erased::new(node, fresh)))
}

fn replay<'a>(
    trace: &Trace,
    patience: Patience,
    process: &dyn Fn(NodeId) -> Box<dyn AnyProcess + 'a>,
) -> Result<u64, Box<Difference>> {
    let mut replay = Replay::new(trace, patience, process);
    for (place, record) in trace.records.iter().enumerate() {
        replay.happens(trace, place, record)?;
    }
    Ok(replay.steps)
}

/// A node as far as it has been run.
pub(super) struct Node<'a> {
    pub(super) process: Box<dyn AnyProcess + 'a>,
    status: Status,
    phase: Phase,
    /// What it may be given next only because of this.
    owed: Option<Owed>,
    /// Whether its state is known: not after it did what nobody saw.
    pub(super) known: bool,
    /// Running timers, with when they fire.
    timers: Vec<(Value, Ticks)>,
}

impl Node<'_> {
    /// Whether it may be told now that it starts, or is back.
    fn begins(&mut self, event: &AnyEvent) -> bool {
        match (self.owed.take(), *event == AnyEvent::Start) {
            (Some(Owed::Start | Owed::Either), true)
            | (Some(Owed::Restart | Owed::Either), false) => true,
            // Made late, it begins as if it came back.
            (Some(Owed::Start), false) => {
                self.process.begin_late();
                true
            }
            (Some(Owed::Restart), true) | (None, _) => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Up,
    Down,
    Paused,
}

/// Where the application stands; what it may ask depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owed {
    Start,
    Restart,
    /// It remembers nothing, and may not even know that it has been there before.
    Either,
}

/// A message that was sent.
struct Sent {
    from: NodeId,
    to: NodeId,
    content: Value,
    /// When it may still arrive.
    arrivals: Vec<Ticks>,
}

/// The nodes of a trace, run again as far as it has been gone through.
pub(super) struct Replay<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    sent: BTreeMap<u64, Sent>,
    now: Ticks,
    steps: u64,
    /// How long somebody waits for it.
    patience: Patience,
}

type Checked = Result<(), String>;

impl<'a> Replay<'a> {
    pub(super) fn new(
        trace: &Trace,
        patience: Patience,
        process: &dyn Fn(NodeId) -> Box<dyn AnyProcess + 'a>,
    ) -> Self {
        let node = |node| Node {
            process: process(node),
            status: Status::Up,
            phase: Phase::Idle,
            owed: Some(Owed::Start),
            known: true,
            timers: Vec::new(),
        };
        let nodes = trace.header.all().map(node).collect();
        Self { nodes, sent: BTreeMap::new(), now: Ticks::ZERO, steps: 0, patience }
    }

    /// The next record of the trace, at this place in it.
    pub(super) fn happens(
        &mut self,
        trace: &Trace,
        place: usize,
        record: &Record,
    ) -> Result<(), Box<Difference>> {
        let late = || Err("this takes too long to run again".to_string());
        let happened = if self.patience.is_over() { late() } else { self.record(record) };
        happened.map_err(|what| {
            let what = trace.header.tell(&what);
            Box::new(Difference { line: place + 2, at: record.at(), what })
        })
    }

    fn record(&mut self, record: &Record) -> Checked {
        let judged = matches!(record, Record::Violation(_)); // Told when the run is over.
        if !judged && record.at() < self.now {
            return Err(format!("this was after {}", self.now));
        }
        self.now = if judged { self.now } else { record.at() };
        match record {
            Record::Step(step) => self.step(step)?,
            Record::Lost { node, number, .. } => self.lost(*node, *number)?,
            Record::Dead { node } => {
                self.node(*node).status = Status::Down;
                self.node(*node).owed = None;
            }
            Record::Crash { node, .. } => self.crash(*node),
            Record::Restart { node, amnesia, .. } => self.restart(*node, *amnesia),
            Record::Pause { node, .. } => self.turns(*node, Status::Up, Status::Paused),
            Record::Resume { node, .. } => self.turns(*node, Status::Paused, Status::Up),
            Record::Partition { .. }
            | Record::Heal { .. }
            | Record::Suspect { .. }
            | Record::Violation(_)
            | Record::End { .. } => {}
        }
        Ok(())
    }

    /// A pause begins or ends. It wakes nobody who is down: only a restart does.
    fn turns(&mut self, node: NodeId, from: Status, to: Status) {
        let node = self.node(node);
        if node.status == from {
            node.status = to;
        }
    }

    fn node(&mut self, node: NodeId) -> &mut Node<'a> {
        &mut self.nodes[node.index()]
    }

    fn crash(&mut self, node: NodeId) {
        let node = self.node(node);
        if node.status != Status::Down {
            node.process.crash();
        }
        node.status = Status::Down;
        node.phase = Phase::Idle;
        node.owed = None;
        node.timers.clear();
    }

    fn restart(&mut self, id: NodeId, amnesia: bool) {
        if self.node(id).status != Status::Down {
            self.crash(id);
        }
        let node = self.node(id);
        node.process.restart(amnesia);
        node.status = Status::Up;
        node.known |= amnesia;
        node.owed = Some(if amnesia { Owed::Either } else { Owed::Restart });
    }

    fn lost(&mut self, node: NodeId, number: u64) -> Checked {
        let sent = self.sent.get_mut(&number).filter(|sent| sent.to == node);
        let sent = sent.ok_or_else(|| format!("nobody sent {} message {number}", node.mark()))?;
        sent.arrivals.pop();
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Checked {
        let who = step.node.mark();
        let now = self.now;
        match self.node(step.node).status {
            Status::Up => {}
            Status::Down => return Err(format!("{who} acts, but it is down")),
            Status::Paused => return Err(format!("{who} acts, but it is paused")),
        }
        match step.cause {
            Cause::Tell => return self.tell(step),
            Cause::Unseen => return self.unseen(step),
            Cause::Start
            | Cause::Restart
            | Cause::Request(_)
            | Cause::Indication(_)
            | Cause::Message { .. }
            | Cause::Timer(_) => {}
        }
        let foreign = || format!("{} is no event of this algorithm", short(&step.event));
        let event = AnyEvent::deserialize(&step.event).map_err(|_| foreign())?;
        let described = self.node(step.node).process.describe(&event).ok_or_else(foreign)?;
        let Described { event, label, .. } = described;
        if !self.nodes[step.node.index()].known {
            return self.believe(step, &event);
        }
        self.has_begun(step.node, &event)?;
        self.allowed(step, &event, label)?;
        let effects = again::act(step, &mut *self.node(step.node).process, &event)?;
        self.steps += 1;
        for (effect, recorded) in effects.into_iter().zip(&step.effects) {
            self.carry_out(now, step.node, effect, recorded)?;
        }
        Ok(())
    }

    /// A node that was down takes nothing before it has started again.
    fn has_begun(&mut self, node: NodeId, event: &AnyEvent) -> Checked {
        let begins = matches!(event, AnyEvent::Start | AnyEvent::Restart);
        match self.node(node).owed {
            Some(Owed::Restart | Owed::Either) if !begins => {
                Err(format!("{} has not started again yet", node.mark()))
            }
            Some(Owed::Start | Owed::Restart | Owed::Either) | None => Ok(()),
        }
    }

    /// Whether this could happen to the node now.
    fn allowed(&mut self, step: &Step, event: &AnyEvent, label: String) -> Checked {
        let now = self.now;
        let who = step.node.mark();
        let n = self.nodes.len();
        let described = again::cause(event, label, &step.cause);
        if described != step.cause {
            return Err(format!("the event is {described:?}, not {:?}", step.cause));
        }
        if let Cause::Message { number, from, .. } = step.cause {
            let content = match event {
                AnyEvent::Message { message, .. } => message,
                AnyEvent::Request(asked) => asked,
                AnyEvent::Start
                | AnyEvent::Restart
                | AnyEvent::Indication(_)
                | AnyEvent::Timer(_) => &Value::Null,
            };
            return self.arrives(step.node, number, from, content);
        }
        let node = self.node(step.node);
        match event {
            AnyEvent::Start | AnyEvent::Restart => match node.begins(event) {
                true => Ok(()),
                false => Err(format!("{who} has started already")),
            },
            AnyEvent::Request(asked) => again::may_ask(asked, n, &mut node.phase)
                .ok_or_else(|| format!("{who} cannot ask {} now", short(asked))),
            AnyEvent::Indication(told) => again::names_another(told, step.node, n)
                .then_some(())
                .ok_or_else(|| format!("{who} is told of itself, or of no node that exists")),
            AnyEvent::Timer(timer) => {
                let running = node.timers.iter().position(|(name, _)| name == timer);
                let place = running.ok_or(format!("{who} has no such timer running"))?;
                let (_, until) = node.timers.swap_remove(place);
                let early = format!("{who}'s timer fires before its time");
                if until <= now { Ok(()) } else { Err(early) }
            }
            AnyEvent::Message { .. } => Err(format!("{who} receives a message without a number")),
        }
    }

    fn arrives(&mut self, to: NodeId, number: u64, from: NodeId, content: &Value) -> Checked {
        let now = self.now;
        let who = to.mark();
        let sent = self.sent.get_mut(&number);
        let sent = sent.filter(|sent| sent.to == to && sent.from == from);
        let sent = sent.ok_or_else(|| format!("nobody sent {who} message {number}"))?;
        if sent.content != *content {
            let was = short(&sent.content);
            return Err(format!("message {number} said {was}, not {}", short(content)));
        }
        let due = sent.arrivals.iter().position(|arrival| *arrival <= now);
        let due = due.ok_or_else(|| format!("message {number} cannot have arrived at {who}"))?;
        sent.arrivals.remove(due);
        Ok(())
    }
}

/// The beginning of a value, on one line.
fn short(value: &Value) -> String {
    crate::error::excerpt(&value.to_string())
}
