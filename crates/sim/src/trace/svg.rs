//! A trace as a space-time diagram: a line per node, time from left to right, an arrow per message.
//!
//! The file stands alone: no script, no font, no link. It is kept small by classes in place of
//! attributes and by whole numbers.

mod canvas;
mod heading;
mod lanes;
mod legend;
mod messages;
mod rows;
mod scale;
mod stamps;
mod strips;

use super::lives::{Landing, Lives};
use super::window::Share;
use super::{Language, Record, Trace, Window, words};
use crate::error::Error;
pub(super) use canvas::{Anchor, Canvas, escaped, lines, number, width_of};
use conclave_core::Ticks;
use messages::Arrow;
use scale::Scale;
use strips::{Strip, strips};

/// More lines than this do not fit on a page.
const NODES_MAX: usize = 64;
/// More arrows than this cannot be told apart.
const MESSAGES_MAX: usize = 600;
/// Between the heading and the first line's room; and where they are, for the names of partitions
/// and violations above each strip.
const TOP: f64 = 16.0;
const FLAGS: f64 = 24.0;
/// From the last line of a strip to its axis, and from there to the next strip.
const LAST: f64 = 26.0;
const AXIS: f64 = 34.0;
/// Room to the right of the last event; more where words stand there.
const RIGHT: f64 = 34.0;
const RIGHT_WORDS: f64 = 64.0;
/// So wide it is at least, for the legend's and the title's sake; and at most, so that it can be
/// read on a page.
const WIDTH_MIN: f64 = 560.0;
const WIDTH_MAX: f64 = 900.0;

/// A trace as a space-time diagram, from the beginning.
pub fn write(trace: &Trace, language: Language) -> Result<String, Error> {
    let whole = Window { from: Ticks::ZERO, until: trace.end(), messages_max: MESSAGES_MAX };
    draw(trace, &whole, language)
}

/// A stretch of a trace as a space-time diagram. What is under way when it begins comes from its
/// edge.
pub fn draw(trace: &Trace, window: &Window, language: Language) -> Result<String, Error> {
    let n = trace.header.names.len();
    if n > NODES_MAX {
        let reason = format!("a space-time diagram of {n} nodes: at most {NODES_MAX}");
        return Err(Error::Undrawable(reason));
    }
    let window = Window { messages_max: window.messages_max.min(MESSAGES_MAX), ..*window };
    let (shown, share) = trace.without_upkeep().up_to_the_end_of(&window);
    Ok(Picture::new(&shown, window.from, language).draw(share))
}

/// A drawing in the making.
struct Picture<'a> {
    trace: &'a Trace,
    language: Language,
    /// What was before is not drawn.
    from: Ticks,
    lives: Lives,
    scale: Scale,
    /// The strips into which it is broken, and which of them is being drawn.
    strips: Vec<Strip>,
    strip: usize,
    /// Where lines begin, where the first strip's room begins, and the distance of two lines.
    left: f64,
    top: f64,
    pitch: f64,
    canvas: Canvas,
    /// The kinds of messages, in the order of their first appearance.
    kinds: Vec<String>,
}

impl<'a> Picture<'a> {
    fn new(trace: &'a Trace, from: Ticks, language: Language) -> Self {
        let mut lives = Lives::of(trace);
        lives.since(from);
        let mut kinds: Vec<String> = Vec::new();
        for flight in &lives.flights {
            if !kinds.contains(&flight.label) {
                kinds.push(flight.label.clone());
            }
        }
        let pitch = match trace.header.names.len() {
            0..=4 => 84.0,
            5..=8 => 74.0,
            9..=16 => 52.0,
            _ => 38.0,
        };
        let names = trace.header.all().map(|node| words::who(&trace.header, node, language));
        let left = 40.0 + names.map(|name| width_of(&name, 14.0)).fold(0.0, f64::max);
        let scale = Scale::of(trace, &lives, from);
        let strips = Vec::new();
        let canvas = Canvas::default();
        let strip = 0;
        let top = 0.0;
        let mut picture = Self {
            trace,
            language,
            from,
            lives,
            scale,
            strips,
            strip,
            left,
            top,
            pitch,
            canvas,
            kinds,
        };
        picture.break_into_strips();
        picture
    }

