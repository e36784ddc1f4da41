//! Medians of several runs of several systems, beside each other.

use super::judge::jain;
use super::trial::Outcome;
use super::workload::Timed;
use serde::Serialize;

/// One system under one workload: medians of its runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Median {
    pub workload: &'static str,
    pub system: String,
    pub pairs_per_second: f64,
    pub handoffs_per_second: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Jain's index of the pairs of each client.
    pub fairness: f64,
    /// The most pairs of a client over the least.
    pub most_over_least: Option<f64>,
    pub server_cpu_us_per_pair: Option<f64>,
    /// What the load generator itself took of the same processors.
    pub generator_cpu_us_per_pair: Option<f64>,
    /// Of all servers together, before the first load and after the last that killed nobody.
    pub memory_at_rest_mib: Option<f64>,
    pub memory_after_load_mib: Option<f64>,
    /// From the death of the node that leads to the next grant, and of a client with a session of
    /// a second.
    pub node_killed_ms: Option<f64>,
    pub node_killed_ms_p90: Option<f64>,
    pub node_killed_ms_max: Option<f64>,
    /// How often it was killed.
    pub kills: usize,
    pub client_killed_ms: Option<f64>,
    pub client_killed_ms_max: Option<f64>,
    /// How many processors the servers kept busy, all together.
    pub server_cores: Option<f64>,
    /// Of all servers together: before names were taken, in use, and given back.
    pub names_memory_mib: Option<[f64; 3]>,
    /// How many times as fast the first system is: in hand-offs where one lock is handed on.
    pub first_over_this: Option<f64>,
    pub nodes: usize,
    pub clients: usize,
    pub runs: usize,
    /// The slowest and the fastest run.
    pub pairs_per_second_min: f64,
    pub pairs_per_second_max: f64,
    pub overlaps: u64,
    pub falls: u64,
    pub retries: u64,
    pub failures: Vec<String>,
}

/// All runs of one system under one workload.
#[derive(Clone, Debug)]
pub struct Runs {
    pub workload: Timed,
    pub system: String,
    pub nodes: usize,
    /// In MiB, of each run.
    pub memory_at_rest: Vec<f64>,
    pub memory_after_load: Vec<f64>,
    pub outcomes: Vec<Outcome>,
}

impl Runs {
    /// Their medians.
    pub fn median(&self) -> Median {
        let middle = |value: fn(&Outcome) -> Option<f64>| median(&self.all(value));
        let known = |value: fn(&Outcome) -> Option<f64>| middle(value).unwrap_or_default();
        let most =
            |value: fn(&Outcome) -> Option<f64>| self.all(value).into_iter().reduce(f64::max);
        let least =
            |value: fn(&Outcome) -> Option<f64>| self.all(value).into_iter().reduce(f64::min);
        Median {
            pairs_per_second: known(Outcome::pairs_per_second),
            pairs_per_second_min: least(Outcome::pairs_per_second).unwrap_or_default(),
            pairs_per_second_max: most(Outcome::pairs_per_second).unwrap_or_default(),
            handoffs_per_second: known(Outcome::handoffs_per_second),
            p50_ms: known(|outcome| Some(outcome.p50_ms)),
            p99_ms: known(|outcome| Some(outcome.p99_ms)),
            fairness: known(|outcome| Some(jain(&outcome.counts))),
            most_over_least: middle(|outcome| most_over_least(&outcome.counts)),
            server_cpu_us_per_pair: middle(|one| one.microseconds(one.server_cpu_seconds)),
            generator_cpu_us_per_pair: middle(|one| one.microseconds(one.generator_cpu_seconds)),
            memory_at_rest_mib: median(&self.memory_at_rest),
            memory_after_load_mib: median(&self.memory_after_load),
            server_cores: middle(Outcome::server_cores),
            names_memory_mib: self.outcomes.iter().find_map(|outcome| outcome.memory_mib),
            client_killed_ms: middle(|outcome| outcome.client_killed_ms),
            client_killed_ms_max: most(|outcome| outcome.client_killed_ms),
            ..self.totals()
        }
    }

    /// What is no measurement, and what is added up.
    fn totals(&self) -> Median {
        let kills: Vec<f64> =
            self.outcomes.iter().flat_map(|one| one.node_killed_ms.clone()).collect();
        Median {
            node_killed_ms: median(&kills),
            node_killed_ms_p90: ninetieth(&kills),
            node_killed_ms_max: kills.iter().copied().reduce(f64::max),
            kills: kills.len(),
            workload: self.workload.name(),
            system: self.system.clone(),
            nodes: self.nodes,
            clients: self.workload.clients(),
            runs: self.outcomes.len(),
            overlaps: self.outcomes.iter().map(|outcome| outcome.overlaps).sum(),
            falls: self.outcomes.iter().map(|outcome| outcome.falls).sum(),
            retries: self.outcomes.iter().map(|outcome| outcome.retries).sum(),
            failures: self.outcomes.iter().flat_map(|one| one.failures.clone()).collect(),
            ..Median::default()
        }
    }

