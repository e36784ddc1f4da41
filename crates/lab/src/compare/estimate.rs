//! Estimates: the mean over several seeds, and the interval in which the true mean lies.

/// A mean over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % interval, by Student's t; `None` of a single run.
    pub half: Option<f64>,
}

impl Estimate {
    /// Of these values, one for each seed; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let many = values.len() as f64;
        let mean = values.iter().sum::<f64>() / many;
        let half = || {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            student(values.len() - 1) * (squares / (many - 1.0) / many).sqrt()
        };
        match values.len() {
            0 => None,
            1 => Some(Self { mean, half: None }),
            _ => Some(Self { mean, half: Some(half()) }),
        }
    }
}

/// Student's t for 95 %, two-sided, with so many degrees of freedom, at least one.
fn student(freedom: usize) -> f64 {
    const FEW: [f64; 9] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
    if let Some(known) = FEW.get(freedom - 1) {
        return *known;
    }
    // The first terms of the series around the normal distribution, exact to four digits here.
    let z = 1.959_964_f64;
    let [z3, z5, z7] = [3, 5, 7].map(|power| z.powi(power));
    let terms = [
        (z3 + z) / 4.0,
        (5.0 * z5 + 16.0 * z3 + 3.0 * z) / 96.0,
        (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / 384.0,
    ];
    (1..).zip(terms).fold(z, |sum, (power, term)| sum + term / (freedom as f64).powi(power))
}
