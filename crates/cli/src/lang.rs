//! The languages that scenarios are told in.

use conclave_sim::Text;
use std::env;

/// English or Portuguese.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// English.
    En,
    /// Portuguese.
    Pt,
}

impl Lang {
    /// `en` or `pt`, for clap.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "en" => Ok(Self::En),
            "pt" => Ok(Self::Pt),
            _ => Err("takes en or pt".to_string()),
        }
    }

    /// What the environment asks for.
    pub fn of_environment() -> Self {
        let portuguese = env::var("LANG").is_ok_and(|lang| lang.starts_with("pt"));
        if portuguese { Self::Pt } else { Self::En }
    }

    /// What a printed command needs for its words to be in this language, too.
    pub fn flag(self) -> &'static str {
        match self {
            _ if self == Self::of_environment() => "",
            Self::En => " --lang en",
            Self::Pt => " --lang pt",
        }
    }

    /// A text of a scenario.
    pub fn of(self, text: &Text) -> &str {
        self.pick(&text.en, &text.pt)
    }

    /// One of two texts.
    pub fn pick<'a>(self, en: &'a str, pt: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Pt => pt,
        }
    }
}
