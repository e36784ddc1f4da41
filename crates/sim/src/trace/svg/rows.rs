//! The line of each node, and what stands on it.

use super::canvas::number;
use super::{Anchor, Picture, width_of};
use crate::trace::lives::{Life, Span};
use crate::trace::{plain, words};
use conclave_core::{NodeId, Ticks};

/// How far a line goes beyond its strip, to the left and to the right.
const BEFORE: f64 = 8.0;
const AFTER: f64 = 12.0;

impl Picture<'_> {
    /// Labels keep off the edge of the page.
    pub(super) fn reserve_edge(&mut self) {
        let width = self.width();
        self.canvas.reserve(width - 4.0, 0.0, 500.0, 100_000.0);
    }

    /// Labels keep off the lines, where bars and dots are, and off the names.
    pub(super) fn reserve_lines(&mut self) {
        let width = self.width();
        for index in 0..self.trace.header.names.len() {
            let y = self.y(index);
            self.canvas.reserve(self.left - 60.0, y - 4.0, width - self.left + 60.0, 8.0);
            self.canvas.reserve(0.0, y - 8.0, self.left - 14.0, 16.0);
        }
    }

    pub(super) fn lines(&mut self) {
        for node in self.trace.header.all() {
            let y = self.y(node.index());
            let name = words::who(&self.trace.header, node, self.language);
            self.canvas.text(self.left - 16.0, y + 4.5, "p", Anchor::End, &name);
            let life = std::mem::take(&mut self.lives.nodes[node.index()]);
            self.line(&life, y);
            self.bars(&life, y);
            self.lives.nodes[node.index()] = life;
        }
    }

    /// Solid where the node is up, dotted where it is down.
    fn line(&mut self, life: &Life, y: f64) {
        let strip = self.strip();
        let first = strip.from - BEFORE;
        let last = strip.to + AFTER;
        let mut up = String::new();
        let mut down = String::new();
        let mut from = first;
        let draw = |picture: &Self, path: &mut String, x0: f64, x1: f64| {
            if x0 < x1 {
                let [x0, x1] = [x0, x1].map(|place| number(picture.on_page((place, 0.0)).0));
                *path += &format!("M{x0} {}H{x1}", number(y));
            }
        };
        for (place, (begin, end)) in life.down.iter().enumerate() {
            let always = life.dead_from_start && place == 0;
            let begin = if always { f64::MIN } else { self.scale.x(*begin) };
            let end = if *end == self.lives.end { f64::MAX } else { self.scale.x(*end) };
            draw(self, &mut up, from, begin.min(last));
            draw(self, &mut down, begin.max(first), end.min(last));
            from = from.max(end);
        }
        draw(self, &mut up, from, last);
        self.canvas.path("li", &up);
        if !down.is_empty() {
            self.canvas.path("do", &down);
        }
    }

    fn bars(&mut self, life: &Life, y: f64) {
        let bar = |picture: &mut Self, (from, to): &Span, half: f64, class: &str| {
            let (x0, x1) = picture.stretch(*from, *to)?;
            picture.canvas.rect(x0, y - half, x1 - x0, half * 2.0, class);
            Some(f64::midpoint(x0, x1))
        };
        for span in &life.paused {
            if let Some(middle) = bar(self, span, 13.0, "ps") {
                let told = self.language.pick("paused", "pausado");
                self.canvas.label(&[(middle, y + 22.0, Anchor::Middle)], "s", told);
            }
        }
        for span in &life.waiting {
            bar(self, span, 3.5, "wa");
        }
        for (span, _) in &life.inside {
            bar(self, span, 8.0, "in");
        }
    }

    /// On the bar, or above it where it is too short.
    fn fences(&mut self, life: &Life, y: f64) {
        for ((from, to), fence) in &life.inside {
            let Some((x0, x1)) = self.stretch(*from, *to) else { continue };
            let middle = f64::midpoint(x0, x1);
            let long = self.language.fill("fence @", "fencing token @", &fence.to_string());
            if width_of(&long, 10.0) + 8.0 < x1 - x0 {
                self.canvas.text(middle, y + 3.5, "w", Anchor::Middle, &long);
            } else {
                let short = format!("#{fence}");
                self.canvas.label(&[(middle, y - 12.0, Anchor::Middle)], "s", &short);
            }
        }
    }

    /// What happened to a node, and whom it takes for the leader.
    pub(super) fn signs(&mut self) {
        for node in self.trace.header.all() {
            let y = self.y(node.index());
            let life = std::mem::take(&mut self.lives.nodes[node.index()]);
            self.fences(&life, y);
            self.crashes(&life, y);
            self.leaders(node, &life, y);
            self.lives.nodes[node.index()] = life;
        }
    }

    /// What is worth a few words if there is room.
    pub(super) fn asides(&mut self) {
        for node in self.trace.header.all() {
            let y = self.y(node.index());
            let life = std::mem::take(&mut self.lives.nodes[node.index()]);
            self.timers(&life, y);
            self.suspicions(&life, y);
            self.lives.nodes[node.index()] = life;
        }
    }

    fn crashes(&mut self, life: &Life, y: f64) {
        for (place, (from, _)) in life.down.iter().enumerate() {
            if life.returns.iter().any(|(at, _)| at == from) {
                continue; // It came back at once: the return says so.
            }
            let dead = life.dead_from_start && place == 0;
            let Some(x) = self.x(*from) else { continue };
            let d = format!("M{} {}l10 10m0 -10l-10 10", number(x - 5.0), number(y - 5.0));
            self.canvas.sign("cr", &d);
            let told = match dead {
                true => self.language.pick("dead from the start", "morto desde o começo"),
                false => self.language.pick("crash", "queda"),
            };
            self.under_always(x, y, "c", told);
        }
        for (at, amnesia) in &life.returns {
            let Some(x) = self.x(*at) else { continue };
            let d = format!("M{} {}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", number(x - 5.0), number(y));
            self.canvas.sign("re", &d);
            let told = match amnesia {
                true => self.language.pick("restart, disk lost", "volta, disco perdido"),
                false => self.language.pick("restart", "volta"),
            };
            self.under_always(x, y, "c", told);
        }
    }

    fn timers(&mut self, life: &Life, y: f64) {
        let mut ticks = String::new();
        for (at, name) in &life.timers {
            let Some(x) = self.x(*at) else { continue };
            ticks += &format!("M{} {}l-3.5 7h7z", number(x), number(y + 3.0));
            let name = self.language.timer(&self.trace.header.tell(&plain::innermost(name)));
            self.canvas.label(&around(x + 2.0, y), "s", &name);
        }
        if !ticks.is_empty() {
            self.canvas.sign("ti", &ticks);
        }
    }

    /// Whom a node takes for the leader. Of several at one moment, the last is what counts.
    fn leaders(&mut self, node: NodeId, life: &Life, y: f64) {
        for (place, (at, leader, term)) in life.leaders.iter().enumerate() {
            let Some(x) = self.x(*at) else { continue };
            let told = match leader {
                Some(leader) if *leader == node => {
                    let d = format!("M{} {}l6 -6l6 6l-6 6z", number(x - 6.0), number(y));
                    self.canvas.sign("le", &d);
                    self.language.fill("leads, term @", "lidera, mandato @", &term.to_string())
                }
                Some(leader) => {
                    self.language.fill("leader @", "líder @", self.trace.header.name(*leader))
                }
                None => self.language.pick("leads no more", "já não lidera").to_string(),
            };
            if life.leaders.get(place + 1).is_some_and(|(next, ..)| next == at) {
                self.canvas.label(&around(x, y), "b", &told);
            } else {
                self.under_always(x, y, "b", &told);
            }
        }
    }

    /// Whom a node suspects or trusts again, those of one moment in one text.
    fn suspicions(&mut self, life: &Life, y: f64) {
        let mut told: Vec<(Ticks, bool, Vec<&str>)> = Vec::new();
        for (at, whom, suspected) in &life.suspicions {
            let name = self.trace.header.name(*whom);
            match told.last_mut() {
                Some((last, same, names)) if last == at && same == suspected => names.push(name),
                Some(_) | None => told.push((*at, *suspected, vec![name])),
            }
        }
        for (at, suspected, names) in told {
            let Some(x) = self.x(at) else { continue };
            let names = names.join(",");
            let told = match suspected {
                true => self.language.fill("suspects @", "suspeita de @", &names),
                false => self.language.fill("trusts @", "confia em @", &names),
            };
            self.canvas.label(&around(x, y), "s", &told);
        }
    }

    /// A few words below the line, or above it, or where they cover something.
    fn under_always(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.canvas.label_always(&around(x, y), class, text);
    }
}

/// Where words may stand that belong to something on a line.
fn around(x: f64, y: f64) -> [(f64, f64, Anchor); 8] {
    [
        (x + 3.0, y + 18.0, Anchor::Start),
        (x - 3.0, y + 18.0, Anchor::End),
        (x + 3.0, y + 28.0, Anchor::Start),
        (x - 3.0, y + 28.0, Anchor::End),
        (x + 6.0, y - 12.0, Anchor::Start),
        (x - 6.0, y - 12.0, Anchor::End),
        (x + 6.0, y - 22.0, Anchor::Start),
        (x - 6.0, y - 22.0, Anchor::End),
    ]
}
