//! Axes: from numbers to pixels, and where the ticks are.

/// What kind of numbers an axis has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Positive numbers of very different size.
    Log,
    /// Parts of 1.
    Share,
}

/// One axis: what it spans, in numbers and in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    from: i32,
    to: i32,
}

impl Axis {
    /// An axis for all these numbers, from one pixel to another, ending at round numbers.
    pub fn round(scale: Scale, numbers: impl Iterator<Item = f64>, from: i32, to: i32) -> Self {
        let (low, high) = match scale {
            Scale::Share => (0.0, 1.0),
            Scale::Log => {
                let (low, high) = extremes(numbers);
                let low = steps().rev().find(|step| *step <= low * 1.001).unwrap_or(low);
                let high = steps().find(|step| *step >= high * 0.999).unwrap_or(high);
                if low < high { (low, high) } else { (low / 2.0, high * 2.0) }
            }
        };
        Self { scale, low, high, from, to }
    }

    /// A logarithmic axis from the least to the largest of these numbers.
    pub fn tight(numbers: impl Iterator<Item = f64>, from: i32, to: i32) -> Self {
        let (low, high) = extremes(numbers);
        let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
        Self { scale: Scale::Log, low, high, from, to }
    }

    /// Where a number lies; `None` where this axis has no place for it.
    pub fn place(&self, number: f64) -> Option<i32> {
        let part = match self.scale {
            Scale::Share => (number - self.low) / (self.high - self.low),
            Scale::Log if number > 0.0 => (number / self.low).ln() / (self.high / self.low).ln(),
            Scale::Log => return None,
        };
        Some(self.from + (part * f64::from(self.to - self.from)).round() as i32)
    }

    /// The numbers to mark.
    pub fn ticks(&self) -> Vec<f64> {
        let inside = |tick: &f64| (self.low * 0.999..=self.high * 1.001).contains(tick);
        match self.scale {
            Scale::Share => vec![0.0, 0.25, 0.5, 0.75, 1.0],
            Scale::Log if self.high / self.low > 200.0 => decades().filter(inside).collect(),
            Scale::Log => steps().filter(inside).collect(),
        }
    }
}

fn extremes(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let positive = numbers.filter(|number| *number > 0.0 && number.is_finite());
    let (low, high) =
        positive.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), n| (low.min(n), high.max(n)));
    if low <= high { (low, high) } else { (1.0, 1.0) }
}

fn decades() -> impl DoubleEndedIterator<Item = f64> {
    (-3..=9).map(|exponent| 10_f64.powi(exponent))
}

/// 1, 2, 5, 10, 20, 50, …
fn steps() -> impl DoubleEndedIterator<Item = f64> {
    decades().flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * decade))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_axis_begins_and_ends_at_a_tick() {
        let axis = Axis::round(Scale::Log, [1.7, 90.0].into_iter(), 300, 0);
        assert_eq!(axis.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!((axis.place(1.0), axis.place(10.0)), (Some(300), Some(150)));
        assert_eq!((axis.place(100.0), axis.place(0.0)), (Some(0), None));
    }

    #[test]
    fn a_single_number_has_an_axis_too() {
        let axis = Axis::round(Scale::Log, [2.0].into_iter(), 100, 0);
        assert_eq!(axis.place(2.0), Some(50));
        assert_eq!(Axis::tight(std::iter::empty(), 0, 10).place(1.0), Some(5));
    }
}
