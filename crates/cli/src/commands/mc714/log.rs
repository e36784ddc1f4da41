//! What happened, in aligned lines: when, who, what.

use crate::output::{self, numbers::local};
use crate::texts::sentence;
use std::time::Instant;

/// The longest line that somebody else's words can make.
const WORDS_MAX: usize = 120;

/// Tells what happens to one process.
#[derive(Clone, Debug)]
pub struct Log {
    who: String,
    begun: Instant,
}

impl Log {
    /// For this process, from now on.
    pub fn new(who: impl Into<String>) -> Self {
        Self { who: who.into(), begun: Instant::now() }
    }

    /// One line.
    pub fn say(&self, what: impl AsRef<str>) {
        let who = &self.who;
        let when = local(&format!("{:.3}", self.begun.elapsed().as_secs_f64()));
        let line = format!("{when:>9} s  {who:<11}  {}\n", sentence(what.as_ref()));
        let _ = output::print(&line); // Nobody may be reading any more.
    }
}

/// Somebody else's words, so that they fit a line and do no harm there.
pub fn words(text: &str) -> String {
    let harmless = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let shown: String = text.chars().take(WORDS_MAX).map(harmless).collect();
    let more = if text.chars().nth(WORDS_MAX).is_some() { "..." } else { "" };
    shown + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_stay_on_one_short_line() {
        assert_eq!(words("\"17\""), "\"17\"");
        assert_eq!(words("a\nb\u{1b}[0m"), "a\u{fffd}b\u{fffd}[0m");
        assert_eq!(words(&"x".repeat(500)).len(), WORDS_MAX + 3);
    }
}
