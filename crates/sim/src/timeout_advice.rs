//! The best timeout of a failure detector: how long to wait for an answer before its sender is
//! taken for dead.
//!
//! A mistake costs C, waiting on costs E, and p(t) is the probability that a live process answers
//! later than t. To wait is worth it while C p(t) >= E, so the timeout to take is the first t with
//! C p(t) < E. Where waiting costs e per unit of time instead, it is the t with the least
//! e t + C p(t).

use crate::error::Error;
use crate::parse;
use crate::plan::Latency;
use conclave_core::Ticks;
use std::f64::consts::{PI, SQRT_2};
use std::ops::Range;

/// How long live processes take to answer, in units.
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    /// Always this long.
    Constant(f64),
    /// Anything between the two, all equally likely.
    Uniform(f64, f64),
    /// Exponentially distributed, with this mean.
    Exponential(f64),
    /// Normally distributed.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation, above 0.
        deviation: f64,
    },
    /// The logarithms are normally distributed.
    LogNormal {
        /// Half of all answers take longer.
        median: f64,
        /// The deviation of the natural logarithm, above 0.
        sigma: f64,
    },
    /// Pareto's distribution.
    Pareto {
        /// The quickest answer, above 0.
        min: f64,
        /// Above 0.
        shape: f64,
    },
    /// As they were measured: at least one, the quickest first.
    Measured(Vec<f64>),
}

impl Answers {
    /// Reads what [`parse::latency`] reads, but for links that differ.
    pub fn parse(text: &str, read: parse::Read<'_>) -> Result<Self, Error> {
        if text.starts_with("links:") {
            return Err(parse::unknown_alike(text));
        }
        let known = parse::distribution(text, read, parse::unknown_alike)?;
        if matches!(&known, Some(Latency::Uniform(min, max)) if min > max) {
            return Err(Error::value("--latency", text, "the smaller bound comes first"));
        }
        if known == Some(Latency::Exponential(Ticks::ZERO)) {
            let reason = "MEAN is a time above 0, such as 2.5, 250ms or 3s, not '0'";
            return Err(Error::value("--latency", text, reason));
        }
        known.and_then(|latency| Self::of(&latency)).ok_or_else(|| parse::unknown_alike(text))
    }

    /// As messages take; `None` where these are no answers to one question, or take no time.
    fn of(latency: &Latency) -> Option<Self> {
        let mean_units = |time: &Ticks| Some(time.as_units()).filter(|&units| units > 0.0);
        Some(match latency {
            Latency::Standard => Self::Constant(1.0),
            Latency::Constant(time) => Self::Constant(time.as_units()),
            Latency::Uniform(min, max) if min > max => return None,
            Latency::Uniform(min, max) => Self::Uniform(min.as_units(), max.as_units()),
            Latency::Exponential(mean) => Self::Exponential(mean_units(mean)?),
            Latency::Normal { mean, deviation } => {
                Self::Normal { mean: mean.as_units(), deviation: deviation.as_units() }
            }
            Latency::LogNormal { median, sigma } => {
                Self::LogNormal { median: median.as_units(), sigma: *sigma }
            }
            Latency::Pareto { min, shape } => Self::Pareto { min: min.as_units(), shape: *shape },
            Latency::Measured(times) => Self::sample(times),
            Latency::Links { .. } => return None,
        })
    }

    fn sample(times: &[Ticks]) -> Self {
        Self::Measured(times.iter().map(|time| time.as_units()).collect())
    }

    /// Reads measured times from a text, one per line; what follows a `#` is not read.
    pub fn measured(text: &str) -> Result<Self, Error> {
        parse::times("--samples", text, '\n').map(|times| Self::sample(&times))
    }

    /// The probability that a live process answers later than this.
    pub fn later_than(&self, timeout: f64) -> f64 {
        match self {
            Self::Constant(time) => f64::from(u8::from(timeout < *time)),
            Self::Uniform(_, max) if timeout >= *max => 0.0,
            Self::Uniform(min, max) => ((max - timeout) / (max - min)).min(1.0),
            Self::Exponential(mean) => libm::exp(-timeout.max(0.0) / mean),
            Self::Normal { mean, deviation } => {
                libm::erfc((timeout - mean) / (deviation * SQRT_2)) / 2.0
            }
            Self::LogNormal { .. } | Self::Pareto { .. } if timeout <= 0.0 => 1.0,
            Self::LogNormal { median, sigma } => {
                libm::erfc(libm::log(timeout / median) / (sigma * SQRT_2)) / 2.0
            }
            Self::Pareto { min, shape } => libm::pow(min / timeout.max(*min), *shape),
            Self::Measured(times) => {
                let later = times.len() - times.partition_point(|&time| time <= timeout);
                later as f64 / times.len() as f64
            }
        }
    }

