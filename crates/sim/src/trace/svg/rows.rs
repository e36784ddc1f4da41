//! The line of each node, and what stands on it.

use super::canvas::number;
use super::{Anchor, Picture, width_of};
use crate::trace::lives::{Life, Span};
use conclave_core::NodeId;

impl Picture<'_> {
    /// Labels keep off the lines, where bars and dots are, and off the edge of the page.
    pub(super) fn reserve_lines(&mut self) {
        let begin = self.scale.begin();
        let end = self.scale.end();
        for index in 0..self.trace.header.names.len() {
            let y = self.y(index);
            self.canvas.reserve(begin - 60.0, y - 4.0, end - begin + 90.0, 8.0);
        }
        let width = self.width();
        let bottom = self.bottom() + 50.0;
        self.canvas.reserve(width - 4.0, 0.0, 500.0, bottom);
    }

    pub(super) fn lines(&mut self) {
        let begin = self.scale.begin();
        for node in self.trace.header.all() {
            let y = self.y(node.index());
            let name = crate::trace::mermaid::who(&self.trace.header, node);
            self.canvas.text(begin - 16.0, y + 4.5, "p", Anchor::End, &name);
            let life = std::mem::take(&mut self.lives.nodes[node.index()]);
            self.line(&life, y);
            self.bars(&life, y);
            self.lives.nodes[node.index()] = life;
        }
    }

    /// Solid where the node is up, dotted where it is down.
    fn line(&mut self, life: &Life, y: f64) {
        let mut up = String::new();
        let mut down = String::new();
        let mut from = self.scale.begin() - 8.0;
        for (begin, end) in &life.down {
            let x0 = self.scale.x(*begin);
            let x1 = self.scale.x(*end);
            let x0 = if life.dead_from_start && from < self.scale.begin() { from } else { x0 };
            up += &format!("M{} {}H{}", number(from), number(y), number(x0));
            let x1 = if *end == self.lives.end { self.scale.end() + 12.0 } else { x1 };
            down += &format!("M{} {}H{}", number(x0), number(y), number(x1));
            from = x1;
        }
        let end = self.scale.end() + 12.0;
        if from < end {
            up += &format!("M{} {}H{}", number(from), number(y), number(end));
        }
        self.canvas.path("li", &up);
        if !down.is_empty() {
            self.canvas.path("do", &down);
        }
    }

    fn bars(&mut self, life: &Life, y: f64) {
        let bar = |picture: &mut Self, (from, to): &Span, half: f64, class: &str| {
            let x0 = picture.scale.x(*from);
            let x1 = picture.scale.x(*to);
            picture.canvas.rect(x0, y - half, x1 - x0, half * 2.0, class);
            (x0, x1)
        };
        for span in &life.paused {
            let (x0, x1) = bar(self, span, 13.0, "ps");
            let middle = f64::midpoint(x0, x1);
            self.canvas.label(&[(middle, y + 22.0, Anchor::Middle)], "s", "paused");
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
            let x0 = self.scale.x(*from);
            let x1 = self.scale.x(*to);
            let middle = f64::midpoint(x0, x1);
            let long = format!("fence {fence}");
            if width_of(&long, 10.0) + 8.0 < x1 - x0 {
                self.canvas.text(middle, y + 3.5, "w", Anchor::Middle, &long);
            } else {
                let short = format!("#{fence}");
                self.canvas.label(&[(middle, y - 12.0, Anchor::Middle)], "s", &short);
            }
        }
    }

    /// What happened to a node, and what it came to believe.
    pub(super) fn signs(&mut self) {
        for node in self.trace.header.all() {
            let y = self.y(node.index());
            let life = std::mem::take(&mut self.lives.nodes[node.index()]);
            self.fences(&life, y);
            self.crashes(&life, y);
            self.timers(&life, y);
            self.beliefs(node, &life, y);
            self.lives.nodes[node.index()] = life;
        }
    }

    fn crashes(&mut self, life: &Life, y: f64) {
        for (place, (from, _)) in life.down.iter().enumerate() {
            if life.returns.iter().any(|(at, _)| at == from) {
                continue; // It came back at once: the return says so.
            }
            let dead = life.dead_from_start && place == 0;
            let x = self.scale.x(*from);
            let d = format!("M{} {}l10 10m0 -10l-10 10", number(x - 5.0), number(y - 5.0));
            self.canvas.path("cr", &d);
            let told = if dead { "dead from the start" } else { "crash" };
            self.under(x, y, "c", told);
        }
        for (at, amnesia) in &life.returns {
            let x = self.scale.x(*at);
            let d = format!("M{} {}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", number(x - 5.0), number(y));
            self.canvas.path("re", &d);
            let told = if *amnesia { "restart, disk lost" } else { "restart" };
            self.under(x, y, "c", told);
        }
    }

    fn timers(&mut self, life: &Life, y: f64) {
        let mut ticks = String::new();
        for (at, name) in &life.timers {
            let x = self.scale.x(*at);
            ticks += &format!("M{} {}l-3.5 7h7z", number(x), number(y + 3.0));
            self.under(x + 2.0, y, "s", name);
        }
        if !ticks.is_empty() {
            self.canvas.path("ti", &ticks);
        }
    }

    fn beliefs(&mut self, node: NodeId, life: &Life, y: f64) {
        for (at, leader, term) in &life.leaders {
            let x = self.scale.x(*at);
            let told = match leader {
                Some(leader) if *leader == node => {
                    let d = format!("M{} {}l6 -6l6 6l-6 6z", number(x - 6.0), number(y));
                    self.canvas.path("le", &d);
                    format!("leads, term {term}")
                }
                Some(leader) => format!("leader {}", self.trace.header.name(*leader)),
                None => "leads no more".to_string(),
            };
            self.under(x, y, "b", &told);
        }
        for (at, whom, suspected) in &life.suspicions {
            let name = self.trace.header.name(*whom);
            let told =
                if *suspected { format!("suspects {name}") } else { format!("trusts {name}") };
            self.under(self.scale.x(*at), y, "s", &told);
        }
    }

    /// A few words below the line, or above it, or not at all.
    fn under(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let places = [
            (x + 3.0, y + 18.0, Anchor::Start),
            (x - 3.0, y + 18.0, Anchor::End),
            (x + 3.0, y + 28.0, Anchor::Start),
            (x + 6.0, y - 12.0, Anchor::Start),
            (x - 6.0, y - 12.0, Anchor::End),
        ];
        self.canvas.label(&places, class, text);
    }
}
