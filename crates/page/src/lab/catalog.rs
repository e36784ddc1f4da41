//! `GET /lab/catalog`: cards of all algorithms and scenarios. Worked out once for each language.

use super::body::{Kept, Packed, Prepared};
use super::translate::Tongue;
use super::turns::Turns;
use crate::Problem;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use conclave_lab::cards::{self, Card, RunCard, ScenarioCard};
use conclave_lab::player::{EDITS_MAX, EVENTS_MAX, Language, NODES_MAX, WINDOW_MAX};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::OnceLock;

#[derive(Deserialize)]
pub struct Asked {
    #[serde(default)]
    lang: Option<String>,
    #[serde(default)]
    brief: bool,
}

/// What only the page of algorithms has to know of an algorithm.
const IN_FULL: [&str; 7] = ["idea", "source", "messages", "rules", "has", "lacks", "cost"];

pub async fn catalog(
    State(turns): State<Turns>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Prepared, Problem> {
    static ENGLISH: [OnceLock<Kept>; 2] = [const { OnceLock::new() }; 2];
    static PORTUGUESE: [OnceLock<Kept>; 2] = [const { OnceLock::new() }; 2];
    let tongue = Tongue::of(asked.lang.as_deref());
    let packed = Packed::of(&headers);
    let work = move |_| {
        let known = match tongue.0 {
            Language::English => &ENGLISH,
            Language::Portuguese => &PORTUGUESE,
        };
        let known = &known[usize::from(asked.brief)];
        if let Some(known) = known.get() {
            return Ok(packed.kept(known));
        }
        let mut made = whole(tongue)?;
        if asked.brief {
            shorten(&mut made);
        }
        Ok(packed.kept(known.get_or_init(|| Kept::new(&made))))
    };
    turns.short(tongue, work).await
}

/// Leaves out what the lab itself does not show, so that its first screen is there soon.
fn shorten(catalog: &mut Value) {
    for card in catalog["algorithms"].as_array_mut().into_iter().flatten() {
        for part in IN_FULL {
            card.as_object_mut().map(|card| card.remove(part));
        }
    }
    for card in catalog["scenarios"].as_array_mut().into_iter().flatten() {
        let parts: &[&str] =
            if card["tile"] == true { &["question"] } else { &["question", "text"] };
        for part in parts {
            card.as_object_mut().map(|card| card.remove(*part));
        }
    }
}

fn whole(tongue: Tongue) -> Result<Value, Problem> {
    let scenarios = scenarios()?;
    let mut tiles: Vec<&ScenarioCard> =
        scenarios.iter().filter(|card| card.front.is_some()).collect();
    tiles.sort_by_key(|card| card.front);
    let algorithms: Vec<Card> =
        cards::all().into_iter().map(|card| translated(card, tongue)).collect();
    let shown: Vec<ScenarioShown> =
        scenarios.iter().map(|card| ScenarioShown::of(card, tongue)).collect();
    Ok(json!({
        "algorithms": algorithms,
        "scenarios": shown,
        "lessons": conclave_lab::lessons::all(tongue.0),
        "tiles": tiles.iter().map(|card| &card.name).collect::<Vec<_>>(),
        "limits": {
            "nodes": NODES_MAX, "events": EVENTS_MAX, "edits": EDITS_MAX, "window": WINDOW_MAX,
        },
    }))
}

/// Every scenario, run once for all; or why there is none: that is our own mistake, no asker's.
pub fn scenarios() -> Result<&'static [ScenarioCard], Problem> {
    static CARDS: OnceLock<Vec<ScenarioCard>> = OnceLock::new();
    if let Some(cards) = CARDS.get() {
        return Ok(cards);
    }
    let made = cards::scenarios()
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(CARDS.get_or_init(|| made))
}

fn translated(mut card: Card, tongue: Tongue) -> Card {
    card.title = tongue.say(&card.title);
    card.idea = tongue.say(&card.idea);
    for assumption in &mut card.assumptions {
        assumption.text = tongue.say(&assumption.text);
    }
    for message in &mut card.messages {
        for text in [&mut message.from_to, &mut message.when] {
            *text = tongue.quote(text).unwrap_or_else(|| text.clone());
        }
    }
    for rule in &mut card.rules {
        match tongue.quote(&rule.text) {
            Some(told) => rule.text = told,
            None => rule.lang = Some("en"),
        }
    }
    for promise in card.has.iter_mut().chain(&mut card.lacks) {
        promise.text = tongue.say(&promise.text);
    }
    for cost in &mut card.cost {
        cost.formula = tongue.say(&cost.formula);
    }
    for parameter in &mut card.parameters {
        parameter.about = tongue.say(&parameter.about);
        parameter.accepted = tongue.say(&parameter.accepted);
    }
    card
}

/// A scenario in one language.
#[derive(Serialize)]
pub struct ScenarioShown {
    pub name: String,
    pub title: String,
    pub text: String,
    pub algorithm: String,
    pub flags: String,
    pub question: Option<String>,
    pub tile: bool,
    pub runs: Vec<RunShown>,
}

/// One run of it.
#[derive(Serialize)]
pub struct RunShown {
    pub title: Option<String>,
    pub algorithm: String,
    pub flags: String,
}

impl ScenarioShown {
    /// In this language.
    pub fn of(card: &ScenarioCard, tongue: Tongue) -> Self {
        let pick = |[english, portuguese]: &[String; 2]| {
            let text = tongue.0.pick(english, portuguese).trim();
            text.split('\n').collect::<Vec<_>>().join(" ")
        };
        let run = |run: &RunCard| RunShown {
            title: run.part.as_ref().map(pick),
            algorithm: run.algorithm.clone(),
            flags: run.flags.clone(),
        };
        let first = card.runs.first();
        Self {
            name: card.name.clone(),
            title: pick(&card.title),
            text: pick(&card.text),
            algorithm: first.map(|run| run.algorithm.clone()).unwrap_or_default(),
            flags: first.map(|run| run.flags.clone()).unwrap_or_default(),
            question: card.question.as_ref().map(pick),
            tile: card.front.is_some(),
            runs: card.runs.iter().map(run).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_the_module_docs_say_of_messages_and_rules_is_there_in_portuguese() {
        let said: BTreeSet<String> = cards::all()
            .into_iter()
            .flat_map(|card| {
                let messages = card.messages.into_iter().flat_map(|one| [one.from_to, one.when]);
                messages.chain(card.rules.into_iter().map(|rule| rule.text)).collect::<Vec<_>>()
            })
            .collect();
        let known = conclave_texts::entries(conclave_texts::DOCUMENTS);
        let known: BTreeSet<String> = known.into_iter().map(|(english, _)| english).collect();
        let missing: Vec<&String> = said.difference(&known).collect();
        assert!(missing.is_empty(), "not in pt/documents.po: {missing:#?}");
        let unused: Vec<&String> = known.difference(&said).collect();
        assert!(unused.is_empty(), "in pt/documents.po, and said nowhere: {unused:#?}");
    }
}
