//! The question for a run and its answer, as they travel.

use super::costs::{CostShown, costs};
use super::events::{self, Event, Teller};
use super::explained;
use super::lamps::{State, lamps};
use super::limits::{AHEAD_BYTES, took_too_long};
use super::messages::Messages;
use super::moment::{Clockwork, Moment};
use super::played::{Audience, Played, play_to};
use super::signs::spans;
use super::{AHEAD_MAX, Refused, WINDOW_MAX, index, units};
use crate::documents;
use conclave_core::Links;
use conclave_sim::trace::{Focus, Language, Record, Sending, Survey};
use conclave_sim::{Ending, Outcome, Patience};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// What somebody wants to see.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct RunQuestion {
    pub algorithm: String,
    #[serde(default)]
    pub flags: String,
    #[serde(default)]
    pub edits: Vec<String>,
    #[serde(default)]
    pub story: Option<String>,
    #[serde(default)]
    pub window: Option<(usize, usize)>,
    #[serde(default)]
    pub at: usize,
    #[serde(default)]
    pub ahead: usize,
    #[serde(default)]
    pub lang: Option<String>,
    #[serde(default)]
    pub only: Option<Vec<Part>>,
    #[serde(default)]
    pub format: Option<String>,
}

/// A part of an answer that can be asked for alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The events of the window.
    List,
    /// The moment at the cursor.
    Moment,
    /// The keys of the window.
    Keys,
}

impl RunQuestion {
    /// The language of the answer.
    pub fn language(&self) -> Language {
        language(self.lang.as_deref())
    }

    fn asks(&self, part: Part) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&part))
    }

    /// What of a run is looked at for it, however long that is.
    fn focus(&self) -> Focus {
        let (from, to) = self.window.unwrap_or((0, WINDOW_MAX));
        let to = to.clamp(from, from.saturating_add(WINDOW_MAX));
        let until = self.at.saturating_add(self.ahead.min(AHEAD_MAX)).saturating_add(1);
        Focus {
            window: if self.asks(Part::List) { from..to } else { 0..0 },
            moments: if self.asks(Part::Moment) { self.at..until } else { 0..0 },
            patience: Patience::ENDLESS,
        }
    }
}

/// The language of an answer: English, unless Portuguese was asked for.
pub fn language(lang: Option<&str>) -> Language {
    match lang {
        Some(lang) if lang.to_ascii_lowercase().starts_with("pt") => Language::Portuguese,
        Some(_) | None => Language::English,
    }
}

/// A run as the page has it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Answer {
    pub v: u32,
    pub hash: String,
    #[serde(flatten)]
    pub whole: Option<Whole>,
    pub window: (usize, usize),
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<Event>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_index: Option<Vec<MessageRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moment: Option<Moment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<Moment>,
}

/// Number, the event that sends it, the one that receives it, from, to, label.
pub type MessageRow = (u64, usize, Option<usize>, u32, u32, String);

/// What is the same for every window and every cursor.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Whole {
    pub command: Option<String>,
    pub algorithm: String,
    pub family: String,
    pub title: String,
    pub nodes: Vec<NodeNamed>,
    pub links: Option<Vec<(u32, u32)>>,
    pub end: f64,
    pub ending: &'static str,
    pub overrun: bool,
    pub events: usize,
    pub missing: u64,
    pub loop_from: Option<usize>,
    pub messages: Counts,
    pub costs: Vec<CostShown>,
    pub index: Index,
    pub spans: Vec<(u32, &'static str, usize, Option<usize>)>,
    pub lamps: Vec<LampShown>,
}

/// A node and its name.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct NodeNamed {
    pub name: String,
    pub coordinator: bool,
}

/// How many messages there were.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Counts {
    pub total: u64,
    pub by_type: BTreeMap<String, u64>,
    pub places: BTreeMap<String, usize>,
}

/// All events in short.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Index {
    pub at: Vec<f64>,
    pub node: Vec<i64>,
    pub kind: String,
}

/// A lamp as the page has it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct LampShown {
    pub property: &'static str,
    pub name: String,
    pub changes: Vec<(usize, State)>,
    pub why: Option<String>,
    pub witnesses: Vec<usize>,
}

/// Answers a question: plays the run, and tells what was asked for.
pub fn answer(question: &RunQuestion) -> Result<Answer, Refused> {
    answer_within(Patience::ENDLESS, question)
}

