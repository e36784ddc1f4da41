//! The quorum as a picture: two sets of m among n, and what each number of votes comes to.

mod curve;
mod sets;

use super::report::scientific;
use crate::compare::plot::style::{Drawn, GREY_DARK, Paper, text};
use crate::output::numbers::of;
use crate::texts::tr;
use conclave_lab::quorum::Case;
use plotters::prelude::*;

const SIZE: (u32, u32) = (1120, 840);
/// Where the two halves of the picture begin, and the left edge of both.
const SETS: i32 = 84;
const CURVE: i32 = 290;
const LEFT: i32 = 40;

const BLUE: RGBColor = RGBColor(0, 114, 178);
const ORANGE: RGBColor = RGBColor(230, 159, 0);
const RED: RGBColor = RGBColor(213, 94, 0);

/// Draws a case.
pub fn svg(case: Case) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let paper = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        draw(&paper, case).map_err(|error| anyhow::anyhow!("--plot: {error}"))?;
        paper.present()?;
    }
    Ok(svg)
}

fn draw(paper: &Paper<'_>, case: Case) -> Drawn {
    paper.fill(&WHITE)?;
    let title = format!(
        "A quorum of {} of {}: two sets share at least {}",
        case.votes,
        of(case.coordinators.into(), "coordinator"),
        case.overlap()
    );
    paper.draw(&Text::new(tr(&title), (LEFT, 28), text(28, BLACK)))?;
    let told = format!(
        "If each forgets with probability {} while somebody is inside, a second gets in with \
         probability {}.",
        case.probability,
        scientific(case.violation(), 4)
    );
    paper.draw(&Text::new(tr(&told), (LEFT, 60), text(18, GREY_DARK)))?;
    sets::draw(paper, case, SETS)?;
    curve::draw(paper, case, CURVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_can_be_drawn() {
        for (coordinators, votes) in [(1, 1), (2, 2), (7, 4), (7, 7), (32, 24), (10_000, 7_500)] {
            for probability in [0.0, 1e-4, 0.1, 1.0] {
                let svg = svg(Case { coordinators, votes, probability }).expect("it is drawn");
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{votes} {coordinators}");
                assert!(svg.contains("both"), "{votes} {coordinators}");
            }
        }
    }
}
