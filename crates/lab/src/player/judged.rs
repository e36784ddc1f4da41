//! Judges a run from what was written down of it, event by event, by the monitors of its service.
//! A recording may have been changed by hand: what it says of itself is not believed, and what
//! could not have happened is left out.

use conclave_algorithms::catalog::Family;
use conclave_core::clock::Vector;
use conclave_core::{NodeId, Property, Ticks, Verdict, Violation, election, mutex};
use conclave_sim::Ending;
use conclave_sim::trace::{Cause, Effect, Record, Step, Told, Trace};
use std::collections::BTreeMap;

/// If nothing has moved for this long when a run is cut short, it is taken to have stalled.
const PATIENCE: Ticks = Ticks::units(1_000);

/// What became of each promise, and the broken ones with the event after which that was seen.
pub struct Judged {
    /// Each promise that is looked at.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The broken ones, first first.
    pub violations: Vec<(Violation, usize)>,
}

/// Judges the first events of a run.
pub fn judge(trace: &Trace, family: Family, events: usize) -> Judged {
    let n = trace.header.names.len() as u32;
    let events = events.min(trace.records.len());
    match family {
        Family::Mutex => watch(&mut Entries::new(n), &trace.records[..events]),
        Family::Election => {
            watch(&mut Leaders(election::Monitor::new(n), n), &trace.records[..events])
        }
        Family::Detector | Family::Clock => Judged { verdicts: Vec::new(), violations: Vec::new() },
    }
}

/// A monitor that is shown records.
trait Watcher {
    fn sees(&mut self, record: &Record);
    fn ends(&mut self, at: Ticks, complete: bool);
    fn violations(&self) -> &[Violation];
    fn verdicts(&self) -> Vec<(Property, Verdict)>;
}

fn watch(watcher: &mut impl Watcher, records: &[Record]) -> Judged {
    let mut seen = Vec::new();
    for (event, record) in (1..).zip(records) {
        if let Record::End { at, ending, .. } = record {
            watcher.ends(*at, *ending != Ending::CutShort);
        } else {
            watcher.sees(record);
        }
        seen.resize(watcher.violations().len(), event);
    }
    let violations = watcher.violations().iter().cloned().zip(seen).collect();
    Judged { verdicts: watcher.verdicts(), violations }
}

struct Entries {
    monitor: mutex::Monitor,
    /// What each message carried of its sender's past.
    stamps: BTreeMap<u64, Vector>,
}

impl Entries {
    fn new(n: u32) -> Self {
        let mut monitor = mutex::Monitor::new(n, None);
        monitor.watch_order();
        Self { monitor, stamps: BTreeMap::new() }
    }

    fn step(&mut self, step: &Step) {
        let Step { node, at, .. } = *step;
        if let Cause::Message { number, .. } = step.cause
            && let (Some(stamp), Some(causality)) =
                (self.stamps.get(&number), self.monitor.causality())
        {
            causality.received(node, stamp);
        }
        let waiting = self.monitor.is_waiting(node);
        let inside = self.monitor.is_inside(node);
        if let Cause::Request(asked) = &step.cause {
            match asked.as_str() {
                "Acquire" if !waiting && !inside => self.monitor.requested(node, at),
                "Release" if inside => self.monitor.released(node, at),
                "Cancel" if waiting => self.monitor.cancelled(node, at),
                _ => {}
            }
        }
        for effect in &step.effects {
            match effect {
                Effect::Send(sending) => {
                    let stamp = self.monitor.causality().map(|past| past.sent(node).clone());
                    self.stamps.extend(stamp.map(|stamp| (sending.number, stamp)));
                }
                Effect::Indicate { effect } => {
                    if let Told::Entered { fence } = Told::of(effect)
                        && self.monitor.is_waiting(node)
                    {
                        self.monitor.entered(node, fence, at);
                    }
                }
                Effect::SetTimer { .. } | Effect::CancelTimer { .. } | Effect::Request { .. } => {}
            }
        }
    }
}

impl Watcher for Entries {
    fn sees(&mut self, record: &Record) {
        match (record, gone(record)) {
            (Record::Step(step), _) => self.step(step),
            (_, Some((node, at))) => self.monitor.crashed(node, at),
            (_, None) => {}
        }
    }

    fn ends(&mut self, at: Ticks, complete: bool) {
        self.monitor.end(at, complete, PATIENCE);
    }

    fn violations(&self) -> &[Violation] {
        self.monitor.violations()
    }

    fn verdicts(&self) -> Vec<(Property, Verdict)> {
        Property::MUTEX.map(|property| (property, self.monitor.verdict(property))).into()
    }
}

/// The monitor, and how many nodes there are.
struct Leaders(election::Monitor, u32);

impl Watcher for Leaders {
    fn sees(&mut self, record: &Record) {
        if let Some((node, at)) = gone(record) {
            self.0.crashed(node, at);
        }
        if let Record::Restart { node, .. } = record {
            self.0.returned(*node);
        }
        let Some(step) = record.step() else { return };
        for told in step.told() {
            match told {
                // Of a node that nobody saw any leader is believed, but for one that is not there.
                Told::Elected { leader, term } if leader.0 < self.1 => {
                    self.0.elected(step.node, leader, term, step.at);
                }
                Told::Deposed => self.0.deposed(step.node, step.at),
                Told::Elected { .. }
                | Told::Entered { .. }
                | Told::Suspect(_)
                | Told::Trust(_)
                | Told::Other(_) => {}
            }
        }
    }

    fn ends(&mut self, at: Ticks, complete: bool) {
        self.0.end(None, at, complete, PATIENCE);
    }

    fn violations(&self) -> &[Violation] {
        self.0.violations()
    }

    fn verdicts(&self) -> Vec<(Property, Verdict)> {
        Property::ELECTION.map(|property| (property, self.0.verdict(property))).into()
    }
}

/// Who is no longer there, and since when.
fn gone(record: &Record) -> Option<(NodeId, Ticks)> {
    match record {
        Record::Dead { node } => Some((*node, Ticks::ZERO)),
        Record::Crash { at, node } | Record::Restart { at, node, .. } => Some((*node, *at)),
        Record::Step(_)
        | Record::Lost { .. }
        | Record::Pause { .. }
        | Record::Resume { .. }
        | Record::Partition { .. }
        | Record::Heal { .. }
        | Record::Suspect { .. }
        | Record::Violation(_)
        | Record::End { .. } => None,
    }
}