/// The same, as long as somebody waits for it.
pub fn answer_within(patience: Patience, question: &RunQuestion) -> Result<Answer, Refused> {
    let audience = Audience { focus: Some(question.focus()), patience };
    let field = if question.story.is_some() { "story" } else { "flags" };
    tell_in_time(&played(&audience, question)?, question, field)
}

/// What a question asks of a run, if it could be told while somebody waited.
pub fn tell_in_time(
    played: &Played,
    question: &RunQuestion,
    field: &'static str,
) -> Result<Answer, Refused> {
    let answer = tell(played, question);
    if played.patience.is_over() { Err(took_too_long(field)) } else { Ok(answer) }
}

/// The run that a question is about.
pub fn played(audience: &Audience, question: &RunQuestion) -> Result<Played, Refused> {
    match &question.story {
        None => play_to(audience, &question.algorithm, &question.flags, &question.edits),
        Some(_) if !question.edits.is_empty() => {
            Err(Refused::new("edits", "a story is as it is: it takes no edits"))
        }
        Some(story) => {
            let RunQuestion { algorithm, flags, .. } = question;
            Played::by_story(audience.patience, algorithm, flags, story)
        }
    }
}

/// What a question asks of a run: only a part of it, once nobody waits any longer.
pub fn tell(played: &Played, question: &RunQuestion) -> Answer {
    let language = question.language();
    let records = &played.trace.records;
    let (from, to) = question.window.unwrap_or((0, WINDOW_MAX));
    let from = from.min(records.len());
    let window = from..to.clamp(from, records.len()).min(from + WINDOW_MAX);
    let messages = Messages::of(&played.trace);
    let keys = (question.asks(Part::List) || question.asks(Part::Keys))
        .then(|| events::keys(&played.trace.header, records, &messages, &window));
    let keys = keys.unwrap_or_default();
    let focus = Focus { patience: played.patience, ..question.focus() };
    let survey = explained::survey(played, &focus);
    let shown = Shown { played, messages: &messages, survey: &survey, language };
    let mut moments = shown.moments(question).into_iter();
    Answer {
        v: 1,
        hash: played.hash.clone(),
        whole: question.only.is_none().then(|| whole(played, language)),
        list: question.asks(Part::List).then(|| shown.list(&window, &keys)),
        messages_index: question.asks(Part::List).then(|| shown.messages(&window)),
        window: (window.start, window.end),
        keys: question.asks(Part::Keys).then_some(keys),
        moment: moments.next(),
        ahead: moments.collect(),
    }
}

struct Shown<'a> {
    played: &'a Played,
    messages: &'a Messages<'a>,
    survey: &'a Survey,
    language: Language,
}

impl Shown<'_> {
    fn list(&self, window: &Range<usize>, keys: &[String]) -> Vec<Event> {
        let header = &self.played.trace.header;
        let teller = Teller { header, messages: self.messages, language: self.language };
        let records = self.played.trace.records[window.clone()].iter();
        let places = window.clone().zip(records);
        places
            .take_while(|_| !self.played.patience.is_over())
            .map(|(place, record)| {
                let key = &keys[place - window.start];
                let mut event = teller.event(place + 1, record, key);
                explained::explain(&mut event, self.survey, self.played, self.language);
                event
            })
            .collect()
    }

    /// The messages that are on their way in the window, or begin or end it there.
    fn messages(&self, window: &Range<usize>) -> Vec<MessageRow> {
        let here = self.messages.iter().filter(|message| {
            let end = message.landed.last().copied().unwrap_or(usize::MAX);
            message.sent_by <= window.end && end > window.start
        });
        here.map(|message| {
            let Sending { number, to, label, .. } = message.sending;
            let (from, to) = (index(message.from), index(*to));
            let lands = message.landed.first().copied();
            (*number, message.sent_by, lands, from, to, label.clone())
        })
        .collect()
    }

    /// The moment at the cursor and those after it that are asked for, as far as the run goes.
    fn moments(&self, question: &RunQuestion) -> Vec<Moment> {
        let Self { played, messages, survey, language } = *self;
        let last = played.trace.records.len();
        let Range { start, end } = question.focus().moments;
        if start == end {
            return Vec::new();
        }
        let moments = start.min(last)..end.min(last + 1).max(start.min(last) + 1);
        let mut clockwork = Clockwork::new(played, messages, &moments, language);
        let asked = |at| explained::moment(played, survey, at, language);
        let in_time = moments.take_while(|_| !played.patience.is_over());
        let mut told = 0;
        let brief = |moment: &Moment| {
            told += moment.size();
            told <= AHEAD_BYTES || told == moment.size() // The first is told however long.
        };
        in_time.map(|at| clockwork.moment(at, &asked(at))).take_while(brief).collect()
    }
}

