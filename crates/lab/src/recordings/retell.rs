//! Replays one state machine on all nodes from their recordings, and writes the run down as a
//! trace.

use super::judge::Judge;
use super::merge::{Happening, Merged, OnDisk};
use super::post::{Difference, Letter, Post, different};
use super::{Clocks, Place, Tapes};
use crate::machines::{Kind, Played, Player};
use conclave_core::clock::Vector;
use conclave_core::{NodeId, Property, Ticks, Verdict, Violation};
use conclave_net::recording::{Done, Restored, Step};
use conclave_net::{Deed, Input, Lane, Survival};
use conclave_sim::Ending;
use conclave_sim::trace::erased::{AnyEffect, AnyEvent, AnyMessage, Described};
use conclave_sim::trace::{Record, Recorder};
use std::collections::BTreeMap;

/// Links keep a message that may be lost for a second, and not longer.
const UNDER_WAY_MAX: Ticks = Ticks::units(1_000);

/// A real run, told again.
pub struct Retold {
    /// The run written down: all of a trace but its header.
    pub records: Vec<Record>,
    /// How many steps were run again.
    pub steps: u64,
    /// What became of each promise.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The broken ones.
    pub violations: Vec<Violation>,
}

/// What is known of the whole run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The tapes.
    pub tapes: &'a Tapes,
    /// Which message is which.
    pub post: &'a Post,
    /// When that was.
    pub clocks: &'a Clocks,
    /// What happened, in order.
    pub merged: &'a Merged<'a>,
}

/// Runs it again; or where it does not do what was recorded.
pub fn retell(kind: &Kind, run: Run<'_>) -> Result<Retold, Difference> {
    let n = run.tapes.header().n;
    let mut retelling = Retelling {
        kind,
        run,
        nodes: (0..n).map(|_| Node::default()).collect(),
        stamps: BTreeMap::new(),
        judge: (kind.judge)(n),
        recorder: Recorder::default(),
        end: run.merged.happenings.last().map_or(Ticks::ZERO, |(at, ..)| *at),
        steps: 0,
    };
    for (at, node, happening) in &run.merged.happenings {
        match *happening {
            Happening::Step(place) => retelling.step(*at, *node, place)?,
            Happening::Gone(returns) => retelling.gone(*at, *node, returns),
            Happening::Back(place, on_disk) => retelling.back(*at, *node, place, on_disk)?,
            Happening::Unseen(letter, place) => retelling.unseen(*at, letter, place)?,
        }
    }
    Ok(retelling.finish())
}

/// A node as far as it has been run.
#[derive(Default)]
struct Node {
    machine: Option<Box<dyn Player>>,
    /// Whether it certainly had one at any time before.
    had_one: bool,
    /// Its running timers, and when each is due by the node's own clock.
    timers: BTreeMap<Vec<u8>, Ticks>,
}

impl Node {
    fn has(&mut self, machine: Box<dyn Player>) {
        self.machine = Some(machine);
        self.had_one = true;
    }
}

struct Retelling<'a> {
    kind: &'a Kind,
    run: Run<'a>,
    nodes: Vec<Node>,
    /// What messages under way carry, where causes are followed.
    stamps: BTreeMap<Letter, Vector>,
    judge: Box<dyn Judge>,
    recorder: Recorder,
    end: Ticks,
    steps: u64,
}

