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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::desk;
    use crate::{Fault, Options, Plan, Runnable};
    use conclave_core::{NodeId, Property, Ticks};

    /// Runs of three nodes that share a desk, which crashes under every third seed, and goes on
    /// for ever, as far as anybody sees, under every other.
    fn run(seed: u64) -> Result<Outcome, Error> {
        let crash = (Ticks::units(5), Fault::Crash(NodeId(0)));
        let faults = if seed.is_multiple_of(3) { vec![crash] } else { Vec::new() };
        let until = Ticks::units(if seed.is_multiple_of(2) { 15 } else { 1_000 });
        desk(3).run(&Plan { seed, faults, until, ..Plan::default() }, &Options::default())
    }

    #[test]
    fn a_sweep_adds_up_what_its_runs_have_counted() {
        let seeds = 1..6;
        let runs: Vec<Outcome> = seeds.clone().map(|seed| run(seed).expect("sound")).collect();
        let sum = |of: fn(&Outcome) -> u64| runs.iter().map(of).sum::<u64>();
        let Sweep { total, violations, .. } = sweep(1, 5, None, run, || {}).expect("sound");
        assert_eq!(
            (total.messages, total.events),
            (sum(|run| run.messages), sum(|run| run.events))
        );
        let asked = |run: &Outcome| -> u64 {
            let asks = run.messages_by_kind.iter().filter(|(kind, _)| *kind == "ASK");
            asks.map(|(_, count)| count).sum()
        };
        assert_eq!(asked(&total), runs.iter().map(asked).sum::<u64>());
        assert_eq!(total.mutex().entries, sum(|run| run.mutex().entries));
        assert_eq!(Some(total.end), runs.iter().map(|run| run.end).max());
        let seen: usize = runs.iter().map(|run| run.violations.len()).sum();
        assert_eq!(violations.len(), seen);
        assert!(violations.iter().all(|(seed, _)| *seed == 3) && seen > 0);
    }

    #[test]
    fn a_verdict_is_the_worst_of_all_and_one_run_cut_short_cuts_all_short() {
        let swept = |first, runs| sweep(first, runs, None, run, || {}).expect("sound").total;
        let of = |first, runs| {
            let total = swept(first, runs);
            (total.verdict(Property::V1), total.ending == Ending::CutShort)
        };
        assert_eq!(of(1, 1), (Verdict::Holds, false));
        assert_eq!(of(1, 2), (Verdict::Unknown, true));
        assert_eq!(of(1, 3), (Verdict::Violated, true));
        assert_eq!(of(2, 4), (Verdict::Violated, true));
        let twice = sweep(1, 2, None, |_| run(1), || {}).expect("sound").total;
        assert_ne!(twice.ending, Ending::CutShort);
        assert_eq!((of(5, 1), of(4, 2)), ((Verdict::Holds, false), (Verdict::Unknown, true)));
    }

    #[test]
    fn no_runs_are_an_error_and_so_is_one_that_cannot_be_made() {
        assert!(sweep(1, 0, None, run, || {}).is_err());
        let refused =
            |seed| if seed == 2 { Err(Error::value("--loss", 2, "less")) } else { run(1) };
        assert!(sweep(1, 1, None, refused, || {}).is_ok());
        assert!(sweep(1, 3, None, refused, || {}).is_err());
    }
}
