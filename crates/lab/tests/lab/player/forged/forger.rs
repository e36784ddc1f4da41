//! Makes forgeries: lines of recordings and moments of stories, changed by chance.

use conclave_sim::Stream;
use conclave_sim::trace::{Effect, Record, Trace};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Whoever changes a recording.
pub struct Forger<'a> {
    random: &'a mut Stream,
    lines: Vec<Value>,
}

/// The text of these lines.
pub fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

impl<'a> Forger<'a> {
    /// Of these lines: the first is the header, the last but one says that the run is over.
    pub fn new(random: &'a mut Stream, lines: Vec<Value>) -> Self {
        Self { random, lines }
    }

    /// A forged recording.
    pub fn recording(mut self) -> String {
        for node in (0..3).filter(|_| self.random.chance(0.4)).collect::<Vec<u64>>() {
            self.unseen(1, node); // All that it does from there on is believed.
        }
        for _ in 0..=self.random.below(2) {
            self.change();
        }
        if self.random.chance(0.9) {
            self.renumber();
        }
        text(&self.lines)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound.max(1) as u64) as usize
    }

    /// A record, but not the end.
    fn place(&mut self) -> usize {
        let records = self.lines.len() - 3;
        1 + self.below(records)
    }

    fn change(&mut self) {
        let place = self.place();
        match self.below(24) {
            0 => drop(self.lines.remove(place)),
            1 => self.lines.insert(place, self.lines[place].clone()),
            2 => {
                let other = self.place();
                self.lines.swap(place, other);
            }
            3 => {
                let other = self.place();
                let moved = self.lines.remove(place);
                self.lines.insert(other.min(self.lines.len() - 2), moved);
            }
            4..=6 => self.leaf(place),
            7 => self.leaf(0),
            8 => self.graft(place),
            9..=11 => {
                let node = self.node();
                self.unseen(place, node);
            }
            12 => self.lines[0]["machine"] = self.machine(),
            _ => {
                let fault = self.fault(place);
                self.lines.insert(place, fault);
            }
        }
    }

    /// A node does what nobody saw.
    fn unseen(&mut self, place: usize, node: u64) {
        let at = self.at(place);
        let unseen = json!({ "record": "step", "at": at, "node": node, "cause": "unseen",
            "event": null });
        self.lines.insert(place, unseen);
    }

    fn node(&mut self) -> u64 {
        self.random.below(3)
    }

    fn at(&self, place: usize) -> Value {
        self.lines[place].get("at").cloned().unwrap_or(json!(0))
    }

    fn fault(&mut self, place: usize) -> Value {
        let names =
            ["dead", "crash", "restart", "pause", "resume", "lost", "partition", "heal", "suspect"];
        let name = names[self.below(names.len())];
        let mut fault = json!({ "record": name, "at": self.at(place), "node": self.node(),
            "amnesia": self.random.chance(0.5), "number": self.random.below(9),
            "groups": [[self.node()], [self.node()]], "by": self.node(), "of": self.node() });
        let takes: &[&str] = match name {
            "dead" => &["node"],
            "crash" | "pause" | "resume" => &["at", "node"],
            "restart" => &["at", "node", "amnesia"],
            "lost" => &["at", "node", "number"],
            "partition" => &["at", "number", "groups"],
            "heal" => &["at", "number"],
            _ => &["at", "by", "of"],
        };
        let fields = fault.as_object_mut().expect("it is one");
        fields.retain(|field, _| field == "record" || takes.contains(&field.as_str()));
        fault
    }

    fn machine(&mut self) -> Value {
        let engine = self.lines[0]["algorithm"].as_str().unwrap_or("central").to_string();
        let key = ["lock/a", "election", "detector", "lock/"][self.below(4)];
        let nodes = self.lines[0]["nodes"].as_u64().unwrap_or(3);
        let settings =
            format!("{nodes} nodes; engine {engine}; election majority; detector heartbeat");
        json!({ "key": key, "settings": settings })
    }

    /// Some number or word in a line becomes another.
    fn leaf(&mut self, place: usize) {
        let other = self.place();
        let word = leaves(&mut self.lines[other]).into_iter().find_map(|it| {
            let text = it.as_str()?;
            Some(text.to_string())
        });
        let mut line = std::mem::take(&mut self.lines[place]);
        let leaves = leaves(&mut line);
        let chosen = self.random.below(leaves.len().max(1) as u64) as usize;
        if let Some(leaf) = leaves.into_iter().nth(chosen) {
            *leaf = match leaf {
                Value::Number(number) => self.number(number.as_u64().unwrap_or_default()),
                Value::String(_) => word.map_or(Value::Null, Value::from),
                Value::Bool(is) => (!*is).into(),
                Value::Null | Value::Array(_) | Value::Object(_) => self.number(0),
            };
        }
        self.lines[place] = line;
    }

    fn number(&mut self, was: u64) -> Value {
        let numbers = [
            0,
            1,
            2,
            3,
            4,
            64,
            was.wrapping_add(1),
            was.wrapping_sub(1),
            was / 2,
            was.wrapping_mul(3),
            1 << 31,
            u64::from(u32::MAX),
            1 << 53,
            u64::MAX,
        ];
        let number = numbers[self.below(numbers.len())];
        if self.random.chance(0.05) { json!(-1) } else { json!(number) }
    }

    /// A field of one record takes the place of that of another.
    fn graft(&mut self, place: usize) {
        let other = self.place();
        let fields = ["event", "cause", "effects", "node", "at", "choices"];
        let field = fields[self.below(fields.len())];
        if let Some(value) = self.lines[other].get(field).cloned() {
            self.lines[place][field] = value;
        }
    }

    /// Gives messages the numbers that they would have had.
    fn renumber(&mut self) {
        let mut numbers: BTreeMap<u64, u64> = BTreeMap::new();
        let mut sent = 0;
        for line in &mut self.lines {
            let landed = line.pointer_mut("/cause/message/number");
            if let Some(known) = landed.as_ref().and_then(|number| numbers.get(&number.as_u64()?)) {
                *landed.expect("it has one") = json!(known);
            }
            let effects = line.get_mut("effects").and_then(Value::as_array_mut);
            for number in
                effects.into_iter().flatten().filter_map(|it| it.pointer_mut("/send/number"))
            {
                sent += 1;
                numbers.insert(number.as_u64().unwrap_or_default(), sent);
                *number = json!(sent);
            }
        }
    }
}

