//! Replay of recorded choices: gives a process the very answers that its choices once got.

use conclave_core::Choices;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The answers for one step at a time.
#[derive(Clone, Default)]
pub(crate) struct ReplayedChoices(Arc<Mutex<Answers>>);

#[derive(Default)]
struct Answers {
    left: VecDeque<u32>,
    /// Whether one was wanting, or not among those to choose from.
    wrong: bool,
}

impl Answers {
    fn choose(&mut self, bound: u32) -> u32 {
        let answer = self.left.pop_front().filter(|answer| *answer < bound);
        self.wrong |= answer.is_none();
        answer.unwrap_or(0)
    }
}

impl ReplayedChoices {
    /// Choices that are answered from here.
    pub fn choices(&self) -> Choices {
        let answers = Arc::clone(&self.0);
        let choose = move |bound| answers.lock().map_or(0, |mut answers| answers.choose(bound));
        Choices::Drawn(Box::new(choose))
    }

    /// The answers for the step to come.
    pub fn prepare(&self, answers: &[u32]) {
        if let Ok(mut current) = self.0.lock() {
            *current = Answers { left: answers.iter().copied().collect(), wrong: false };
        }
    }

    /// Whether the step asked for exactly those.
    pub fn fitted(&self) -> bool {
        self.0.lock().is_ok_and(|answers| !answers.wrong && answers.left.is_empty())
    }
}
