//! The text of the command line's flags, read as pieces of a [`crate::Plan`].
//!
//! Nothing here touches a file: whoever calls says how a file is [`Read`].
//!
//! ```
//! use conclave_sim::parse::{Names, crash};
//!
//! let names = Names::new(5, 3);
//! assert!(crash("c2@7.5", &names).is_ok());
//! let error = crash("c4@7.5", &names).unwrap_err();
//! assert_eq!(error.to_string(), "--crash c4: nodes are 1 to 5 and c1 to c3");
//! ```

mod faults;
mod latency;
mod names;
mod network;
mod workload;

pub use faults::{backoff, crash, drift, in_order, partition, pause, restart, suspect};
pub use latency::latency;
pub use names::{Names, ids};
pub use network::rule;
pub use workload::{act, sorted, workload};

pub(crate) use latency::{distribution, times, unknown_alike};
pub(crate) use network::kind;

use crate::error::{Error, one_line};
use conclave_core::Ticks;

/// Reads a file, or says in one line why it cannot.
pub type Read<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// A time: units with decimals, or with `ms` or `s`.
pub fn time(flag: &'static str, text: &str) -> Result<Ticks, Error> {
    Ticks::parse(text).ok_or_else(|| Error::value(flag, text, TIME))
}

/// A plain decimal number that is not negative.
pub fn number(flag: &'static str, text: &str) -> Result<f64, Error> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let value = text.parse().ok().filter(|value: &f64| plain && value.is_finite());
    value.ok_or_else(|| Error::value(flag, text, "a number such as 0.25"))
}

const TIME: &str = "a time: units such as 2.5, or 250ms, or 3s";

/// The two sides of the last `mark`, or what the flag takes.
fn split<'a>(
    flag: &'static str,
    text: &'a str,
    mark: char,
    accepted: &str,
) -> Result<(&'a str, &'a str), Error> {
    text.rsplit_once(mark).ok_or_else(|| Error::value(flag, text, accepted))
}

/// The lines of a file, or of a text in the flag itself after `=`, where `;` ends a line. Each
/// comes with its number; comments and empty lines do not.
pub(crate) fn lines(text: &str, end: char) -> impl Iterator<Item = (usize, &str)> {
    let plain = |line: &'_ str| line.split('#').next().unwrap_or_default().trim().len();
    (1..)
        .zip(text.split(end))
        .filter(move |(_, line)| plain(line) > 0)
        .map(|(number, line)| (number, line.split('#').next().unwrap_or_default().trim()))
}

/// What a file says, or the text after `=`, with the mark that ends its lines.
fn contents(flag: &'static str, name: &str, read: Read<'_>) -> Result<(String, char), Error> {
    if let Some(inline) = name.strip_prefix('=') {
        return Ok((inline.to_string(), ';'));
    }
    let text = read(name).map_err(|reason| Error::value(flag, name, one_line(&reason)))?;
    Ok((text, '\n'))
}

/// Says on which line of a file the error is.
fn on_line(flag: &'static str, line: usize, error: &Error) -> Error {
    let reason = match error {
        Error::BadValue { value, accepted, .. } => format!("{value}: {accepted}"),
        Error::BadLine { reason, .. }
        | Error::BadScenario(reason)
        | Error::BadRecording(reason)
        | Error::BadStory(reason)
        | Error::Undrawable(reason) => reason.clone(),
        Error::BadScenarios(reasons) => reasons.join("; "),
    };
    Error::BadLine { flag, line, reason }
}

#[cfg(test)]
pub(crate) mod testkit {
    use super::*;
    use std::fmt::Debug;

    /// What nobody should be able to hurt a parser with.
    pub const HOSTILE: &[&str] = &[
        "",
        " ",
        "@",
        ":",
        "+",
        "=",
        ">",
        "#",
        "..",
        "-1",
        "1@-5",
        "0@1",
        "1@1e9",
        "99999999999999999999@1",
        "1@99999999999999999999999",
        "1@NaN",
        "c0@1",
        "c99@1",
        "é@1",
        "1@é",
        "１@1",
        "1@1@1",
        "\u{0}\n\u{202e}",
        "1:",
        "1:-1",
        "1:inf",
        "*@1",
    ];

    /// The parser refuses it, in one line that names the flag.
    pub fn refuses<T: Debug>(
        flag: &str,
        parser: impl Fn(&str) -> Result<T, Error>,
        wrong: &[&str],
    ) {
        for text in wrong.iter().chain(HOSTILE) {
            let error = parser(text).expect_err(text).to_string();
            assert!(error.starts_with(flag), "{text}: {error}");
            assert!(!error.contains('\n') && error.len() < 250, "{text}: {error}");
        }
    }

    pub fn no_files(name: &str) -> Result<String, String> {
        Err(format!("there is no file '{name}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::testkit::refuses;
    use super::*;

    #[test]
    fn times_and_numbers_are_plain() {
        assert_eq!(time("--cs", "2.5"), Ok(Ticks(2_500)));
        assert_eq!(number("--loss", "0.25"), Ok(0.25));
        refuses("--cs", |text| time("--cs", text), &["1 2"]);
        refuses("--loss", |text| number("--loss", text), &["1e3", ".", "1.2.3", "+1"]);
        let huge = "9".repeat(1_000);
        assert!(number("--loss", &huge).is_err());
    }

    #[test]
    fn lines_have_numbers_and_comments_do_not_count() {
        let found: Vec<_> = lines("# first\n\n a b # end\nc", '\n').collect();
        assert_eq!(found, [(3, "a b"), (4, "c")]);
    }
}
