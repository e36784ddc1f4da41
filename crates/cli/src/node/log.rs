//! What a node logs, on stderr: one line per event, as text or as JSON. No text of a client can
//! make two lines of one, or another line than it is.

use crate::output::json::escaped;
use conclave_core::is_shown;
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::io::{self, IsTerminal, Write};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs: an object each.
    Json,
}

/// The names of the formats.
pub const FORMATS: [(&str, Format); 2] = [("text", Format::Text), ("json", Format::Json)];

/// From now on, events of this level and above are logged. The consensus library tells every step
/// of an election as an event: only who asks for details gets these.
pub fn to_stderr(level: Level, format: Format, node: u32) {
    let library = if level >= Level::DEBUG { level } else { level.min(Level::ERROR) };
    let targets = Targets::new().with_default(level).with_target("openraft", library);
    let registry = tracing_subscriber::registry();
    match format {
        Format::Json => {
            // Where nobody reads any more, nothing can be said.
            let write = |line: &str| drop(io::stderr().lock().write_all(line.as_bytes()));
            registry.with(JsonLines { node, write }.with_filter(targets)).init();
        }
        Format::Text => {
            let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let lines = tracing_subscriber::fmt::layer()
                .with_writer(|| OneLine(io::stderr()))
                .with_ansi(colour)
                .with_target(false);
            registry.with(lines.with_filter(targets)).init();
        }
    }
}

/// Writes each event, which comes as a whole, as one line: what would break it, and what cannot be
/// shown, is escaped. (What would colour it is so already.)
struct OneLine<W>(W);

impl<W: Write> Write for OneLine<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let mut whole = String::with_capacity(line.len() + 1);
        for letter in line.chars() {
            match is_shown(letter) || letter == '\x1b' {
                true => whole.push(letter),
                false => whole.extend(letter.escape_default()),
            }
        }
        whole.push('\n');
        self.0.write_all(whole.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// An object per event: time, level, node, target, message and fields.
struct JsonLines<W> {
    node: u32,
    write: W,
}

impl<S: Subscriber, W: Fn(&str) + 'static> Layer<S> for JsonLines<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut time = String::new();
        // Writing to a string cannot fail.
        let _ = SystemTime.format_time(&mut Writer::new(&mut time));
        let mut said = Said::default();
        event.record(&mut said);
        let metadata = event.metadata();
        let line = serde_json::json!({
            "time": time,
            "level": metadata.level().as_str().to_ascii_lowercase(),
            "node": self.node,
            "target": metadata.target(),
            "message": said.message,
            "fields": said.fields,
        });
        (self.write)(&escaped(&format!("{line}\n")));
    }
}

/// What an event says.
#[derive(Default)]
struct Said {
    message: String,
    fields: Map<String, Value>,
}

impl Said {
    fn note(&mut self, field: &Field, value: impl Into<Value>) {
        self.fields.insert(field.name().to_string(), value.into());
    }
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.message = text,
            _ => self.note(field, text),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message = value.to_string(),
            _ => self.note(field, value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.note(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.note(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.note(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.note(field, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A label that pretends to be the end of one line and another one.
    const HOSTILE: &str = "x\n{\"level\":\"error\"}\r\u{85}\u{2028}\u{202e}\u{200b}\"\\\x1b[31m\0";

    #[test]
    fn a_json_line_is_one_object_whatever_is_in_it() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&lines);
        let write = move |line: &str| heard.lock().unwrap().push(line.to_string());
        let subscriber = tracing_subscriber::registry().with(JsonLines { node: 2, write });
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(lock = HOSTILE, fence = 7, late = true, "taken from {HOSTILE}");
        });
        let lines = lines.lock().unwrap();
        assert_eq!((lines.len(), lines[0].matches('\n').count()), (1, 1));
        assert!(lines[0].trim_end().chars().all(is_shown), "{:?}", lines[0]);
        let line: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(line["message"], format!("taken from {HOSTILE}"));
        assert_eq!(line["fields"]["lock"], HOSTILE);
        assert_eq!((&line["fields"]["fence"], &line["fields"]["late"]), (&7.into(), &true.into()));
        assert_eq!((&line["level"], &line["node"]), (&"warn".into(), &2.into()));
        assert!(line["target"].as_str().unwrap().contains("log"), "{line}");
        let time = line["time"].as_str().unwrap();
        assert!(time.len() >= 20 && time[10..11] == *"T" && time.ends_with('Z'), "{time}");
    }

    #[test]
    fn a_line_of_text_stays_one_line() {
        let mut written = Vec::new();
        let mut line = OneLine(&mut written);
        line.write_all(format!("INFO {HOSTILE}\n").as_bytes()).unwrap();
        line.write_all(b"INFO next\n").unwrap();
        let written = String::from_utf8(written).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 2, "{written}");
        assert!(lines[0].starts_with("INFO x\\n{") && lines[1] == "INFO next", "{written}");
        assert!(lines[0].contains("\\u{85}\\u{2028}\\u{202e}\\u{200b}"), "{written}");
    }
}
