//! A run that was played: by flags and edits, by a story of the checker, or from a recording.

use super::edit::{self, Edit};
use super::limits::{self, BYTES_MAX, EDITS_MAX, EVENTS_MAX, took_too_long};
use super::signs::Signs;
use super::{NODES_MAX, Refused};
use crate::{Experiment, SimFlags};
use conclave_core::{NodeId, Property, Story, Ticks, Verdict, Violation};
use conclave_sim::trace::{Focus, Record, Survey, Trace};
use conclave_sim::{Ending, Names, Options, Outcome, Patience, Plan};

/// A run, ready to be looked at.
pub struct Played {
    /// The algorithm, its size, and the names of its nodes.
    pub experiment: Experiment,
    /// What decided the run; nothing, where it was no plan.
    pub plan: Option<Plan>,
    /// What happened. Violations are not among the records: an event is a record, and has its
    /// place, from 1.
    pub trace: Trace,
    /// What became of each promise in the end.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The broken ones, each with the event after which the monitor saw it.
    pub violations: Vec<(Violation, usize)>,
    /// The hash of everything that happened.
    pub hash: String,
    /// What was measured, of a simulated run.
    pub outcome: Option<Outcome>,
    /// What its nodes said, where they were asked while they ran.
    pub survey: Option<Survey>,
    /// After which event a run begins to repeat itself that goes on for ever.
    pub loop_from: Option<usize>,
    /// Whether it was cut short because it has too many events.
    pub overrun: bool,
    /// How long somebody waits to be told of it.
    pub patience: Patience,
}

/// Reads no file: a question has all that it needs in itself.
pub fn no_files(_: &str) -> Result<String, String> {
    let words = "files cannot be named here; '=' and the lines themselves, parted by ';', can";
    Err(words.to_string())
}

/// For whom a run is played.
#[derive(Clone, Debug, Default)]
pub struct Audience {
    /// What they look at; nothing if they want to keep all of it.
    pub focus: Option<Focus>,
    /// How long they wait.
    pub patience: Patience,
}

/// Plays a run by the flags of a line, with edits.
pub fn play(id: &str, line: &str, edits: &[String]) -> Result<Played, Refused> {
    play_to(&Audience::default(), id, line, edits)
}

/// The same, to somebody who looks at a part of it.
pub fn play_to(
    audience: &Audience,
    id: &str,
    line: &str,
    edits: &[String],
) -> Result<Played, Refused> {
    let flags = SimFlags::of_line(id, line).map_err(Refused::of("flags"))?;
    let field = if crate::find(id).is_ok() { "flags" } else { "algorithm" };
    vet_size(&flags)?;
    let experiment = flags.experiment(&no_files).map_err(Refused::of(field))?;
    let plan = flags.plan(&experiment, &no_files).map_err(Refused::of("flags"))?;
    play_plan(audience, experiment, plan, edits)
}

/// Before anything is built: nodes take memory.
fn vet_size(flags: &SimFlags) -> Result<(), Refused> {
    let nodes = flags.how_many().map_err(Refused::of("algorithm"))?;
    if nodes > NODES_MAX {
        let words = format!("--nodes {nodes}: at most {NODES_MAX} here");
        return Err(Refused::new("flags", words));
    }
    Ok(())
}

/// Plays a run by a plan, with edits: each is made in the run that came before it.
fn play_plan(
    audience: &Audience,
    experiment: Experiment,
    mut plan: Plan,
    edits: &[String],
) -> Result<Played, Refused> {
    let all = experiment.names.clients + experiment.names.coordinators;
    limits::vet(all, &plan)?;
    if edits.len() > EDITS_MAX {
        let words = format!("at most {EDITS_MAX} edits are made on top of each other");
        return Err(Refused::new("edits", words));
    }
    let unseen = Audience { focus: Some(Focus::default()), ..audience.clone() };
    let seen = |edits_left: usize| if edits_left == 0 { audience } else { &unseen };
    let mut played = Played::by_plan(seen(edits.len()), experiment, plan.clone(), "flags")?;
    let mut events = 0;
    for (left, text) in (0..edits.len()).rev().zip(edits) {
        events += played.trace.records.len();
        if events > limits::EVENTS_IN_ALL {
            return Err(Refused::new("edits", "too many edits for so long a run"));
        }
        let edit: Edit = edit::parse(text, &played.experiment.names)?;
        let family = played.experiment.setting.entry.family;
        edit.apply(&mut plan, family, Some(&played))?;
        played = Played::by_plan(seen(left), played.experiment, plan.clone(), "edits")?;
    }
    Ok(played)
}

