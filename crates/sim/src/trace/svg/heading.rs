//! What stands above the lines: what was run, by which command, and what is not drawn.

use super::{Anchor, Picture, canvas, width_of};
use crate::trace::window::Share;
use conclave_core::Ticks;

/// The wide letters of the title, and those of a command, which are all equally wide.
const TITLE: f64 = 17.0 * 1.12;
const COMMAND: f64 = 6.7;
/// More of a command than fits on so many lines is left out.
const COMMAND_LINES: usize = 3;

/// The lines of a heading, each with its class and how far down it is.
#[derive(Default)]
pub(super) struct Heading {
    lines: Vec<(&'static str, f64, String)>,
    down: f64,
}

impl Heading {
    fn add(&mut self, class: &'static str, lines: Vec<String>, height: f64) {
        for line in lines.into_iter().filter(|line| !line.is_empty()) {
            self.down += height;
            self.lines.push((class, self.down, line));
        }
    }

    /// Where it ends.
    pub fn bottom(&self) -> f64 {
        self.down
    }
}

impl Picture<'_> {
    pub(super) fn heading(&self, share: Share) -> Heading {
        let header = &self.trace.header;
        let room = self.width() - 40.0;
        let mut heading = Heading { lines: Vec::new(), down: 9.0 };
        let title = header.title(self.language);
        heading.add("h", canvas::lines(&title, room, 3, |text| width_of(text, TITLE)), 21.0);
        let fixed = |text: &str| text.chars().count() as f64 * COMMAND;
        let mut add = |text: &str, most| {
            heading.add("k", canvas::lines(text, room, most, fixed), 16.0);
        };
        add(&header.command, COMMAND_LINES);
        add(&self.left_out(share), 2);
        heading
    }

    /// What of the run is not in the picture.
    fn left_out(&self, share: Share) -> String {
        let mut notes = Vec::new();
        let upkeep = &self.trace.header.upkeep;
        if !upkeep.is_empty() {
            let kinds = upkeep.join(", ");
            notes.push(self.language.fill("not drawn: @", "não se desenha: @", &kinds));
        }
        if share.shown < share.total {
            let Share { shown, total, .. } = share;
            let shown = shown.to_string();
            let whole = self.from == Ticks::ZERO;
            let first = match whole {
                true => self.language.fill("the first @", "as primeiras @", &shown),
                false => shown,
            };
            let total = total.to_string();
            let mut note = first + &self.language.fill(" of @ messages", " de @ mensagens", &total);
            if !whole {
                let from = self.language.number(&self.from);
                note += &self.language.fill(" since @", " desde @", &from);
            }
            notes.push(note + self.language.pick(", no more", ", não mais"));
        }
        notes.join("; ")
    }

    pub(super) fn draw_heading(&mut self, heading: Heading) {
        for (class, y, line) in heading.lines {
            self.canvas.text(20.0, y, class, Anchor::Start, &line);
        }
    }
}
