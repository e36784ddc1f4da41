//! What is drawn on: shapes as text, and which places are taken by labels.

use std::fmt::Write;

/// Where a text stands with respect to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trace) enum Anchor {
    Start,
    Middle,
    End,
}

/// Shapes so far, and what they cover. What is to be read lies above all that is drawn.
#[derive(Default)]
pub(in crate::trace) struct Canvas {
    /// The lowest layer: lines, bars and arrows.
    pub body: String,
    /// Signs on the lines.
    signs: String,
    texts: String,
    /// Places that no label may cover.
    taken: Vec<Block>,
}

/// A box around a letter or a small shape.
#[derive(Clone, Copy)]
struct Block {
    x: f64,
    y: f64,
    half_width: f64,
    half_height: f64,
}

impl Block {
    fn meets(&self, other: &Self) -> bool {
        (self.x - other.x).abs() < self.half_width + other.half_width
            && (self.y - other.y).abs() < self.half_height + other.half_height
    }
}

/// The height of a label, and what it leaves free.
const LABEL_HALF: f64 = 5.0;

impl Canvas {
    /// A line or a filled shape.
    pub fn path(&mut self, class: &str, d: &str) {
        let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    /// A sign that lies above lines and arrows.
    pub fn sign(&mut self, class: &str, d: &str) {
        let _ = writeln!(self.signs, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    /// All that was drawn.
    pub fn finish(self) -> String {
        self.body + &self.signs + &self.texts
    }

    /// The same, with what it means as a hint.
    pub fn path_with_hint(&mut self, class: &str, d: &str, hint: &str) {
        let hint = escaped(hint);
        let _ =
            writeln!(self.body, "<path class=\"{class}\" d=\"{d}\"><title>{hint}</title></path>");
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let [x, y, width, height] = [x, y, width.max(1.0), height].map(number);
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }

    /// A text, whether or not something is there.
    pub fn text(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " m",
            Anchor::End => " e",
        };
        let x = number(x);
        let y = number(y);
        let text = escaped(text);
        let _ = writeln!(
            self.texts,
            "<text class=\"{class}{anchor}\" x=\"{x}\" y=\"{y}\">{text}</text>"
        );
    }

    /// A text at the first of these places that is free; false if none is.
    pub fn label(&mut self, places: &[(f64, f64, Anchor)], class: &str, text: &str) -> bool {
        let free = places.iter().find(|place| !self.is_taken(&block(place, text)));
        if let Some(&(x, y, anchor)) = free {
            self.taken.push(block(&(x, y, anchor), text));
            self.text(x, y, class, anchor, text);
        }
        free.is_some()
    }

    /// The same; where no place is free, at the first.
    pub fn label_always(&mut self, places: &[(f64, f64, Anchor)], class: &str, text: &str) {
        if !self.label(places, class, text)
            && let Some(&(x, y, anchor)) = places.first()
        {
            self.taken.push(block(&(x, y, anchor), text));
            self.text(x, y, class, anchor, text);
        }
    }

    /// A text along a slope, if the place is free. The angle is in radians.
    pub fn slanted(&mut self, (x, y): (f64, f64), angle: f64, class: &str, text: &str) -> bool {
        let length = width_of(text, 10.0);
        let steps = (length / 8.0).ceil().max(1.0);
        let (sin, cos) = angle.sin_cos();
        let along = |step: f64| {
            let way = length * (step / steps - 0.5);
            // The letters stand above the slope.
            let x = x + way * cos + 6.0 * sin;
            let y = y + way * sin - 6.0 * cos;
            Block { x, y, half_width: 4.5, half_height: 5.0 }
        };
        let blocks: Vec<Block> = (0..=steps as u32).map(|step| along(f64::from(step))).collect();
        if blocks.iter().any(|block| self.is_taken(block)) {
            return false;
        }
        self.taken.extend(blocks);
        let degrees = number(angle.to_degrees());
        let x = number(x + 3.0 * sin);
        let y = number(y - 3.0 * cos);
        let text = escaped(text);
        let _ = writeln!(
            self.texts,
            "<text class=\"{class} m\" transform=\"translate({x} {y})rotate({degrees})\">\
             {text}</text>"
        );
        true
    }

    /// Keeps labels away from here.
    pub fn reserve(&mut self, x: f64, y: f64, width: f64, height: f64) {
        let half_width = width / 2.0;
        let half_height = height / 2.0;
        self.taken.push(Block { x: x + half_width, y: y + half_height, half_width, half_height });
    }

    fn is_taken(&self, block: &Block) -> bool {
        self.taken.iter().any(|taken| taken.meets(block))
    }
}

fn block((x, y, anchor): &(f64, f64, Anchor), text: &str) -> Block {
    let half_width = width_of(text, 10.0) / 2.0;
    let middle = match anchor {
        Anchor::Start => x + half_width,
        Anchor::Middle => *x,
        Anchor::End => x - half_width,
    };
    Block { x: middle, y: y - 3.5, half_width: half_width + 1.5, half_height: LABEL_HALF }
}

/// About how wide a text is at this size of letters.
pub(in crate::trace) fn width_of(text: &str, size: f64) -> f64 {
    let letter = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | 't' | 'f' | '(' | ')' => 0.32,
        'm' | 'w' | 'M' | 'W' | '@' => 0.86,
        'A'..='Z' => 0.68,
        _ => 0.57,
    };
    text.chars().map(letter).sum::<f64>() * size
}

/// A text in lines that fit, at most so many; a word that is longer than a line is broken.
pub(in crate::trace) fn lines(
    text: &str,
    room: f64,
    most: usize,
    width: impl Fn(&str) -> f64,
) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in text.split_inclusive(' ').flat_map(|word| pieces(word, room, &width)) {
        let place = lines.len() - 1;
        let line = &mut lines[place];
        if line.is_empty() || width(&format!("{line}{}", piece.trim_end())) <= room {
            *line += &piece;
        } else if place + 1 == most {
            let short = line.trim_end().to_string() + " …";
            *line = short;
            break;
        } else {
            lines.push(piece);
        }
    }
    lines.iter().map(|line| line.trim_end().to_string()).collect()
}

/// A word in pieces that fit.
fn pieces(word: &str, room: f64, width: &impl Fn(&str) -> f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in word.chars() {
        let place = pieces.len() - 1;
        pieces[place].push(c);
        if width(&pieces[place]) > room - 12.0 {
            pieces.push(String::new());
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// A place on paper: whole pixels are fine enough, and short.
pub(in crate::trace) fn number(value: f64) -> String {
    (value.round() as i64).to_string()
}

/// Letters that mean something to XML, and those that it does not allow at all.
pub(in crate::trace) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            _ if c.is_control() || ['\u{fffe}', '\u{ffff}'].contains(&c) => safe.push(' '),
            _ => safe.push(c),
        }
    }
    safe
}
