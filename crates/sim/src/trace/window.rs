//! A time window of a trace: what of it is drawn.

use super::lives::{Landing, Lives};
use super::{Cause, Record, Trace};
use crate::outcome::Ending;
use conclave_core::Ticks;

/// A stretch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it begins.
    pub from: Ticks,
    /// When it ends.
    pub until: Ticks,
    /// It ends sooner when so many messages were sent in it.
    pub messages_max: usize,
}

impl Window {
    /// From the first moment at which anybody asked for anything: before that, a real run only
    /// shows nodes that find each other.
    pub fn from_first_request(trace: &Trace) -> Ticks {
        let asks = |cause: &Cause| matches!(cause, Cause::Request(_));
        let first = trace.steps().find(|(_, step)| asks(&step.cause));
        first.map_or(Ticks::ZERO, |(_, step)| step.at)
    }

    fn contains(&self, at: Ticks) -> bool {
        (self.from..=self.until).contains(&at)
    }
}

/// How much of a run is in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Messages sent in it.
    pub shown: usize,
    /// Messages sent in all.
    pub total: usize,
    /// When it ends.
    pub end: Ticks,
}

impl Trace {
    /// How much of what is drawn of a run is in a window.
    pub fn share(&self, window: &Window) -> Share {
        self.without_upkeep().up_to_the_end_of(window).1
    }

    /// The run up to the end of a window, and how much of it is in the window.
    pub(super) fn up_to_the_end_of(&self, window: &Window) -> (Self, Share) {
        let sent = |record: &Record| record.step().map_or(0, |step| step.sends().count());
        let total: usize = self.records.iter().map(sent).sum();
        let mut shown = 0;
        let early = |record: &&Record| {
            let more = if window.contains(record.at()) { sent(record) } else { 0 };
            let fits = shown + more <= window.messages_max && record.at() <= window.until;
            shown += if fits { more } else { 0 };
            fits
        };
        let judged = |record: &&Record| !matches!(record, Record::Violation(_));
        let told = self.records.iter().filter(judged);
        let mut records: Vec<Record> = told.take_while(early).cloned().collect();
        let whole = matches!(records.last(), Some(Record::End { .. }));
        let end = if whole { records.pop() } else { None };
        let at = records.iter().chain(&end).map(Record::at).max().unwrap_or_default();
        let broken = |record: &&Record| matches!(record, Record::Violation(v) if v.at <= at);
        records.extend(self.records.iter().filter(broken).cloned());
        let cut = Record::End { at, ending: Ending::CutShort, missing: 0 };
        records.push(end.unwrap_or(cut));
        (Self { header: self.header.clone(), records }, Share { shown, total, end: at })
    }
}

impl Lives {
    /// Forgets what was over before this time. What was not is there from the beginning.
    pub(super) fn since(&mut self, from: Ticks) {
        for life in &mut self.nodes {
            life.waiting.retain(|(_, end)| *end >= from);
            life.inside.retain(|((_, end), _)| *end >= from);
            life.down.retain(|(_, end)| *end >= from);
            life.paused.retain(|(_, end)| *end >= from);
            life.returns.retain(|(at, _)| *at >= from);
            life.timers.retain(|(at, _)| *at >= from);
            life.suspicions.retain(|(at, ..)| *at >= from);
            let known = life.leaders.iter().rposition(|(at, ..)| *at < from).unwrap_or_default();
            life.leaders.drain(..known);
        }
        self.partitions.retain(|((_, end), _)| *end >= from);
        self.flights.retain(|flight| match flight.end {
            Landing::Arrived(at) | Landing::LostAtNode(at) => at >= from,
            Landing::Lost | Landing::UnderWay => flight.sent >= from,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg;
    use super::super::testkit::Draft;
    use super::*;

    #[test]
    fn a_window_shows_what_happens_in_it_and_what_goes_on_from_before() {
        let mut draft = Draft::new(2);
        for at in 0..20 {
            draft.ask(10 * at, 0, "Acquire").send(1, "REQUEST", Some(10 * at + 5));
            draft.receive(10 * at + 5, 1, at + 1);
        }
        let trace = draft.end(200);
        let from = Ticks::units(53);
        let window = Window { from, until: Ticks::units(100), messages_max: 3 };
        let share = trace.share(&window);
        assert_eq!((share.shown, share.total), (3, 20));
        assert_eq!(share.end, Ticks::units(85));
        let picture = svg::draw(&trace, &window, crate::trace::Language::English).expect("small");
        assert!(picture.contains("3 of 20 messages since 53, no more"), "{picture}");
        let arrows = picture.matches("<path class=\"a0").count();
        assert_eq!(arrows, 1 + 3 + 1, "one from before, three, and the legend's");
    }
}