fn whole(played: &Played, language: Language) -> Whole {
    let header = &played.trace.header;
    let clients = played.names().clients as usize;
    let nodes = header
        .names
        .iter()
        .enumerate()
        .map(|(place, name)| NodeNamed { name: name.clone(), coordinator: place >= clients });
    let ending = played.trace.records.last();
    Whole {
        command: (!header.command.is_empty()).then(|| header.command.clone()),
        algorithm: header.algorithm.clone(),
        family: header.family.clone(),
        title: header.title(language),
        nodes: nodes.collect(),
        links: links(played),
        end: units(played.trace.end()),
        ending: ending.map_or("", |record| ending_words(record, played, language)),
        overrun: played.overrun,
        events: played.trace.records.len(),
        missing: missing(ending),
        loop_from: played.loop_from,
        messages: counts(played),
        costs: costs(played, language),
        index: all_in_short(&played.trace.records),
        spans: spans(&played.trace, played.patience),
        lamps: lamps_shown(played),
    }
}

fn missing(record: Option<&Record>) -> u64 {
    if let Some(Record::End { missing, .. }) = record { *missing } else { 0 }
}

fn ending_words(record: &Record, played: &Played, language: Language) -> &'static str {
    let Record::End { ending, .. } = record else { return "" };
    let [english, portuguese] = match ending {
        _ if played.loop_from.is_some() => {
            ["it goes on like this for ever", "continua assim para sempre"]
        }
        Ending::CutShort if played.overrun => {
            ["cut short: too many events", "interrompida: eventos demais"]
        }
        Ending::Quiet => ["nothing more can happen", "nada mais pode acontecer"],
        Ending::Done => ["the last request has left", "o último pedido saiu"],
        Ending::CutShort => ["time was up", "o tempo acabou"],
    };
    language.pick(english, portuguese)
}

/// The links between the nodes, each once; nothing where all have a link to all.
fn links(played: &Played) -> Option<Vec<(u32, u32)>> {
    let n = played.trace.header.names.len() as u32;
    match played.trace.header.links.as_ref()? {
        Links::Complete => None,
        Links::Ring => Some((0..n).map(|node| (node, (node + 1) % n)).collect()),
        Links::Edges(pairs) => Some(pairs.iter().map(|(a, b)| (index(*a), index(*b))).collect()),
    }
}

fn counts(played: &Played) -> Counts {
    let mut by_type: BTreeMap<String, u64> = BTreeMap::new();
    let of_outcome = |outcome: &Outcome| {
        let kinds = outcome.messages_by_kind.iter();
        kinds.map(|(kind, count)| ((*kind).to_string(), *count)).collect()
    };
    match &played.outcome {
        Some(outcome) => by_type = of_outcome(outcome),
        None => {
            for (_, step) in played.trace.steps() {
                for sending in step.sends() {
                    *by_type.entry(sending.label.clone()).or_default() += 1;
                }
            }
        }
    }
    let setting = &played.experiment.setting;
    let place = |kind: &String| (kind.clone(), documents::place_of_kind(setting, kind));
    let places = by_type.keys().map(place).collect();
    Counts { total: by_type.values().sum(), by_type, places }
}

fn all_in_short(records: &[Record]) -> Index {
    let place = |record| events::place(record).map_or(-1, |node| i64::from(node.0));
    Index {
        at: records.iter().map(|record| units(record.at())).collect(),
        node: records.iter().map(place).collect(),
        kind: records.iter().map(|record| events::kind(record).1).collect(),
    }
}

fn lamps_shown(played: &Played) -> Vec<LampShown> {
    let shown = |lamp: super::lamps::Lamp| LampShown {
        property: lamp.property.tag(),
        name: lamp.property.meaning().to_string(),
        changes: lamp.changes,
        why: lamp.broken.map(|broken| played.trace.header.tell(&broken.what)),
        witnesses: lamp.witnesses,
    };
    lamps(played).into_iter().map(shown).collect()
}