impl Retelling<'_> {
    fn step(&mut self, at: Ticks, id: NodeId, place: Place) -> Result<(), Difference> {
        let Some(step) = self.run.tapes.step(place) else { return Ok(()) };
        let wrong = |what: String| different(place, format!("node {id} {what}"));
        let exists = self.nodes[id.index()].machine.is_some();
        match step.input {
            Input::Start if exists => return Err(wrong("starts twice".to_string())),
            // One that is made late begins as one that came back.
            Input::Start | Input::Restart if !exists => {
                let machine = self.fresh(id);
                self.nodes[id.index()].has(machine);
            }
            Input::Start
            | Input::Restart
            | Input::Request(_)
            | Input::Indication(_)
            | Input::Message { .. }
            | Input::Timer(_) => {}
        }
        let foreign = |foreign| wrong(format!("is given what is {foreign}"));
        let event = self.event(id, step).map_err(wrong)?;
        self.judge_event(at, id, step).map_err(wrong)?;
        let Some(machine) = &mut self.nodes[id.index()].machine else { return Ok(()) };
        self.recorder.begins(at, id, event);
        let played = machine.play(&step.input, &step.choices).map_err(foreign)?;
        compare(&played, step).map_err(wrong)?;
        self.steps += 1;
        played.choices.iter().for_each(|&choice| self.recorder.chose(choice));
        for ((_, effect), done) in played.deeds.into_iter().zip(&step.deeds) {
            self.effect(at, id, effect, (place.tape, done)).map_err(wrong)?;
        }
        self.recorder.ends();
        Ok(())
    }

    fn fresh(&self, node: NodeId) -> Box<dyn Player> {
        (self.kind.make)(node, 0)
    }

    /// What happens to the machine, which must be something that can happen to it now.
    fn event(&mut self, id: NodeId, step: &Step) -> Result<Described, String> {
        let node = &mut self.nodes[id.index()];
        let machine = node.machine.as_ref().ok_or("acts before it was started")?;
        let event = machine
            .describe(&step.input)
            .map_err(|foreign| format!("is given what is {foreign}"))?;
        if let Input::Timer(name) = &step.input {
            let due = node.timers.remove(name).ok_or("has no such timer running")?;
            if due > step.at {
                return Err("has a timer that fires before its time".to_string());
            }
        }
        Ok(event)
    }

    fn judge_event(&mut self, at: Ticks, id: NodeId, step: &Step) -> Result<(), String> {
        match &step.input {
            Input::Request(asked) => self.judge.asked(id, *asked, at)?,
            Input::Message { .. } => {
                let carried = Letter::taken(id, step).and_then(|it| self.stamps.remove(&it));
                carried.iter().for_each(|carried| self.judge.received(id, carried));
            }
            Input::Start | Input::Restart | Input::Indication(_) | Input::Timer(_) => {}
        }
        Ok(())
    }

    /// Writes down what it wants done, and what became of it.
    fn effect(
        &mut self,
        at: Ticks,
        id: NodeId,
        effect: AnyEffect,
        (tape, done): (usize, &Done),
    ) -> Result<(), String> {
        match effect {
            AnyEffect::Send { to, message } => {
                let letter = done.sent.map(|(lane, number)| Letter { from: id, to, lane, number });
                let arrival = letter.and_then(|letter| self.arrival(&letter, at));
                let stamp = letter.and_then(|letter| Some((letter, self.judge.sent(id)?)));
                self.stamps.extend(stamp);
                self.recorder.sends(to, message, arrival, Vec::new());
            }
            AnyEffect::SetTimer { timer, after } => {
                let due = done.due.unwrap_or_default();
                if let Deed::SetTimer { timer, .. } = &done.deed {
                    self.nodes[id.index()].timers.insert(timer.clone(), due);
                }
                let until = self.run.clocks.at(tape, due) - self.run.merged.zero;
                let until = Ticks(until.unsigned_abs()).max(at);
                self.recorder.sets_timer(timer, after, until);
            }
            AnyEffect::CancelTimer(timer) => {
                if let Deed::CancelTimer { timer } = &done.deed {
                    self.nodes[id.index()].timers.remove(timer);
                }
                self.recorder.cancels_timer(timer);
            }
            AnyEffect::Indicate(told) => {
                if let Deed::Indicate(told) = done.deed {
                    self.judge.told(id, told, at)?;
                }
                self.recorder.indicates(told);
            }
            AnyEffect::Request(asked) => self.recorder.asks(asked),
        }
        Ok(())
    }

    /// When a message that is sent now arrives. Of those that never do, one is lost if it could be
    /// and a later one of its way was received, or there was time enough; others are under way.
    fn arrival(&self, letter: &Letter, now: Ticks) -> Option<Ticks> {
        if let Some(at) = self.run.merged.arrivals.get(letter) {
            return Some(*at);
        }
        if self.run.merged.goes_on[letter.to.index()] {
            return Some(now + self.run.merged.usual);
        }
        let later = *letter..Letter { number: u64::MAX, ..*letter };
        let overtaken = self.run.post.received.range(later).next().is_some();
        let late = self.end.since(now) > UNDER_WAY_MAX;
        let lost = (overtaken || late) && letter.lane == Lane::Transient;
        (!lost).then_some(self.end + Ticks::UNIT)
    }

    /// A machine whose whole state is on disk is merely slow if its node comes back, and holds
    /// what it held if not.
    fn gone(&mut self, at: Ticks, node: NodeId, returns: bool) {
        match self.kind.survival {
            Survival::Whole if returns => self.recorder.happens(Record::Pause { at, node }),
            Survival::Whole => self.recorder.crashes(at, node),
            Survival::Returns | Survival::Forgets => {
                self.recorder.crashes(at, node);
                self.judge.crashed(node, at);
            }
        }
    }

    fn back(
        &mut self,
        at: Ticks,
        id: NodeId,
        place: Place,
        on_disk: OnDisk<'_>,
    ) -> Result<(), Difference> {
        match self.kind.survival {
            Survival::Whole => self.recorder.happens(Record::Resume { at, node: id }),
            Survival::Returns | Survival::Forgets => {
                let amnesia = matches!(on_disk, OnDisk::Nothing);
                self.recorder.happens(Record::Restart { at, node: id, amnesia });
                self.judge.returned(id);
            }
        }
        match on_disk {
            OnDisk::Kept(restored) => self.restore(at, id, place, restored),
            OnDisk::Nothing => {
                let node = &mut self.nodes[id.index()];
                node.machine = None;
                node.timers = BTreeMap::new();
                // What is on a tape was on disk before, even if the tape was cut off later.
                if node.had_one && self.kind.survival != Survival::Forgets {
                    let what = format!("node {id} came back without what it had on disk");
                    return Err(different(place, what));
                }
                Ok(())
            }
            OnDisk::Unknown => {
                self.nodes[id.index()].machine = None;
                self.lose_sight(at, id);
                Ok(())
            }
        }
    }

    /// It goes on with what was on disk, which must be what it had, unless it went through a gap.
    fn restore(
        &mut self,
        at: Ticks,
        id: NodeId,
        place: Place,
        restored: &Restored,
    ) -> Result<(), Difference> {
        let wrong = |what: &str| different(place, format!("node {id} {what}"));
        let mut machine = self.fresh(id);
        machine.restore(&restored.saved).map_err(|_| wrong("came back as something else"))?;
        let node = &mut self.nodes[id.index()];
        let timers: BTreeMap<_, _> = restored.timers.iter().cloned().collect();
        let ran = match self.kind.survival {
            Survival::Whole => std::mem::take(&mut node.timers),
            Survival::Returns | Survival::Forgets => BTreeMap::new(),
        };
        let before = node.machine.replace(machine);
        node.had_one = true;
        node.timers = timers;
        let other = match before {
            None => Some("came back with what it never had"),
            Some(before) if before.saved() != restored.saved => {
                Some("came back with another state than it had")
            }
            Some(_) if !ran.keys().eq(node.timers.keys()) => {
                Some("came back with other timers than ran")
            }
            Some(_) => None,
        };
        let Some(other) = other else { return Ok(()) };
        if !self.run.tapes.has_gap_before(place.tape) {
            return Err(wrong(other));
        }
        self.lose_sight(at, id);
        Ok(())
    }

    fn lose_sight(&mut self, at: Ticks, node: NodeId) {
        self.recorder.unseen(at, node);
        self.recorder.ends();
        self.judge.lost_sight(node, at);
    }

    /// A message that is known only from where it arrived.
    fn unseen(&mut self, at: Ticks, letter: Letter, place: Place) -> Result<(), Difference> {
        let Some(step) = self.run.tapes.step(place) else { return Ok(()) };
        let wrong = |what: String| different(place, what);
        let described = self.fresh(letter.to).describe(&step.input);
        let described = described
            .map_err(|foreign| wrong(format!("node {} is given what is {foreign}", letter.to)))?;
        let Described { event, label, details } = described;
        if let AnyEvent::Message { message, .. } = event {
            let arrival = self.run.merged.arrivals.get(&letter).copied();
            self.recorder.unseen(at, letter.from);
            let message = AnyMessage { name: label, details, value: message };
            self.recorder.sends(letter.to, message, arrival, Vec::new());
            self.recorder.ends();
            self.judge.lost_sight(letter.from, at);
        }
        Ok(())
    }

    fn finish(mut self) -> Retold {
        let (verdicts, violations) = self.judge.end(self.end);
        let records = self.recorder.finish(self.end, Ending::CutShort, &violations);
        Retold { records, steps: self.steps, verdicts, violations }
    }
}

