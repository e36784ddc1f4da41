//! The language that people are spoken to in: decided once, when the program starts.

use conclave_sim::Text;
use std::env;
use std::ffi::OsString;
use std::sync::OnceLock;

/// English or Portuguese.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// English.
    En,
    /// Portuguese.
    Pt,
}

/// What was decided.
static SPOKEN: OnceLock<Lang> = OnceLock::new();

/// Where the environment says it; the first that is set to anything decides, as POSIX has it.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

impl Lang {
    /// `en` or `pt` in any case, or the name of a locale such as `pt_BR.UTF-8`; for clap.
    pub fn parse(text: &str) -> Result<Self, String> {
        let language = text.split(['_', '-', '.', '@']).next().unwrap_or_default();
        match language.to_ascii_lowercase().as_str() {
            "en" => Ok(Self::En),
            "pt" => Ok(Self::Pt),
            _ => Err("takes en or pt".to_string()),
        }
    }

    /// Decides by what was typed, or else by the environment. It stays decided.
    pub fn decide(typed: &[OsString]) {
        let _ = SPOKEN.set(Self::typed(typed).unwrap_or_else(Self::of_environment));
    }

    /// What was decided; nothing is English.
    pub fn spoken() -> Self {
        SPOKEN.get().copied().unwrap_or(Self::En)
    }

    /// What `--lang` says, long before clap has a look: its errors are for people, too. What comes
    /// after `--` is somebody else's.
    fn typed(typed: &[OsString]) -> Option<Self> {
        let own = typed.iter().take_while(|word| *word != "--");
        let words: Vec<&str> = own.map(|word| word.to_str().unwrap_or_default()).collect();
        let behind = |(place, word): (usize, &&str)| match word.strip_prefix("--lang") {
            Some("") => words.get(place + 1).copied().map(str::to_string),
            Some(rest) => rest.strip_prefix('=').map(str::to_string),
            None => None,
        };
        let given = words.iter().enumerate().filter_map(behind).next_back()?;
        Self::parse(&given).ok()
    }

    /// What the environment asks for.
    pub fn of_environment() -> Self {
        let value = |name: &&str| env::var(name).ok().filter(|value| !value.is_empty());
        let locale = VARIABLES.iter().find_map(value).unwrap_or_default();
        Self::parse(&locale).unwrap_or(Self::En)
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
        match self {
            Self::En => &text.en,
            Self::Pt => &text.pt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_any_name_of_its_locales() {
        for name in ["pt", "PT", "pt_BR.UTF-8", "PT-br", "pt.utf8", "pt_PT@euro"] {
            assert_eq!(Lang::parse(name), Ok(Lang::Pt), "{name}");
        }
        assert_eq!(Lang::parse("en_GB.UTF-8"), Ok(Lang::En));
        for name in ["", "C", "POSIX", "ptolemaic", "fr_FR.UTF-8"] {
            assert!(Lang::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_typed_for_another_program_decides_nothing() {
        let typed = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            Lang::typed(&words)
        };
        assert_eq!(typed("conclave tour --lang pt"), Some(Lang::Pt));
        assert_eq!(typed("conclave --lang=PT_br tour"), Some(Lang::Pt));
        assert_eq!(typed("conclave lock a -- cmd --lang pt"), None);
        assert_eq!(typed("conclave tour --lang"), None);
        assert_eq!(typed("conclave tour --lang fr"), None);
    }
}
