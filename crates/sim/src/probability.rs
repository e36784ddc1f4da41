//! Probability that a quorum violates mutual exclusion when coordinators forget (amnesia): exact,
//! however small.
//!
//! A holder has the grants of m of n coordinators. A rival can have those of the n-m others, and
//! needs 2m-n more: it gets in exactly if at least that many of the holder's m have forgotten.

/// A number of at least 0, however small or large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitude {
    /// 0, or from 1/2 to 1.
    fraction: f64,
    /// The power of two it is multiplied by.
    exponent: i64,
}

impl Magnitude {
    /// This number.
    pub fn of(number: f64) -> Self {
        Self { fraction: number, exponent: 0 }.normal()
    }

    /// As a float: 0 where it is too small for one.
    pub fn as_float(self) -> f64 {
        let exponent = self.exponent.clamp(-5_000, 5_000);
        libm::ldexp(self.fraction, exponent as i32)
    }

    /// Its decimal logarithm; minus infinity for 0.
    pub fn log10(self) -> f64 {
        libm::log10(self.fraction) + self.exponent as f64 * std::f64::consts::LOG10_2
    }

    /// Its leading digits and its power of ten: 7.349 and -59.
    pub fn decimal(self) -> (f64, i64) {
        if self.fraction == 0.0 {
            return (0.0, 0);
        }
        let power = self.log10().floor();
        // Only where a float cannot hold it do the digits come from the logarithm.
        let digits = match self.as_float() {
            float if (1e-290..1e290).contains(&float) => float / libm::exp10(power),
            _ => libm::exp10(self.log10() - power),
        };
        (digits, power as i64)
    }

    fn times(self, factor: f64) -> Self {
        Self { fraction: self.fraction * factor, ..self }.normal()
    }

    fn plus(self, other: Self) -> Self {
        let (large, small) =
            if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        if large.fraction == 0.0 {
            return small;
        }
        let shift = (small.exponent - large.exponent).max(-2_000);
        let fraction = large.fraction + libm::ldexp(small.fraction, shift as i32);
        Self { fraction, ..large }.normal()
    }

    fn normal(self) -> Self {
        let (fraction, moved) = libm::frexp(self.fraction);
        let exponent = if fraction == 0.0 { 0 } else { self.exponent + i64::from(moved) };
        Self { fraction, exponent }
    }
}

/// The probability that at least `least` of `many` independent things happen, each with this
/// probability: the sum over k from `least` of C(many, k) p^k (1-p)^(many-k).
pub fn at_least(least: u32, many: u32, probability: f64) -> Magnitude {
    let p = probability;
    if least == 0 || p >= 1.0 {
        return Magnitude::of(if least <= many { 1.0 } else { 0.0 });
    }
    let mut sum = Magnitude::of(0.0);
    let mut term = Magnitude::of(1.0);
    // Factors of all sizes in turn, each term from the one before: nothing to underflow.
    for k in 0..many {
        term = term.times(1.0 - p);
        if k < least {
            term =
                term.times(p / (1.0 - p)).times(f64::from(many - k)).times(1.0 / f64::from(k + 1));
        }
    }
    for k in least..=many {
        sum = sum.plus(term);
        term = term.times(f64::from(many - k) / f64::from(k + 1)).times(p / (1.0 - p));
    }
    if sum.log10() > 0.0 { Magnitude::of(1.0) } else { sum }
}

/// How many coordinators two sets of `votes` among `coordinators` share at least.
pub fn overlap(coordinators: u32, votes: u32) -> u32 {
    (2 * votes).saturating_sub(coordinators)
}

/// The probability that a second client gets in beside one that holds exactly `votes` grants, if
/// each coordinator forgets with this probability while it does.
pub fn violation(coordinators: u32, votes: u32, probability: f64) -> Magnitude {
    at_least(overlap(coordinators, votes), votes, probability)
}

