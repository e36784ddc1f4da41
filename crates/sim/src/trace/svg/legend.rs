//! Colours, and what they mean.

use super::canvas::number;
use super::{Anchor, Arrow, Picture, width_of};
use crate::trace::lives::{Landing, Life};

/// Okabe and Ito's colours, which can be told apart by the colour-blind; without their yellow,
/// which is hard to see on white.
pub(in crate::trace) const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555"];

/// How everything looks. One letter or two for each class keeps the file small.
const STYLE: &str = "text{font:10px Helvetica,Arial,sans-serif;fill:#333}\
    .m{text-anchor:middle}.e{text-anchor:end}\
    .h{font-size:17px;font-weight:bold;fill:#111}.k{font:11px monospace;fill:#777}\
    .p{font-size:13px;font-weight:bold;fill:#111}.t{fill:#666}\
    .l{font-size:9px;fill:#888}.s{fill:#555}.c{fill:#a33;font-weight:bold}\
    .b{fill:#111;font-weight:bold}.v{fill:#c00;font-weight:bold}\
    .w{fill:#fff;paint-order:stroke;stroke:#37474f;stroke-width:3px}\
    .n,.l,.s,.c,.b{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\
    path{fill:none}.li{stroke:#444;stroke-width:1.5}\
    .do{stroke:#999;stroke-width:1.5;stroke-dasharray:1 5;stroke-linecap:round}\
    .d{stroke:#222;stroke-width:5.5;stroke-linecap:round}.ax{stroke:#999}\
    .wa{fill:#f0d98c}.in{fill:#37474f;rx:2px}.ps{fill:#ddd;stroke:#bbb}\
    .pa{fill:#6a51a3;fill-opacity:.1;stroke:#6a51a3;stroke-opacity:.4;stroke-dasharray:4 3}\
    .cr{stroke:#c00;stroke-width:2.5}.re{fill:#fff;stroke:#c00;stroke-width:2}\
    .ti{fill:#555}.le{fill:#e69f00;stroke:#111}\
    .vi{stroke:#c00;stroke-width:1.5;stroke-dasharray:5 3}\
    .x{marker-end:url(#x)}.z{marker-end:url(#o)}.y{marker-start:url(#o)}\
    .u{marker-end:none;stroke-opacity:.45}";

/// The style sheet: how everything looks, and a colour for each kind of message.
pub(super) fn style(kinds: &[String]) -> String {
    let mut style = String::new();
    for (place, colour) in kinds.iter().enumerate().map(|(place, _)| (place, colour(place))) {
        // When the colours are used up they come again, dashed.
        let dash = if place >= COLOURS.len() { ";stroke-dasharray:6 3" } else { "" };
        let arrow = place % COLOURS.len();
        style += &format!(
            ".a{place}{{stroke:{colour};stroke-width:1.5;marker-end:url(#a{arrow}){dash}}}"
        );
    }
    style + STYLE
}

fn colour(place: usize) -> &'static str {
    COLOURS[place % COLOURS.len()]
}

/// The heads of the arrows, the cross of those that never arrive, and the ring of those that go on
/// in another strip.
pub(super) fn markers(kinds: &[String]) -> String {
    let mut markers = String::new();
    for (place, colour) in COLOURS.iter().enumerate().take(kinds.len()) {
        markers += &format!(
            "<marker id=\"a{place}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1L8 4L0 7z\" \
             style=\"fill:{colour}\"/></marker>"
        );
    }
    markers
        + "<marker id=\"x\" viewBox=\"-5 -5 10 10\" markerWidth=\"8\" markerHeight=\"8\">\
           <path d=\"M-4 -4L4 4M-4 4L4 -4\" style=\"stroke:#c00;stroke-width:2\"/></marker>\
           <marker id=\"o\" viewBox=\"-4 -4 8 8\" markerWidth=\"6\" markerHeight=\"6\">\
           <path d=\"M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0\" \
           style=\"fill:#fff;stroke:#555;stroke-width:1.2\"/></marker>"
}

/// One sign of the legend.
enum Sign {
    /// A line of this class.
    Line(String),
    /// A bar of this class and height.
    Bar(&'static str, f64),
    /// A shape of this class, drawn around its middle.
    Shape(&'static str, &'static str),
    /// A text of this class.
    Text(&'static str, &'static str),
}

const SIGN: f64 = 30.0;

impl Picture<'_> {
    /// What the signs mean, only those that were used; how far down it goes.
    pub(super) fn legend(&mut self, top: f64, arrows: &[Arrow]) -> f64 {
        let mut x = 20.0;
        let mut y = top;
        let room = self.width() - 20.0;
        for (sign, text) in self.signs_used(arrows) {
            let wide = SIGN + 6.0 + width_of(&text, 10.0) + 16.0;
            if x + wide > room && x > 20.0 {
                x = 20.0;
                y += 20.0;
            }
            self.sign(&sign, x, y);
            self.canvas.text(x + SIGN + 6.0, y + 3.5, "g", Anchor::Start, &text);
            x += wide;
        }
        y + 10.0
    }

