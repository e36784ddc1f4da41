//! Seed sweep: many runs of one plan, under consecutive seeds, on all cores.

use crate::error::Error;
use crate::outcome::{Ending, Outcome};
use conclave_core::{Hasher, Verdict, Violation};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What came of many runs, added up in the order of their seeds.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The first seed.
    pub seed: u64,
    /// How many runs.
    pub runs: u64,
    /// Counts and times of all runs; verdicts are the worst of all.
    pub total: Outcome,
    /// Every violation, with the seed it was seen under.
    pub violations: Vec<(u64, Violation)>,
}

/// Runs the seeds `first..first + runs` on `threads` threads (all cores if `None`). The result does
/// not depend on how many there are. `progress` is called after each run.
pub fn sweep(
    first: u64,
    runs: u64,
    threads: Option<NonZeroUsize>,
    run: impl Fn(u64) -> Result<Outcome, Error> + Sync,
    progress: impl Fn() + Sync,
) -> Result<Sweep, Error> {
    let threads = threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.map_or(1, NonZeroUsize::get);
    let next = AtomicU64::new(0);
    let gathered = Mutex::new(Gathered::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= runs {
                        break;
                    }
                    let outcome = run(first.wrapping_add(index));
                    let mut gathered = gathered.lock().expect("no run panics holding the lock");
                    gathered.add(first, index, outcome);
                    drop(gathered);
                    progress();
                }
            });
        }
    });
    let gathered = gathered.into_inner().expect("no run panics holding the lock");
    gathered.finish(first, runs)
}

/// Outcomes as they come in; they are added up in the order of their seeds.
#[derive(Default)]
struct Gathered {
    waiting: BTreeMap<u64, Result<Outcome, Error>>,
    next: u64,
    total: Option<Outcome>,
    hash: Hasher,
    violations: Vec<(u64, Violation)>,
    error: Option<Error>,
}

impl Gathered {
    fn add(&mut self, first: u64, index: u64, outcome: Result<Outcome, Error>) {
        self.waiting.insert(index, outcome);
        while let Some(outcome) = self.waiting.remove(&self.next) {
            match outcome {
                Ok(outcome) => self.absorb(first.wrapping_add(self.next), outcome),
                Err(error) => self.error = self.error.take().or(Some(error)),
            }
            self.next += 1;
        }
    }

    fn absorb(&mut self, seed: u64, mut outcome: Outcome) {
        self.hash.write_u64(outcome.hash.unwrap_or(0));
        self.violations.extend(outcome.violations.drain(..).map(|violation| (seed, violation)));
        match &mut self.total {
            Some(total) => total.absorb(outcome),
            None => self.total = Some(outcome),
        }
    }

    fn finish(self, seed: u64, runs: u64) -> Result<Sweep, Error> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let Some(mut total) = self.total else {
            let accepted = "at least 1".to_string();
            return Err(Error::BadValue { flag: "--seeds", value: runs.to_string(), accepted });
        };
        total.hash = total.hash.map(|_| self.hash.finish());
        Ok(Sweep { seed, runs, total, violations: self.violations })
    }
}

impl Outcome {
    /// Adds another run to this one.
    fn absorb(&mut self, other: Self) {
        if other.ending == Ending::CutShort {
            self.ending = Ending::CutShort;
        }
        self.end = self.end.max(other.end);
        self.events += other.events;
        self.messages += other.messages;
        self.upkeep += other.upkeep;
        for (kind, count) in other.messages_by_kind {
            match self.messages_by_kind.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, total)) => *total += count,
                None => self.messages_by_kind.push((kind, count)),
            }
        }
        for ((_, mine), (_, theirs)) in self.verdicts.iter_mut().zip(other.verdicts) {
            *mine = worse(*mine, theirs);
        }
        self.findings.absorb(other.findings);
    }
}

fn worse(a: Verdict, b: Verdict) -> Verdict {
    let badness = |verdict| match verdict {
        Verdict::Violated => 3,
        Verdict::Unknown => 2,
        Verdict::NotChecked => 1,
        Verdict::Holds => 0,
    };
    if badness(a) >= badness(b) { a } else { b }
}
