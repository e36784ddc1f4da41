//! Arrows that would lie on each other are drawn side by side.

/// An arrow, from where to where.
pub(super) type Line = ((f64, f64), (f64, f64));

/// Between two arrows side by side.
const APART: f64 = 5.0;
/// Lines that are so close cannot be told apart.
const CLOSE: f64 = 3.0;
/// Arrows that only touch, as where one begins at the other's end, are no trouble.
const SHARED_MIN: f64 = 14.0;
/// The nearest lane that is free is taken; there are no more.
const LANES: [f64; 7] = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0];
/// Where no lane is free, the nearest place that is so far from all others, and this many to each
/// side of them, will do: a crowd is better than one arrow that stands for several.
const CROWDED: f64 = 1.5;
const CROWD: i32 = 14;

/// The same arrows, moved aside where one would cover another.
pub(super) fn apart(lines: &[Line]) -> Vec<Line> {
    let mut moved: Vec<Line> = Vec::with_capacity(lines.len());
    for line in lines {
        let aside = LANES.map(|lane| aside(line, lane * APART));
        let is_free = |line: &Line, close| !moved.iter().any(|other| covers(line, other, close));
        let free = aside.into_iter().find(|line| is_free(line, CLOSE));
        let squeezed = || {
            let steps = (1..=CROWD).flat_map(|step| [step, -step]);
            let mut places = steps.map(|step| self::aside(line, f64::from(step) * CROWDED));
            places.find(|line| is_free(line, CROWDED * 0.9))
        };
        let place = free.or_else(squeezed).unwrap_or(*line);
        moved.push(place);
    }
    moved
}

/// A line's direction, to the right or straight down, and its length.
fn direction(((x0, y0), (x1, y1)): &Line) -> ((f64, f64), f64) {
    let dx = x1 - x0;
    let dy = y1 - y0;
    let length = dx.hypot(dy).max(0.1);
    let sign = if dx < 0.0 || dx == 0.0 && dy < 0.0 { -1.0 } else { 1.0 };
    ((sign * dx / length, sign * dy / length), length)
}

fn aside(line: &Line, way: f64) -> Line {
    let ((ux, uy), _) = direction(line);
    let moved = |(x, y): (f64, f64)| (x - uy * way, y + ux * way);
    (moved(line.0), moved(line.1))
}

/// Whether two arrows have a stretch in common.
fn covers(a: &Line, b: &Line, close: f64) -> bool {
    let ((ux, uy), length) = direction(a);
    let ((vx, vy), _) = direction(b);
    if (ux * vy - uy * vx).abs() * length > close * 2.0 {
        return false; // They cross.
    }
    let along = |(x, y): (f64, f64)| (x - a.0.0) * ux + (y - a.0.1) * uy;
    let beside = |(x, y): (f64, f64)| ((y - a.0.1) * ux - (x - a.0.0) * uy).abs();
    let span = |line: &Line| {
        let ends = [along(line.0), along(line.1)];
        (ends[0].min(ends[1]), ends[0].max(ends[1]))
    };
    let (a0, a1) = span(a);
    let (b0, b1) = span(b);
    a1.min(b1) - a0.max(b0) > SHARED_MIN && beside(b.0).min(beside(b.1)) < close
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_moved(lines: &[Line]) -> Vec<bool> {
        apart(lines).iter().zip(lines).map(|(moved, line)| moved != line).collect()
    }

    #[test]
    fn two_messages_at_once_are_side_by_side() {
        let line = ((0.0, 0.0), (80.0, 80.0));
        assert_eq!(is_moved(&[line, line, line]), [false, true, true]);
        let [_, second, third] = apart(&[line; 3])[..] else { panic!("three arrows") };
        assert!((second.0.0 - third.0.0).hypot(second.0.1 - third.0.1) > 9.0);
    }

    #[test]
    fn a_crowd_is_squeezed_but_none_lies_on_another() {
        let moved = apart(&[((0.0, 0.0), (80.0, 80.0)); 25]);
        for (place, one) in moved.iter().enumerate() {
            assert!(!moved[..place].contains(one), "{place}");
        }
    }

    #[test]
    fn a_long_arrow_does_not_pass_along_a_short_one() {
        let short = ((0.0, 0.0), (84.0, 74.0));
        let long = ((0.0, 0.0), (168.0, 148.0));
        let back = ((84.0, 74.0), (0.0, 0.0));
        assert_eq!(is_moved(&[short, long]), [false, true]);
        assert_eq!(is_moved(&[short, back]), [false, true]);
    }

    #[test]
    fn arrows_that_cross_or_follow_each_other_stay() {
        let one = ((0.0, 0.0), (84.0, 74.0));
        let next = ((84.0, 74.0), (168.0, 148.0));
        let other = ((0.0, 74.0), (84.0, 0.0));
        let beside = ((20.0, 0.0), (104.0, 74.0));
        assert_eq!(is_moved(&[one, next, other, beside]), [false; 4]);
    }
}