/// All numbers and words within a value.
fn leaves(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Array(values) => values.iter_mut().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values_mut().flat_map(leaves).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![value],
    }
}

/// Any moment that might be possible, or not.
pub fn moment(random: &mut Stream, timers: &[String]) -> Value {
    let mut node = || random.below(3);
    let (from, to) = (node(), node());
    let place = random.below(12).saturating_sub(9);
    match random.below(24) {
        0..=10 => json!({ "move": "deliver", "from": from, "to": to, "place": place }),
        11 => json!({ "move": "repeat", "from": from, "to": to, "place": place }),
        12 => json!({ "move": "lose", "from": from, "to": to, "place": place }),
        13..=15 if !timers.is_empty() => {
            let timer = &timers[random.below(timers.len() as u64) as usize];
            json!({ "move": "fire", "node": to, "timer": timer })
        }
        20 => json!({ "move": "crash", "node": to }),
        21 => json!({ "move": "restart", "node": to, "amnesia": random.chance(0.5) }),
        22 => json!({ "move": "suspect", "by": from, "of": to }),
        23 => json!({ "move": "trust", "by": from, "of": to }),
        number => {
            let asks = ["acquire", "release", "campaign", "cancel", "acquire"];
            json!({ "move": asks[number as usize % asks.len()], "node": to })
        }
    }
}

/// A story of these moments, of which some may have been changed, about some promise.
pub fn story(random: &mut Stream, moments: &[Value]) -> String {
    let mut moments = moments.to_vec();
    if random.chance(0.3) {
        let place = random.below(moments.len() as u64) as usize;
        let stem = json!({ "move": "acquire", "node": random.below(5), "choices": [1, 0] });
        moments[place] = stem;
    }
    let properties = ["S1", "V1", "V2", "E1", "E2", "HB", "F1", "BW", "D1", "E1-term"];
    let property = properties[random.below(properties.len() as u64) as usize];
    let stem = match random.below(4) {
        0 => json!(random.below(moments.len() as u64 + 2)),
        1 => json!(u64::MAX),
        _ => Value::Null,
    };
    json!({ "property": property, "moments": moments, "stem": stem, "shortest": true }).to_string()
}

/// The names of all timers that were set, as stories have them.
pub fn timers(trace: &Trace) -> Vec<String> {
    fn name(timer: &Value) -> String {
        match timer.as_object().and_then(|layers| layers.iter().next()) {
            Some((layer, inner)) => format!("{layer}({})", name(inner)),
            None => timer.as_str().unwrap_or_default().to_string(),
        }
    }
    let steps = trace.records.iter().filter_map(Record::step);
    let set = steps.flat_map(|step| &step.effects).filter_map(|effect| match effect {
        Effect::SetTimer { effect, .. } => Some(effect),
        Effect::Send(_)
        | Effect::CancelTimer { .. }
        | Effect::Indicate { .. }
        | Effect::Request { .. } => None,
    });
    set.map(|effect| name(&effect["SetTimer"]["timer"])).collect()
}