    fn break_into_strips(&mut self) {
        let room = WIDTH_MAX - self.left - self.right();
        let arrows = self.arrows();
        let cut = |place: f64| arrows.iter().filter(|arrow| arrow.is_cut_at(place)).count();
        self.strips = strips(&self.scale.places(), room, cut);
    }

    fn right(&self) -> f64 {
        let words = self.has(|life| !life.leaders.is_empty() || !life.suspicions.is_empty());
        if words { RIGHT_WORDS } else { RIGHT }
    }

    /// How far down the line of a node is below the first one.
    fn down(&self, index: usize) -> f64 {
        self.pitch * index as f64
    }

    /// How far down the line of a node is in this strip.
    fn y(&self, index: usize) -> f64 {
        self.strip_top() + 20.0 + self.down(index)
    }

    /// Where this strip's room begins.
    fn strip_top(&self) -> f64 {
        let lines = 20.0 + self.down(self.trace.header.names.len() - 1) + LAST;
        self.top + self.flags() + (lines + AXIS + self.flags()) * self.strip as f64
    }

    fn flags(&self) -> f64 {
        let flagged =
            |record: &Record| matches!(record, Record::Partition { .. } | Record::Violation(_));
        if self.trace.records.iter().any(flagged) { FLAGS } else { 4.0 }
    }

    /// Where the lines of this strip end.
    fn bottom(&self) -> f64 {
        self.y(self.trace.header.names.len() - 1) + LAST
    }

    fn width(&self) -> f64 {
        let widest = self.strips.iter().map(|strip| strip.to - strip.from).fold(0.0, f64::max);
        (self.left + widest + self.right()).max(WIDTH_MIN)
    }

    fn strip(&self) -> Strip {
        self.strips[self.strip]
    }

    /// This strip with all that lies before the first one and after the last.
    fn outer_strip(&self) -> Strip {
        let Strip { mut from, mut to } = self.strip();
        if self.strip == 0 {
            from = f64::MIN;
        }
        if self.strip + 1 == self.strips.len() {
            to = f64::MAX;
        }
        Strip { from, to }
    }

    /// Where a moment is in this strip, if it is in it.
    fn x(&self, at: Ticks) -> Option<f64> {
        let place = self.scale.x(at);
        self.outer_strip().contains(place).then(|| self.on_page((place, 0.0)).0)
    }

    /// Where a stretch of time is in this strip, if any of it is.
    fn stretch(&self, from: Ticks, to: Ticks) -> Option<(f64, f64)> {
        let strip = self.outer_strip();
        let x0 = self.scale.x(from);
        let x1 = self.scale.x(to);
        let begins = strip.contains(x0);
        let meets = begins || x0 <= strip.from && x1 > strip.from;
        let page = |place| self.on_page((place, 0.0)).0;
        meets.then(|| (page(x0.max(strip.from)), page(x1.min(strip.to))))
    }

    /// A place of the unbroken drawing in this strip.
    fn on_page(&self, (along, down): (f64, f64)) -> (f64, f64) {
        (self.left + along - self.strip().from, self.y(0) + down)
    }

    fn draw(mut self, share: Share) -> String {
        let heading = self.heading(share);
        self.top = heading.bottom() + TOP;
        let arrows = self.arrows();
        self.reserve_edge();
        for strip in 0..self.strips.len() {
            self.strip = strip;
            self.draw_strip(&arrows);
        }
        let legend_top = self.bottom() + AXIS + 16.0;
        let height = self.legend(legend_top, &arrows) + 14.0;
        self.draw_heading(heading);
        self.page(height)
    }

    /// What is most important finds a place for its words first.
    fn draw_strip(&mut self, arrows: &[Arrow]) {
        self.reserve_lines();
        self.partitions();
        self.violations();
        self.lines();
        self.signs();
        self.messages(arrows);
        self.asides();
        self.stamps();
        self.axis();
    }