impl Played {
    fn by_plan(
        audience: &Audience,
        experiment: Experiment,
        plan: Plan,
        field: &'static str,
    ) -> Result<Self, Refused> {
        let options = Options {
            trace: true,
            focus: audience.focus.clone(),
            events_max: Some(EVENTS_MAX),
            bytes_max: Some(BYTES_MAX),
            deadline: audience.patience.deadline(),
            ..experiment.options(false)
        };
        let mut outcome = experiment.run(&plan, &options).map_err(Refused::of(field))?;
        if audience.patience.is_over() {
            return Err(took_too_long(field));
        }
        let records = without_violations(std::mem::take(&mut outcome.records));
        let header = experiment.header(experiment.command(&plan));
        let trace = Trace { header, records };
        let last = trace.records.len();
        let seen = outcome.seen.iter().copied().chain(std::iter::repeat(last));
        let violations = outcome.violations.iter().cloned().zip(seen).collect();
        Ok(Self {
            overrun: outcome.ending == Ending::CutShort && outcome.end < plan.until,
            hash: outcome.hash.map(|hash| format!("{hash:016x}")).unwrap_or_default(),
            verdicts: outcome.verdicts.clone(),
            violations,
            survey: outcome.survey.take(),
            outcome: Some(outcome),
            plan: Some(plan),
            loop_from: None,
            patience: audience.patience,
            trace,
            experiment,
        })
    }

    /// Plays a story of the checker. The flags give the algorithm and its size alone.
    pub fn by_story(patience: Patience, id: &str, line: &str, text: &str) -> Result<Self, Refused> {
        let story: Story = serde_json::from_str(text).map_err(Refused::of("story"))?;
        let flags = SimFlags::of_line(id, line).map_err(Refused::of("flags"))?;
        vet_size(&flags)?;
        let experiment = flags.experiment(&no_files).map_err(Refused::of("flags"))?;
        let retold = experiment.follow_within(patience, &story).map_err(Refused::of("story"));
        let retold = if patience.is_over() { Err(took_too_long("story")) } else { retold }?;
        let header = experiment.header(String::new());
        let trace = Trace { header, records: without_violations(retold.records) };
        let event_at = |at: Ticks| {
            let happened = trace
                .records
                .iter()
                .rposition(|record| record.at() <= at && !matches!(record, Record::End { .. }));
            happened.map_or(0, |place| place + 1)
        };
        let last = trace.records.len();
        let loop_from = story.stem.map(|stem| event_at(Ticks::units(stem as u64)));
        let place = |violation: Violation| {
            let at_end = loop_from.is_some() || is_decided_at_end(violation.property);
            let event = if at_end { last } else { event_at(violation.at) };
            (violation, event)
        };
        Ok(Self {
            plan: None,
            verdicts: retold.verdicts,
            violations: retold.violations.into_iter().map(place).collect(),
            hash: hash_of(&trace),
            outcome: None,
            survey: None,
            loop_from,
            overrun: false,
            patience,
            trace,
            experiment,
        })
    }

    /// What people call the nodes.
    pub fn names(&self) -> &Names {
        &self.experiment.names
    }

    /// Whether a node waits at this time, before anything happens at it.
    pub fn waits_at(&self, node: NodeId, at: Ticks) -> bool {
        let before = self.trace.records.iter().take_while(|record| record.at() < at).count();
        let signs = Signs::after(&self.trace, before);
        signs.nodes[node.index()].waiting
    }

    /// Whether it was cut short because it takes too much to write down.
    pub fn is_too_large(&self) -> bool {
        let few = self.outcome.as_ref().is_some_and(|outcome| outcome.events < EVENTS_MAX);
        self.overrun && few
    }

    /// The trace as it is written into a file.
    pub fn into_recording(self) -> Trace {
        let mut trace = self.trace;
        let end = trace.records.len().saturating_sub(1);
        let broken = self.violations.into_iter().map(|(violation, _)| violation);
        trace.records.splice(end..end, broken.map(Record::Violation));
        trace
    }
}

/// Whether a promise can only be seen to be broken when all is over.
pub fn is_decided_at_end(property: Property) -> bool {
    match property {
        Property::V1
        | Property::V2
        | Property::E1
        | Property::E2
        | Property::D1
        | Property::HBExact => true,
        Property::S1
        | Property::S1Eff
        | Property::BW
        | Property::HB
        | Property::F1
        | Property::E1Term
        | Property::D2 => false,
    }
}

/// The records of a trace that are events.
pub fn without_violations(mut records: Vec<Record>) -> Vec<Record> {
    records.retain(|record| !matches!(record, Record::Violation(_)));
    records
}

/// A run that no plan decided is known by what was written down of it.
pub fn hash_of(trace: &Trace) -> String {
    let mut hasher = conclave_core::Hasher::default();
    for record in &trace.records {
        let text = serde_json::to_string(record).unwrap_or_default();
        hasher.write(text.as_bytes());
    }
    format!("{:016x}", hasher.finish())
}