    /// From which timeout on `cost_of_mistake` p < `cost_of_waiting`; both are above 0.
    pub fn first_worth_stopping(&self, cost_of_mistake: f64, cost_of_waiting: f64) -> f64 {
        let bound = cost_of_waiting / cost_of_mistake;
        if bound > self.later_than(0.0) {
            return 0.0;
        }
        match self {
            Self::Constant(time) => *time,
            Self::Uniform(min, max) => max - bound * (max - min),
            Self::Exponential(mean) => libm::log(bound.recip()) * mean,
            Self::Normal { mean, deviation } => {
                self.bisect(bound, 0.0..mean + deviation * DEVIATIONS_MAX)
            }
            Self::LogNormal { median, sigma } => {
                let logarithms = Self::Normal { mean: 0.0, deviation: *sigma };
                let widest = sigma * DEVIATIONS_MAX;
                median * libm::exp(logarithms.bisect(bound, -widest..widest))
            }
            Self::Pareto { min, shape } => min * libm::pow(bound, -1.0 / shape),
            Self::Measured(times) => {
                // As many may be later as still make less than the bound.
                let count = times.len() as f64;
                let later = libm::ceil(count * cost_of_waiting / cost_of_mistake) - 1.0;
                times[times.len() - 1 - (later.max(0.0) as usize).min(times.len() - 1)]
            }
        }
    }

    /// The timeout with the least `cost_per_unit` t + `cost_of_mistake` p(t); both are above 0.
    pub fn cheapest(&self, cost_of_mistake: f64, cost_per_unit: f64) -> f64 {
        let cost =
            |timeout: f64| cost_per_unit * timeout + cost_of_mistake * self.later_than(timeout);
        // Not to wait at all is always an option; between the others the cost has no valley.
        let cheaper = |best: f64, other: f64| if cost(other) < cost(best) { other } else { best };
        match self {
            Self::Constant(time) => cheaper(0.0, *time),
            Self::Uniform(_, max) => cheaper(0.0, *max),
            Self::Exponential(mean) => {
                (mean * libm::log(cost_of_mistake / (cost_per_unit * mean))).max(0.0)
            }
            Self::Normal { mean, deviation } => {
                // Where the density falls to e/C.
                let peak = cost_of_mistake / (cost_per_unit * deviation * libm::sqrt(2.0 * PI));
                let beyond = deviation * libm::sqrt(2.0 * libm::log(peak.max(1.0)));
                cheaper(0.0, mean + beyond)
            }
            Self::LogNormal { median, sigma } => {
                // The same; the density falls for good where this has its larger root.
                let centre = libm::log(*median);
                let width = sigma * sigma;
                let peak = cost_of_mistake / (cost_per_unit * sigma * libm::sqrt(2.0 * PI));
                let beyond = width * (width + 2.0 * (libm::log(peak) - centre));
                let root = centre - width + libm::sqrt(beyond.max(0.0));
                cheaper(0.0, libm::exp(root))
            }
            Self::Pareto { min, shape } => {
                let peak = cost_of_mistake * shape / (cost_per_unit * min);
                cheaper(0.0, min * libm::pow(peak.max(1.0), 1.0 / (shape + 1.0)))
            }
            Self::Measured(times) => times.iter().copied().fold(0.0, cheaper),
        }
    }

    /// The least timeout with p at most `bound`, found by halving.
    fn bisect(&self, bound: f64, within: Range<f64>) -> f64 {
        let Range { start: mut low, end: mut high } = within;
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if self.later_than(middle) > bound { low = middle } else { high = middle }
        }
        high
    }
}

