//! A line of flags, as it stands in an address or after `conclave sim ID`.

use super::{SimFlags, values};
use crate::Usage;

/// More words than this are no command line.
const WORDS_MAX: usize = 2_000;

impl SimFlags {
    /// The flags of a line, for this algorithm. Flags that say how a run is shown or told, and not
    /// which, are refused.
    pub fn of_line(id: &str, line: &str) -> Result<Self, Usage> {
        let mut flags = Self { id: id.to_string(), ..Self::default() };
        let words = words(line)?;
        let mut words = words.into_iter();
        let mut given: Vec<String> = Vec::new();
        while let Some(word) = words.next() {
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => {
                    (flag.to_string(), Some(value.to_string()))
                }
                Some(_) | None => (word, None),
            };
            if flags.switch(&flag) {
                if inline.is_some() {
                    return Err(Usage(format!("{flag}: takes no value")));
                }
                continue;
            }
            if !is_known(&flag) {
                return Err(unknown(&flag));
            }
            if !is_repeated(&flag) && given.contains(&flag) {
                return Err(Usage(format!("{flag}: cannot be given twice")));
            }
            let value = inline.or_else(|| words.next());
            let value = value.ok_or_else(|| Usage(format!("{flag}: takes a value")))?;
            flags.take(&flag, value)?;
            given.push(flag);
        }
        Ok(flags)
    }

    /// A flag that is on or off; whether it is one.
    fn switch(&mut self, flag: &str) -> bool {
        let place = match flag {
            "--unprotected" => &mut self.unprotected,
            "--no-fifo" => &mut self.no_fifo,
            "--serial" => &mut self.serial,
            "--multicast" => &mut self.multicast,
            _ => return false,
        };
        *place = true;
        true
    }

    /// A flag with its value.
    fn take(&mut self, flag: &str, value: String) -> Result<(), Usage> {
        let wrong = |accepted: String| Usage::flag(flag, &value, accepted);
        match flag {
            "--nodes" => self.nodes = Some(values::nodes(&value).map_err(wrong)?),
            "--rounds" => self.rounds = Some(values::rounds(&value).map_err(wrong)?),
            "--cs" => self.cs = Some(values::ticks(&value).map_err(wrong)?),
            "--cancel" => self.cancel = Some(values::probability(&value).map_err(wrong)?),
            "--value" => self.value = Some(values::whole(&value).map_err(wrong)?),
            "--loss" => self.loss = Some(values::probability(&value).map_err(wrong)?),
            "--duplicate" => self.duplicate = Some(values::probability(&value).map_err(wrong)?),
            "--seed" => self.seed = Some(values::seed(&value).map_err(wrong)?),
            "--until" => self.until = Some(values::ticks(&value).map_err(wrong)?),
            _ => self.keep(flag, value),
        }
        Ok(())
    }

    /// A flag whose value is read later, when the nodes have their names.
    fn keep(&mut self, flag: &str, value: String) {
        let many = match flag {
            "--ids" => return self.ids = Some(value),
            "--workload" => return self.workload = Some(value),
            "--start" => return self.start = Some(value),
            "--candidates" => return self.candidates = Some(value),
            "--latency" => return self.latency = Some(value),
            "--dead" => return self.dead = Some(value),
            "--set" => &mut self.set,
            "--act" => &mut self.act,
            "--rule" => &mut self.rule,
            "--crash" => &mut self.crash,
            "--restart" => &mut self.restart,
            "--pause" => &mut self.pause,
            "--partition" => &mut self.partition,
            "--drift" => &mut self.drift,
            "--suspect" => &mut self.suspect,
            "--backoff" => &mut self.backoff,
            other => unreachable!("{other} was looked up before"),
        };
        many.push(value);
    }
}

/// Flags that take a value, once.
const SINGLE: [&str; 15] = [
    "--nodes",
    "--ids",
    "--workload",
    "--rounds",
    "--cs",
    "--cancel",
    "--value",
    "--start",
    "--candidates",
    "--latency",
    "--loss",
    "--duplicate",
    "--dead",
    "--seed",
    "--until",
];

/// Flags that take a value, any number of times.
const REPEATED: [&str; 10] = [
    "--set",
    "--act",
    "--rule",
    "--crash",
    "--restart",
    "--pause",
    "--partition",
    "--drift",
    "--suspect",
    "--backoff",
];

fn is_known(flag: &str) -> bool {
    SINGLE.contains(&flag) || is_repeated(flag)
}

fn is_repeated(flag: &str) -> bool {
    REPEATED.contains(&flag)
}

fn unknown(word: &str) -> Usage {
    let shown: String = word.chars().take(40).collect();
    match word.starts_with('-') {
        true => Usage(format!("{shown}: no such flag here")),
        false => Usage(format!("{shown}: one argument too many")),
    }
}

/// The words of a line, as a shell takes it apart: blanks end a word, except between quotes.
pub fn words(line: &str) -> Result<Vec<String>, Usage> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') | (Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(Usage("a quote is not closed".to_string()));
    }
    words.extend(word);
    if words.len() > WORDS_MAX {
        return Err(Usage(format!("more than {WORDS_MAX} words")));
    }
    Ok(words)
}
