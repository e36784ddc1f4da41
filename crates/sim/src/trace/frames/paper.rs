//! One picture of a film.

use super::places::{HEIGHT, Places, WIDTH};
use super::state::{Node, State};
use crate::trace::svg::{Anchor, Canvas, escaped, lines, number, width_of};
use crate::trace::words;
use conclave_core::NodeId;
use std::collections::BTreeMap;

const STYLE: &str = "text{font:12px Helvetica,Arial,sans-serif;fill:#333}\
    .m{text-anchor:middle}.e{text-anchor:end}path{fill:none}\
    .li{stroke:#ccc;stroke-width:1.5}.cu{stroke:#6a51a3;stroke-width:1.5;stroke-dasharray:2 6}\
    .f{stroke:#0072b2;stroke-width:2;marker-end:url(#f)}\
    .r{stroke:#009e73;stroke-width:2;stroke-dasharray:5 4;marker-end:url(#r)}\
    .o{stroke:#c00;stroke-width:2;marker-end:url(#x)}\
    .n{font-size:11px;fill:#0072b2;font-weight:bold}.q{font-size:11px;fill:#00705a}\
    .n,.q,.s{paint-order:stroke;stroke:#fff;stroke-width:4px}\
    circle{stroke:#333;stroke-width:1.5;fill:#fff}\
    .wa{fill:#f0d98c}.in{fill:#37474f}.dn{fill:#eee;stroke:#999;stroke-dasharray:2 3}\
    .ps{fill:#ccc}.kn{fill:#cfe8f6}.ld{fill:#e69f00}.ac{stroke-width:4.5}\
    .p{font-size:14px;font-weight:bold;fill:#111}.w{font-size:14px;font-weight:bold;fill:#fff}\
    .s{font-size:11px;fill:#555}.k{fill:#777}.y{font-size:13px;font-style:italic;fill:#555}.h{font-size:15px;fill:#111}\
    .cr{stroke:#c00;stroke-width:3}";

const MARKERS: &str = "<marker id=\"f\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
    markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1L8 4L0 7z\" \
    style=\"fill:#0072b2\"/></marker>\
    <marker id=\"r\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
    markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1L8 4L0 7z\" style=\"fill:#009e73\"/></marker>\
    <marker id=\"x\" viewBox=\"-5 -5 10 10\" markerWidth=\"8\" markerHeight=\"8\">\
    <path d=\"M-4 -4L4 4M-4 4L4 -4\" style=\"stroke:#c00;stroke-width:2\"/></marker>";

/// One picture: which it is, of how many, and what happened, in words; then why.
pub fn frame(
    state: &State<'_>,
    places: &Places,
    (place, last): (usize, usize),
    [caption, why]: [&str; 2],
) -> String {
    let mut canvas = Canvas::default();
    links(&mut canvas, state, places);
    arrows(&mut canvas, state, places);
    for node in state.header.all() {
        draw_node(&mut canvas, state, places, node);
    }
    above(&mut canvas, state, (place, last));
    let rows = lines(caption, WIDTH - 60.0, 3, |text| width_of(text, 15.0));
    let mut y = HEIGHT + 4.0;
    for line in &rows {
        canvas.text(WIDTH / 2.0, y, "h", Anchor::Middle, line);
        y += 20.0;
    }
    for line in lines(why, WIDTH - 60.0, 3, |text| width_of(text, 13.0)) {
        canvas.text(WIDTH / 2.0, y, "y", Anchor::Middle, &line);
        y += 17.0;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\" lang=\"{lang}\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n<defs>{MARKERS}</defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
        escaped(caption),
        canvas.finish(),
        height = HEIGHT + 112.0,
        lang = state.language.tag(),
    )
}

/// The time, what the arrows mean, and which picture it is.
fn above(canvas: &mut Canvas, state: &State<'_>, (place, last): (usize, usize)) {
    let language = state.language;
    let mut time = language.fill("time @", "tempo @", &language.number(&state.now));
    for (_, groups) in &state.partitions {
        let groups = words::groups(groups, state.header);
        time += &language.fill(", partition @", ", partição @", &groups);
    }
    canvas.text(20.0, 26.0, "k", Anchor::Start, &time);
    canvas.text(WIDTH - 20.0, 26.0, "k", Anchor::End, &format!("{place} / {last}"));
    canvas.path("f", &format!("M{} 22h34", WIDTH / 2.0 - 120.0));
    canvas.text(
        WIDTH / 2.0 - 80.0,
        26.0,
        "k",
        Anchor::Start,
        language.pick("under way", "a caminho"),
    );
    canvas.path("r", &format!("M{} 22h34", WIDTH / 2.0 + 6.0));
    canvas.text(
        WIDTH / 2.0 + 46.0,
        26.0,
        "k",
        Anchor::Start,
        language.pick("just arrived", "acaba de chegar"),
    );
}

fn links(canvas: &mut Canvas, state: &State<'_>, places: &Places) {
    let mut whole = String::new();
    let mut cut = String::new();
    for (a, b) in &places.links {
        let ((x0, y0), (x1, y1)) = (places.nodes[a.index()], places.nodes[b.index()]);
        let line = format!("M{} {}L{} {}", number(x0), number(y0), number(x1), number(y1));
        if state.are_apart(*a, *b) { cut += &line } else { whole += &line }
    }
    canvas.path("li", &whole);
    canvas.path("cu", &cut);
}

