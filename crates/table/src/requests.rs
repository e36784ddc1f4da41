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
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Known {
    /// The hash of what was asked for; nothing for one that was withdrawn before it came.
    body: Option<u64>,
    answer: Answer,
}

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
        self.known = self.known.split_off(&self.lowest_open);
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
        self.known.insert(request, Known { body: Some(body), answer });
    }

    /// A request that waited has come to an end.
    pub fn settle(&mut self, request: RequestId, answer: Answer) {
        if let Some(known) = self.known.get_mut(&request) {
            known.answer = answer;
        }
    }

    /// A request that never came must not be carried out when it comes late.
    pub fn bury(&mut self, request: RequestId) {
        let answer = Answer::Refused(Refusal::Withdrawn);
        if request >= self.lowest_open {
            self.known.entry(request).or_insert(Known { body: None, answer });
        }
        if self.known.range(RequestId::UNRECORDED..).count() > UNRECORDED_MAX {
            self.known.pop_last(); // No mark ever clears these.
        }
    }

    /// Whoever asked has the answer, and nobody can repeat it. One that was withdrawn before it
    /// came stays so.
    pub fn forget_unrecorded(&mut self, request: RequestId) {
        let carried_out = self.known.get(&request).is_some_and(|known| known.body.is_some());
        if request.is_unrecorded() && carried_out {
            self.known.remove(&request);
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
}