    fn sign(&mut self, sign: &Sign, x: f64, y: f64) {
        let middle = x + SIGN / 2.0;
        match sign {
            Sign::Line(class) => {
                let end = if class.contains(['x', 'z']) { x + SIGN - 6.0 } else { x + SIGN };
                self.canvas.path(class, &format!("M{} {}H{}", number(x), number(y), number(end)));
            }
            Sign::Bar(class, half) => self.canvas.rect(x, y - half, SIGN, half * 2.0, class),
            Sign::Shape(class, d) => {
                self.canvas.path(class, &format!("M{} {}{d}", number(middle), number(y)));
            }
            Sign::Text(class, text) => {
                self.canvas.text(middle, y + 3.5, class, Anchor::Middle, text)
            }
        }
    }

    fn signs_used(&self, arrows: &[Arrow]) -> Vec<(Sign, String)> {
        let kinds = self.kinds.iter().enumerate();
        let mut signs: Vec<(Sign, String)> =
            kinds.map(|(place, kind)| (Sign::Line(format!("a{place}")), kind.clone())).collect();
        signs.extend(self.signs_of_messages(arrows));
        signs.extend(self.signs_of_nodes());
        signs.extend(self.signs_of_time());
        signs
    }

    fn signs_of_messages(&self, arrows: &[Arrow]) -> Vec<(Sign, String)> {
        let lost = |end| matches!(end, Landing::Lost | Landing::LostAtNode(_));
        let cuts = &self.strips[..self.strips.len() - 1];
        let cut = cuts.iter().any(|strip| arrows.iter().any(|arrow| arrow.is_cut_at(strip.to)));
        used([
            (
                self.any_landing(lost),
                Sign::Line("a0 x".into()),
                self.language.pick("lost", "perdida"),
            ),
            (
                self.any_landing(|end| end == Landing::UnderWay),
                Sign::Line("a0 u".into()),
                self.language.pick("still under way", "ainda a caminho"),
            ),
            (
                cut,
                Sign::Line("a0 z".into()),
                self.language.pick("goes on below", "continua abaixo"),
            ),
        ])
    }

    fn signs_of_nodes(&self) -> Vec<(Sign, String)> {
        let leads = self.has(|life| life.leaders.iter().any(|(_, leader, _)| leader.is_some()));
        let cross = Sign::Shape("cr", "m-5 -5l10 10m0 -10l-10 10");
        let at_once = |life: &Life, at| life.returns.iter().any(|(back, _)| *back == at);
        let down = self.has(|life| life.down.iter().any(|(from, _)| !at_once(life, *from)));
        let circle = Sign::Shape("re", "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0");
        let pick = |english, portuguese| self.language.pick(english, portuguese);
        used([
            (
                self.has(|life| !life.waiting.is_empty()),
                Sign::Bar("wa", 3.5),
                pick("waits to enter", "espera para entrar"),
            ),
            (
                self.has(|life| !life.inside.is_empty()),
                Sign::Bar("in", 7.0),
                pick("inside", "dentro"),
            ),
            (
                leads,
                Sign::Shape("le", "m-6 0l6 -6l6 6l-6 6z"),
                pick("takes itself for the leader", "toma-se por líder"),
            ),
            (down, cross, pick("crash", "queda")),
            (self.has(|life| !life.returns.is_empty()), circle, pick("restart", "volta")),
            (down, Sign::Line("do".into()), pick("down", "fora")),
            (
                self.has(|life| !life.paused.is_empty()),
                Sign::Bar("ps", 7.0),
                pick("paused", "pausado"),
            ),
        ])
    }

    fn signs_of_time(&self) -> Vec<(Sign, String)> {
        let pick = |english, portuguese| self.language.pick(english, portuguese);
        let broken = self.scale.breaks();
        let own = self.has_own_clock();
        let number = if own { Sign::Text("n", "M 4") } else { Sign::Text("l", "4") };
        let clock = match own {
            true => pick("time that the message carries", "hora lógica que a mensagem traz"),
            false => pick("Lamport's time", "tempo de Lamport"),
        };
        used([
            (
                !self.lives.partitions.is_empty(),
                Sign::Bar("pa", 8.0),
                pick("partition", "partição"),
            ),
            (
                self.has(|life| !life.timers.is_empty()),
                Sign::Shape("ti", "m0 -4l-3.5 7h7z"),
                pick("timer fires", "temporizador dispara"),
            ),
            (true, number, clock),
            (
                !broken.is_empty(),
                Sign::Shape("ax", "m-4 4l4 -8m3 0l-4 8"),
                pick("time shortened", "tempo encurtado"),
            ),
        ])
    }
}

/// Those signs that a picture has.
fn used<const N: usize>(signs: [(bool, Sign, &str); N]) -> Vec<(Sign, String)> {
    let used = signs.into_iter().filter(|(used, ..)| *used);
    used.map(|(_, sign, text)| (sign, text.to_string())).collect()
}