/// Messages under way, all of one pair on one arrow; and the one that has just arrived, dashed.
fn arrows(canvas: &mut Canvas, state: &State<'_>, places: &Places) {
    for (x, y) in &places.nodes {
        let r = places.radius;
        canvas.reserve(x - r, y - r, 2.0 * r, 2.0 * r);
        canvas.reserve(x - 34.0, y + r, 68.0, 18.0); // What is written below it.
    }
    let mut pairs: BTreeMap<(NodeId, NodeId, bool), Vec<&str>> = BTreeMap::new();
    for flight in &state.flights {
        let pair = (flight.from, flight.to, flight.lost);
        pairs.entry(pair).or_default().push(&flight.label);
    }
    if let Some((from, to, label)) = &state.arrived {
        arrow(canvas, places, (*from, *to), "r", ("q", label));
    }
    for ((from, to, lost), labels) in pairs {
        let class = if lost { "o" } else { "f" };
        arrow(canvas, places, (from, to), class, ("n", &joined(&labels)));
    }
}

/// `TOKEN`, `OK ×2`, `A, B`: at most a few words.
fn joined(labels: &[&str]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for label in labels {
        match counts.iter_mut().find(|(known, _)| known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    let told = |(label, count): &(&str, usize)| match count {
        1 => (*label).to_string(),
        count => format!("{label} ×{count}"),
    };
    counts.iter().map(told).collect::<Vec<_>>().join(", ")
}

/// A bent arrow, so that those of the two directions do not meet.
fn arrow(
    canvas: &mut Canvas,
    places: &Places,
    (from, to): (NodeId, NodeId),
    class: &str,
    (label_class, label): (&str, &str),
) {
    let ((x0, y0), (x1, y1)) = (places.nodes[from.index()], places.nodes[to.index()]);
    let dx = x1 - x0;
    let dy = y1 - y0;
    let length = dx.hypot(dy).max(1.0);
    let ux = dx / length;
    let uy = dy / length;
    let bend = (length * 0.12).min(30.0);
    let mx = f64::midpoint(x0, x1) - uy * bend;
    let my = f64::midpoint(y0, y1) + ux * bend;
    let edge = places.radius + 3.0;
    let part = if class == "o" { 0.55 } else { 1.0 };
    let far = edge + (length - 2.0 * edge) * part;
    let d = format!(
        "M{} {}Q{} {} {} {}",
        number(x0 + ux * edge),
        number(y0 + uy * edge),
        number(if part < 1.0 { x0 + ux * far / 2.0 - uy * bend / 2.0 } else { mx }),
        number(if part < 1.0 { y0 + uy * far / 2.0 + ux * bend / 2.0 } else { my }),
        number(x0 + ux * far),
        number(y0 + uy * far),
    );
    canvas.path(class, &d);
    // Near the middle of the bow, or where there is room.
    let at = |part: f64| {
        let bow = 4.0 * part * (1.0 - part) * bend * 0.5;
        (x0 + dx * part - uy * bow, y0 + dy * part + ux * bow + 4.0, Anchor::Middle)
    };
    let spots = [0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75].map(at);
    canvas.label_always(&spots, label_class, label);
}

fn draw_node(canvas: &mut Canvas, state: &State<'_>, places: &Places, id: NodeId) {
    let ((x, y), node) = (places.nodes[id.index()], &state.nodes[id.index()]);
    let acts = if state.acting == Some(id) { " ac" } else { "" };
    canvas.body += &format!(
        "<circle class=\"{}{acts}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
        look(node, id),
        number(x),
        number(y),
        number(places.radius)
    );
    let name = if node.inside.is_some() && !node.down { "w" } else { "p" };
    canvas.text(x, y + 5.0, name, Anchor::Middle, state.header.name(id));
    if node.down {
        let d = format!("M{} {}l24 24m0 -24l-24 24", number(x - 12.0), number(y - 12.0));
        canvas.sign("cr", &d);
    }
    let below = y + places.radius + 14.0;
    if let Some(told) = beside(node, id, state) {
        canvas.text(x, below, "s", Anchor::Middle, &told);
    }
}

/// The class of a node, by what it is or believes.
fn look(node: &Node, id: NodeId) -> &'static str {
    match node {
        Node { down: true, .. } => "dn",
        Node { paused: true, .. } => "ps",
        Node { inside: Some(_), .. } => "in",
        Node { waiting: true, .. } => "wa",
        Node { leader: Some(leader), .. } if *leader == id => "ld",
        Node { leader: Some(_), .. } => "kn",
        Node { .. } => "no",
    }
}

/// What is written below a node.
fn beside(node: &Node, id: NodeId, state: &State<'_>) -> Option<String> {
    let name = |whom: &NodeId| state.header.name(*whom).to_string();
    let language = state.language;
    let mut told = Vec::new();
    match node {
        Node { down: true, .. } => told.push(language.pick("down", "fora").to_string()),
        Node { paused: true, .. } => told.push(language.pick("paused", "pausado").to_string()),
        Node { inside: Some(fence), .. } => {
            let fence = fence.to_string();
            told.push(language.fill("inside, fence @", "dentro, fencing token @", &fence));
        }
        Node { waiting: true, .. } => told.push(language.pick("waits", "espera").to_string()),
        Node { .. } => {}
    }
    if let Some(leader) = &node.leader {
        told.push(match *leader == id {
            true => language.pick("leads", "lidera").to_string(),
            false => language.fill("leader @", "líder @", &name(leader)),
        });
    }
    if !node.suspects.is_empty() {
        let whom: Vec<String> = node.suspects.iter().map(name).collect();
        told.push(language.fill("suspects @", "suspeita de @", &whom.join(",")));
    }
    (!told.is_empty()).then(|| told.join("; "))
}