/// The same beside one that holds the grants of all coordinators: `votes` of them must forget.
pub fn violation_of_all(coordinators: u32, votes: u32, probability: f64) -> Magnitude {
    at_least(votes, coordinators, probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, digits: i32) {
        let error = (found / expected - 1.0).abs();
        assert!(error < 0.51 * 10_f64.powi(1 - digits), "{found:e} is not {expected:e}");
    }

    #[test]
    fn the_lecture_notes_example_comes_out_to_eleven_digits() {
        let violation = violation(32, 24, 1e-4);
        assert_close(violation.as_float(), 7.349_174_166_158_8e-59, 11);
        let (digits, power) = violation.decimal();
        assert_eq!((format!("{digits:.10}"), power), ("7.3491741662".to_string(), -59));
    }

    #[test]
    fn other_readings_of_the_example_give_other_numbers() {
        assert_close(violation(32, 24, 10.0 / 10_800.0).as_float(), 2.1318e-43, 5);
        assert_close(violation(32, 24, 1.0 / 14_400.0).as_float(), 2.1505e-61, 5);
        assert_close(violation_of_all(32, 24, 1e-4).as_float(), 1.051e-89, 4);
        assert_close(at_least(16, 32, 1e-4).as_float(), 6.00e-56, 3);
        assert_close(at_least(16, 16, 1e-4).as_float(), 1e-64, 12);
    }

    #[test]
    fn a_bare_majority_is_poor() {
        for (p, expected) in [(1e-4, 3.9994e-4), (1e-3, 3.9940e-3), (0.01, 0.039404)] {
            assert_close(violation(7, 4, p).as_float(), expected, 5);
        }
        assert_close(violation(7, 4, 0.1).as_float(), 0.3439, 12);
    }

    #[test]
    fn the_textbook_table_comes_out() {
        let sizes = [(8, 5), (8, 6), (16, 9), (16, 12), (32, 17), (32, 24)];
        let three = [6.93e-6, 7.22e-12, 2.49e-5, 1.15e-22, 9.37e-5, 3.95e-44];
        let thirty = [6.83e-4, 7.14e-8, 2.40e-3, 1.12e-14, 8.69e-3, 3.74e-28];
        for (((n, m), three), thirty) in sizes.into_iter().zip(three).zip(thirty) {
            assert_close(violation(n, m, 3.0 / 3_600.0).as_float(), three, 3);
            assert_close(violation(n, m, 30.0 / 3_600.0).as_float(), thirty, 3);
        }
    }

    #[test]
    fn nothing_underflows_and_nothing_exceeds_one() {
        let tiny = violation(1_000, 750, 1e-4);
        assert_eq!(tiny.as_float(), 0.0);
        // log10 C(750,500) = 205.64..., to which 500 factors of 1e-4 add -2000.
        let log10 = (libm::lgamma(751.0) - libm::lgamma(501.0) - libm::lgamma(251.0))
            / std::f64::consts::LN_10;
        assert!((tiny.log10() - (log10 - 2_000.0)).abs() < 0.02, "{}", tiny.log10());
        assert_eq!(tiny.decimal().1, tiny.log10().floor() as i64);
        assert_close(violation(10_000, 5_001, 0.9).as_float(), 1.0, 12);
        assert!(violation(10_000, 5_001, 0.9).as_float() <= 1.0);
    }

    #[test]
    fn certainties_stay_certain() {
        assert_eq!(violation(7, 4, 0.0).as_float(), 0.0);
        assert_eq!(violation(7, 4, 0.0).decimal(), (0.0, 0));
        assert_eq!(violation(7, 4, 1.0).as_float(), 1.0);
        assert_eq!(at_least(3, 2, 1.0).as_float(), 0.0);
        assert_eq!(at_least(3, 2, 0.5).as_float(), 0.0);
        assert_eq!(violation(1, 1, 0.25).as_float(), 0.25);
    }

    #[test]
    fn a_small_case_agrees_with_counting_all_outcomes() {
        let p: f64 = 0.3;
        let mut counted = 0.0;
        for forgot in 0_u32..1 << 6 {
            if forgot.count_ones() >= 5 {
                counted += p.powi(forgot.count_ones() as i32)
                    * (1.0 - p).powi(forgot.count_zeros() as i32 - 26);
            }
        }
        assert_close(violation(7, 6, p).as_float(), counted, 12);
    }
}