/// Beyond so many deviations nothing is left of a normal distribution.
const DEVIATIONS_MAX: f64 = 40.0;
/// More halvings than a number has digits.
const HALVINGS: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testkit::{no_files, refuses};

    fn read(text: &str) -> Result<Answers, Error> {
        Answers::parse(text, &no_files)
    }

    fn near(found: f64, known: f64) {
        assert!((found - known).abs() < 5e-4, "{found}, not {known}");
    }

    #[test]
    fn the_exponential_case_of_the_lecture_notes() {
        let answers = read("exp:100").expect("sound");
        near(answers.first_worth_stopping(1_000.0, 1.0), 690.776);
        near(answers.cheapest(1_000.0, 1.0), 230.259); // 100 ln (1000 / 100)
        near(answers.cheapest(1_000.0, 0.1), 460.517);
        assert_eq!(answers.cheapest(100.0, 2.0), 0.0, "waiting costs more than any mistake");
        assert_eq!(answers.first_worth_stopping(1.0, 2.0), 0.0);
    }

    #[test]
    fn every_distribution_crosses_its_bound_at_the_advised_timeout() {
        let all = ["const:5", "uniform:2..12", "uniform:3..3", "exp:100", "normal:1000:100"];
        let skewed = ["lognormal:20:0.7", "pareto:5:1.5", "pareto:5:3"];
        let all = [&all[..], &skewed].concat();
        for text in all {
            let answers = read(text).expect(text);
            let advised = answers.first_worth_stopping(1_000.0, 1.0);
            assert!(answers.later_than(advised + 1e-6) < 1e-3, "{text}: {advised}");
            assert!(answers.later_than(advised - 1e-3) >= 1e-3, "{text}: {advised}");
        }
        near(read("uniform:2..12").unwrap().first_worth_stopping(10.0, 1.0), 11.0);
        // 3.0902 deviations: one in a thousand.
        near(read("normal:0:1").unwrap().first_worth_stopping(1e3, 1.0), 3.0902);
    }

    #[test]
    fn nothing_near_the_cheapest_timeout_is_cheaper() {
        let measured = Answers::measured("1\n2\n2\n3\n50\n").expect("sound");
        let mut all = vec![measured];
        let texts = ["const:5", "uniform:2..12", "exp:100", "normal:1000:100", "normal:5:9"];
        let skewed = ["lognormal:20:0.7", "lognormal:3:2", "pareto:5:1.5", "pareto:50:0.5"];
        all.extend(skewed.map(|text| read(text).expect(text)));
        all.extend(texts.map(|text| read(text).expect(text)));
        for answers in all {
            for (mistake, unit) in [(1e4, 1.0), (1e3, 0.1), (10.0, 1.0), (1.0, 1.0)] {
                let cost = |timeout: f64| unit * timeout + mistake * answers.later_than(timeout);
                let best = answers.cheapest(mistake, unit);
                for other in 0..20_000 {
                    let other = f64::from(other) / 10.0;
                    assert!(cost(best) <= cost(other) + 1e-9, "{answers:?}: {best}, {other}");
                }
            }
        }
    }

    #[test]
    fn a_sample_is_taken_as_it_is() {
        let text = "# in ms\n30\n10ms\n\n20 # slow\n0.04s\n";
        let answers = Answers::measured(text).expect("sound");
        assert_eq!(answers, Answers::Measured(vec![10.0, 20.0, 30.0, 40.0]));
        assert_eq!(answers.later_than(20.0), 0.5);
        assert_eq!(answers.later_than(9.0), 1.0);
        assert_eq!(answers.first_worth_stopping(1.0, 0.5), 30.0); // p must be below 1/2.
        assert_eq!(answers.first_worth_stopping(1.0, 0.51), 20.0);
        assert_eq!(answers.first_worth_stopping(1.0, 1.0), 10.0);
        assert_eq!(answers.first_worth_stopping(1_000.0, 1.0), 40.0);
        assert_eq!(answers.first_worth_stopping(1.0, 1.1), 0.0);
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_one_line() {
        let wrong = [
            "exp",
            "exp:0",
            "exp:-1",
            "uniform:5..2",
            "normal:5",
            "normal:5:0",
            "gamma:1",
            "links:=* * unit",
        ];
        refuses("--latency", read, &wrong);
        let error = |text: &str| Answers::measured(text).expect_err(text).to_string();
        assert_eq!(
            error("1\n\nsoon\n"),
            "--samples line 3: soon: takes one time per line: units such as 2.5, or 250ms, or 3s"
        );
        assert!(error("-1").starts_with("--samples line 1: -1: "));
        assert!(error("# nothing\n").starts_with("--samples with no lines: takes "));
    }
}
