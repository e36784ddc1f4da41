//! Idempotence: what a session has asked for, so that a repeat is answered and not carried out.

use crate::{Answer, Quota, Refusal, RequestId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So many withdrawn requests that nobody can repeat are remembered, lest they come late.
const UNRECORDED_MAX: usize = 64;

/// The requests of one session whose answers its client may still ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Requests {
    /// The client has the answers to all below this one.
    lowest_open: RequestId,
    known: BTreeMap<RequestId, Known>,
    /// About how much room the answers take.
    bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Known {
    /// The hash of what was asked for; nothing for one that was withdrawn before it came.
    body: Option<u64>,
    answer: Answer,
}

impl Known {
    fn bytes(&self) -> u64 {
        NUMBERS + self.answer.named_bytes()
    }
}

/// The numbers that an answer is kept with take about so many bytes.
const NUMBERS: u64 = 64;

/// What is to be done about a request.
pub enum Admission {
    /// It is new.
    New,
    /// It was asked before.
    Repeat,
    /// It may not be asked.
    Refused(Refusal),
}

impl Requests {
    /// The client needs no answer to what is below. It never takes that back.
    pub fn raise_mark(&mut self, lowest_open: RequestId) {
        self.lowest_open = self.lowest_open.max(lowest_open);
        let kept = self.known.split_off(&self.lowest_open);
        let dropped = std::mem::replace(&mut self.known, kept);
        self.bytes -= dropped.values().map(Known::bytes).sum::<u64>();
    }

    /// How many answers are kept.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// About how much room they take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a request is new.
    pub fn admit(&self, request: RequestId, body: u64, open_max: u32) -> Admission {
        if request < self.lowest_open {
            return Admission::Refused(Refusal::Forgotten);
        }
        let open_max = if request.is_unrecorded() { u32::MAX } else { open_max };
        match self.known.get(&request) {
            Some(known) if known.body.is_some_and(|known| known != body) => {
                Admission::Refused(Refusal::AnotherRequest)
            }
            Some(_) => Admission::Repeat,
            None if self.known.len() >= open_max as usize => {
                Admission::Refused(Refusal::Full(Quota::OpenOfSession))
            }
            None => Admission::New,
        }
    }

    /// What a request was answered.
    pub fn answer(&self, request: RequestId) -> Option<&Answer> {
        self.known.get(&request).map(|known| &known.answer)
    }

    /// Remembers the answer to a new request.
    pub fn record(&mut self, request: RequestId, body: u64, answer: Answer) {
        self.keep(request, Known { body: Some(body), answer });
    }

    /// A request that waited has come to an end.
    pub fn settle(&mut self, request: RequestId, answer: Answer) {
        if let Some(Known { body, .. }) = self.known.get(&request) {
            self.keep(request, Known { body: *body, answer });
        }
    }

    /// Whether there is something to remember if this request is buried. Those that nobody can
    /// repeat make room for each other.
    pub fn is_news(&self, request: RequestId) -> bool {
        !request.is_unrecorded()
            && request >= self.lowest_open
            && !self.known.contains_key(&request)
    }

    /// A request that never came must not be carried out when it comes late.
    pub fn bury(&mut self, request: RequestId) {
        let answer = Answer::Refused(Refusal::Withdrawn);
        if request >= self.lowest_open && !self.known.contains_key(&request) {
            self.keep(request, Known { body: None, answer });
        }
        if self.known.range(RequestId::UNRECORDED..).count() > UNRECORDED_MAX
            && let Some((last, _)) = self.known.last_key_value()
        {
            self.forget(*last); // No mark ever clears these.
        }
    }

    /// Whoever asked has the answer, and nobody can repeat it. One that was withdrawn before it
    /// came stays so.
    pub fn forget_unrecorded(&mut self, request: RequestId) {
        let carried_out = self.known.get(&request).is_some_and(|known| known.body.is_some());
        if request.is_unrecorded() && carried_out {
            self.forget(request);
        }
    }

    fn keep(&mut self, request: RequestId, known: Known) {
        self.forget(request);
        self.bytes += known.bytes();
        self.known.insert(request, known);
    }

    fn forget(&mut self, request: RequestId) {
        if let Some(known) = self.known.remove(&request) {
            self.bytes -= known.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u32 = 2;

    fn refused(admission: Admission) -> Option<Refusal> {
        if let Admission::Refused(why) = admission { Some(why) } else { None }
    }

    #[test]
    fn a_repeat_gets_the_answer_of_the_first() {
        let mut requests = Requests::default();
        requests.record(RequestId(1), 7, Answer::Done);
        assert!(matches!(requests.admit(RequestId(1), 7, MAX), Admission::Repeat));
        assert_eq!(requests.answer(RequestId(1)), Some(&Answer::Done));
    }

    #[test]
    fn the_same_number_with_another_body_is_refused() {
        let mut requests = Requests::default();
        requests.record(RequestId(1), 7, Answer::Done);
        assert_eq!(refused(requests.admit(RequestId(1), 8, MAX)), Some(Refusal::AnotherRequest));
    }

    #[test]
    fn below_the_mark_nothing_is_carried_out_again() {
        let mut requests = Requests::default();
        requests.record(RequestId(1), 7, Answer::Done);
        requests.raise_mark(RequestId(2));
        assert_eq!(refused(requests.admit(RequestId(1), 7, MAX)), Some(Refusal::Forgotten));
        requests.raise_mark(RequestId(1)); // A late word about the past.
        assert_eq!(refused(requests.admit(RequestId(1), 7, MAX)), Some(Refusal::Forgotten));
    }

    #[test]
    fn a_request_that_was_withdrawn_before_it_came_stays_withdrawn() {
        let mut requests = Requests::default();
        requests.bury(RequestId(3));
        assert!(matches!(requests.admit(RequestId(3), 7, MAX), Admission::Repeat));
        let withdrawn = Answer::Refused(Refusal::Withdrawn);
        assert_eq!(requests.answer(RequestId(3)), Some(&withdrawn));
    }

    #[test]
    fn so_many_answers_are_kept_and_no_more() {
        let mut requests = Requests::default();
        for request in 1..=2 {
            requests.record(RequestId(request), 7, Answer::Done);
        }
        let full = Some(Refusal::Full(Quota::OpenOfSession));
        assert_eq!(refused(requests.admit(RequestId(3), 7, MAX)), full);
        requests.raise_mark(RequestId(2));
        assert!(matches!(requests.admit(RequestId(3), 7, MAX), Admission::New));
    }

    #[test]
    fn the_room_that_answers_take_is_given_back_with_them() {
        let mut requests = Requests::default();
        let unrecorded = |number| RequestId(RequestId::UNRECORDED.0 + number);
        requests.record(RequestId(1), 7, Answer::Waiting { position: 0 });
        requests.settle(RequestId(1), Answer::Refused(Refusal::TimedOut));
        requests.bury(RequestId(2));
        requests.bury(RequestId(2));
        requests.record(unrecorded(1), 7, Answer::Done);
        assert_eq!((requests.len(), requests.bytes()), (3, 3 * NUMBERS));
        requests.forget_unrecorded(unrecorded(1));
        requests.raise_mark(RequestId(3));
        assert_eq!((requests.len(), requests.bytes()), (0, 0));
    }
}
