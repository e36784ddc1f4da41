//! Request ids: numbers that rise from request to request of a session, and the mark below which no
//! answer is awaited any more (idempotence).

use std::collections::BTreeSet;

/// The requests of one session, in whichever threads.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    last: u64,
    unanswered: BTreeSet<u64>,
}

impl Requests {
    /// A number of its own, for what nobody repeats.
    pub fn draw(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The number of a request whose answer is awaited from now on.
    pub fn begin(&mut self) -> u64 {
        let number = self.draw();
        self.unanswered.insert(number);
        number
    }

    /// It was answered, or nobody will ask for the answer again.
    pub fn settle(&mut self, number: u64) {
        self.unanswered.remove(&number);
    }

    /// All below this one were answered.
    pub fn lowest_open(&self) -> u64 {
        self.unanswered.first().copied().unwrap_or(self.last + 1)
    }

    /// Whether its answer is awaited.
    pub fn is_unanswered(&self, number: u64) -> bool {
        self.unanswered.contains(&number)
    }

    /// Those whose answers are awaited.
    pub fn unanswered(&self) -> impl Iterator<Item = u64> {
        self.unanswered.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_the_lowest_request_whose_answer_is_awaited() {
        let mut requests = Requests::default();
        assert_eq!(requests.lowest_open(), 1);
        assert_eq!([requests.begin(), requests.draw(), requests.begin()], [1, 2, 3]);
        assert_eq!(requests.lowest_open(), 1);
        requests.settle(1);
        assert_eq!(requests.lowest_open(), 3);
        requests.settle(3);
        assert_eq!(requests.lowest_open(), 4, "and no answer is awaited of what comes next");
    }
}
