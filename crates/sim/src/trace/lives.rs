//! Timelines of the nodes of a trace (waiting, inside, down), as stretches of time: the material of
//! drawings.

use super::{Cause, Record, Step, Told, Trace};
use conclave_core::{NodeId, Ticks};
use std::collections::BTreeMap;

/// A stretch of a node's time, from and to.
pub(super) type Span = (Ticks, Ticks);

/// The life of one node.
#[derive(Debug, Default)]
pub(super) struct Life {
    /// From its request to its entry, its withdrawal or its crash.
    pub waiting: Vec<Span>,
    /// Inside, with the fence.
    pub inside: Vec<(Span, u64)>,
    /// Down; and whether it was so from the beginning.
    pub down: Vec<Span>,
    pub dead_from_start: bool,
    /// When it came back, and whether its disk was lost.
    pub returns: Vec<(Ticks, bool)>,
    pub paused: Vec<Span>,
    /// Whom it took for the leader, and in which term.
    pub leaders: Vec<(Ticks, Option<NodeId>, u64)>,
    /// Whom it suspected, or no longer.
    pub suspicions: Vec<(Ticks, NodeId, bool)>,
    /// Which timers fired.
    pub timers: Vec<(Ticks, String)>,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub from: NodeId,
    pub to: NodeId,
    pub sent: Ticks,
    /// When it would arrive at the soonest.
    pub due: Option<Ticks>,
    pub label: String,
    pub details: String,
    /// Whether it arrives once more.
    pub again: bool,
    pub end: Landing,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Landing {
    /// It arrived then.
    Arrived(Ticks),
    /// It was lost on the way.
    Lost,
    /// It reached a node that was down.
    LostAtNode(Ticks),
    /// It was still under way at the end.
    UnderWay,
}

/// Everything that is drawn.
#[derive(Debug)]
pub(super) struct Lives {
    pub nodes: Vec<Life>,
    pub flights: Vec<Flight>,
    /// Partitions: when, and between whom.
    pub partitions: Vec<(Span, Vec<Vec<NodeId>>)>,
    pub end: Ticks,
}

/// What is not over yet.
#[derive(Clone, Debug, Default)]
struct Open {
    waiting: Option<Ticks>,
    inside: Option<(Ticks, u64)>,
    down: Option<Ticks>,
    paused: Option<Ticks>,
}

impl Lives {
    /// The lives of all nodes, up to the end of the trace.
    pub fn of(trace: &Trace) -> Self {
        let n = trace.header.names.len();
        let mut lives = Self {
            nodes: (0..n).map(|_| Life::default()).collect(),
            flights: Vec::new(),
            partitions: Vec::new(),
            end: trace.end(),
        };
        let mut open = vec![Open::default(); n];
        let mut cuts: BTreeMap<u32, (Ticks, Vec<Vec<NodeId>>)> = BTreeMap::new();
        let mut sent = BTreeMap::new();
        for record in &trace.records {
            lives.record(record, &mut open);
            lives.follow(record, &mut sent);
            if let Record::Partition { at, number, groups } = record {
                cuts.insert(*number, (*at, groups.clone()));
            } else if let Record::Heal { at, number } = record {
                let cut = cuts.remove(number);
                lives.partitions.extend(cut.map(|(from, groups)| ((from, *at), groups)));
            }
        }
        let end = lives.end;
        lives.partitions.extend(cuts.into_values().map(|(from, groups)| ((from, end), groups)));
        for (life, open) in lives.nodes.iter_mut().zip(&mut open) {
            life.close(open, end);
            life.down.extend(open.down.take().map(|from| (from, end)));
            life.goes_on(open, end);
        }
        lives
    }

    fn record(&mut self, record: &Record, open: &mut [Open]) {
        match *record {
            Record::Step(ref step) => {
                let (life, open) = self.life(step.node, open);
                life.step(step, open);
            }
            Record::Dead { node } => {
                let (life, open) = self.life(node, open);
                life.dead_from_start = true;
                open.down = Some(Ticks::ZERO);
            }
            Record::Crash { at, node } => {
                let (life, open) = self.life(node, open);
                life.close(open, at);
                life.goes_on(open, at);
                open.down.get_or_insert(at);
            }
            Record::Restart { at, node, amnesia } => {
                let (life, open) = self.life(node, open);
                life.close(open, at);
                life.down.extend(open.down.take().map(|from| (from, at)));
                life.returns.push((at, amnesia));
            }
            Record::Pause { at, node } => self.life(node, open).1.paused = Some(at),
            Record::Resume { at, node } => {
                let (life, open) = self.life(node, open);
                life.goes_on(open, at);
            }
            Record::Lost { .. }
            | Record::Partition { .. }
            | Record::Heal { .. }
            | Record::Suspect { .. }
            | Record::Violation(_)
            | Record::End { .. } => {}
        }
    }

