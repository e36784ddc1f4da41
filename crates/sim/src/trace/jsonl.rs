//! The file format of a trace: one JSON object per line. The header, the records, and a seal.

use super::{FORMAT, Header, Record, Trace, VERSION};
use crate::error::{Error, excerpt};
use conclave_core::Hasher;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// More nodes than this are not in any recording; a larger number is a forgery.
const NODES_MAX: usize = 100_000;

/// No message arrives more often than this.
const AGAIN_MAX: usize = 1_000;

/// The last line: how many records there should be, and a hash of all lines before.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seal {
    records: usize,
    checksum: String,
}

/// A trace as a file.
pub fn write(trace: &Trace) -> String {
    let mut text = line(&trace.header);
    for record in &trace.records {
        text += &line(record);
    }
    let seal = Seal { records: trace.records.len(), checksum: checksum(&text) };
    text + &line(&seal)
}

fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("plain data with text for keys");
    line.push('\n');
    line
}

fn checksum(text: &str) -> String {
    let mut hasher = Hasher::default();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

/// Reads a recording. What it says is not believed yet: see [`super::verify()`]. A file that was
/// changed is still read, so that the change can be found: the seal is broken then.
pub fn read(text: &str) -> Result<(Trace, Sealed), Error> {
    let mut lines = text.lines().enumerate();
    let (_, first) = lines.next().unwrap_or_default();
    let header = header(first)?;
    let mut records = Vec::new();
    while let Some((index, line)) = lines.next() {
        if let Ok(seal) = serde_json::from_str::<Seal>(line) {
            return match lines.next() {
                None => sealed(text, line, &seal, Trace { header, records }),
                Some((index, _)) => Err(bad(index, "there is something after the end")),
            };
        }
        let record: Record =
            serde_json::from_str(line).map_err(|error| not_whole(index, &error))?;
        check(&record, header.names.len()).map_err(|reason| bad(index, reason))?;
        records.push(record);
    }
    Err(Error::BadRecording("the recording is cut off: its last line is missing".to_string()))
}

/// Whether the file is as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed {
    /// It is.
    Whole,
    /// Something was changed.
    Broken,
}

fn sealed(text: &str, last: &str, seal: &Seal, trace: Trace) -> Result<(Trace, Sealed), Error> {
    if !matches!(trace.records.last(), Some(Record::End { .. })) {
        return Err(Error::BadRecording("the recording has no end".to_string()));
    }
    let before = &text[..text.rfind(last).unwrap_or_default()];
    let whole = seal.records == trace.records.len() && seal.checksum == checksum(before);
    Ok((trace, if whole { Sealed::Whole } else { Sealed::Broken }))
}

fn header(line: &str) -> Result<Header, Error> {
    let foreign = || {
        let begins = excerpt(line);
        Error::BadRecording(format!("not a recording of conclave: it begins with {begins}"))
    };
    let value: serde_json::Value = serde_json::from_str(line).map_err(|_| foreign())?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(foreign());
    }
    let version = value.get("version").and_then(serde_json::Value::as_u64).unwrap_or_default();
    if version != u64::from(VERSION) {
        let reason = format!("a recording of version {version}; this program reads {VERSION}");
        return Err(Error::BadRecording(reason));
    }
    let header: Header = serde_json::from_value(value).map_err(|error| not_whole(0, &error))?;
    match header.names.len() {
        0 => Err(bad(0, "it names no nodes")),
        n if n > NODES_MAX => Err(bad(0, "it names too many nodes")),
        _ => Ok(header),
    }
}

/// Nodes that do not exist would upset whoever draws the run.
fn check(record: &Record, n: usize) -> Result<(), &'static str> {
    let nodes = match record {
        Record::Step(step) => {
            let sent = step.sends().map(|sending| sending.to);
            sent.chain([step.node]).collect()
        }
        Record::Lost { node, .. }
        | Record::Dead { node }
        | Record::Crash { node, .. }
        | Record::Restart { node, .. }
        | Record::Pause { node, .. }
        | Record::Resume { node, .. } => vec![*node],
        Record::Partition { groups, .. } => groups.concat(),
        Record::Suspect { by, of, .. } => vec![*by, *of],
        Record::Heal { .. } | Record::Violation(_) | Record::End { .. } => Vec::new(),
    };
    if !nodes.iter().all(|node| node.index() < n) {
        return Err("it speaks of a node that does not exist");
    }
    let sendings = record.step().into_iter().flat_map(|step| step.sends());
    if sendings.into_iter().any(|sending| sending.again.len() > AGAIN_MAX) {
        return Err("a message arrives too often");
    }
    let cut = matches!(record, Record::Partition { .. });
    let twice = cut && nodes.iter().collect::<BTreeSet<_>>().len() < nodes.len();
    if twice { Err("a node is on two sides of a cut") } else { Ok(()) }
}

fn not_whole(index: usize, error: &serde_json::Error) -> Error {
    if error.is_eof() {
        return bad(index, "it is cut off in the middle");
    }
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    bad(index, format!("not a record: {}", excerpt(reason)))
}

fn bad(index: usize, reason: impl ToString) -> Error {
    Error::BadRecording(format!("line {}: {}", index + 1, reason.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testkit::hand_made;

    fn refused(text: &str) -> String {
        read(text).expect_err("must be refused").to_string()
    }

    #[test]
    fn what_was_written_can_be_read() {
        let trace = hand_made();
        assert_eq!(read(&write(&trace)), Ok((trace, Sealed::Whole)));
    }

    #[test]
    fn whatever_is_changed_breaks_the_seal() {
        let text = write(&hand_made());
        let changed = text.replacen("\"at\":12000", "\"at\":11000", 1);
        assert_ne!(text, changed);
        assert!(matches!(read(&changed), Ok((_, Sealed::Broken))));
        let mut lines: Vec<&str> = text.lines().collect();
        lines.remove(3);
        assert!(matches!(read(&lines.join("\n")), Ok((_, Sealed::Broken))));
    }

    #[test]
    fn a_file_that_is_no_recording_is_refused_in_one_line() {
        let text = write(&hand_made());
        let cut: String = text.chars().take(text.len() / 2).collect();
        assert!(refused(&cut).starts_with("line "), "{}", refused(&cut));
        let lines: Vec<&str> = text.lines().collect();
        let short = lines[..5].join("\n");
        assert_eq!(refused(&short), "the recording is cut off: its last line is missing");
        assert!(refused("").starts_with("not a recording of conclave"));
        assert!(refused("{\"a\":1}").starts_with("not a recording of conclave"));
        assert!(refused("PK\u{3}\u{4}").starts_with("not a recording of conclave"));
        let newer = text.replacen("\"version\":1", "\"version\":2", 1);
        assert_eq!(refused(&newer), "a recording of version 2; this program reads 1");
        let often = format!("\"arrival\":1000,\"again\":[{}0]", "0,".repeat(AGAIN_MAX));
        let often = text.replacen("\"arrival\":1000", &often, 1);
        assert!(refused(&often).ends_with("a message arrives too often"), "{}", refused(&often));
        let stranger = text.replacen("\"node\":2", "\"node\":77", 1);
        assert!(refused(&stranger).ends_with("it speaks of a node that does not exist"));
        assert!(refused(&(text.clone() + "x\n")).ends_with("there is something after the end"));
    }
}
