//! Phi, how suspicious a silence is, as a number: 1 means that one live node in ten would be silent
//! for longer, 2 one in a hundred, 8 one in a hundred million.

/// Beyond this the tail of the distribution is too thin to be told from nothing.
const PHI_MAX: f64 = 300.0;

/// The suspicion of a silence of `elapsed`, where the gaps between heartbeats are taken to be
/// normally distributed.
pub fn normal(elapsed: f64, mean: f64, deviation: f64) -> f64 {
    let distance = (elapsed - mean) / deviation;
    bounded(-libm::log10(libm::erfc(distance / std::f64::consts::SQRT_2) / 2.0))
}

/// The same where they are taken to be exponentially distributed.
pub fn exponential(elapsed: f64, mean: f64) -> f64 {
    bounded(elapsed / (mean * std::f64::consts::LN_10))
}

/// No deviation, or no mean, leaves no doubt on either side.
fn bounded(phi: f64) -> f64 {
    if phi.is_nan() { 0.0 } else { phi.clamp(0.0, PHI_MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phi_is_what_the_normal_distribution_says() {
        let known = [
            (1_000.0, std::f64::consts::LOG10_2), // 0.30103: half are later.
            (1_200.0, 1.64302),
            (1_300.0, 2.86970),
            (1_500.0, 6.54265),
            (1_800.0, 15.20614),
            (2_000.0, 23.11805),
        ];
        for (elapsed, phi) in known {
            let found = normal(elapsed, 1_000.0, 100.0);
            assert!((found - phi).abs() < 5e-6, "{elapsed}: {found}, not {phi}");
        }
    }

    #[test]
    fn phi_is_what_the_exponential_distribution_says() {
        assert!((exponential(2_302.585_093, 1_000.0) - 1.0).abs() < 1e-9);
        assert!((exponential(1_000.0, 1_000.0) - std::f64::consts::LOG10_E).abs() < 1e-9);
    }

    #[test]
    fn phi_stays_within_bounds_whatever_is_asked() {
        assert_eq!(normal(1e9, 1.0, 1.0), PHI_MAX);
        assert_eq!(exponential(1e9, 1.0), PHI_MAX);
        assert_eq!(normal(0.0, 1e9, 1.0), 0.0);
        assert_eq!(normal(1.0, 1.0, 0.0), 0.0);
        assert_eq!(normal(2.0, 1.0, 0.0), PHI_MAX);
        assert_eq!(exponential(0.0, 0.0), 0.0);
    }

    #[test]
    fn longer_silence_is_never_less_suspicious() {
        let mut last = 0.0;
        for elapsed in 0..5_000 {
            let phi = normal(f64::from(elapsed), 1_000.0, 100.0);
            assert!(phi >= last, "{elapsed}");
            last = phi;
        }
    }
}