    fn all(&self, value: fn(&Outcome) -> Option<f64>) -> Vec<f64> {
        self.outcomes.iter().filter_map(value).collect()
    }
}

impl Outcome {
    /// Nothing of a trial that failed, or had nothing to count: it has taken no time.
    fn pairs_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.pairs as f64 / self.seconds)
    }

    fn handoffs_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.handoffs as f64 / self.seconds)
    }

    fn server_cores(&self) -> Option<f64> {
        self.server_cpu_seconds.filter(|_| self.seconds > 0.0).map(|cpu| cpu / self.seconds)
    }

    /// So much time for each pair.
    fn microseconds(&self, seconds: Option<f64>) -> Option<f64> {
        seconds.filter(|_| self.pairs > 0).map(|seconds| seconds * 1e6 / self.pairs as f64)
    }
}

/// The medians of all, each beside the first system under the same workload.
pub fn beside(all: &[Runs]) -> Vec<Median> {
    let mut rows: Vec<Median> = all.iter().map(Runs::median).collect();
    let firsts: Vec<(&str, String, f64)> = rows.iter().fold(Vec::new(), |mut firsts, row| {
        if !firsts.iter().any(|(workload, ..)| *workload == row.workload) {
            firsts.push((row.workload, row.system.clone(), speed(row)));
        }
        firsts
    });
    for row in &mut rows {
        let first = firsts.iter().find(|(workload, ..)| *workload == row.workload);
        let first = first.filter(|(_, system, _)| *system != row.system);
        let own = speed(row);
        row.first_over_this = first.map(|(.., first)| first / own).filter(|it| it.is_finite());
    }
    rows
}

/// What a workload is about. A fail-over is about time, which its own fields tell.
fn speed(row: &Median) -> f64 {
    match row.workload {
        "contended" => row.handoffs_per_second,
        "fail-over" | "sessions" | "names" => f64::NAN,
        _ => row.pairs_per_second,
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    let is_odd = sorted.len() % 2 == 1;
    Some(if is_odd { upper } else { (sorted[middle - 1] + upper) / 2.0 })
}

/// The least of which nine of ten are no larger.
fn ninetieth(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get((sorted.len() * 9).div_ceil(10).max(1) - 1).copied()
}

/// Nothing if there is but one, or one that had nothing.
fn most_over_least(counts: &[u64]) -> Option<f64> {
    let most = counts.iter().max()?;
    let least = counts.iter().min().filter(|least| **least > 0 && counts.len() > 1)?;
    Some(*most as f64 / *least as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(system: &str, workload: Timed, counts: &[u64]) -> Runs {
        let outcome = |&count: &u64| Outcome {
            seconds: 2.0,
            pairs: count,
            handoffs: count / 2,
            server_cpu_seconds: Some(1.0),
            counts: vec![count],
            ..Outcome::default()
        };
        let outcomes = counts.iter().map(outcome).collect();
        Runs {
            workload,
            system: system.to_string(),
            nodes: 3,
            memory_at_rest: vec![7.0],
            memory_after_load: vec![9.0],
            outcomes,
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0]), Some(5.0));
        assert_eq!(median(&[]), None);
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!((ninetieth(&ten), ninetieth(&[])), (Some(9.0), None));
    }

    #[test]
    fn systems_are_put_beside_the_first_one() {
        let all = [
            runs("ours", Timed::Wide, &[900, 1_000, 8_000]),
            runs("theirs", Timed::Wide, &[200, 100, 250]),
            runs("theirs", Timed::Contended, &[200]),
        ];
        let rows = beside(&all);
        assert_eq!((rows[0].pairs_per_second, rows[0].first_over_this), (500.0, None));
        assert_eq!((rows[1].pairs_per_second, rows[1].first_over_this), (100.0, Some(5.0)));
        assert_eq!(rows[2].first_over_this, None, "it is the first under its workload");
        assert_eq!(rows[1].server_cpu_us_per_pair, Some(5_000.0));
        assert_eq!((rows[1].pairs_per_second_min, rows[1].pairs_per_second_max), (50.0, 125.0));
    }

    #[test]
    fn fairness_is_the_most_over_the_least() {
        assert_eq!(most_over_least(&[6, 4, 5]), Some(1.5));
        assert_eq!(most_over_least(&[6]), None);
        assert_eq!(most_over_least(&[6, 0]), None);
    }
}
