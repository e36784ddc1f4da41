//! A trace without background messages (heartbeats), which are sent whether or not anybody asks for
//! anything and would cover everything else in a drawing.

use super::{Cause, Effect, Record, Step, Trace};
use std::borrow::Cow;
use std::collections::BTreeSet;

impl Trace {
    /// The run without its upkeep.
    pub(super) fn without_upkeep(&self) -> Cow<'_, Self> {
        if self.header.upkeep.is_empty() {
            return Cow::Borrowed(self);
        }
        let kept = self.records_without_upkeep().into_iter();
        let records = kept.map(|(_, record)| record.into_owned()).collect();
        Cow::Owned(Self { header: self.header.clone(), records })
    }

    /// The records of the run without its upkeep, each with its place among all of them.
    pub(super) fn records_without_upkeep(&self) -> Vec<(usize, Cow<'_, Record>)> {
        let numbers: BTreeSet<u64> = self
            .steps()
            .flat_map(|(_, step)| step.sends())
            .filter(|send| self.header.upkeep.contains(&send.label))
            .map(|send| send.number)
            .collect();
        let places = self.records.iter().enumerate();
        if self.header.upkeep.is_empty() {
            return places.map(|(place, record)| (place, Cow::Borrowed(record))).collect();
        }
        places.filter_map(|(place, record)| Some((place, kept(record, &numbers)?))).collect()
    }
}

/// What is left of a record, if anything is.
fn kept<'a>(record: &'a Record, upkeep: &BTreeSet<u64>) -> Option<Cow<'a, Record>> {
    match record {
        Record::Step(step) => shown(step, upkeep).map(Record::Step).map(Cow::Owned),
        Record::Lost { number, .. } if upkeep.contains(number) => None,
        Record::Lost { .. }
        | Record::Dead { .. }
        | Record::Crash { .. }
        | Record::Restart { .. }
        | Record::Pause { .. }
        | Record::Resume { .. }
        | Record::Partition { .. }
        | Record::Heal { .. }
        | Record::Suspect { .. }
        | Record::Violation(_)
        | Record::End { .. } => Some(Cow::Borrowed(record)),
    }
}

/// What is left of a step, if anything is.
fn shown(step: &Step, upkeep: &BTreeSet<u64>) -> Option<Step> {
    let mut step = step.clone();
    step.effects
        .retain(|effect| !matches!(effect, Effect::Send(send) if upkeep.contains(&send.number)));
    let idle = step.effects.iter().all(|effect| match effect {
        Effect::SetTimer { .. } | Effect::CancelTimer { .. } => true,
        Effect::Send(_) | Effect::Indicate { .. } | Effect::Request { .. } => false,
    });
    match &step.cause {
        Cause::Message { number, label, .. } if upkeep.contains(number) => {
            step.cause = Cause::Indication(label.clone());
            (!idle).then_some(step)
        }
        Cause::Timer(_) => (!idle).then_some(step),
        Cause::Start if idle => {
            step.effects.clear();
            Some(step)
        }
        Cause::Message { .. }
        | Cause::Start
        | Cause::Restart
        | Cause::Request(_)
        | Cause::Indication(_)
        | Cause::Tell
        | Cause::Unseen => Some(step),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testkit::Draft;

    #[test]
    fn heartbeats_are_left_out_and_the_rest_stays() {
        let mut draft = Draft::new(2);
        draft.start(0, 0).send(1, "TOKEN", Some(1)).send(1, "HEARTBEAT", Some(1));
        draft.receive(1, 1, 1).receive(1, 1, 2);
        let mut chatty = draft.end(9);
        assert_eq!(*chatty.without_upkeep(), chatty, "nothing is upkeep");
        chatty.header.upkeep = vec!["HEARTBEAT".to_string()];
        let quiet = chatty.without_upkeep();
        let labels: Vec<&str> = quiet
            .steps()
            .flat_map(|(_, step)| step.sends())
            .map(|send| send.label.as_str())
            .collect();
        assert_eq!((labels, quiet.records.len()), (vec!["TOKEN"], chatty.records.len() - 1));
    }
}
