//! `POST /lab/scenario`: a run of a scenario, with its question and what must come of it.

use super::body::{Packed, Prepared, question};
use super::catalog::{ScenarioShown, scenarios};
use super::translate::Tongue;
use super::turns::Turns;
use crate::Problem;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use conclave_lab::player::answer::Answer;
use conclave_lab::player::{Patience, RunQuestion, answer_within};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    name: String,
    #[serde(default)]
    run: usize,
    #[serde(default)]
    at: usize,
    #[serde(default)]
    window: Option<(usize, usize)>,
    #[serde(default)]
    lang: Option<String>,
}

/// A run, and the scenario that it belongs to.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    run: Answer,
    scenario: ScenarioShown,
    question: Option<String>,
    answer: String,
    expected: Vec<Expected>,
}

#[derive(Serialize)]
struct Expected {
    what: String,
    expected: String,
}

pub async fn scenario(
    State(turns): State<Turns>,
    headers: HeaderMap,
    body: Body,
) -> Result<Prepared, Problem> {
    let asked: Asked = question(body).await?;
    let tongue = Tongue::of(asked.lang.as_deref());
    let packed = Packed::of(&headers);
    turns.short(tongue, move |patience| packed.json(&shown(asked, tongue, patience)?)).await
}

fn shown(asked: Asked, tongue: Tongue, patience: Patience) -> Result<Shown, Problem> {
    let all = scenarios()?;
    let card = all.iter().find(|card| card.name == asked.name);
    let unknown = || Problem::of("name", tongue.say("there is no such scenario"));
    let card = card.ok_or_else(unknown)?;
    let run = card.runs.get(asked.run);
    let run = run.ok_or_else(|| Problem::of("run", tongue.say("there is no such run")))?;
    let question = RunQuestion {
        algorithm: run.algorithm.clone(),
        flags: run.flags.clone(),
        at: asked.at,
        window: asked.window,
        lang: asked.lang,
        ..RunQuestion::default()
    };
    let played = answer_within(patience, &question);
    let mut played = played.map_err(|refused| tongue.refuse(&refused))?;
    tongue.translate(&mut played);
    let scenario = ScenarioShown::of(card, tongue);
    let expected = run.expected.iter().map(|(what, expected)| Expected {
        what: tongue.say(what),
        expected: tongue.say(expected),
    });
    Ok(Shown {
        run: played,
        question: scenario.question.clone(),
        answer: scenario.text.clone(),
        expected: expected.collect(),
        scenario,
    })
}
