//! What people see: colour, width, numbers; tables, reports and JSON in the files below.

pub mod bar;
pub mod check;
pub mod entry;
pub mod json;
pub mod numbers;
pub mod run;
pub mod scenario;
pub mod story;
pub mod table;

use crate::invocation;
use crate::texts::{remark, tr};
use anstyle::{AnsiColor, Style};
use conclave_client::api::limits::shown;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// Where output is no terminal, it is as wide as this.
const WIDTH_PIPED: usize = 80;
/// Narrower tables make no sense.
const WIDTH_MIN: usize = 40;
/// Wider lines are hard to read.
const WIDTH_MAX: usize = 120;
/// What can be skipped.
const DIM: Style = Style::new().dimmed();

/// Writes text to stdout, without its colours where they are not wanted. A reader that goes away
/// early (`| head`) is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Says something on stderr: results go to stdout, and this does not belong among them.
pub fn note(what: &str) {
    anstream::eprintln!("{}", coloured(remark(what), DIM));
}

/// Says on stderr what should not be overlooked. There may be words of a server in it.
pub fn warn(what: &str) {
    anstream::eprintln!("{} {}", odd("conclave:"), shown(&remark(what)));
}

/// How many columns there are.
pub fn width() -> usize {
    screen().unwrap_or(WIDTH_PIPED)
}

/// How many columns the terminal has, or what `COLUMNS` says; nothing if output goes elsewhere.
pub fn screen() -> Option<usize> {
    let terminal = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    let typed = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = terminal.map(|(width, _)| usize::from(width.0)).or_else(typed);
    columns.map(|columns| columns.clamp(WIDTH_MIN, WIDTH_MAX))
}

/// A promise kept.
pub fn good(text: impl Display) -> String {
    coloured(tr(&text.to_string()), AnsiColor::Green.on_default())
}

/// Something broken.
pub fn bad(text: impl Display) -> String {
    coloured(tr(&text.to_string()), AnsiColor::Red.on_default().bold())
}

/// Something to mind.
pub fn odd(text: impl Display) -> String {
    coloured(tr(&text.to_string()), AnsiColor::Yellow.on_default())
}

/// Something to type; what is typed keeps its language.
pub fn typed(text: impl Display) -> String {
    let command = invocation::in_same_language(&text.to_string());
    coloured(command, AnsiColor::Cyan.on_default())
}

/// A heading.
pub fn strong(text: impl Display) -> String {
    coloured(tr(&text.to_string()), Style::new().bold())
}

/// Something that can be skipped.
pub fn dim(text: impl Display) -> String {
    coloured(tr(&text.to_string()), DIM)
}

fn coloured(text: impl Display, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// How many columns a text takes on the screen: colours take none.
fn columns(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
}

/// Breaks a text, in the language of its reader, into lines of at most this width; a word that is
/// longer stays whole.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in tr(text).split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_string()),
        }
    }
    lines
}

/// A label and a text beside it, wrapped to the width of the output.
pub fn labelled(label: &str, column: usize, text: &str) -> String {
    beside(&strong(format!("{label:column$}")), column, text)
}

/// A text wrapped beside something that is `column` wide on the screen.
pub fn beside(lead: &str, column: usize, text: &str) -> String {
    let lines = wrap(text, width().saturating_sub(column).max(20));
    let mut told = lead.to_string();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            told += &format!("\n{:column$}", "");
        }
        told += line;
    }
    told + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_only() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("incomprehensibilities are", 7), ["incomprehensibilities", "are"]);
        assert!(wrap("", 7).is_empty());
        let coloured = format!("{} two three", good("one"));
        assert_eq!(wrap(&coloured, 7), [format!("{} two", good("one")), "three".to_string()]);
    }
}
