//! A long run in strips, one below the other like lines of text, so that a page need not be wide.

/// How much more a break costs that cuts one more arrow, in places along the scale.
const ARROW_CUT: f64 = 40.0;
/// A strip is at least this part of what it should be.
const SHORTEST: f64 = 0.6;

/// A stretch of the scale that is drawn from one side of the page to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Strip {
    pub from: f64,
    pub to: f64,
}

impl Strip {
    pub fn contains(&self, place: f64) -> bool {
        self.from < place && place <= self.to
    }
}

/// Strips about equally long, none longer than there is room, with breaks between two moments
/// where few arrows are cut. The first and the last have no end on their outer side.
pub(super) fn strips(places: &[f64], room: f64, arrows_at: impl Fn(f64) -> usize) -> Vec<Strip> {
    let end = places.last().copied().unwrap_or_default();
    let wanted = end / (end / room).ceil().max(1.0);
    let mut strips = Vec::new();
    let mut from = 0.0;
    while end - from > room {
        let between = places.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]));
        let fits = |cut: &f64| (from + SHORTEST * wanted..=from + room).contains(cut);
        let cost = |cut: f64| arrows_at(cut) as f64 * ARROW_CUT + (cut - from - wanted).abs();
        let best = between.filter(fits).min_by(|a, b| cost(*a).total_cmp(&cost(*b)));
        let to = best.unwrap_or(from + room);
        strips.push(Strip { from, to });
        from = to;
    }
    strips.push(Strip { from, to: end });
    strips
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_is_one_strip_and_a_long_one_is_broken_evenly_between_moments() {
        let places: Vec<f64> = (0..100).map(|place| f64::from(place) * 20.0).collect();
        assert_eq!(strips(&places[..30], 600.0, |_| 0), [Strip { from: 0.0, to: 580.0 }]);
        let broken = strips(&places, 600.0, |_| 0);
        assert_eq!(broken.len(), 4);
        for pair in broken.windows(2) {
            assert_eq!(pair[0].to, pair[1].from);
            assert!(pair[0].to - pair[0].from <= 600.0);
            assert_eq!(pair[0].to % 20.0, 10.0, "half-way between two moments");
        }
    }

    #[test]
    fn a_break_goes_where_few_arrows_are() {
        let places: Vec<f64> = (0..60).map(|place| f64::from(place) * 20.0).collect();
        let busy = |cut: f64| if (500.0..520.0).contains(&cut) { 0 } else { 9 };
        assert_eq!(strips(&places, 700.0, busy)[0].to, 510.0);
    }

    #[test]
    fn no_moment_is_left_out_where_all_are_at_one_place() {
        assert_eq!(strips(&[], 600.0, |_| 0), [Strip { from: 0.0, to: 0.0 }]);
        assert_eq!(strips(&[0.0], 600.0, |_| 0), [Strip { from: 0.0, to: 0.0 }]);
    }
}