/// Whether a machine did again what is recorded.
fn compare(played: &Played, step: &Step) -> Result<(), String> {
    let Played { deeds, choices } = played;
    if *choices != step.choices {
        return Err("makes other choices than recorded".to_string());
    }
    for ((again, _), done) in deeds.iter().zip(&step.deeds) {
        if *again != done.deed {
            return Err(format!("does {}, not {}", words(again), words(&done.deed)));
        }
    }
    match (deeds.get(step.deeds.len()), step.deeds.get(deeds.len())) {
        (None, None) => Ok(()),
        (Some((more, _)), _) => Err(format!("also does {}", words(more))),
        (None, Some(less)) => Err(format!("does not do {}", words(&less.deed))),
    }
}

/// A deed in a few words.
fn words(deed: &Deed) -> String {
    match deed {
        Deed::Send { to, kind, bytes } => {
            let bytes: String = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            format!("'send {kind} to node {to}' ({bytes})")
        }
        Deed::SetTimer { after, .. } => format!("'set a timer to {} to {}'", after.min, after.max),
        Deed::CancelTimer { .. } => "'stop a timer'".to_string(),
        Deed::Indicate(told) => format!("'tell {told:?}'"),
        Deed::Request(asked) => format!("'ask for {asked:?}'"),
    }
}