    fn page(self, height: f64) -> String {
        let width = self.width();
        let title = escaped(&self.trace.header.title(self.language));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" role=\"img\" lang=\"{lang}\">\n<title>{title}</title>\n\
             <style>{style}</style>\n<defs>{defs}</defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n",
            w = number(width),
            h = number(height),
            lang = self.language.tag(),
            style = legend::style(&self.kinds),
            defs = legend::markers(&self.kinds),
            body = self.canvas.finish(),
        )
    }

    /// Shaded from top to bottom, since a partition concerns everybody.
    fn partitions(&mut self) {
        let top = self.strip_top();
        let bottom = self.bottom();
        for ((from, to), groups) in &self.lives.partitions {
            let Some((x0, x1)) = self.stretch(*from, *to) else { continue };
            self.canvas.rect(x0, top - 8.0, x1 - x0, bottom - top + 8.0, "pa");
            let groups = words::groups(groups, &self.trace.header);
            let told = self.language.fill("partition @", "partição @", &groups);
            self.canvas.label(&[(x0 + 4.0, top + 3.0, Anchor::Start)], "s", &told);
        }
    }

    /// A red line at each time at which properties were seen to be violated.
    fn violations(&mut self) {
        let mut broken: Vec<(f64, String)> = Vec::new();
        for record in &self.trace.records {
            if let Record::Violation(violation) = record
                && violation.at >= self.from
                && let Some(x) = self.x(violation.at)
            {
                let tag = violation.property.tag();
                match broken.last_mut().filter(|(last, _)| *last == x) {
                    Some((_, tags)) => *tags += &format!(", {tag}"),
                    None => broken.push((x, tag.to_string())),
                }
            }
        }
        let top = self.strip_top();
        let bottom = self.bottom();
        for (x, tags) in broken {
            self.canvas
                .path("vi", &format!("M{} {}V{}", number(x), number(top - 14.0), number(bottom)));
            let one = self.language.pick("violated", "violada");
            let several = self.language.pick("violated", "violadas");
            let told = format!("{tags} {}", if tags.contains(',') { several } else { one });
            let places = [
                (x, top - 18.0, Anchor::Middle),
                (x - 4.0, top - 4.0, Anchor::End),
                (x + 4.0, top - 4.0, Anchor::Start),
            ];
            self.canvas.label_always(&places, "v", &told);
        }
    }

    /// When things happened, below the lines.
    fn axis(&mut self) {
        let y = self.bottom() + 8.0;
        let begin = self.left;
        let end = self.on_page((self.strip().to, 0.0)).0;
        self.canvas.path("ax", &format!("M{} {}H{}", number(begin), number(y), number(end)));
        let mut free = f64::MIN;
        for at in self.scale.ticks() {
            let Some(x) = self.x(at) else { continue };
            let told = self.language.number(&at);
            let half = width_of(&told, 10.0) / 2.0;
            if x - half < free + 6.0 {
                continue;
            }
            free = x + half;
            self.canvas.path("ax", &format!("M{} {}v4", number(x), number(y)));
            self.canvas.text(x, y + 15.0, "t", Anchor::Middle, &told);
        }
        if self.trace.header.machine.is_some() {
            self.canvas.text(begin - 16.0, y + 15.0, "t", Anchor::End, "ms");
        }
        let strip = self.strip();
        for place in self.scale.breaks().into_iter().filter(|place| strip.contains(*place)) {
            let x = self.on_page((place, 0.0)).0;
            self.canvas
                .path("ax", &format!("M{} {}l4 -8m3 0l-4 8", number(x - 4.0), number(y + 4.0)));
        }
    }

    /// Whether anything of a kind is in the picture.
    fn has(&self, test: impl Fn(&super::lives::Life) -> bool) -> bool {
        self.lives.nodes.iter().any(test)
    }

    fn any_landing(&self, test: impl Fn(Landing) -> bool) -> bool {
        self.lives.flights.iter().any(|flight| test(flight.end))
    }
}

#[cfg(test)]
mod tests;
