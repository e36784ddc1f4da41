//! What people read, in their language: every text is written in English where it is used, and
//! looked up here on its way out.
//!
//! The Portuguese is in the crate `conclave-texts`, which the page reads, too.
//!
//! What is not found stays as it is. What programs read (`--json`, `--csv`) is never looked up.

mod help;

pub use help::{localized, print_help};

use crate::lang::Lang;
use conclave_texts::portuguese;
use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether stdout is for a program.
static FOR_PROGRAMS: AtomicBool = AtomicBool::new(false);

/// Decides on the language, by what was typed.
pub fn decide(typed: &[OsString]) {
    Lang::decide(typed);
    let own = typed.iter().take_while(|word| *word != "--");
    let for_programs = own.into_iter().any(|word| word == "--json" || word == "--csv");
    FOR_PROGRAMS.store(for_programs, Ordering::Relaxed);
}

/// Whether the text on stdout is to be in another language than it is written in.
pub fn is_translated() -> bool {
    Lang::spoken() == Lang::Pt && !FOR_PROGRAMS.load(Ordering::Relaxed)
}

/// A text, a heading or a label in the reader's language. Blanks around it stay, and one that was
/// filled up with blanks to a width is so again.
pub fn tr(text: &str) -> Cow<'_, str> {
    if !is_translated() {
        return Cow::Borrowed(text);
    }
    padded(text, |core| portuguese().look_up(core))
}

/// A word or phrase that never changes.
pub fn phrase(text: &'static str) -> &'static str {
    let known = is_translated().then(|| portuguese().exact(text)).flatten();
    known.unwrap_or(text)
}

/// The help of a value that a flag takes, for clap.
pub fn help_of(text: &str) -> String {
    remark(text).into_owned()
}

/// As [`tr`]; and what is not known as a whole is looked up clause by clause.
pub fn sentence(text: &str) -> Cow<'_, str> {
    if !is_translated() {
        return Cow::Borrowed(text);
    }
    padded(text, |core| portuguese().sentence(core))
}

/// As [`sentence`], for stderr: that is for people, whoever reads stdout.
pub fn remark(text: &str) -> Cow<'_, str> {
    if Lang::spoken() == Lang::En {
        return Cow::Borrowed(text);
    }
    padded(text, |core| portuguese().sentence(core))
}

fn padded(text: &str, look_up: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let begun = text.trim_start();
    let core = begun.trim_end();
    let Some(found) = look_up(core) else { return Cow::Borrowed(text) };
    let lead = &text[..text.len() - begun.len()];
    let after = &begun[core.len()..];
    if after.is_empty() || !after.bytes().all(|byte| byte == b' ') {
        return Cow::Owned(format!("{lead}{found}{after}"));
    }
    let width = begun.chars().count();
    let gap = width.saturating_sub(found.chars().count());
    // One blank may be there to part a text from the next, more of them make a column.
    debug_assert!(gap > 0 || after.len() == 1, "'{found}' is too wide for its column of {width}");
    Cow::Owned(format!("{lead}{found}{:1$}", "", gap.max(1)))
}

#[cfg(test)]
mod tests;
