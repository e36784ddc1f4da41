//! A trace as a space-time diagram: a line per node, time from left to right, an arrow per message.
//!
//! The file stands alone: no script, no font, no link. It is kept small by classes in place of
//! attributes and by whole numbers.

mod canvas;
mod legend;
mod messages;
mod rows;
mod scale;
mod stamps;

use super::lives::{Landing, Lives};
use super::window::Share;
use super::{Record, Trace, Window, words};
use crate::error::Error;
pub(super) use canvas::{Anchor, Canvas, escaped, number, width_of};
use conclave_core::Ticks;
use scale::Scale;

/// More lines than this do not fit on a page.
const NODES_MAX: usize = 64;
/// More arrows than this cannot be told apart.
const MESSAGES_MAX: usize = 600;
/// The page above the first line: title and command; and where they are, the names of partitions
/// and violations.
const TOP: f64 = 74.0;
const TOP_FLAGGED: f64 = 94.0;
/// Room to the right of the last event.
const RIGHT: f64 = 34.0;
/// So wide it is at least, for the legend's and the title's sake.
const WIDTH_MIN: f64 = 560.0;

/// A trace as a space-time diagram, from the beginning.
pub fn write(trace: &Trace) -> Result<String, Error> {
    let whole = Window { from: Ticks::ZERO, until: trace.end(), messages_max: MESSAGES_MAX };
    draw(trace, &whole)
}

/// A stretch of a trace as a space-time diagram. What is under way when it begins comes from its
/// edge.
pub fn draw(trace: &Trace, window: &Window) -> Result<String, Error> {
    let n = trace.header.names.len();
    if n > NODES_MAX {
        let reason = format!("a space-time diagram of {n} nodes: at most {NODES_MAX}");
        return Err(Error::Undrawable(reason));
    }
    let window = Window { messages_max: window.messages_max.min(MESSAGES_MAX), ..*window };
    let (shown, share) = trace.without_upkeep().up_to_the_end_of(&window);
    Ok(Picture::new(&shown, window.from).draw(share))
}

/// A drawing in the making.
struct Picture<'a> {
    trace: &'a Trace,
    /// What was before is not drawn.
    from: Ticks,
    lives: Lives,
    scale: Scale,
    /// Where the first line's room begins, and the distance between two lines.
    top: f64,
    row: f64,
    canvas: Canvas,
    /// The kinds of messages, in the order of their first appearance.
    kinds: Vec<String>,
}

impl<'a> Picture<'a> {
    fn new(trace: &'a Trace, from: Ticks) -> Self {
        let mut lives = Lives::of(trace);
        lives.since(from);
        let names = trace.header.all().map(|node| super::mermaid::who(&trace.header, node));
        let left = 26.0 + names.map(|name| width_of(&name, 13.0)).fold(0.0, f64::max);
        let mut kinds: Vec<String> = Vec::new();
        for flight in &lives.flights {
            if !kinds.contains(&flight.label) {
                kinds.push(flight.label.clone());
            }
        }
        let row = match trace.header.names.len() {
            0..=4 => 84.0,
            5..=8 => 74.0,
            9..=16 => 52.0,
            _ => 38.0,
        };
        let scale = Scale::of(trace, &lives, from, left + 14.0);
        let flagged =
            |record: &Record| matches!(record, Record::Partition { .. } | Record::Violation(_));
        let top = if trace.records.iter().any(flagged) { TOP_FLAGGED } else { TOP };
        Self { trace, from, lives, scale, top, row, canvas: Canvas::default(), kinds }
    }

    /// How far down the line of a node is.
    fn y(&self, index: usize) -> f64 {
        self.top + 20.0 + self.row * index as f64
    }

    /// Where the lines end.
    fn bottom(&self) -> f64 {
        self.y(self.trace.header.names.len() - 1) + 26.0
    }

    fn width(&self) -> f64 {
        (self.scale.end() + RIGHT).max(WIDTH_MIN)
    }

    fn draw(mut self, share: Share) -> String {
        self.reserve_lines();
        self.partitions();
        self.violations();
        self.lines();
        self.messages();
        self.stamps();
        self.signs();
        self.axis();
        let legend_top = self.bottom() + 52.0;
        let height = self.legend(legend_top) + 14.0;
        self.title(share);
        let width = self.width();
        let title = escaped(&self.trace.header.title());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" role=\"img\">\n<title>{title}</title>\n<style>{style}</style>\n\
             <defs>{defs}</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}\
             </svg>\n",
            w = number(width),
            h = number(height),
            style = legend::style(&self.kinds),
            defs = legend::markers(&self.kinds),
            body = self.canvas.body,
        )
    }

    fn title(&mut self, share: Share) {
        let header = &self.trace.header;
        let room = self.width() - 40.0;
        self.canvas.text(20.0, 30.0, "h", Anchor::Start, &header.title());
        let command = canvas::fitted(&header.command, 11.0, room);
        self.canvas.text(20.0, 47.0, "k", Anchor::Start, &command);
        let mut notes = Vec::new();
        if !header.upkeep.is_empty() {
            notes.push(format!("not drawn: {}", header.upkeep.join(", ")));
        }
        if share.shown < share.total {
            let first = if self.from == Ticks::ZERO { "the first " } else { "" };
            let since = match self.from {
                Ticks::ZERO => String::new(),
                from => format!(" since {from}"),
            };
            let Share { shown, total, .. } = share;
            notes.push(format!("{first}{shown} of {total} messages{since}, no more"));
        }
        self.canvas.text(20.0, 63.0, "k", Anchor::Start, &notes.join("; "));
    }

    /// Shaded from top to bottom, since a partition concerns everybody.
    fn partitions(&mut self) {
        let top = self.top;
        let bottom = self.bottom();
        for ((from, to), groups) in &self.lives.partitions {
            let x0 = self.scale.x(*from);
            let x1 = self.scale.x(*to);
            self.canvas.rect(x0, top - 8.0, x1 - x0, bottom - top + 8.0, "pa");
            let told = format!("partition {}", words::groups(groups, &self.trace.header));
            self.canvas.label(&[(x0 + 4.0, top + 3.0, Anchor::Start)], "s", &told);
        }
    }

    /// A red line at each time at which properties were seen to be violated.
    fn violations(&mut self) {
        let mut broken: Vec<(f64, String)> = Vec::new();
        for record in &self.trace.records {
            if let Record::Violation(violation) = record
                && violation.at >= self.from
            {
                let x = self.scale.x(violation.at);
                let tag = violation.property.tag();
                match broken.last_mut().filter(|(last, _)| *last == x) {
                    Some((_, tags)) => *tags += &format!(", {tag}"),
                    None => broken.push((x, tag.to_string())),
                }
            }
        }
        let top = self.top;
        let bottom = self.bottom();
        for (x, tags) in broken {
            self.canvas
                .path("vi", &format!("M{} {}V{}", number(x), number(top - 14.0), number(bottom)));
            let told = format!("{tags} violated");
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
        let begin = self.scale.begin();
        let end = self.scale.end();
        self.canvas.path("ax", &format!("M{} {}H{}", number(begin), number(y), number(end)));
        let mut free = f64::MIN;
        for (at, x) in self.scale.ticks() {
            let told = at.to_string();
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
        for x in self.scale.breaks() {
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
