//! What was found, for programs to read.

use super::{Checked, Retelling};
use crate::output::json::Map;
use conclave_check::Stop;
use conclave_core::{Moment, NodeId, Property, Start, Ticks, Verdict};
use conclave_sim::Names;
use serde::Serialize;
use serde_json::{Value, json};

/// What `check` prints.
#[derive(Serialize)]
pub struct Object<'a> {
    algorithm: &'a str,
    nodes: u32,
    bounds: Value,
    without: Option<&'static str>,
    /// What the catalogue knows of doing without it, where no promise broke.
    known: Option<String>,
    reductions: Vec<&'static str>,
    states: u64,
    unique_states: u64,
    depth: u32,
    complete: bool,
    stop: Option<&'static str>,
    seconds: f64,
    states_per_second: f64,
    bytes: u64,
    collision_odds: f64,
    properties: Map<'a, Verdict>,
    counterexample: Option<Vec<Value>>,
    stories: Vec<Told>,
}

/// How a promise is broken.
#[derive(Serialize)]
struct Told {
    property: Property,
    promised: bool,
    shortest: bool,
    /// How many moments come before those that repeat, if some do.
    stem: Option<usize>,
    what: String,
    moments: Vec<Value>,
}

impl Checked<'_> {
    /// All of it as one object.
    pub fn json(&self) -> anyhow::Result<Object<'_>> {
        let report = &self.report;
        let names = &self.experiment.names;
        let stories = self.stories.iter().map(|told| self.told(told));
        Ok(Object {
            algorithm: self.experiment.setting.entry.id,
            nodes: self.experiment.setting.n,
            bounds: self.bounds()?,
            without: self.dropped.map(|assumption| assumption.tag),
            known: self.known_of_dropped(),
            reductions: report.reductions.iter().map(|reduction| reduction.name()).collect(),
            states: report.states,
            unique_states: report.unique_states,
            depth: report.depth,
            complete: report.is_complete(),
            stop: report.stop.map(reason),
            seconds: report.seconds,
            states_per_second: self.states_per_second(),
            bytes: report.bytes,
            collision_odds: report.collision_odds,
            properties: Map(self.verdicts().into_iter().map(|(p, v)| (p.tag(), v)).collect()),
            counterexample: self.worst().map(|told| moments(told, names)).transpose()?,
            stories: stories.collect::<anyhow::Result<_>>()?,
        })
    }

    /// The bounds, with nodes by their names.
    fn bounds(&self) -> anyhow::Result<Value> {
        let mut bounds = serde_json::to_value(&self.bounds)?;
        if let Start::These(nodes) = &self.bounds.start {
            let name = |node: NodeId| self.experiment.names.name(node);
            bounds["start"] = nodes.iter().map(name).collect();
        }
        bounds["depth"] = json!(self.limits.depth);
        Ok(bounds)
    }

    fn told(&self, told: &Retelling) -> anyhow::Result<Told> {
        let names = &self.experiment.names;
        Ok(Told {
            property: told.story.property,
            promised: self.promises(told.story.property),
            shortest: told.story.shortest,
            stem: told.story.stem,
            what: told.broken(names),
            moments: moments(told, names)?,
        })
    }
}

fn reason(stop: Stop) -> &'static str {
    match stop {
        Stop::Depth => "depth",
        Stop::States => "states",
        Stop::Memory => "memory",
        Stop::Found => "found",
        Stop::Interrupted => "interrupted",
    }
}

/// Each moment with its number, from 1, and in words.
fn moments(told: &Retelling, names: &Names) -> anyhow::Result<Vec<Value>> {
    let lines = told.retold.lines.iter().filter(|line| line.at > Ticks::ZERO);
    let numbered = (1..).zip(told.story.moments.iter().zip(lines));
    let moment = |(step, (moment, line)): (usize, (&Moment, &conclave_sim::Line))| {
        let text = names.tell(&line.text);
        let who = line.node.map(|node| names.name(node) + " ").unwrap_or_default();
        let mut object = json!({ "step": step, "what": who + &text });
        let mut fields = serde_json::to_value(moment)?;
        for (name, value) in fields.as_object_mut().into_iter().flatten() {
            object[name] = match value.as_u64() {
                Some(index) if name != "place" => names.name(NodeId(index as u32)).into(),
                Some(_) | None => value.take(),
            };
        }
        Ok(object)
    };
    numbered.map(moment).collect()
}