    fn life<'a>(&'a mut self, node: NodeId, open: &'a mut [Open]) -> (&'a mut Life, &'a mut Open) {
        (&mut self.nodes[node.index()], &mut open[node.index()])
    }

    /// Follows messages from their sending to their end. One that arrives twice flies twice.
    fn follow(&mut self, record: &Record, sent: &mut BTreeMap<u64, usize>) {
        if let Record::Step(step) = record {
            self.take_off(step, sent);
            if let Cause::Message { number, .. } = step.cause {
                self.land(sent.get(&number), Landing::Arrived(step.at));
            }
        } else if let Record::Lost { at, number, .. } = record {
            self.land(sent.get(number), Landing::LostAtNode(*at));
        }
    }

    fn take_off(&mut self, step: &Step, sent: &mut BTreeMap<u64, usize>) {
        for sending in step.sends() {
            sent.insert(sending.number, self.flights.len());
            self.flights.push(Flight {
                from: step.node,
                to: sending.to,
                sent: step.at,
                due: sending.arrival,
                label: sending.label.clone(),
                details: sending.details.clone(),
                again: false,
                end: sending.arrival.map_or(Landing::Lost, |_| Landing::UnderWay),
            });
        }
    }

    fn land(&mut self, place: Option<&usize>, end: Landing) {
        let Some(place) = place else { return };
        let flight = &mut self.flights[*place];
        if flight.end == Landing::UnderWay {
            flight.end = end;
        } else {
            let twice = Flight { end, again: true, ..flight.clone() };
            self.flights.push(twice);
        }
    }
}

impl Life {
    fn step(&mut self, step: &Step, open: &mut Open) {
        let at = step.at;
        match &step.cause {
            Cause::Request(request) if request == "Acquire" => open.waiting = Some(at),
            Cause::Request(request) if request == "Release" || request == "Cancel" => {
                self.close(open, at);
            }
            Cause::Timer(timer) => self.timers.push((at, timer.clone())),
            Cause::Indication(_) => {
                self.believes(at, Told::of(&step.event["Indication"]), open);
            }
            Cause::Start
            | Cause::Restart
            | Cause::Request(_)
            | Cause::Message { .. }
            | Cause::Tell
            | Cause::Unseen => {}
        }
        for told in step.told() {
            self.believes(at, told, open);
        }
    }

    /// It comes to know something: from the layer below, or by its own doing. What it merely
    /// passes on it knows already.
    fn believes(&mut self, at: Ticks, told: Told, open: &mut Open) {
        match told {
            Told::Entered { fence } => {
                self.waiting.extend(open.waiting.take().map(|from| (from, at)));
                open.inside = Some((at, fence));
            }
            Told::Elected { leader, term } => {
                add_new(&mut self.leaders, (at, Some(leader), term));
            }
            Told::Deposed => self.leaders.push((at, None, 0)),
            Told::Suspect(node) => add_new(&mut self.suspicions, (at, node, true)),
            Told::Trust(node) => add_new(&mut self.suspicions, (at, node, false)),
            Told::Other(_) => {}
        }
    }

    /// It is no longer paused.
    fn goes_on(&mut self, open: &mut Open, at: Ticks) {
        self.paused.extend(open.paused.take().map(|from| (from, at)));
    }

    /// It no longer waits, and is no longer inside.
    fn close(&mut self, open: &mut Open, at: Ticks) {
        self.waiting.extend(open.waiting.take().map(|from| (from, at)));
        self.inside.extend(open.inside.take().map(|(from, fence)| ((from, at), fence)));
    }
}

fn add_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testkit::hand_made;

    fn units(from: u64, to: u64) -> Span {
        (Ticks::units(from), Ticks::units(to))
    }

    #[test]
    fn waiting_ends_with_the_entry_and_being_inside_with_the_release() {
        let lives = Lives::of(&hand_made());
        assert_eq!(lives.nodes[0].waiting, [units(0, 2)]);
        assert_eq!(lives.nodes[0].inside, [(units(2, 12), 4)]);
    }

    #[test]
    fn crashes_pauses_and_partitions_have_a_beginning_and_an_end() {
        let lives = Lives::of(&hand_made());
        assert_eq!(lives.nodes[2].down, [units(3, 15)]);
        assert_eq!(lives.nodes[2].returns, [(Ticks::units(15), true)]);
        assert_eq!(lives.nodes[1].paused, [units(5, 14)]);
        assert_eq!(lives.partitions[0].0, units(4, 6));
    }

    #[test]
    fn every_message_is_followed_to_its_end() {
        let ends: Vec<Landing> =
            Lives::of(&hand_made()).flights.iter().map(|flight| flight.end).collect();
        let at = Ticks::units;
        assert_eq!(
            ends,
            [
                Landing::Arrived(at(1)),
                Landing::Lost,
                Landing::Arrived(at(2)),
                Landing::LostAtNode(at(13)),
            ]
        );
    }
}
