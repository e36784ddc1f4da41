//! Texts of the lab in the reader's language, from the phrase book that the command line has, too.

use crate::Problem;
use axum::http::StatusCode;
use conclave_lab::player::answer::{Answer, language};
use conclave_lab::player::{Language, Refused};
use conclave_texts::{documents, portuguese};

/// The language of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tongue(pub Language);

impl Tongue {
    /// The one that was asked for.
    pub fn of(lang: Option<&str>) -> Self {
        Self(language(lang))
    }

    /// A text that is written in English.
    pub fn say(self, text: &str) -> String {
        match self.0 {
            Language::English => text.to_string(),
            Language::Portuguese => portuguese().sentence(text).unwrap_or_else(|| text.to_string()),
        }
    }

    /// What the module doc of an algorithm says, if it is known.
    pub fn quote(self, text: &str) -> Option<String> {
        match self.0 {
            Language::English => Some(text.to_string()),
            Language::Portuguese => documents().exact(text).map(ToString::to_string),
        }
    }

    /// What is wrong with a question.
    pub fn refuse(self, refused: &Refused) -> Problem {
        let error = self.say(&refused.words).replace('\n', " ");
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Problem { status, error, field: Some(refused.field) }
    }

    /// What of an answer monitors and formulas say.
    pub fn translate(self, answer: &mut Answer) {
        let Some(whole) = &mut answer.whole else { return };
        for lamp in &mut whole.lamps {
            lamp.name = self.say(&lamp.name);
            lamp.why = lamp.why.take().map(|why| self.say(&why));
        }
        for cost in &mut whole.costs {
            cost.formula = cost.formula.take().map(|formula| self.say(&formula));
        }
    }
}
